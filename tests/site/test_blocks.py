"""Every code block of README.md and docs/ is run."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import ridgeline as rl
from blocks import RUN, SHOWN, blocks_of, runnable
from inputs import make

ROOT = Path(__file__).resolve().parents[2]
RIDGELINE = os.environ["RIDGELINE"]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
WITH_CODE = [page for page in PAGES if any(block.kind in RUN for block in blocks_of(page.read_text()))]


@pytest.fixture(scope="session")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    make(folder, RIDGELINE)
    return folder


@pytest.fixture
def folder(inputs, tmp_path):
    """A folder as a reader has it after the build."""
    shutil.copytree(inputs, tmp_path / "page")
    for name in ("build", "scripts", "configs"):
        (tmp_path / "page" / name).symlink_to((ROOT / name) if name != "build" else Path(RIDGELINE).parent)
    return tmp_path / "page"


def environment():
    ours = {"PATH": f"{Path(RIDGELINE).parent}:{os.environ['PATH']}", "MPLBACKEND": "Agg", "RIDGELINE_PYTHON_EXECUTABLE": sys.executable}
    return os.environ | ours


def run(command, folder, typed=None):
    answer = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment(), input=typed or "", timeout=300)
    assert answer.returncode == 0, f"{answer.stdout[-1500:]}\n{answer.stderr[-3000:]}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_blocks_are_of_kinds_that_are_run_or_only_shown(page):
    for block in blocks_of(page.read_text()):
        assert block.kind in (*RUN, *SHOWN), f"line {block.line}: '{block.kind}' is no kind that tests know"
    assert page.read_text().count("\n```") % 2 == 0


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_blocks_of_a_page_run(page, folder):
    python = ""
    for block in blocks_of(page.read_text()):
        if block.excused:
            continue
        if block.title:
            (folder / block.title).write_text(block.body)
        elif block.kind == "sh":
            run(["bash", "-euo", "pipefail", "-c", f"# {page.name}:{block.line}\n{runnable(block.body)}"], folder)
        elif block.kind == "python":
            python += "\n" * (block.line - python.count("\n")) + block.body  # so that errors name the page's lines
        elif block.kind == "yaml":
            understood(folder, block)
    if python:
        (folder / "page.py").write_text(python)
        run([sys.executable, "page.py"], folder)


def understood(folder, block):
    """As evidence, or as a scenario."""
    path = folder / "block.yaml"
    path.write_text(block.body)
    if re.search(r"^(base|hw|stack|workload):", block.body, re.M):
        rl.Scenario(path).resolved()
    else:
        rl.check_evidence(path)


def test_an_excuse_stands_where_readers_see_it():
    text = "Words (not run by the tests: it\nneeds a GPU):\n\n```sh\nfalse\n```\n\nMore.\n\n"
    text += "```sh\nfalse  # (not run by the tests: needs nothing)\ntrue\n```\n"
    first, second = blocks_of(text)
    assert first.excused and not second.excused and runnable(second.body) == "true\n"
    assert not blocks_of("(not run by the tests: no)\n\n```sh\nx\n```\n")[0].excused, "a reason has words"
