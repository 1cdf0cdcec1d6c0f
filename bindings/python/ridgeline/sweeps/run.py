"""A sweep from its plan to its table."""

from __future__ import annotations

import hashlib
import importlib
import itertools
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any, Iterable, Mapping, Sequence

from .._core import ScenarioRuns
from .._values import yaml
from ..errors import ConfigError
from ..scenarios import AnyScenario, Scenario
from .design import Range, sampled
from .executors import Executor, local
from .fingerprint import fingerprint
from .journal import Journal
from .plan import WHATIF, Axis, Plan, Point, Shard
from .progress import Progress
from .result import Sweep
from .table import Table, read, require_suffix
from .values import parse_assignment, parse_quantity, parse_values, split_outside_brackets
from .worker import Row, Spec, Task

__all__ = ["axes_of", "execute", "opened", "plan_of", "run_points", "sweep"]

_TRIED = 64  # points whose scenario is read before anything runs


def sweep(
    scenario: AnyScenario,
    grid: Mapping[str | tuple[str, ...], str | Iterable[Any]] | None = None,
    *,
    ranges: Mapping[str, str | tuple[float, float]] | None = None,
    random: int = 0,
    lhs: int = 0,
    whatif: Iterable[str] | None = None,
    seeds: Iterable[int] | None = None,
    overrides: Mapping[str, Any] | None = None,
    sample_seed: int = 1,
    jobs: int | None = None,
    dask: str | None = None,
    shard: str | None = None,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    timing: bool = True,
    diagnose: bool = True,
    progress: bool | None = None,
) -> Sweep:
    """Run a scenario at many settings.

    Parameters
    ----------
    scenario
        A `Scenario`, the name of a shipped scenario or case, or a path.
    grid
        Axes, by dotted key: values, or the text of a range (``"1..256*2"``, ``"0.5..2:0.25"``, ``"1,2,4…256"``). Quantities carry their unit,
        as in YAML. Several axes are combined, the last one fastest. Keys joined by ``+``, or a tuple of them, change together: a tuple of
        values is one for each of them, a single value is for all.
    ranges
        What is sampled: ``{"engine.max_num_seqs": "1..512:log"}`` or ``(low, high)``.
    random, lhs
        So many samples of the ranges: independent, or a Latin hypercube.
    whatif
        Interventions as an axis: ``["none", "quantize:int4", "quantize:fp8+graphs:on"]``.
    seeds
        Every point is run with each of them.
    overrides
        Values for every run.
    sample_seed
        Of the samples.
    jobs
        Processes on this machine; one a core if left out.
    dask
        Address of a Dask scheduler whose workers run the points instead.
    shard
        ``"2/4"``: only every fourth point, from the second on.
    out
        Where the table goes (``.parquet`` or ``.csv``). Finished runs are kept in ``OUT.journal`` until it is written.
    resume
        Go on with the runs in the journal.
    timing
        Whether ``wall_seconds`` (this computer's time for the run and its diagnosis) is a column. Without it the table is the same, byte for byte, whoever ran its points.
    diagnose
        Whether every run is diagnosed; without, regime and confidence are empty.
    progress
        A bar on stderr; by default only on a terminal.

    Returns
    -------
    Sweep
        A row a point, in the plan's order. A point that cannot run, like a model that does not fit in memory, is a row with the reason in
        ``error``.

    Raises
    ------
    ConfigError
        The scenario, an axis or a value is wrong, no point makes a scenario, a journal is in the way or is another sweep's.
    SimulationError
        The Dask workers have no ridgeline, or another one.
    ModuleNotFoundError
        There is no pandas, or for a ``.parquet`` no pyarrow.

    Examples
    --------
    >>> import ridgeline as rl
    >>> few = {"workload.requests": 5}
    >>> rl.sweep("chat_8b", {"engine.max_num_seqs": "1..4*2", "model.quantization": ["none", "fp8"]}, overrides=few, jobs=1)
    <Sweep: 6 points over engine.max_num_seqs, model.quantization>
    """
    importlib.import_module("pandas")  # the result needs it: missed now, and not after the runs
    runs = opened(scenario, overrides)
    plan = plan_of(runs, axes_of(grid, ranges, random, lhs, whatif, seeds, sample_seed))
    executor: Executor = local(jobs)
    if dask is not None:
        from .dask_executor import DaskWorkers

        executor = DaskWorkers(dask)
    path = None if out is None else Path(out)
    table = execute(runs, plan, executor, Shard.parse(shard) if shard else Shard(), path, resume, timing, diagnose, progress)
    return Sweep(table, plan.keys)


def opened(scenario: AnyScenario, overrides: Mapping[str, Any] | None = None) -> ScenarioRuns:
    """A scenario by name, by path, or as the package has it, ready to be run many times."""
    more = [(key, yaml(value)) for key, value in (overrides or {}).items()]
    if isinstance(scenario, Scenario):
        return ScenarioRuns.open(None if scenario.base is None else os.fspath(scenario.base), scenario._pairs() + more)
    return ScenarioRuns.open(os.fspath(scenario), more)


def axes_of(
    grid: Mapping[str | tuple[str, ...], str | Iterable[Any]] | None,
    ranges: Mapping[str, str | tuple[float, float]] | None,
    random: int,
    lhs: int,
    whatif: Iterable[str] | None,
    seeds: Iterable[int] | None,
    sample_seed: int,
) -> list[Axis]:
    """The axes that arguments of `sweep` mean: the grid's, then samples, interventions and seeds."""
    axes = [_grid_axis(keys, values) for keys, values in (grid or {}).items()]
    if random and lhs:
        raise ConfigError("--lhs: expected one design, got --random too")
    given = [_range(key, value) for key, value in (ranges or {}).items()]
    if random or lhs:
        axes.append(sampled(given, random or lhs, "random" if random else "lhs", sample_seed))
    elif given:
        raise ConfigError("--range: expected a number of samples too: --random N or --lhs N")
    if whatif is not None:
        axes.append(Axis((WHATIF,), tuple((lever,) for lever in whatif)))
    if seeds is not None:
        axes.append(Axis(("seed",), tuple((str(int(seed)),) for seed in seeds)))
    return axes


def _grid_axis(keys: str | tuple[str, ...], values: str | Iterable[Any]) -> Axis:
    names = tuple(keys.split("+")) if isinstance(keys, str) else keys
    if isinstance(values, str):
        texts = parse_values(values, "+".join(names))
        parts: list[Sequence[Any]] = [_one_for_each(text, len(names)) for text in texts]
    else:
        parts = [value if len(names) > 1 and isinstance(value, (tuple, list)) else [value] for value in values]
    # One value for several keys is the value of each.
    return Axis(names, tuple(tuple(yaml(v) for v in (list(part) * len(names) if len(part) == 1 else part)) for part in parts))


def _one_for_each(text: str, keys: int) -> list[str]:
    """``mi300x+2.5`` as the values of two keys; a number like 1e+5, and whatever has another count of parts, is one value."""
    parts = split_outside_brackets(text, "+")
    return parts if len(parts) == keys and not parse_quantity(text) else [text]


def _range(key: str, value: str | tuple[float, float]) -> Range:
    if isinstance(value, str):
        return Range.parse(f"{key}={value}", "ranges")
    low, high = value
    return Range(tuple(key.split("+")), float(low), float(high), whole=isinstance(low, int) and isinstance(high, int))


def plan_of(runs: ScenarioRuns, axes: Sequence[Axis]) -> Plan:
    """The plan of these axes over this scenario.

    Raises
    ------
    ConfigError
        No point of it makes a scenario; what the first one says. Single points that make none are rows with an error.
    """
    plan = Plan(axes, fingerprint(runs, axes))
    stride = max(1, len(plan) // _TRIED)
    wrong: ConfigError | None = None
    for point in itertools.islice(plan.points(), 0, None, stride):
        try:
            runs.check(point.overrides, point.levers)
            return plan
        except ConfigError as why:
            wrong = wrong or why
    raise wrong or ConfigError("the sweep has no points")


def execute(
    runs: ScenarioRuns,
    plan: Plan,
    executor: Executor,
    shard: Shard = Shard(),
    out: Path | None = None,
    resume: bool = False,
    timing: bool = True,
    diagnose: bool = True,
    progress: bool | None = None,
) -> Table:
    """Run the points of a shard and write its table, keeping a journal beside it meanwhile."""
    points = list(plan.points(shard))
    if not points:
        raise ConfigError(f"--shard: {shard} of {len(plan)} points has none")
    journal = None
    if out is not None:
        require_suffix(out)
        if resume and out.exists():
            _same_points(out, plan, points)
        columns = hashlib.sha256(json.dumps([f[0] for f in ScenarioRuns.figures()]).encode()).hexdigest()[:16]
        header = {"sweep": plan.id, "points": len(plan), "shard": str(shard), "diagnose": diagnose, "figures": columns}
        journal = Journal(out, header, resume)
    done = {row["point"]: row for row in journal.rows} if journal else {}
    whole = False
    try:
        for rows in run_points(runs, [point for point in points if point.index not in done], executor, diagnose, progress, len(points)):
            if journal:
                journal.append(rows)
            done.update((row["point"], row) for row in rows)
        table = Table.of(plan, points, [done[point.index] for point in points], timing)
        if out is not None:
            table.write(out)
        whole = True
        return table
    finally:
        if journal:
            journal.close(whole)


def _same_points(out: Path, plan: Plan, points: Sequence[Point]) -> None:
    """Going on with a sweep must not replace the table of another one, or of another shard."""
    there = read(out)
    if set(there["sweep"]) - {plan.id} or there["point"] != tuple(point.index for point in points):
        raise ConfigError(f"--out: {out}: expected the table of this sweep or none, got another's; move it away, or give another name")


def run_points(
    runs: ScenarioRuns, points: Sequence[Point], executor: Executor, diagnose: bool, progress: bool | None, of: int
) -> Iterable[list[Row]]:
    """Rows of points as they are done, with a bar of how many of ``of`` are."""
    spec: Spec = (runs.document(), runs.overrides(), diagnose)
    tasks: list[Task] = [(point.index, point.overrides, point.levers) for point in points]
    if not tasks:
        return
    answered = executor.run(spec, tasks)
    try:
        with Progress(of, of - len(tasks), progress) as bar:
            for rows in answered:
                bar.add(len(rows))
                yield rows
    finally:
        close = getattr(answered, "close", None)
        if close is not None:
            close()


def reasons(table: Table) -> list[tuple[str, int]]:
    """Why points have no figures, the most frequent first."""
    return Counter(error for error in table["error"] if error).most_common()


def parse_grid(texts: Iterable[str], option: str = "--grid") -> dict[str | tuple[str, ...], str | Iterable[Any]]:
    """``--grid a+b=1,2`` and so on as `sweep` takes them."""
    grid: dict[str | tuple[str, ...], str | Iterable[Any]] = {}
    for text in texts:
        keys, values = parse_assignment(text, option)
        if keys in grid:
            raise ConfigError(f"{option}: {'+'.join(keys)}: given twice")
        grid[keys] = values
    return grid
