"""Which constants matter: how much a figure moves when one value of the scenario does, all others as they are.

An elasticity is d ln figure / d ln key: 1 where the figure grows in proportion, 0 where it does not care, -1 where it falls as the value
grows. By central differences: (ln f(k (1 + h)) - ln f(k (1 - h))) / (ln (1 + h) - ln (1 - h)). Where the scenario takes whole numbers only,
a value is moved by whole numbers, at least one; where it takes none beyond the value, as for a share of 1, only to the other side.
"""

from __future__ import annotations

import fnmatch
import math
import re
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from typing import TYPE_CHECKING, Any, Iterable, Mapping

from .._core import ScenarioRuns, suggestion
from ..scenarios import AnyScenario
from ..errors import ConfigError, SimulationError
from .executors import local
from .plan import Point
from .run import opened, run_points
from .values import Quantity, parse_quantity
from .worker import Row

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["elasticities", "tornado"]

_USUAL = ("output_throughput", "training_throughput")
_NOT_VARIED = "seed"  # a larger one is not more of anything
_DIGITS = Decimal("1e-12")  # of a moved value, relative: more than any is known to


@dataclass(frozen=True)
class _Moved:
    """A key, its value, and the values below and above it."""

    key: str
    value: Quantity
    low: Quantity
    high: Quantity


def elasticities(
    scenario: AnyScenario,
    keys: str | Iterable[str],
    figure: str | None = None,
    *,
    step: float = 0.01,
    overrides: Mapping[str, Any] | None = None,
    jobs: int | None = None,
    progress: bool | None = None,
) -> pd.DataFrame:
    """How strongly a figure depends on values of the scenario: d ln figure / d ln key, by central differences.

    Parameters
    ----------
    scenario
        As for `sweep`.
    keys
        Dotted keys of numbers that the scenario gives, with or without a unit; ``*`` stands for anything (``"hw.hbm.*"``). Zeros, words,
        seeds and what is no quantity, like the shape of a tile, are passed over where a pattern finds them.
    figure
        What is looked at: a column of `Sweep.frame`; by default ``output_throughput``, of a training step ``training_throughput``.
    step
        By which share values are moved down and up.
    overrides
        Values for every run.
    jobs, progress
        As for `sweep`.

    Returns
    -------
    pandas.DataFrame
        A row a key, the strongest first: ``key``, ``value`` (text, with its unit), ``elasticity`` (1: in proportion; 0: not at all),
        ``error`` (why there is no number). ``attrs`` holds ``figure`` and ``base``, the figure at the scenario as it is.

    Raises
    ------
    ConfigError
        The scenario gives no such value, it is no number, or no such figure; says which is near.
    SimulationError
        The scenario as it is cannot run.

    Examples
    --------
    >>> import ridgeline as rl
    >>> calm = {"workload.requests": 20, "workload.arrivals": {"constant": {"rate": "0.1 /s"}}}
    >>> table = rl.elasticities("chat_8b", "workload.arrivals.constant.*", "request_throughput", overrides=calm, jobs=1)
    >>> round(float(table["elasticity"][0]), 1)  # what is offered is answered
    1.0
    """
    import pandas as pd

    figure, moved, base, rows = _moved_runs(scenario, keys, figure, step, overrides, jobs, progress)
    out = []
    for one, (low, high) in zip(moved, rows):
        f_low, f_high = low[figure], high[figure]
        slope = None
        if f_low and f_high and f_low > 0.0 and f_high > 0.0:
            slope = math.log(f_high / f_low) / math.log(float(one.high.number / one.low.number))
        out.append({"key": one.key, "value": str(one.value), "elasticity": slope, "error": low["error"] or high["error"]})
    frame = pd.DataFrame(out, columns=["key", "value", "elasticity", "error"]).astype({"elasticity": "float64"})
    return _largest_first(frame, frame["elasticity"].abs(), figure, base)


def tornado(
    scenario: AnyScenario,
    keys: str | Iterable[str],
    figure: str | None = None,
    *,
    swing: float = 0.2,
    overrides: Mapping[str, Any] | None = None,
    jobs: int | None = None,
    progress: bool | None = None,
) -> pd.DataFrame:
    """A figure with each value of the scenario lowered and raised: the numbers of a tornado chart.

    Parameters
    ----------
    scenario
        As for `sweep`.
    keys
        Dotted keys of numbers that the scenario gives, with or without a unit; ``*`` stands for anything (``"hw.hbm.*"``). Zeros, words,
        seeds and what is no quantity, like the shape of a tile, are passed over where a pattern finds them.
    figure
        What is looked at: a column of `Sweep.frame`; by default ``output_throughput``, of a training step ``training_throughput``.
    swing
        By which share values are moved down and up.
    overrides
        Values for every run.
    jobs, progress
        As for `sweep`.

    Returns
    -------
    pandas.DataFrame
        A row a key, the strongest first: ``key``, ``value`` (text, with its unit), ``low_value``, ``high_value``, and the figure ``at_low`` and ``at_high``,
        ``error`` (why there is no number). ``attrs`` holds ``figure`` and ``base``, the figure at the scenario as it is.

    Raises
    ------
    ConfigError
        The scenario gives no such value, it is no number, or no such figure; says which is near.
    SimulationError
        The scenario as it is cannot run.
    """
    import pandas as pd

    figure, moved, base, rows = _moved_runs(scenario, keys, figure, swing, overrides, jobs, progress)
    out = [
        {
            "key": one.key,
            "value": str(one.value),
            "low_value": str(one.low),
            "high_value": str(one.high),
            "at_low": low[figure],
            "at_high": high[figure],
            "error": low["error"] or high["error"],
        }
        for one, (low, high) in zip(moved, rows)
    ]
    frame = pd.DataFrame(out, columns=["key", "value", "low_value", "high_value", "at_low", "at_high", "error"])
    frame = frame.astype({"at_low": "float64", "at_high": "float64"})
    return _largest_first(frame, (frame["at_high"] - frame["at_low"]).abs(), figure, base)


def _largest_first(frame: pd.DataFrame, size: pd.Series[float], figure: str, base: float) -> pd.DataFrame:
    """Sorted, with the figure's name and its value at the scenario as it is in ``attrs``."""
    out = frame.loc[size.sort_values(ascending=False, kind="stable", na_position="last").index].reset_index(drop=True)
    out.attrs.update(figure=figure, base=base)
    return out


def _moved_runs(
    scenario: AnyScenario,
    keys: str | Iterable[str],
    figure: str | None,
    step: float,
    overrides: Mapping[str, Any] | None,
    jobs: int | None,
    progress: bool | None,
) -> tuple[str, list[_Moved], float, list[tuple[Row, Row]]]:
    if not 0.0 < step < 1.0:
        raise ConfigError(f"step: expected a share above 0 and below 1, got {step:g}")
    names = [name for name, *_ in ScenarioRuns.figures()]
    if figure is not None and figure not in names:
        raise ConfigError(f"--figure: no figure is named '{figure}'{suggestion(figure, names)}")
    runs = opened(scenario, overrides)
    moved = _all_moved(runs, [keys] if isinstance(keys, str) else list(keys), step)
    points = [Point(0, "", ())]
    for one in moved:
        points += [Point(len(points) + i, "", ((one.key, str(value)),)) for i, value in enumerate((one.low, one.high))]
    rows: dict[int, Row] = {}
    for some in run_points(runs, points, local(jobs), False, progress, len(points)):
        rows.update((row["point"], row) for row in some)
    if rows[0]["error"]:
        raise SimulationError(rows[0]["error"])
    if figure is None:
        figure = next((name for name in _USUAL if rows[0][name] is not None), _USUAL[0])
    if rows[0][figure] is None:
        raise ConfigError(f"--figure: this scenario has no {figure}")
    return figure, moved, rows[0][figure], [(rows[1 + 2 * i], rows[2 + 2 * i]) for i in range(len(moved))]


def _all_moved(runs: ScenarioRuns, keys: list[str], step: float) -> list[_Moved]:
    """The keys, ``*`` standing for anything, that have a number other than zero, each with the values to try.

    Raises
    ------
    ConfigError
        The scenario has no such key, or it holds no number.
    """
    leaves = dict(runs.leaves([]))
    out: dict[str, _Moved] = {}
    for key in keys:
        if any(c in key for c in "*?["):
            numbers = {leaf: _number(leaves[leaf]) for leaf in fnmatch.filter(leaves, key) if leaf != _NOT_VARIED}
            found = [_moved(runs, leaf, number, step) for leaf, number in numbers.items() if number]
            some = {one.key: one for one in found if one}
            if not some:
                raise ConfigError(f"{key}: no number of the scenario has a key like this")
            out |= some
            continue
        if key not in leaves:
            known = list(leaves)
            near = _near(key, known)
            raise ConfigError(f"{key}: the scenario gives no such value, so there is nothing to move; give it with --set{near}")
        number = _number(leaves[key])
        if key == _NOT_VARIED or number is None:
            raise ConfigError(f"{key}: expected a number other than 0 of which there can be more or less, got '{leaves[key]}'")
        if (one := _moved(runs, key, number, step)) is None:
            raise ConfigError(f"{key}: the scenario takes nothing near '{leaves[key]}', neither less nor more")
        out[key] = one
    return list(out.values())


def _number(text: str) -> Quantity | None:
    """A number other than zero, with its unit; None for a word, and for a shape like 16x64, of which there is no more or less."""
    number = parse_quantity(text)
    return number if number and number.number and not re.match(r"\s*x\d", number.unit) else None


def _near(key: str, known: list[str]) -> str:
    """The nearest key, but no list of hundreds where none is near."""
    text: str = suggestion(key, known)
    return text if "did you mean" in text else ""


def _moved(runs: ScenarioRuns, key: str, value: Quantity, step: float) -> _Moved | None:
    """The values below and above; the value itself for an end that the scenario does not take, and None if it takes neither."""
    by = Decimal(repr(step))
    number = value.number
    whole = max(Decimal(1), abs(number * by).quantize(Decimal(1), ROUND_HALF_EVEN))
    ends = [(_short(number * (1 - by)), _short(number * (1 + by)))]
    if number == number.to_integral_value() and not value.unit:
        ends.append((number - whole, number + whole))
    for pair in ends:
        tried = [Quantity(end, value.unit) for end in pair]
        low, high = (end if end.number and _takes(runs, key, end) else value for end in tried)  # 0 has no logarithm
        if low.number != high.number:
            return _Moved(key, value, low, high)
    return None


def _takes(runs: ScenarioRuns, key: str, value: Quantity) -> bool:
    try:
        runs.check([(key, str(value))], [])
    except ConfigError:
        return False
    return True


def _short(number: Decimal) -> Decimal:
    return number.quantize(Decimal(1).scaleb(number.adjusted()) * _DIGITS).normalize()
