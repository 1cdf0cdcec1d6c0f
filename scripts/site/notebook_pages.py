"""Notebooks as pages: text, code, and what came out where they have been executed."""

import base64
import json
import re

HTML_STYLE = re.compile(r"<style[^>]*>.*?</style>", re.S)


def joined(text):
    return "".join(text) if isinstance(text, list) else text


def output(cell_number, index, told, images):
    """Markdown of one output; pictures are put into `images` by name."""
    if told["output_type"] == "stream":
        return ["```text", joined(told["text"]).rstrip(), "```", ""] if told["name"] == "stdout" else []
    data = told.get("data", {})
    if "image/png" in data:
        name = f"{cell_number}_{index}.png"
        images[name] = base64.b64decode(joined(data["image/png"]))
        return [f"![what the cell draws]({name})", ""]
    if "text/html" in data:
        html = re.sub(r"\n\s*", " ", HTML_STYLE.sub("", joined(data["text/html"]))).strip()
        return [f'<div class="output">{html}</div>', ""]
    if "text/markdown" in data:
        return [joined(data["text/markdown"]), ""]
    return ["```text", joined(data.get("text/plain", "")), "```", ""]


def cells(path):
    """What the cells of a notebook are made of, without what came out."""
    return [(cell["cell_type"], joined(cell["source"])) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]


def with_outputs(source, folder):
    """The executed copy of a notebook in a folder, or the notebook itself where there is none, or one of other cells."""
    executed = folder / source.name
    return executed if executed.exists() and cells(executed) == cells(source) else source


def page(path):
    """Markdown of a notebook, and its pictures by name."""
    lines, images = [], {}
    for number, cell in enumerate(json.loads(path.read_text())["cells"]):
        source = joined(cell["source"])
        if cell["cell_type"] == "markdown":
            # Sources lie in notebooks/, pages in docs/notebooks/.
            lines += [re.sub(r"\]\(\.\./docs/", "](../", source), ""]
            continue
        lines += ["```python", source, "```", ""]
        for index, told in enumerate(cell.get("outputs", [])):
            lines += output(number, index, told, images)
    return "\n".join(lines), images
