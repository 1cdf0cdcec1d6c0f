"""A figure of a sweep over two of its keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ConfigError
from ..sweeps.fronts import better
from . import style
from .figures import column, figure_of, frame_of, numbers, rows_of, title_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .figures import SweepLike

__all__ = ["heat_map"]

_MOST_WRITTEN = 200  # cells; more are too small for numbers


def heat_map(sweep: SweepLike, x: str, y: str, figure: str = "output_throughput", *, ax: Axes | None = None) -> Axes:
    """A figure as colours over two keys; the best cell is framed, what did not run is hatched.

    Parameters
    ----------
    sweep
        A `Sweep`, or rows of its frame, with one point for each pair of values.
    x, y
        Keys that were swept over.
    figure
        What is drawn.
    ax
        Axes to draw into; new ones if left out.

    Returns
    -------
    matplotlib.axes.Axes
        A cell a pair of values, with its number where there is room.

    Raises
    ------
    ConfigError
        No such column, several points in one cell, or a figure that is no number.
    ImportError
        matplotlib is not installed.
    """
    import numpy as np
    from matplotlib.patches import Rectangle

    rows = rows_of(sweep)
    ran = frame_of(sweep)
    for name in (x, y):
        column(ran, name)
    figure_of(ran, figure, "heatmap")
    across, up = _ordered([str(v) for v in rows[x]]), _ordered([str(v) for v in rows[y]])
    values = np.full((len(up), len(across)), np.nan)
    taken: set[tuple[int, int]] = set()
    for a, b, value in zip(map(str, ran[x]), map(str, ran[y]), ran[figure].astype(float)):
        cell = (up.index(b), across.index(a))
        if cell in taken:
            raise ConfigError(f"plot heatmap: several points have {x} {a} and {y} {b}; choose rows, or other keys")
        taken.add(cell)
        values[cell] = value
    ax = style.axes(ax, 2.0 + 0.75 * len(across), 1.6 + 0.42 * len(up))
    style.dress(ax, title_of(figure), x, y)
    low, high = np.nanmin(values), np.nanmax(values)
    ax.set_facecolor("white")
    edges = [np.arange(len(words) + 1) - 0.5 for words in (across, up)]
    mesh = ax.pcolormesh(*edges, values, cmap="cividis", vmin=low, vmax=high, edgecolors="white")
    for i, j in zip(*np.nonzero(np.isnan(values))):
        ax.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, hatch="////", edgecolor=style.LIGHT, linewidth=0))
    if values.size <= _MOST_WRITTEN:
        for i, j in zip(*np.nonzero(~np.isnan(values))):
            dark = high > low and (values[i, j] - low) / (high - low) < 0.55
            ax.text(j, i, _short(float(values[i, j])), ha="center", va="center", fontsize=7, color="white" if dark else "black")
    if better(figure) != "neither":
        i, j = divmod(int(np.nanargmax(values) if better(figure) == "higher" else np.nanargmin(values)), len(across))
        ax.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, edgecolor=style.VERMILION, linewidth=2.2, zorder=3))
    ax.set_xticks(range(len(across)), across)
    ax.set_yticks(range(len(up)), up)
    ax.grid(False)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    bar = ax.figure.colorbar(mesh, ax=ax)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=7)
    return ax


def _ordered(words: list[str]) -> list[str]:
    """Each once: numbers by size, words as they come."""
    each = list(dict.fromkeys(words))
    places = numbers(each)
    return each if places is None else [word for _, word in sorted(zip(places, each))]


def _short(value: float) -> str:
    return f"{value / 1e3:.1f}k" if abs(value) >= 1e4 else f"{value:.3g}" if abs(value) < 1e3 else f"{value:.0f}"
