"""The commands that the program hands over to Python: sweep, merge, capacity, sensitivity. Options, tables, kills, errors."""

import contextlib
import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

from ridgeline.commands import COMMANDS  # noqa: E402

PROGRAM = os.environ["RIDGELINE"]
FEW = ("--set", "workload.requests=8")


def environment():
    return os.environ | {"RIDGELINE_PYTHON_EXECUTABLE": sys.executable}


def ridgeline(*argv, code=0, **options):
    done = subprocess.run([PROGRAM, *map(str, argv)], capture_output=True, text=True, timeout=60, env=environment(), **options)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def started(*argv):
    return subprocess.Popen([PROGRAM, *map(str, argv)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(), start_new_session=True)


def wait_for_rows(journal, n):
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with contextlib.suppress(FileNotFoundError):
            if journal.read_text().count("\n") > n:
                return
        time.sleep(0.005)
    raise AssertionError(f"{journal}: no {n} rows")


def test_help_lists_the_commands_and_each_has_examples():
    listed = ridgeline("--help").stdout
    assert all(f"\n  {command} " in listed for command in COMMANDS)
    for command in ("sweep", "merge", "capacity", "sensitivity"):
        told = ridgeline(command, "--help").stdout
        assert told.startswith(f"usage: ridgeline {command}")
        assert "For example:\n  ridgeline " + command in told


def test_a_sweep_prints_a_row_a_point():
    lines = ridgeline("sweep", "chat_8b", *FEW, "--grid", "engine.max_num_seqs=1,2,4...8").stdout.splitlines()
    assert lines[0].split()[:2] == ["engine.max_num_seqs", "output_throughput"]
    assert [line.split()[0] for line in lines[1:5]] == ["1", "2", "4", "8"]


def test_a_sweep_as_json_has_every_column():
    rows = json.loads(ridgeline("sweep", "chat_8b", *FEW, "--grid", "hw=mi300x,a100", "--seeds", "1..2", "--whatif", "none,speculate:k=2,acceptance=0.5", "--json").stdout)
    assert len(rows) == 2 * 2 * 2
    assert {"id", "hw", "seed", "whatif", "output_throughput", "regime", "error", "scenario", "wall_seconds"} < set(rows[0])


def test_a_table_has_the_suffix_that_was_asked_for(tmp_path):
    for suffix in ("csv", "parquet"):
        done = ridgeline("sweep", "chat_8b", *FEW, "--grid", "engine.max_num_seqs=1,2", "--out", tmp_path / f"t.{suffix}")
        assert done.stdout == f"2 rows in {tmp_path / f't.{suffix}'}\n"
        assert done.stderr == ""
    assert (tmp_path / "t.parquet").read_bytes()[:4] == b"PAR1"
    assert [row["engine.max_num_seqs"] for row in rows_of(tmp_path / "t.csv")] == ["1", "2"]
    told = ridgeline("sweep", "chat_8b", "--grid", "engine.max_num_seqs=1,2", "--out", tmp_path / "t.xlsx", code=2).stderr
    assert "expected a name that ends in .parquet or .csv" in told


def test_points_that_cannot_run_are_counted_and_told():
    some = ridgeline("sweep", "chat_8b", *FEW, "--grid", "model=llama3_8b,llama3_70b", "--set", "hw=a100")
    assert "1 of 2 points could not run: " in some.stderr
    every = ridgeline("sweep", "chat_8b", *FEW, "--grid", "engine.max_num_seqs=1,2", "--set", "hw=a100", "--set", "model=llama3_70b", code=3)
    assert "2 of 2 points could not run: " in every.stderr


@pytest.mark.parametrize(
    "argv, told",
    [
        (["sweep"], "sweep: expected SCENARIO, got nothing; see 'ridgeline sweep --help'"),
        (["sweep", "chat_8b"], "expected points: --grid"),
        (["sweep", "chat_8b", "--gird", "a=1"], "unknown option '--gird'; did you mean '--grid'?"),
        (["sweep", "chat_9b", "--grid", "a=1,2"], "unknown name 'chat_9b'; did you mean 'chat_8b'?"),
        (["sweep", "chat_8b", "--grid", "engine.max_num_seqz=1,2"], "did you mean 'max_num_seqs'?"),
        (["sweep", "chat_8b", "--grid", "engine.max_num_seqs"], "--grid: expected KEY=VALUES"),
        (["sweep", "chat_8b", "--grid", "a=1", "--set", "b"], "--set: expected KEY=VALUE"),
        (["sweep", "chat_8b", "--grid", "a=1", "--resume"], "--resume: expected --out too"),
        (["sweep", "chat_8b", "--grid", "seed=1", "--seeds", "1..2"], "seed: expected one axis for each key, got two"),
        (["sweep", "chat_8b", "--random", "x"], "--random: invalid int value: 'x'"),
        (["sweep", "chat_8b", "--random", "3"], "--random: expected ranges to sample"),
        (["merge", "nowhere.csv", "--out", "all.csv"], "nowhere.csv: cannot be read: No such file or directory"),
        (["capacity", "chat_8b", "--slo", "p99_tft_ms=3"], "no objective is named 'p99_tft_ms'; did you mean 'p99_ttft_ms'?"),
        (["capacity", "chat_8b", "--slo", "p99_ttft_ms"], "--slo: expected NAME=MILLISECONDS"),
        (["sensitivity", "chat_8b", "--key", "hw.hbm.capacityy"], "did you mean 'hw.hbm.capacity'?"),
        (["sensitivity", "chat_8b", "--key", "hw.*", "--figure", "mean_tpott_ms"], "did you mean 'mean_tpot_ms'?"),
    ],
)
def test_what_is_wrong_is_one_sentence_with_the_nearest_name(argv, told, tmp_path):
    done = ridgeline(*argv, code=2, cwd=tmp_path)
    assert done.stderr.startswith("ridgeline: ") and done.stderr.count("\n") == 1
    assert told in done.stderr
    assert done.stdout == ""
    assert os.listdir(tmp_path) == []


POINTS = 500
OPTIONS = ("--set", "workload.requests=30", "--no-timing", "--no-diagnosis", "--quiet", "--jobs", "2")
LONG = (*OPTIONS, "--grid", f"engine.max_num_seqs=1..{POINTS}")
ENDLESS = (*OPTIONS, "--grid", "engine.max_num_seqs=1..50000")  # minutes: it is stopped long before


def test_a_killed_sweep_resumes_to_the_same_table_and_leaves_no_process(tmp_path):
    out, journal = tmp_path / "t.csv", tmp_path / "t.csv.journal"
    killed = started("sweep", "chat_8b", *LONG, "--out", out)
    wait_for_rows(journal, 10)
    killed.kill()
    killed.communicate(timeout=20)  # ends when nobody holds its pipes any more
    assert not out.exists()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:  # workers notice that nobody is there any more
        try:
            os.killpg(killed.pid, 0)
        except ProcessLookupError:
            break
        time.sleep(0.05)
    else:
        raise AssertionError("workers outlive a killed sweep")
    kept = journal.read_text().count("\n") - 1
    assert 10 <= kept < POINTS
    assert f"has {kept} finished runs; go on with --resume" in ridgeline("sweep", "chat_8b", *LONG, "--out", out, code=2).stderr
    ridgeline("sweep", "chat_8b", *LONG, "--out", out, "--resume")
    ridgeline("sweep", "chat_8b", *LONG, "--out", tmp_path / "whole.csv")
    assert out.read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["t.csv", "whole.csv"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_stops_a_sweep_and_says_how_to_go_on(tmp_path, jobs):
    out, journal = tmp_path / "t.csv", tmp_path / "t.csv.journal"
    running = started("sweep", "chat_8b", *ENDLESS, "--jobs", jobs, "--out", out)
    wait_for_rows(journal, 10)
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does: to the workers too
    stdout, stderr = running.communicate(timeout=20)
    assert running.returncode == 130
    assert stdout == ""
    assert stderr == f"ridgeline: stopped; finished runs are in {journal}; the same command with --resume goes on\n"
    assert os.listdir(tmp_path) == ["t.csv.journal"]


def test_ctrl_c_before_the_first_run_promises_no_journal(monkeypatch, capsys, tmp_path):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("ridgeline.sweeps.cmd_sweep.sweep", interrupted)
    assert COMMANDS["sweep"](["chat_8b", "--seeds", "1..2", "--out", str(tmp_path / "t.csv")]) == 130
    assert capsys.readouterr().err == "ridgeline: stopped; no run had begun\n"


def test_a_wrong_option_is_looked_for_in_the_arguments_given_and_not_in_the_programs(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["notebook", "--port"])
    assert COMMANDS["sweep"](["--gird", "a=1"]) == 2
    assert capsys.readouterr().err == "ridgeline: sweep: unknown option '--gird'; did you mean '--grid'?\n"


def test_capacity_says_rate_bracket_what_binds_and_goodput():
    done = ridgeline("capacity", "chat_8b", "--slo", "p99_ttft_ms=2000", "--slo", "mean_tpot_ms=50", "--requests", "300", "--tolerance", "0.2", "--json")
    found = json.loads(done.stdout)
    low, high = found["bracket"]
    assert low == found["request_rate"] < high <= found["service_rate"]
    assert high - low <= 0.2 * high
    assert found["binds"] in ("saturation", "p99_ttft_ms", "mean_tpot_ms")
    assert found["runs"] == len(found["probes"]) + 1


def test_sensitivity_ranks_keys(tmp_path):
    argv = ("sensitivity", "chat_8b", "--set", "workload.requests=20", "--key", "hw.hbm.capacity", "--key", "workload.output_tokens.lognormal.median", "--figure", "mean_e2el_ms")
    lines = ridgeline(*argv).stdout.splitlines()
    assert lines[0].startswith("mean_e2el_ms = ")
    assert lines[3].split()[0] == "workload.output_tokens.lognormal.median"
    ridgeline(*argv, "--swing", "0.3", "--out", tmp_path / "t.json")
    answer = json.loads((tmp_path / "t.json").read_text())
    assert answer["figure"] == "mean_e2el_ms" and len(answer["keys"]) == 2


def test_a_python_without_the_package_is_told_what_to_install(tmp_path):
    copied = tmp_path / "ridgeline"
    shutil.copyfile(PROGRAM, copied)
    copied.chmod(0o755)
    plain = {key: value for key, value in environment().items() if key != "PYTHONPATH"}
    done = subprocess.run([copied, "sweep", "chat_8b"], capture_output=True, text=True, env=plain | {"PYTHONNOUSERSITE": "1"})
    assert done.returncode != 0
    assert "is a command of the Python package ridgeline" in done.stderr and "-m pip install" in done.stderr
    gone = subprocess.run([PROGRAM, "sweep", "chat_8b"], capture_output=True, text=True, env=plain | {"RIDGELINE_PYTHON_EXECUTABLE": "/no/python3"})
    assert gone.returncode == 3
    assert "'/no/python3' cannot be started: No such file or directory" in gone.stderr
