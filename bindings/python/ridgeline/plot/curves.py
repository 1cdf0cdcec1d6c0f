"""A figure of a sweep against one of its keys, a line for each value of another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ConfigError
from . import style
from .figures import column, figure_of, frame_of, numbers, title_of, unit_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .figures import SweepLike

__all__ = ["curve"]

_SPREAD = 20.0  # values that differ by more stand on a logarithmic axis


def curve(sweep: SweepLike, x: str, figure: str = "output_throughput", *, by: str | None = None, ax: Axes | None = None) -> Axes:
    """How a figure goes with one key.

    Parameters
    ----------
    sweep
        A `Sweep`, or rows of its frame.
    x
        A key that was swept over, or another figure. Words stand side by side.
    figure
        What is drawn.
    by
        Another key: a line for each of its values.
    ax
        Axes to draw into; new ones if left out.

    Returns
    -------
    matplotlib.axes.Axes
        Lines through the points, in the order of x.

    Raises
    ------
    ConfigError
        No such column, no point that ran, several points at one x in a line, or a figure that is no number.
    ImportError
        matplotlib is not installed.
    """
    rows = frame_of(sweep)
    for name in (x, *([by] if by else [])):
        column(rows, name)
    rows = rows.dropna(subset=[figure_of(rows, figure, "curve")])
    keys = [x, *([by] if by else [])]
    twice = rows[rows.duplicated(keys)]
    if len(twice):
        place = " and ".join(f"{key} {twice[key].iloc[0]}" for key in keys)
        other = "another key" if by else "a key"
        raise ConfigError(f"plot curve: several points have {place}; choose rows, or {other} for a line each (by)")
    ax = style.axes(ax)
    unit = unit_of(rows[x])
    style.dress(ax, "", title_of(x) if not unit.strip() else f"{x} ({unit.strip()})", title_of(figure))
    groups = [("", rows)] if by is None else [(str(value), rows[rows[by] == value]) for value in rows[by].unique()]
    words = list(dict.fromkeys(map(str, rows[x])))
    places = numbers(words)
    where = dict(zip(words, range(len(words)) if places is None else places))
    for i, (name, some) in enumerate(groups):
        points = sorted(zip((where[str(value)] for value in some[x]), some[figure]))
        ax.plot(
            [p[0] for p in points],
            [p[1] for p in points],
            color=style.CYCLE[i % len(style.CYCLE)],
            marker=style.MARKERS[i % len(style.MARKERS)],
            markersize=4.5,
            linewidth=1.4,
            label=name or None,
        )
    if places is None:
        ax.set_xticks(range(len(words)), words)
    elif min(places) > 0 and max(places) > _SPREAD * min(places):
        ax.set_xscale("log", base=2)
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.set_ylim(bottom=0)
    style.legend(ax, loc="best", title=by)
    return ax
