"""The roofline: what a step's kernels reach of what memory and matrix units allow.

After Williams, Waterman and Patterson, "Roofline: an insightful visual performance model for multicore architectures" (CACM 52(4), 2009).
Kernels that play the same role in a step are one point. FLOP are useful ones: rows that pad a tile do not count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import ConfigError
from ..roofs import Roofs
from . import style
from .steps import typical_step, window_of, words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes

    from ..runs import Run, Window
    from ..tables import Kernels

__all__ = ["roofline"]

_NAMED = 8  # points that get a name
_NAMED_SHARE = 0.005  # of the time, below which a point gets none
_NAME_HEIGHT = 0.05  # of the picture
_NOT_DRAWN = ("fp64", "fp32", "tf32")  # no layer of these models multiplies in them


@dataclass(frozen=True)
class _Point:
    """Kernels of one role together: FLOP/byte, FLOP/s, and their share of the kernels' time."""

    role: str
    kernel_class: str
    intensity: float
    rate: float
    share: float


def roofline(run: Run, window: Window | None = None, *, step: int | None = None, ax: Axes | None = None) -> Axes:
    """The kernels of a step, or of a window, under the roofs of their machine.

    Parameters
    ----------
    run
        A `Run`; of a trace FLOP and bytes are not known.
    window
        Seconds, as of `Run.timeline`; all kernels of the same role in it are one point.
    step
        Instead of a window: the number of a step. Without either, one of typical length.
    ax
        Axes to draw into; new ones if left out.

    Returns
    -------
    matplotlib.axes.Axes
        Arithmetic intensity (FLOP/byte of HBM) against useful FLOP/s, both logarithmic; a point's area is its share of the time, which its
        name says.
        Dashed roofs are the datasheet's, solid ones what long streams and clocks under power leave.

    Raises
    ------
    ConfigError
        It is no run, there is no such step, or no kernel in the window moves bytes and computes.
    ImportError
        matplotlib is not installed.
    """
    from ..runs import Run as Simulated

    if not isinstance(run, Simulated):
        raise ConfigError(f"plot roofline: expected a run, got {type(run).__name__}; FLOP and bytes are known of simulated kernels only")
    if window is None:
        window = window_of(run, typical_step(run) if step is None else step)
    shown = run.timeline(window)
    points, left_out = _points(shown.kernels)
    if not points:
        raise ConfigError("plot roofline: expected kernels with FLOP and bytes in the window, got none")
    ax = style.axes(ax)
    what = words(shown.steps, 0) if len(shown.steps) == 1 else f"{len(shown.steps):,} steps"
    style.dress(ax, f"{run.result['label']} on {run.roofs.gpu}: {what}", "arithmetic intensity (FLOP/byte)", "useful FLOP/s")
    ax.set_xscale("log")
    ax.set_yscale("log")
    low = min(0.3, 0.5 * min(p.intensity for p in points))
    high = max(8.0 * max(run.roofs.ridge(d) for d in run.roofs.flop_per_second), 4.0 * max(p.intensity for p in points))
    _draw_roofs(ax, run.roofs, low, high)
    _draw_points(ax, points)
    bottom = 0.15 * min(p.rate for p in points)
    ax.set_xlim(low, high)
    ax.set_ylim(bottom, 2.5 * max(peak for _, peak, _ in _rates(run.roofs)))
    _name_points(ax, points)
    if left_out > 0.005:
        told = f"not shown: {style.percent(left_out, 0)} of the kernels' time, without FLOP or bytes"
        ax.text(0.99, 0.02, told, transform=ax.transAxes, ha="right", fontsize=7)
    style.legend(ax, loc="upper left")
    return ax


def _points(kernels: Kernels) -> tuple[list[_Point], float]:
    """A point a role, the most time first; and the share of the time of kernels that are none."""
    sums: dict[tuple[str, str], list[float]] = {}
    moved = kernels.hbm_read_bytes + kernels.hbm_written_bytes
    columns = zip(kernels.kernel_class, kernels.role, kernels.useful_flop, moved, kernels.duration_ns * 1e-9)
    for kernel_class, role, *amounts in columns:
        entry = sums.setdefault((kernel_class, role), [0.0, 0.0, 0.0])
        for i, amount in enumerate(amounts):
            entry[i] += float(amount)
    whole = sum(time for *_, time in sums.values()) or 1.0
    points = [
        _Point(role or kernel_class, kernel_class, flop / traffic, flop / time, time / whole)
        for (kernel_class, role), (flop, traffic, time) in sums.items()
        if flop > 0 and traffic > 0 and time > 0
    ]
    points.sort(key=lambda p: -p.share)
    return points, 1.0 - sum(p.share for p in points)


def _rates(roofs: Roofs) -> Iterable[tuple[str, float, float]]:
    """Peak and sustained rate of the dtypes, those that are equal together."""
    groups: dict[tuple[float, float], list[str]] = {}
    for dtype, peak in roofs.flop_per_second.items():
        if dtype not in _NOT_DRAWN:
            groups.setdefault((peak, roofs.sustained_flop_per_second[dtype]), []).append(dtype)
    together: dict[float, tuple[list[str], float]] = {}
    for (peak, sustained), dtypes in groups.items():  # one line a peak, at the best of what is sustained
        names, best = together.get(peak, ([], 0.0))
        together[peak] = (names + dtypes, max(best, sustained))
    return [(", ".join(names), peak, best) for peak, (names, best) in sorted(together.items())]


def _draw_roofs(ax: Axes, roofs: Roofs, low: float, high: float) -> None:
    rates = list(_rates(roofs))
    top = max(peak for _, peak, _ in rates)
    for bandwidth, line, label in (
        (roofs.hbm_bytes_per_second, "--", "datasheet"),
        (roofs.sustained_hbm_bytes_per_second, "-", "sustained"),
    ):
        ends = (low, top / bandwidth)
        ax.plot(ends, [x * bandwidth for x in ends], line, color=style.BLACK, linewidth=1.0, label=label)
    for names, peak, sustained in rates:
        ridge = peak / roofs.hbm_bytes_per_second
        ax.plot((ridge, high), (peak, peak), "--", color=style.BLACK, linewidth=1.0)
        ax.plot((sustained / roofs.sustained_hbm_bytes_per_second, high), (sustained, sustained), "-", color=style.BLACK, linewidth=1.0)
        ax.plot([ridge], [peak], "|", color=style.BLACK, markersize=9)
        ax.annotate(f"{names} sustained", (high, sustained), (0, 3), textcoords="offset points", ha="right", fontsize=7)
        ax.annotate(f"{names}: ridge {ridge:.0f} FLOP/byte", (ridge, peak), (-4, 4), textcoords="offset points", ha="right", fontsize=7)


def _draw_points(ax: Axes, points: list[_Point]) -> None:
    groups = {kernel_class: group for group, classes in style.CLASS_GROUPS.items() for kernel_class in classes}
    for point in points:
        colour, area = style.CLASS_COLOURS[point.kernel_class], 20 + 500 * point.share
        ax.scatter([point.intensity], [point.rate], s=area, color=colour, alpha=0.85, edgecolor="white", linewidth=0.6, zorder=3)
    for group in dict.fromkeys(groups[point.kernel_class] for point in points):
        colour = style.CLASS_COLOURS[style.CLASS_GROUPS[group][0]]
        ax.plot([], [], "o", color=colour, markersize=6, label=group)


def _name_points(ax: Axes, points: list[_Point]) -> None:
    """Names to the right of the picture, in the order of the points' heights, so that none covers another."""
    named = sorted((p for p in points[:_NAMED] if p.share > _NAMED_SHARE), key=lambda p: p.rate)
    to_axes = ax.transAxes.inverted()
    heights = [float(to_axes.transform(ax.transData.transform((p.intensity, p.rate)))[1]) for p in named]
    for i in range(1, len(heights)):
        heights[i] = max(heights[i], heights[i - 1] + _NAME_HEIGHT)
    highest = 0.98
    for i in reversed(range(len(heights))):
        heights[i] = min(heights[i], highest)
        highest = heights[i] - _NAME_HEIGHT
    for point, height in zip(named, heights):
        ax.annotate(
            f"{point.role} {style.percent(point.share, 0)}",
            (point.intensity, point.rate),
            (1.02, height),
            textcoords="axes fraction",
            va="center",
            fontsize=7,
            arrowprops={"arrowstyle": "-", "color": style.GREY, "linewidth": 0.4, "shrinkA": 1, "shrinkB": 3, "relpos": (0.0, 0.5)},
            annotation_clip=False,
        )
