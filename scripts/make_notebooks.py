#!/usr/bin/env python3
"""Writes notebooks/*.ipynb from notebooks/*.py, which are the sources: scripts whose cells begin with `# %%`, or `# %% [markdown]` for text.

    scripts/make_notebooks.py            writes what changed; exit code 1 and a sentence if a notebook has no source
    scripts/make_notebooks.py --check    changes nothing; exit code 1 and a sentence if something is out of date

Notebooks carry no outputs: tests execute them. Needs nbformat (build/venv, by scripts/venv.sh).
"""

import argparse
import pathlib
import re
import sys

import nbformat
from nbformat import v4

ROOT = pathlib.Path(__file__).resolve().parent.parent
CELL = re.compile(r"^# %%( \[markdown\])?\n", re.M)


def notebook_of(source):
    """The notebook that a script is the source of; the same script gives the same file."""
    parts = CELL.split(source)
    assert parts[0].strip() == "", "a notebook begins with a cell"
    cells = []
    for number, (kind, body) in enumerate(zip(parts[1::2], parts[2::2])):
        if kind:
            cell = v4.new_markdown_cell("\n".join(line.removeprefix("#").removeprefix(" ") for line in body.strip().splitlines()))
        else:
            cell = v4.new_code_cell(body.strip())
        cell["id"] = f"cell-{number}"
        cells.append(cell)
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}, "language_info": {"name": "python"}}
    return v4.new_notebook(cells=cells, metadata=kernel, nbformat_minor=5)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    stale = False
    args = parser.parse_args()
    for source in sorted((ROOT / "notebooks").glob("*.py")):
        target = source.with_suffix(".ipynb")
        text = nbformat.writes(notebook_of(source.read_text())) + "\n"
        if target.exists() and target.read_text() == text:
            continue
        if args.check:
            stale = True
            print(f"{target.relative_to(ROOT)} is not what {source.relative_to(ROOT)} says; run scripts/make_notebooks.py")
        else:
            target.write_text(text)
            print(f"wrote {target.relative_to(ROOT)}")
    for target in sorted((ROOT / "notebooks").glob("*.ipynb")):
        if not target.with_suffix(".py").exists():
            stale = True
            print(f"{target.relative_to(ROOT)} has no {target.with_suffix('.py').name} that it is made from; remove it, or bring that back")
    sys.exit(1 if stale else 0)


if __name__ == "__main__":
    main()
