"""Which way figures are better, and the points that no other betters in several of them at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Sequence

from .._core import ScenarioRuns
from ..errors import ConfigError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["better", "front", "sign"]


def better(name: str) -> str:
    """``"higher"``, ``"lower"`` or ``"neither"``; the last of what is no figure too."""
    return next((way for figure, _, _, way in ScenarioRuns.figures() if figure == name), "neither")


def sign(name: str, where: str) -> float:
    """1 where more is better, -1 where less is. ``where`` asks, for the error."""
    way = better(name)
    if way == "neither":
        raise ConfigError(f"{where}: {name} is better neither higher nor lower")
    return 1.0 if way == "higher" else -1.0


def front(rows: pd.DataFrame, figures: Sequence[str], where: str) -> pd.DataFrame:
    """The rows that no other is at least as good as in all of these figures, by position, sorted by the first; of equal ones the first."""
    import numpy as np

    signs = np.array([sign(name, where) for name in figures])
    values = rows[list(figures)].to_numpy(dtype=float) * signs  # larger is better
    kept: list[int] = []
    for i in np.lexsort((np.arange(len(values)), *-values.T[::-1])):  # best in the first figure first; ties by the next, then by order
        if not np.any(np.all(values[kept] >= values[i], axis=1)):
            kept.append(int(i))
    return rows.iloc[kept].sort_values(figures[0], kind="stable")
