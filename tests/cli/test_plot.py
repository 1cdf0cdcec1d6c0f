"""`ridgeline plot` through the program. What is drawn: tests/python/test_plots.py."""

import importlib.util
import os
import subprocess
import sys

import pytest

RIDGELINE = os.environ["RIDGELINE"]
ENVIRONMENT = {**os.environ, "RIDGELINE_PYTHON_EXECUTABLE": sys.executable}


def ridgeline(*arguments, code=0):
    answer = subprocess.run([RIDGELINE, *map(str, arguments)], capture_output=True, text=True, timeout=120, env=ENVIRONMENT)
    assert answer.returncode == code, answer.stderr
    return answer


def test_a_kept_run_becomes_a_picture(tmp_path):
    if importlib.util.find_spec("matplotlib") is None:
        pytest.skip("no matplotlib")
    ridgeline("run", "chat_8b", "--set", "workload.requests=5", "--out", tmp_path / "run")
    assert ridgeline("plot", "ledger", tmp_path / "run", "--out", tmp_path / "ledger.svg").stdout == ""
    assert "<svg" in (tmp_path / "ledger.svg").read_text()[:1000]


def test_no_picture_without_matplotlib_but_a_sentence(tmp_path):
    ridgeline("run", "chat_8b", "--set", "workload.requests=5", "--out", tmp_path / "run")
    (tmp_path / "matplotlib.py").write_text("raise ModuleNotFoundError('no', name='matplotlib')\n")
    environment = {**ENVIRONMENT, "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"}
    command = [RIDGELINE, "plot", "ledger", tmp_path / "run", "--out", tmp_path / "a.png"]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    assert answer.returncode == 3 and "needs the Python package matplotlib" in answer.stderr and "Traceback" not in answer.stderr
    assert not (tmp_path / "a.png").exists()


def test_a_wrong_kind_is_named_with_the_nearest(tmp_path):
    told = ridgeline("plot", "heat-map", "x.csv", "--out", "a.png", code=2).stderr
    assert told == "ridgeline: plot: unknown kind of picture 'heat-map'; did you mean 'heatmap'?\n"


def test_help_shows_every_kind():
    told = ridgeline("plot", "--help").stdout
    for kind in ("roofline", "ledger", "timeline", "latencies", "pareto", "curve", "heatmap", "tornado"):
        assert f"\n  {kind} " in told
        assert f"ridgeline plot {kind}" in ridgeline("plot", kind, "--help").stdout
