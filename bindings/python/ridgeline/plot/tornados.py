"""A tornado chart: how far a figure moves when one value of the scenario does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ConfigError
from . import style
from .figures import title_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["tornado"]


def tornado(swings: pd.DataFrame, *, most: int = 12, ax: Axes | None = None) -> Axes:
    """The figure with each value lowered and raised, the one that matters most on top.

    Parameters
    ----------
    swings
        What `ridgeline.tornado` gives.
    most
        How many keys to draw.
    ax
        Axes to draw into; new ones if left out.

    Returns
    -------
    matplotlib.axes.Axes
        Two bars a key, from the figure as it is to the figure with the lower and with the higher value.

    Raises
    ------
    ConfigError
        It is no table of a tornado, or no key has numbers.
    ImportError
        matplotlib is not installed.
    """
    if "at_low" not in swings or "base" not in swings.attrs:
        raise ConfigError("plot tornado: expected the table that ridgeline.tornado gives")
    rows = swings.dropna(subset=["at_low", "at_high"]).head(most)
    if rows.empty:
        raise ConfigError("plot tornado: no key has a figure on both sides")
    base, figure = float(swings.attrs["base"]), str(swings.attrs["figure"])
    ax = style.axes(ax, 7.5, 1.2 + 0.34 * len(rows))
    style.dress(ax, f"{title_of(figure)} as each value goes from lower to higher; {base:,.4g} as it is", title_of(figure), "")
    ends = (("at_low", "low_value", style.ORANGE, "lower value"), ("at_high", "high_value", style.BLUE, "higher value"))
    reach = max(float((rows[end] - base).abs().max()) for end, *_ in ends) or 1.0
    for end, value, colour, label in ends:
        moved = rows[end] - base
        ax.barh(range(len(rows)), moved, left=base, height=0.66, color=colour, label=label, linewidth=0)
        other = rows["at_high" if end == "at_low" else "at_low"] - base
        for row, (by, against, text) in enumerate(zip(moved, other, rows[value])):
            right = by > 0 or (by == 0 and against <= 0 and end == "at_high")
            same_side = by * against > 0 and abs(by) <= abs(against)
            if not same_side:  # else its text would stand in the other bar
                offset, side = (3, "left") if right else (-3, "right")
                ax.annotate(str(text), (base + by, row), (offset, 0), textcoords="offset points", ha=side, va="center", fontsize=7)
    ax.axvline(base, color=style.BLACK, linewidth=0.8)
    ax.set_yticks(range(len(rows)), rows["key"].tolist())
    ax.set_xlim(base - 1.35 * reach, base + 1.35 * reach)
    ax.invert_yaxis()
    ax.grid(False, axis="y")
    style.legend(ax, loc="lower right")
    return ax
