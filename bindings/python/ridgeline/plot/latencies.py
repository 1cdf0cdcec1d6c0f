"""Distributions of latencies: which share of requests, or of tokens, waited at most so long."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Union

from .._core import suggestion
from ..errors import ConfigError
from . import style

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes

    from ..runs import Run

    #: One run, several, or several by name.
    Runs = Union[Run, Sequence[Run], Mapping[str, Run]]

__all__ = ["Latency", "latencies", "latency"]

Latency = Literal["ttft", "tpot", "itl", "e2el"]
_WORDS = {
    "ttft": "time to first token",
    "tpot": "time per output token, a mean for each request",
    "itl": "time between two tokens",
    "e2el": "end-to-end latency",
}
_SHORT = {"ttft": "TTFT", "tpot": "TPOT", "itl": "ITL", "e2el": "E2E"}
_LINES = ("-", "--", "-.", ":")


def latency(runs: Runs, quantity: Latency = "ttft", *, slo: float | None = None, ax: Axes | None = None) -> Axes:
    """The cumulative distribution of one latency, of one or several runs.

    Parameters
    ----------
    runs
        A `Run`, several, or several by name.
    quantity
        ``"ttft"``, ``"tpot"`` and ``"e2el"`` count requests, ``"itl"`` counts gaps between tokens.
    slo
        A limit in milliseconds: a line, and in the legend which share is within it.
    ax
        Axes to draw into; new ones if left out.

    Returns
    -------
    matplotlib.axes.Axes
        Milliseconds, logarithmic, against the share that is at most as long.

    Raises
    ------
    ConfigError
        No such latency, or a run without any.
    ImportError
        matplotlib is not installed.
    """
    if quantity not in _WORDS:
        raise ConfigError(f"plot latencies: no latency is named '{quantity}'{suggestion(quantity, list(_WORDS))}")
    ax = style.axes(ax, 5.5, 3.6)
    style.dress(ax, f"{_SHORT[quantity]}: {_WORDS[quantity]}", "ms", "share at most as long")
    ax.set_xscale("log")
    style.log_axis(ax.xaxis)
    for i, (name, run) in enumerate(_named(runs).items()):
        values, shares = _distribution(run, quantity)
        if not len(values):
            raise ConfigError(f"plot latencies: {name} has no {_SHORT[quantity]}")
        label = name
        if slo is not None:
            within = shares[values <= slo][-1] if values[0] <= slo else 0.0
            label = f"{name} ({style.percent(within)} within)"
        colour, line = style.CYCLE[i % len(style.CYCLE)], _LINES[i % len(_LINES)]
        ax.step(values, shares, where="post", color=colour, linestyle=line, linewidth=1.5, label=label)
    for share in (0.5, 0.9, 0.99):
        ax.axhline(share, color=style.LIGHT, linewidth=0.7, zorder=1)
    ax.set_yticks([0, 0.25, 0.5, 0.75, 0.9, 0.99], ["0", "25 %", "50 %", "75 %", "90 %", "99 %"])
    ax.set_ylim(0, 1.02)
    if slo is not None:
        ax.axvline(slo, color=style.BLACK, linewidth=1.0, linestyle=(0, (1, 2)), label=f"SLO {slo:g} ms")
    style.legend(ax, loc="best")
    return ax


def latencies(runs: Runs, *, slo: Mapping[str, float] | None = None, axes: Sequence[Axes] | None = None) -> list[Axes]:
    """TTFT, TPOT, ITL and end-to-end latency of one or several runs, each as of `latency`.

    Parameters
    ----------
    runs
        A `Run`, several, or several by name.
    slo
        Limits in milliseconds by latency: ``{"ttft": 500, "tpot": 30}``.
    axes
        Four Axes to draw into; new ones if left out.

    Returns
    -------
    list of matplotlib.axes.Axes
        Four, in this order.

    Raises
    ------
    ConfigError
        No such latency, or not four Axes.
    ImportError
        matplotlib is not installed.
    """
    limits = dict(slo or {})
    if strange := [name for name in limits if name not in _WORDS]:
        raise ConfigError(f"plot latencies: no latency is named '{strange[0]}'{suggestion(strange[0], list(_WORDS))}")
    if axes is None:
        import matplotlib.pyplot as plt

        axes = list(plt.subplots(2, 2, figsize=(9.5, 6.2), layout="constrained")[1].flat)
    if len(axes) != len(_WORDS):
        raise ConfigError(f"plot latencies: expected {len(_WORDS)} Axes, got {len(axes)}")
    quantities: tuple[Latency, ...] = ("ttft", "tpot", "itl", "e2el")
    return [latency(runs, quantity, slo=limits.get(quantity), ax=ax) for quantity, ax in zip(quantities, axes)]


def _named(runs: Runs) -> dict[str, Run]:
    """Runs by name; labels that are not distinct get a number."""
    if isinstance(runs, Mapping):
        return dict(runs)
    several = list(runs) if isinstance(runs, Sequence) else [runs]
    labels = [str(run.result["label"]) for run in several]
    return {label if labels.count(label) == 1 else f"{label} {i}": run for i, (label, run) in enumerate(zip(labels, several), 1)}


def _distribution(run: Run, quantity: Latency) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Milliseconds, sorted, and the share at most as long."""
    import numpy as np

    if quantity == "itl":
        values, counts = run.token_gaps.gap_ns, run.token_gaps["count"].astype(np.int64)
    else:
        done = run.requests
        chosen = done.status == "finished"
        if quantity == "tpot":
            chosen &= done.output_tokens > 1
        values = {"ttft": done.ttft_ns, "tpot": done.tpot_ns, "e2el": done.e2e_ns}[quantity][chosen]
        counts = np.ones(len(values), np.int64)
    order = np.argsort(values, kind="stable")
    passed = np.cumsum(counts[order])
    return values[order] * 1e-6, passed / passed[-1] if len(passed) else passed
