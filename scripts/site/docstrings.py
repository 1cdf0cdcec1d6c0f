"""NumPy docstrings as markdown: a page of tables and lists for the classes and functions of a module."""

import dataclasses
import inspect
import re

SECTION = re.compile(r"^([A-Z][A-Za-z ]+)\n-{3,}\n", re.M)
WORDS = {"Parameters": "Takes", "Attributes": "Holds", "Returns": "Gives", "Raises": "Refuses", "Examples": "For example"}


def split(doc):
    """The text before the first section, and (title, body) of each."""
    parts = SECTION.split(doc)
    return parts[0].strip(), list(zip(parts[1::2], (body.rstrip() for body in parts[2::2])))


def entries(body):
    """(name, type, description) of each entry of a section like Parameters."""
    found = []
    for line in body.splitlines():
        if line and not line.startswith(" "):
            name, _, kind = line.partition(" : ")
            found.append([name.strip(), kind.strip(), ""])
        elif found:
            found[-1][2] = f"{found[-1][2]} {line.strip()}".strip()
    return found


def cell(text):
    """Text within a table: reStructuredText's double backticks are single ones here."""
    return text.replace("``", "`").replace("|", "\\|").replace("\n", " ")


def prose(text):
    """Paragraphs of a docstring; a paragraph that ends in `::` is followed by a block of code."""
    lines = re.sub(r"``", "`", text)
    return re.sub(r"::\n\n((?:    .*\n?|\n)+)", lambda m: ":\n\n```text\n" + inspect.cleandoc(m[1]) + "\n```\n", lines + "\n").strip()


def told(doc):
    """Lines of markdown for a docstring."""
    before, sections = split(inspect.cleandoc(doc or ""))
    lines = [prose(before), ""]
    for title, body in sections:
        lines += [f"**{WORDS.get(title, title)}**", ""]
        if title == "Examples":
            lines += ["```pycon", body, "```", ""]
            continue
        for name, kind, description in entries(body):
            shown = f" ({cell(kind)})" if kind else ""
            lines.append(f"* `{name}`{shown}: {cell(description)}" if description else f"* `{name}`{shown}")
        lines.append("")
    return lines


def signature(name, thing):
    """How it is called, a parameter a line where it is long."""
    try:
        parameters = inspect.signature(thing)
    except (TypeError, ValueError):
        return name
    kept = parameters.replace(parameters=[p for p in parameters.parameters.values() if p.name not in ("self", "cls")])
    flat = f"{name}{kept}".replace("'", "")
    if len(flat) <= 100:
        return flat
    inside = ",\n".join(f"    {p}".replace("'", "") for p in kept.parameters.values())
    result = "" if kept.return_annotation is inspect.Signature.empty else f" -> {kept.return_annotation}".replace("'", "")
    return f"{name}(\n{inside},\n){result}"


def function_page(name, function, level=2):
    return [f"{'#' * level} {name}", "", "```text", signature(name, function), "```", "", *told(function.__doc__)]


def members(cls):
    """Public methods, properties and columns that a class defines itself, with its bases of the same package."""
    seen = {}
    for base in cls.__mro__:
        if base.__module__.startswith("ridgeline"):
            for name, thing in vars(base).items():
                if not name.startswith("_"):
                    seen.setdefault(name, thing)
    return seen


def class_page(name, cls, level=2):
    lines = [f"{'#' * level} {name}", ""]
    if dataclasses.is_dataclass(cls):
        lines += ["```text", signature(name, cls), "```", ""]
    lines += told(cls.__doc__)
    fields = {f.name for f in dataclasses.fields(cls)} if dataclasses.is_dataclass(cls) else set()
    attributes, methods = [], []
    for member, thing in members(cls).items():
        function = getattr(thing, "__func__", thing)
        if inspect.isfunction(function):
            methods += function_page(f"{name}.{member}", function, level + 1)
        elif member not in fields and getattr(thing, "__doc__", None) and not isinstance(thing, (str, int, dict, tuple)):
            attributes.append(f"| `{member}` | {cell(inspect.cleandoc(thing.__doc__).split(chr(10) * 2)[0])} |")
    if attributes:
        lines += ["| attribute | |", "|---|---|", *attributes, ""]
    return lines + methods
