"""Points run by the workers of a Dask scheduler, on as many machines as it has."""

from __future__ import annotations

import sys
from typing import Any, Iterator, Sequence

from .._core import ScenarioRuns
from ..errors import ConfigError, SimulationError
from .executors import Chunks
from .worker import Row, Spec, Task, failed, run_remote

__all__ = ["DaskWorkers"]

_PATIENCE_SECONDS = 30.0  # for a scheduler to answer, and for its first worker


class DaskWorkers:
    """The workers of a scheduler. One that dies has its points run by another.

    Parameters
    ----------
    scheduler
        Its address, such as ``tcp://10.0.0.1:8786``.
    """

    def __init__(self, scheduler: str) -> None:
        self.scheduler = scheduler

    def run(self, spec: Spec, tasks: Sequence[Task]) -> Iterator[list[Row]]:
        """See `ridgeline.sweeps.executors.Executor`.

        Raises
        ------
        ConfigError
            Nothing answers at the address, or dask is not installed here.
        SimulationError
            The scheduler has no workers, or they have no ridgeline or another one.
        """
        distributed = _distributed()
        try:
            client = distributed.Client(self.scheduler, timeout=_PATIENCE_SECONDS, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as why:
            raise ConfigError(f"--dask: no scheduler answers at '{self.scheduler}': {why}") from why
        try:
            _require_same_program(client)
            yield from _rows(client, spec, tasks)
        finally:
            client.close(timeout=5)


def _distributed() -> Any:
    """The package, which has no types worth checking against."""
    try:
        import distributed
    except ModuleNotFoundError as missing:
        raise ConfigError(f"--dask: needs {missing.name}; {sys.executable} -m pip install 'dask[distributed]'") from missing
    return distributed


def _rows(client: Any, spec: Spec, tasks: Sequence[Task]) -> Iterator[list[Row]]:
    distributed = _distributed()
    workers = max(1, sum(client.nthreads().values()))
    chunks = Chunks(tasks, workers)
    flying: dict[Any, list[Task]] = {}
    done = distributed.as_completed(loop=client.loop)

    def send(chunk: list[Task]) -> None:
        future = client.submit(run_remote, spec, chunk, pure=False)
        flying[future] = chunk
        done.add(future)

    try:
        while chunks or flying:
            while chunks and len(flying) < 2 * workers:
                send(chunks.take())
            future = next(done)
            chunk = flying.pop(future)
            try:
                rows: list[Row] = future.result()
            except distributed.scheduler.KilledWorker as killed:
                # The scheduler has tried it on several workers. One of its points kills them; each for itself shows which.
                if len(chunk) == 1:
                    yield [failed(chunk[0], f"workers ended while they ran this point: {killed}".splitlines()[0])]
                else:
                    for task in chunk:
                        send([task])
                continue
            chunks.learn(rows)
            yield rows
    finally:
        client.cancel(list(flying))


def _figures() -> list[str]:
    return [name for name, *_ in ScenarioRuns.figures()]


def _require_same_program(client: Any) -> None:
    """Workers with another version would answer with other columns, or other numbers in them."""
    try:
        client.wait_for_workers(1, timeout=_PATIENCE_SECONDS)
    except TimeoutError as why:
        raise SimulationError(f"--dask: the scheduler has no workers after {_PATIENCE_SECONDS:g} s") from why
    try:
        answers = client.run(_figures)
    except ModuleNotFoundError as missing:
        raise SimulationError(f"--dask: the workers have no {missing.name}; install the same ridgeline there as here") from missing
    for worker, names in answers.items():
        if names != _figures():
            raise SimulationError(f"--dask: the worker {worker} has another version of ridgeline; install the same one there as here")
