"""A window of a timeline as lanes: steps, the calls of the host, and the kernels of each stream by class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Union

from ..errors import ConfigError
from . import style
from .steps import typical_step, window_of, words

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes

    from ..runs import Run, Window
    from ..tables import Timeline
    from ..traces import Trace

__all__ = ["timeline"]

_MOST = 50_000  # bars that a picture can hold and a person can wait for
_WIDE = 0.06  # of the window: a step below is too narrow for words


def timeline(what: Run | Trace | Timeline, window: Window | None = None, *, title: str | None = None, ax: Axes | None = None) -> Axes:
    """Steps, launches and kernels of a window.

    Parameters
    ----------
    what
        A `Run`, a `Trace`, or a `Timeline` of either.
    window
        Seconds; steps that begin in it are drawn. If left out: two steps, of a run around one of typical length, of others the first.
    title
        What it is; said by the run or the trace's file if left out.
    ax
        Axes to draw into; new ones if left out.

    Returns
    -------
    matplotlib.axes.Axes
        A lane for steps, one for the host's calls, and one a stream of the device, against milliseconds since the window's first step.

    Raises
    ------
    ConfigError
        There is no step in the window, or too much to draw.
    ImportError
        matplotlib is not installed.
    """
    shown, said = _shown(what, window)
    count = len(shown.kernels) + len(shown.calls)
    if not len(shown.steps):
        raise ConfigError(f"plot timeline: no step begins in the window{_where_steps_are(what)}")
    if count > _MOST:
        raise ConfigError(f"plot timeline: the window holds {count:,} kernels and calls, more than {_MOST:,}; take a shorter one")
    lanes = _Lanes(shown)
    ax = style.axes(ax, 10.0, 1.3 + 0.45 * lanes.count)
    lanes.draw(ax)
    style.dress(ax, said if title is None else title, "ms", "")
    ax.set_yticks([0.5 + row for row in range(lanes.count)], lanes.names)
    ax.set_xlim(0, lanes.end)
    ax.set_ylim(0, lanes.count)
    ax.invert_yaxis()
    ax.grid(False)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    style.legend(ax, loc="upper left", bbox_to_anchor=(1.0, 1.0), handlelength=1.0, borderaxespad=0.2)
    return ax


class _Lanes:
    """What is drawn where, in milliseconds since the first step began."""

    def __init__(self, shown: Timeline) -> None:
        self._shown = shown
        self._origin = int(shown.steps.start_ns.min())
        ends = [int(spans.end_ns.max()) for spans in (shown.steps, shown.kernels, shown.calls) if len(spans)]
        self.end = (max(ends) - self._origin) * 1e-6
        self._streams = sorted(set(shown.kernels.stream.tolist()))
        self._host = ["host calls"] if len(shown.calls) else []
        kernels = ["kernels"] if len(self._streams) == 1 else [f"stream {stream}" for stream in self._streams]
        self.names = ["steps", *self._host, *kernels]

    @property
    def count(self) -> int:
        return len(self.names)

    def draw(self, ax: Axes) -> None:
        steps, calls, kernels = self._shown.steps, self._shown.calls, self._shown.kernels
        self._bars(ax, 0, steps.start_ns, steps.duration_ns, "#F2F2F2", edge=style.GREY)
        for row in range(len(steps)):
            begin, length = (steps.start_ns[row] - self._origin) * 1e-6, steps.duration_ns[row] * 1e-6
            if length > _WIDE * self.end:
                ax.text(begin + length / 2, 0.5, words(steps, row), ha="center", va="center", fontsize=7, clip_on=True)
        if self._host:
            self._bars(ax, 1, calls.start_ns, calls.duration_ns, style.BLACK, label="call of the runtime")
        classes = kernels.kernel_class
        for lane, stream in enumerate(self._streams, 1 + len(self._host)):
            here = kernels.stream == stream
            for group, members in style.CLASS_GROUPS.items():
                chosen = here & _any_of(classes, members)
                known = group in ax.get_legend_handles_labels()[1]
                colour = style.CLASS_COLOURS[members[0]]
                self._bars(ax, lane, kernels.start_ns[chosen], kernels.duration_ns[chosen], colour, label=None if known else group)

    def _bars(self, ax: Axes, lane: int, starts: Any, lengths: Any, colour: str, edge: str | None = None, label: str | None = None) -> None:
        if len(starts):
            bars = list(zip(((starts - self._origin) * 1e-6).tolist(), (lengths * 1e-6).tolist()))
            width = 0.6 if edge else 0.3  # nothing is too short to be seen
            ax.broken_barh(bars, (lane + 0.1, 0.8), facecolors=colour, edgecolor=edge or colour, linewidth=width, label=label)


def _any_of(classes: np.ndarray[Any, np.dtype[np.object_]], members: tuple[str, ...]) -> Any:
    import numpy as np

    return np.isin(classes.astype(str), members)


def _shown(what: Union[Run, Trace, Timeline], window: Window | None) -> tuple[Timeline, str]:
    """The window's timeline, and what to call it."""
    from ..runs import Run
    from ..tables import Timeline
    from ..traces import Trace

    if isinstance(what, Run):
        if window is None:
            middle = typical_step(what)
            window = window_of(what, middle, 2)
        return what.timeline(window), f"{what.result['label']} on {what.roofs.gpu}"
    whole, name = (what.timeline, what.path) if isinstance(what, Trace) else (what, "")
    if not isinstance(whole, Timeline):
        raise ConfigError(f"plot timeline: expected a run, a trace or a timeline, got {type(what).__name__}")
    return _cut(whole, window), name


def _where_steps_are(what: Run | Trace | Timeline) -> str:
    from ..traces import Trace

    steps = what.timeline.steps if isinstance(what, Trace) else what.steps
    if not len(steps):
        return "; there is no step at all"
    return f"; steps begin from {steps.start_ns.min() * 1e-9:.4g} s to {steps.start_ns.max() * 1e-9:.4g} s"


class _Rows:
    """Some rows of columns, with the attributes of all of them."""

    def __init__(self, columns: Any, chosen: Any) -> None:
        self._columns, self._chosen = columns, chosen
        self._count = int(chosen.sum())

    def __len__(self) -> int:
        return self._count

    def __getattr__(self, name: str) -> Any:
        return self._columns[name][self._chosen]


class _Cut:
    """The steps of a timeline that begin in a window, with their kernels and calls."""

    def __init__(self, whole: Timeline, chosen: Any) -> None:
        import numpy as np

        numbers = whole.steps.index[chosen]
        self.steps = _Rows(whole.steps, chosen)
        self.kernels = _Rows(whole.kernels, np.isin(whole.kernels.step, numbers))
        self.calls = _Rows(whole.calls, np.isin(whole.calls.step, numbers))


def _cut(whole: Timeline, window: Window | None) -> Any:
    import numpy as np

    starts = whole.steps.start_ns
    if window is None:
        return _Cut(whole, np.arange(len(starts)) < 2)
    begin, end = window
    after = starts >= (0 if begin is None else begin * 1e9)
    return _Cut(whole, after if end is None else after & (starts < end * 1e9))
