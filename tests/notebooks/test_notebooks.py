"""Notebooks run from start to end, and what they claim holds: their assertions are in their cells.

What they print and draw is kept in build/notebooks, for the site.
"""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
EXECUTED = Path(os.environ["RIDGELINE"]).parent / "notebooks"


async def execute(path, turn):
    """None, or what went wrong."""
    notebook = nbformat.read(path, as_version=4)
    where = {"metadata": {"path": str(ROOT / "notebooks")}}
    async with turn:
        try:
            await nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources=where).async_execute()
        except Exception as error:  # a cell's whole traceback
            return str(error)
    EXECUTED.mkdir(exist_ok=True)
    beside = EXECUTED / f".{path.name}"
    nbformat.write(notebook, beside)
    beside.replace(EXECUTED / path.name)
    return None


async def execute_all():
    """All of them, two at a time: most of a short one is waiting for its kernel."""
    turn = asyncio.Semaphore(2)
    return await asyncio.gather(*(execute(path, turn) for path in NOTEBOOKS))


@pytest.fixture(scope="session")
def answers():
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    return dict(zip(NOTEBOOKS, asyncio.run(execute_all())))


def test_there_are_six():
    assert [path.name[0] for path in NOTEBOOKS] == list("123456")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_start_to_end(path, answers):
    assert answers[path] is None, answers[path]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_draws_claims_and_carries_no_outputs(path):
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code)
    assert sum("assert " in cell.source for cell in code) >= 3
    assert any("plot" in cell.source or "ax." in cell.source for cell in code)


def test_notebooks_are_what_their_sources_say():
    answer = subprocess.run([sys.executable, str(ROOT / "scripts" / "make_notebooks.py"), "--check"], capture_output=True, text=True)
    assert answer.returncode == 0, answer.stdout
