"""What all pictures share: colours, the look of an Axes, numbers with units.

Colours are Okabe and Ito's ("Color Universal Design", 2008), distinct for every kind of colour vision. One thing has one colour in all
pictures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._core import CAUSES, KERNEL_CLASSES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

BLACK, GREY, LIGHT = "#000000", "#777777", "#DDDDDD"
ORANGE, SKY, GREEN, YELLOW = "#E69F00", "#56B4E9", "#009E73", "#F0E442"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"

#: Colours of things without one of their own, in order.
CYCLE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

#: Where a server's time goes: in kernels by what binds them, between kernels, and without any.
CAUSE_COLOURS = {
    "compute": VERMILION,
    "memory": BLUE,
    "floor": SKY,
    "communication": PURPLE,
    "dispatch": YELLOW,
    "launch": ORANGE,
    "host": GREEN,
    "idle": LIGHT,
}
CAUSE_WORDS = {
    "compute": "kernels that compute binds",
    "memory": "kernels that HBM binds",
    "floor": "kernels at their fixed cost",
    "communication": "collectives",
    "dispatch": "from kernel to kernel",
    "launch": "waiting for a launch",
    "host": "host alone",
    "idle": "no request",
}
assert set(CAUSES) == set(CAUSE_COLOURS) - {"idle"}

#: Kernels by class. Those that only move tensors along share a colour.
CLASS_COLOURS = {
    "gemm": BLUE,
    "attention": VERMILION,
    "attention_scores": VERMILION,
    "softmax": VERMILION,
    "norm": GREEN,
    "elementwise": ORANGE,
    "rope": SKY,
    "cache_write": SKY,
    "cast": SKY,
    "copy": SKY,
    "embedding": SKY,
    "sampling": YELLOW,
    "loss": YELLOW,
    "collective": PURPLE,
    "other": GREY,
}
assert set(KERNEL_CLASSES) == set(CLASS_COLOURS)

#: Several classes under one name in a legend.
CLASS_GROUPS = {
    "GEMM": ("gemm",),
    "attention": ("attention", "attention_scores", "softmax"),
    "norm": ("norm",),
    "elementwise": ("elementwise",),
    "rope, cache, copies": ("rope", "cache_write", "cast", "copy", "embedding"),
    "sampling, loss": ("sampling", "loss"),
    "collective": ("collective",),
    "other": ("other",),
}


def axes(ax: Axes | None, width: float = 7.0, height: float = 4.2) -> Axes:
    """The Axes to draw into: those given, else new ones, inches wide and high."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    _, new = plt.subplots(figsize=(width, height), layout="constrained")
    return new


def dress(ax: Axes, title: str, x: str, y: str) -> None:
    """Title, labels, and no more lines than are needed."""
    ax.set_title(title, loc="left", fontsize=10)
    ax.set_xlabel(x, fontsize=9)
    ax.set_ylabel(y, fontsize=9)
    ax.tick_params(labelsize=8)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(True, color="#EEEEEE", linewidth=0.7)
    ax.set_axisbelow(True)


def log_axis(axis: Axis) -> None:
    """Ticks at 1, 2 and 5 of every decade, as plain numbers: latencies and counts rarely span more than a few."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axis.set_minor_formatter(NullFormatter())


def percent(share: float, digits: int = 1) -> str:
    """A share from 0 to 1 in words."""
    return f"{100 * share:.{digits}f} %"


def legend(ax: Axes, **options: Any) -> None:
    """A legend without a frame, if there is anything in it."""
    if ax.get_legend_handles_labels()[0]:
        ax.legend(frameon=False, fontsize=8, **options)


def seconds(value: float) -> str:
    """A time as people say it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if abs(value) >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value * 1e9:.3g} ns" if value else "0 s"
