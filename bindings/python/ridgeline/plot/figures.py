"""Columns of a sweep as pictures name them: with what they mean and their unit; and the sweep itself, in whatever form it comes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Union

from .._core import ScenarioRuns, suggestion
from ..errors import ConfigError
from ..sweeps.values import parse_quantity

if TYPE_CHECKING:
    import pandas as pd

    from ..sweeps.result import Sweep

    #: A sweep, or rows of its frame.
    SweepLike = Union[Sweep, pd.DataFrame]

_SHORT = {
    "output_throughput": "output tokens/s",
    "output_throughput_per_gpu": "output tokens/s/GPU",
    "output_throughput_per_user": "tokens/s/user",
    "total_token_throughput": "tokens/s, prompts included",
    "request_throughput": "requests/s",
    "usd_per_million_output_tokens": "USD per million output tokens",
    "usd_per_million_tokens": "USD per million tokens",
}
_LATENCY_WORDS = {"ttft": "TTFT", "tpot": "TPOT", "itl": "ITL", "e2el": "E2E latency", "queue": "queueing time"}


def rows_of(sweep: SweepLike) -> pd.DataFrame:
    """All rows of a sweep."""
    rows: Any = sweep
    frame: pd.DataFrame = getattr(rows, "frame", rows)
    return frame


def frame_of(sweep: SweepLike) -> pd.DataFrame:
    """The rows of a sweep that ran."""
    rows = rows_of(sweep)
    ran = rows[rows["error"].isna()] if "error" in rows else rows
    if ran.empty:
        raise ConfigError("plot: expected a sweep with a point that ran")
    return ran


def column(frame: pd.DataFrame, name: str) -> str:
    """The name, if it is a column."""
    if name not in frame:
        raise ConfigError(f"plot: no column is named '{name}'{suggestion(name, [str(c) for c in frame.columns])}")
    return name


def figure_of(frame: pd.DataFrame, name: str, kind: str) -> str:
    """The name, if it is a column of numbers and one has a value."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    values = frame[column(frame, name)]
    if values.isna().all():
        raise ConfigError(f"plot {kind}: no point has a {name}")
    if is_bool_dtype(values) or not is_numeric_dtype(values):
        raise ConfigError(f"plot {kind}: expected a figure that is a number, got {name}, which has values like '{values.dropna().iloc[0]}'")
    return name


def title_of(name: str) -> str:
    """A figure or a key with its unit, for an axis."""
    if name in _SHORT:
        return _SHORT[name]
    how, _, latency = name.removesuffix("_ms").partition("_")
    if name.endswith("_ms") and latency in _LATENCY_WORDS:
        return f"{how} {_LATENCY_WORDS[latency]} (ms)"
    unit = {figure: unit for figure, unit, *_ in ScenarioRuns.figures()}.get(name)
    plain = name.replace("_", " ") if unit is not None else name
    return f"{plain} ({unit})" if unit not in (None, "", "1") else plain


def numbers(values: Iterable[Any]) -> list[float] | None:
    """The values as numbers, if all of them are; units of quantities that all have the same one are left off."""
    quantities = [parse_quantity(str(value)) for value in values]
    if any(quantity is None for quantity in quantities) or len({quantity.unit for quantity in quantities if quantity}) > 1:
        return None
    return [float(quantity.number) for quantity in quantities if quantity]


def unit_of(values: Iterable[Any]) -> str:
    """The unit that all values have, where `numbers` knows them."""
    return next((quantity.unit for value in values if (quantity := parse_quantity(str(value)))), "")

