"""Where a server's time goes, as a waterfall: one run's causes add up to its whole, or lead from one run's whole to another's.

What is drawn is a run, or a variant of an experiment, whose time is that of an output token already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Union

from ..errors import ConfigError
from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..experiments import Variant
    from ..runs import Run

    Timed = Union[Run, Variant]

__all__ = ["ledger", "ledger_change"]

#: What the time is divided by.
Per = Literal["token", "step", "run"]
_WORDS = {"token": "an output token", "step": "a step", "run": ""}
_THIN = 0.002  # shares below are not drawn


def ledger(run: Timed, *, per: Per = "token", ax: Axes | None = None) -> Axes:
    """The time of one run, cause by cause, up to all of it.

    Parameters
    ----------
    run
        A `Run`, or a `Variant`.
    per
        ``"token"``: divided by the output tokens; ``"step"`` by the steps; ``"run"`` not divided. The ledger of a `Variant` of a training
        step is that of the step.
    ax
        Axes to draw into; new ones if left out.

    Returns
    -------
    matplotlib.axes.Axes
        A bar a cause, each beginning where the one above ended, and the whole below.

    Raises
    ------
    ConfigError
        The run has no output tokens to divide by.
    ImportError
        matplotlib is not installed.
    TypeError
        It is neither a run nor a variant.
    """
    parts = _parts(run, per)
    whole = sum(parts.values())
    drawn = {cause: part for cause, part in parts.items() if part > _THIN * whole}
    ax = style.axes(ax, height=0.7 + 0.36 * (len(drawn) + 1))
    scale, unit = _unit(whole)
    begin = 0.0
    for row, (cause, part) in enumerate(drawn.items()):
        _bar(ax, row, begin, part, scale, style.CAUSE_COLOURS[cause], style.percent(part / whole), whole)
        begin += part
    _bar(ax, len(drawn), 0.0, whole, scale, style.GREY, style.seconds(whole), whole)
    _rows(ax, [style.CAUSE_WORDS[cause] for cause in drawn] + ["all"], f"{_name(run)}: where the time goes", _label(unit, per))
    ax.set_xlim(0, 1.12 * whole * scale)
    return ax


def ledger_change(
    before: Timed,
    after: Timed,
    *,
    per: Per = "token",
    names: tuple[str, str] = ("before", "after"),
    ax: Axes | None = None,
) -> Axes:
    """From the time of one run to that of another, cause by cause.

    Parameters
    ----------
    before, after
        Two `Run`, or two `Variant`.
    per
        As of `ledger`.
    names
        Of the two runs.
    ax
        Axes to draw into; new ones if left out.

    Returns
    -------
    matplotlib.axes.Axes
        The whole of the first, what each cause takes away or adds, the whole of the second.

    Raises
    ------
    ConfigError
        A run has no output tokens to divide by.
    ImportError
        matplotlib is not installed.
    """
    old, new = _parts(before, per), _parts(after, per)
    whole = {"old": sum(old.values()), "new": sum(new.values())}
    larger = max(whole.values())
    changes = {cause: new[cause] - old[cause] for cause in old if abs(new[cause] - old[cause]) > _THIN * larger}
    ax = style.axes(ax, height=0.7 + 0.36 * (len(changes) + 2))
    scale, unit = _unit(larger)
    _bar(ax, 0, 0.0, whole["old"], scale, style.GREY, style.seconds(whole["old"]), larger)
    begin = whole["old"]
    most = begin
    for row, (cause, change) in enumerate(changes.items(), 1):
        text = f"{'+' if change > 0 else '-'}{style.seconds(abs(change))}"
        _bar(ax, row, begin, change, scale, style.CAUSE_COLOURS[cause], text, larger)
        begin += change
        most = max(most, begin)
    _bar(ax, len(changes) + 1, 0.0, whole["new"], scale, style.GREY, style.seconds(whole["new"]), larger)
    title = f"{_name(after)}: from {style.seconds(whole['old'])} to {style.seconds(whole['new'])}"
    _rows(ax, [names[0], *(style.CAUSE_WORDS[cause] for cause in changes), names[1]], title, _label(unit, per))
    ax.set_xlim(0, 1.14 * most * scale)
    return ax


def _name(run: Timed) -> str:
    from ..runs import Run

    return str(run.result["label"]) if isinstance(run, Run) else run.name


def _parts(run: Timed, per: Per) -> dict[str, float]:
    """Seconds by cause."""
    from ..experiments import Variant
    from ..runs import Run

    if not isinstance(run, (Run, Variant)):
        raise TypeError(f"plot ledger: expected a run or a variant of an experiment, got {type(run).__name__}")

    if isinstance(run, Run):
        counts = {"token": float(run.result["total_output_tokens"]), "step": float(len(run.steps)), "run": 1.0}
        causes = run.ledger.as_dict()
    else:
        counts = {"token": run.ledger_is_of, "step": run.figures.get("steps") or 0.0, "run": 1.0}
        causes = run.ledger_ns
    if per not in counts:
        raise ConfigError(f"plot ledger: expected per to be one of {', '.join(counts)}, got '{per}'")
    if not causes:
        raise ConfigError(f"plot ledger: {_name(run)} was not run")
    if not counts[per]:
        raise ConfigError(f"plot ledger: {_name(run)} has no {per} to divide by; take per='run'")
    return {name.removesuffix("_ns"): part * 1e-9 / counts[per] for name, part in causes.items()}


def _bar(ax: Axes, row: int, begin: float, length: float, scale: float, colour: str, text: str, whole: float) -> None:
    ax.barh(row, length * scale, left=begin * scale, height=0.68, color=colour, edgecolor=style.GREY, linewidth=0.5)
    end = max(begin, begin + length)
    ax.text((end + 0.008 * whole) * scale, row, text, va="center", fontsize=8)


def _rows(ax: Axes, names: list[str], title: str, label: str) -> None:
    style.dress(ax, title, label, "")
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.grid(False, axis="y")


def _unit(whole: float) -> tuple[float, str]:
    """What seconds are multiplied by, and the unit that gives."""
    return next(((1 / size, unit) for unit, size in (("s", 1.0), ("ms", 1e-3)) if whole >= size), (1e6, "us"))


def _label(unit: str, per: Per) -> str:
    return f"time for {_WORDS[per]} ({unit})" if _WORDS[per] else f"time ({unit})"
