"""Who runs the points of a sweep: this process, or several on this machine. Whoever it is, the rows are the same; their order is not.

An executor is called with the scenario and the points, and yields lists of rows as they are done. Closing the iterator stops it.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import types
from collections import deque
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Iterator, Protocol, Sequence

from ..errors import ConfigError, SimulationError
from .worker import Row, Spec, Task, _holding, failed, run_here, run_points, start

__all__ = ["Chunks", "Executor", "Processes", "Serial", "local"]

_LOST = "the process that ran this point ended: it was killed, or ran out of memory"


class Executor(Protocol):
    """Runs points."""

    def run(self, spec: Spec, tasks: Sequence[Task]) -> Iterator[list[Row]]:
        """Yields rows as they are done, in any order, one for each task."""
        ...


def local(jobs: int | None = None) -> Executor:
    """Processes for the cores that this process may use, or for so many; none for one.

    Raises
    ------
    ConfigError
        Fewer than one.
    """
    if jobs is None:
        jobs = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if jobs < 1:
        raise ConfigError(f"--jobs: expected at least 1, got {jobs}")
    return Serial() if jobs == 1 else Processes(jobs)


class Serial:
    """In this process, one after the other."""

    def run(self, spec: Spec, tasks: Sequence[Task]) -> Iterator[list[Row]]:
        held = _holding(spec)
        for task in tasks:
            yield [run_here(*held, task)]


class Chunks:
    """Tasks handed out in portions: one at first, then what takes about a quarter of a second, and small ones at the end.

    So the way to a worker and back costs little, no worker is left with much when the others are done, and a kill loses little.
    """

    _SECONDS = 0.25

    def __init__(self, tasks: Sequence[Task], workers: int) -> None:
        self._left = deque(tasks)
        self._workers = workers
        self._seconds = 0.0
        self._runs = 0

    def __bool__(self) -> bool:
        return bool(self._left)

    def learn(self, rows: Sequence[Row]) -> None:
        """How long these took."""
        self._seconds += sum(row["wall_seconds"] or 0.0 for row in rows)
        self._runs += len(rows)

    def take(self) -> list[Task]:
        fair = len(self._left) // (4 * self._workers)
        wanted = int(self._SECONDS * self._runs / self._seconds) if self._seconds > 0.0 else 1
        return [self._left.popleft() for _ in range(min(len(self._left), max(1, min(fair, wanted))))]


class Processes:
    """Processes on this machine. A process that dies takes nothing with it but the point that killed it."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs

    def run(self, spec: Spec, tasks: Sequence[Task]) -> Iterator[list[Row]]:
        chunks = Chunks(tasks, self.jobs)
        pool = _Pool(spec, min(self.jobs, len(tasks)))
        flying: dict[Future[list[Row]], list[Task]] = {}
        try:
            while chunks or flying:
                while chunks and len(flying) < 2 * self.jobs:  # one that runs and one that waits for each
                    chunk = chunks.take()
                    flying[pool.submit(chunk)] = chunk
                lost: list[Task] = []
                for future in wait(flying, return_when=FIRST_COMPLETED).done:
                    chunk = flying.pop(future)
                    try:
                        rows = future.result()
                    except BrokenProcessPool:
                        lost += chunk
                        continue
                    chunks.learn(rows)
                    yield rows
                if lost:  # with one process the whole pool is gone, and who killed it is not known
                    lost += [task for chunk in flying.values() for task in chunk]
                    flying.clear()
                    pool.kill()
                    for task in lost:
                        yield [_alone(spec, task)]
                    pool = _Pool(spec, self.jobs)
        finally:
            pool.kill()


def _alone(spec: Spec, task: Task) -> Row:
    """The row of a point in a process of its own, so that it is known whether it is this one that kills."""
    pool = _Pool(spec, 1)
    try:
        pool.submit([]).result()
    except BrokenProcessPool as broken:
        pool.kill()
        raise SimulationError("worker processes end before they have run anything; --jobs 1 runs the sweep in this process") from broken
    try:
        return pool.submit([task]).result()[0]
    except BrokenProcessPool:
        return failed(task, _LOST)
    finally:
        pool.kill()


class _Pool:
    """Python's process pool, with workers that do not hear Ctrl-C, do not run the caller's script again, and can be ended at once."""

    def __init__(self, spec: Spec, jobs: int) -> None:
        context = multiprocessing.get_context("spawn")  # a fork would copy the locks of whatever threads there are
        self._pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=start, initargs=(spec,))

    def submit(self, tasks: list[Task]) -> Future[list[Row]]:
        try:
            with _deaf_to_interrupts(), _without_main():  # it may start a process
                return self._pool.submit(run_points, tasks)
        except BrokenProcessPool as broken:
            future: Future[list[Row]] = Future()
            future.set_exception(broken)
            return future

    def kill(self) -> None:
        processes = list((getattr(self._pool, "_processes", None) or {}).values())
        for process in processes:
            process.kill()
        for process in processes:
            process.join()
        # A worker that was killed in the middle of a result leaves half of it in the pipe. The thread that reads it waits for the rest
        # until nobody can write any more, and the last who could is this process.
        if (results := getattr(self._pool, "_result_queue", None)) is not None:
            results._writer.close()
        self._pool.shutdown(wait=True, cancel_futures=True)


@contextlib.contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Processes started meanwhile never see SIGINT, not even while they start: a blocked signal stays so."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _without_main() -> Iterator[None]:
    """Processes started meanwhile do not import the caller's script, of which they need nothing and which may have no guard."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
