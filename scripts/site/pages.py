"""What mkdocs.yml calls: pages that are written when the site is built. Nothing of them is kept in docs/.

The program is build/ridgeline, or $RIDGELINE; the package is the one beside it, or an installed one. Notebooks come with what they print
and draw where the test `notebooks` has executed them, as they are now, into the folder `notebooks` beside the program.
"""

import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = pathlib.Path(os.environ.get("RIDGELINE", ROOT / "build" / "ridgeline")).parent
sys.path[:0] = [str(HERE), str(BUILD / "python")]

import command_reference  # noqa: E402
import notebook_pages  # noqa: E402
import python_reference  # noqa: E402
import ridgeline  # noqa: E402
import scenario_reference  # noqa: E402
from mkdocs.structure.files import File  # noqa: E402
from ridgeline import _core  # noqa: E402

SCENARIO_KEYS = "<!-- keys of a scenario -->"


def on_files(files, config):
    """Adds the generated pages."""

    def add(path, content):
        files.append(File.generated(config, path, content=content))

    add("reference/command_line.md", command_reference.page())
    for name, text in python_reference.pages(ridgeline).items():
        add(f"reference/python/{name}.md", text)
    for source in sorted((ROOT / "notebooks").glob("*.ipynb")):
        text, images = notebook_pages.page(notebook_pages.with_outputs(source, BUILD / "notebooks"))
        add(f"notebooks/{source.stem}.md", text)
        for name, data in images.items():
            add(f"notebooks/{source.stem}/{name}", data)
    return files


def on_page_markdown(markdown, page, config, files):
    """Fills in what stands on a written page and is known to the program; pictures of a notebook lie in a folder of its name."""
    if SCENARIO_KEYS in markdown:
        return markdown.replace(SCENARIO_KEYS, scenario_reference.page(ridgeline, _core))
    if page.file.src_uri.startswith("notebooks/"):
        folder = pathlib.PurePosixPath(page.file.src_uri).stem
        return markdown.replace("![what the cell draws](", f"![what the cell draws]({folder}/")
    return markdown
