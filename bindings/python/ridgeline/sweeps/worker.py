"""What a worker does: it holds the scenario, and answers points with rows. Imports nothing slow."""

from __future__ import annotations

import functools
import os
import threading
from typing import Any, Dict, List, Tuple

from .._core import ScenarioRuns

__all__ = ["Row", "Spec", "Task", "failed", "run_here", "run_points", "run_remote", "start"]

Task = Tuple[int, List[Tuple[str, str]], List[str]]
"""A point to run: its index, its overrides, its interventions."""
Row = Dict[str, Any]
"""What a point answered: ``point`` (its index) and a value for every column that is not the plan's."""
Spec = Tuple[str, List[Tuple[str, str]], bool]
"""The scenario as workers get it: its document, the overrides of all points, and whether to diagnose."""

_held: tuple[ScenarioRuns, bool] | None = None


def run_here(runs: ScenarioRuns, diagnose: bool, task: Task) -> Row:
    """Run one point. What cannot run is a row too, with the reason in ``error``."""
    index, overrides, levers = task
    return {"point": index, **runs.row(overrides, levers, diagnose)}


def failed(task: Task, why: str) -> Row:
    """The row of a point that left none."""
    row: Row = {"point": task[0]}
    row.update(dict.fromkeys(name for name, *_ in ScenarioRuns.figures()), regime=None, confidence=None)
    return row | {"error": why, "scenario": None, "wall_seconds": None}


def start(spec: Spec) -> None:
    """Make a process a worker: it holds the scenario, and ends when the process that started it does."""
    global _held
    _held = _holding(spec)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def run_points(tasks: list[Task]) -> list[Row]:
    """Run points in a process that `start` made a worker."""
    assert _held is not None
    return [run_here(*_held, task) for task in tasks]


def run_remote(spec: Spec, tasks: list[Task]) -> list[Row]:
    """The same where nobody called `start`: the scenario is held from one call to the next."""
    held = _cached(spec[0], tuple(spec[1]), spec[2])
    return [run_here(*held, task) for task in tasks]


def _holding(spec: Spec) -> tuple[ScenarioRuns, bool]:
    document, overrides, diagnose = spec
    return ScenarioRuns.read(document, overrides), diagnose


@functools.lru_cache(maxsize=4)
def _cached(document: str, overrides: tuple[tuple[str, str], ...], diagnose: bool) -> tuple[ScenarioRuns, bool]:
    return _holding((document, list(overrides), diagnose))


def _end_with_parent() -> None:
    """A worker waits for work on a pipe that stays open when its parent is killed; this is how it learns of that."""
    from multiprocessing import connection, parent_process

    if (parent := parent_process()) is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
