"""Sweeps on Dask: a real scheduler and real workers, on this machine."""

import os
import re
import signal
import subprocess
import sys
import threading
import time

import pytest

pytest.importorskip("pandas")
distributed = pytest.importorskip("distributed")

import ridgeline  # noqa: E402

SLOW_ENOUGH = {"workload.requests": 150}  # about 15 ms a run, so that a worker is at work when it is killed
GRID = {"engine.max_num_seqs": "1..160"}


def started(log, *arguments, until):
    """A process of dask's, once a line that matches is in its log; and the match."""
    with open(log, "w", encoding="utf-8") as file:
        process = subprocess.Popen([sys.executable, "-m", *arguments], stderr=file, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if found := re.search(until, log.read_text()):
            return process, found
        time.sleep(0.05)
    process.kill()
    raise AssertionError(f"{arguments}: {process.wait()}\n{log.read_text()}")


def rows_in(journal):
    try:
        return journal.read_text().count("\n") - 1
    except FileNotFoundError:
        return 0


@pytest.fixture
def cluster(tmp_path):
    processes = []
    try:
        scheduler, found = started(tmp_path / "scheduler.log", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", until=r"Scheduler at:\s+(tcp://\S+)")
        processes.append(scheduler)
        address = found[1]
        for i in range(2):
            worker, _ = started(
                tmp_path / f"worker{i}.log", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", tmp_path / str(i), until="Registered to"
            )
            processes.append(worker)
        yield address, processes[1:]
    finally:
        for process in reversed(processes):
            process.kill()
            process.wait()


def test_dask_gives_the_same_table_and_survives_a_workers_death(cluster, tmp_path):
    address, workers = cluster
    ridgeline.sweep("chat_8b", GRID, overrides=SLOW_ENOUGH, jobs=1, timing=False, diagnose=False, out=tmp_path / "serial.csv")
    stopped = threading.Event()

    def kill_one():
        journal = tmp_path / "dask.csv.journal"
        while not stopped.is_set() and rows_in(journal) < 4:
            time.sleep(0.005)
        os.kill(workers[0].pid, signal.SIGKILL)

    killer = threading.Thread(target=kill_one)
    killer.start()
    try:
        ridgeline.sweep("chat_8b", GRID, dask=address, overrides=SLOW_ENOUGH, timing=False, diagnose=False, out=tmp_path / "dask.csv")
    finally:
        alive = killer.is_alive()
        stopped.set()
        killer.join()
    assert not alive  # it was killed in the middle
    assert workers[0].wait() == -signal.SIGKILL
    assert workers[1].poll() is None
    assert (tmp_path / "dask.csv").read_bytes() == (tmp_path / "serial.csv").read_bytes()


def test_an_address_without_a_scheduler_is_an_error(monkeypatch):
    monkeypatch.setattr("ridgeline.sweeps.dask_executor._PATIENCE_SECONDS", 0.5)
    with pytest.raises(ridgeline.ConfigError, match="no scheduler answers at 'tcp://127.0.0.1:9'"):
        ridgeline.sweep("chat_8b", {"engine.max_num_seqs": "1,2"}, dask="tcp://127.0.0.1:9")
