"""Notebooks run from start to end, and what they claim holds: their assertions are in their cells.

What they print and draw is kept in build/notebooks, for the site.
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
EXECUTED = Path(os.environ["RIDGELINE"]).parent / "notebooks"


def execute(path):
    """None, or what went wrong."""
    notebook = nbformat.read(path, as_version=4)
    try:
        nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(ROOT / "notebooks")}}).execute()
    except Exception as error:  # the whole text of a failed cell
        return str(error)
    EXECUTED.mkdir(exist_ok=True)
    beside = EXECUTED / f".{path.name}"
    nbformat.write(notebook, beside)
    beside.replace(EXECUTED / path.name)
    return None


@pytest.fixture(scope="session")
def answers():
    """All of them, two at a time: a kernel takes seconds to start."""
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(NOTEBOOKS, pool.map(execute, NOTEBOOKS)))


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
