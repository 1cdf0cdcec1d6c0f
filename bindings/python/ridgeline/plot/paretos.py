"""The front of a sweep: the points at which one figure cannot be bettered without giving up another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..sweeps.fronts import front
from . import style
from .figures import column, frame_of, title_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from .figures import SweepLike

__all__ = ["pareto"]


def pareto(
    sweep: SweepLike,
    x: str = "output_throughput_per_user",
    y: str = "output_throughput_per_gpu",
    *,
    by: str | None = None,
    label: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """All points of a sweep in two figures, and the front of those that no other betters in both.

    Parameters
    ----------
    sweep
        A `Sweep`, or rows of its frame.
    x, y
        Figures; by default tokens/s of one user against tokens/s of a GPU.
    by
        A key that was swept over: a colour and a front for each of its values.
    label
        A key whose value is written at the points of the front.
    ax
        Axes to draw into; new ones if left out.

    Returns
    -------
    matplotlib.axes.Axes
        Points, and fronts as lines.

    Raises
    ------
    ConfigError
        No such column, a figure of which neither direction is better, or no point that ran.
    ImportError
        matplotlib is not installed.
    """
    rows = frame_of(sweep)
    for name in (x, y, *([by] if by else []), *([label] if label else [])):
        column(rows, name)
    rows = rows.dropna(subset=[x, y])
    ax = style.axes(ax)
    style.dress(ax, f"{len(rows):,} points and their front" if by is None else f"Fronts by {by}", title_of(x), title_of(y))
    groups: list[tuple[str, pd.DataFrame]] = [("", rows)]
    if by is not None:
        groups = [(str(value), rows[rows[by] == value]) for value in rows[by].unique()]
    for i, (name, some) in enumerate(groups):
        colour, marker = style.CYCLE[i % len(style.CYCLE)], style.MARKERS[i % len(style.MARKERS)]
        best = front(some, (x, y), "plot pareto")
        ax.scatter(some[x], some[y], s=14, color=colour, alpha=0.35, marker=marker, linewidth=0)
        ax.plot(best[x], best[y], color=colour, marker=marker, markersize=5, linewidth=1.4, label=name or "front")
        if label is not None:
            for _, row in best.iterrows():
                ax.annotate(f"{row[label]}", (row[x], row[y]), (4, 4), textcoords="offset points", fontsize=7, color=colour)
    style.legend(ax, loc="best")
    ax.set_xlim(left=0)
    ax.set_ylim(bottom=0)
    return ax
