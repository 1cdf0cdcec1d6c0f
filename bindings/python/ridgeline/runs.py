"""Runs: a scenario simulated, and everything that is known of it afterwards."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Literal, Union

from . import _core, _html
from ._values import StrPath
from .diagnoses import Diagnosis
from .metrics import Ledger, Metrics
from .roofs import Roofs
from .scenarios import AnyScenario, opened
from .tables import Counters, Kernels, Requests, Steps, Timeline, TokenGaps

__all__ = ["Run", "load_run", "run"]

#: A stretch of simulated time in seconds: from the first, before the second. None is the beginning or the end.
Window = tuple[Union[float, None], Union[float, None]]
TraceFormat = Literal["kineto", "perfetto", "rocprofv3-csv", "rocprofv3-json"]


class Run:
    """A finished run. `run` and `load_run` make it.

    Nothing is computed before it is asked for, and then once. What is shown as columns stays in C++ memory.
    """

    def __init__(self, core: _core.Run) -> None:
        self._core = core

    @cached_property
    def result(self) -> dict[str, Any]:
        """All metrics as ``result.json`` has them: keys of vLLM's benchmark, and under ``"ridgeline"`` what only a simulator knows."""
        result: dict[str, Any] = json.loads(self._core.json())
        return result

    @cached_property
    def metrics(self) -> Metrics:
        """Throughput, latencies and peaks, typed."""
        return Metrics.of(self.result)

    @cached_property
    def ledger(self) -> Ledger:
        """Where the server's time went, by cause."""
        own = self.result["ridgeline"]
        return Ledger(**own["ledger"], idle_ns=own["idle_ns"])

    @cached_property
    def roofs(self) -> Roofs:
        """Peaks of the machine's memory and matrix units."""
        return Roofs.read(self._core.roofs())

    @cached_property
    def diagnosis(self) -> Diagnosis | None:
        """What binds, and what to do; None for a run without a step."""
        told = self._core.diagnosis()
        return None if told is None else Diagnosis(told)

    @cached_property
    def requests(self) -> Requests:
        """One row a request."""
        return Requests(self._core.requests(), status=_core.REQUEST_STATUSES)

    @cached_property
    def steps(self) -> Steps:
        """One row a step of the engine."""
        return Steps(self._core.steps())

    @cached_property
    def counters(self) -> Counters:
        """The server's state when each step began."""
        return Counters(self._core.counters())

    @cached_property
    def token_gaps(self) -> TokenGaps:
        """Times between two tokens of a request."""
        return TokenGaps(self._core.token_gaps())

    @property
    def notes(self) -> list[str]:
        """What should be known: rows that a trace lacks, requests that were refused ..."""
        return list(self.result["ridgeline"]["notes"])

    @property
    def scenario_yaml(self) -> str:
        """The resolved scenario: a file that ``ridgeline run`` runs to the same result."""
        return self._core.scenario_yaml()

    def timeline(self, window: Window = (None, None)) -> Timeline:
        """Steps, kernels and launches of a window, as a profiler would have seen them.

        Parameters
        ----------
        window
            Steps that begin in it, seconds: ``(10.0, 10.2)``. All if left out, which can be a thousand kernels a step.

        Returns
        -------
        Timeline
            Computed anew from the steps, to the nanosecond.

        Raises
        ------
        ConfigError
            The window does not end after it begins.
        """
        return Timeline(self._core.spans(*_bounds(window)))

    def kernels(self, window: Window = (None, None)) -> Kernels:
        """The kernels of a window.

        Parameters
        ----------
        window
            As of `timeline`.

        Returns
        -------
        Kernels
            One row each.

        Raises
        ------
        ConfigError
            The window does not end after it begins.
        """
        return self.timeline(window).kernels

    def write_trace(self, path: StrPath, format: TraceFormat = "kineto", window: Window = (None, None)) -> None:
        """Write a window's timeline as a file for another tool.

        Parameters
        ----------
        path
            The file, compressed if its name ends in ``.gz``; of ``"rocprofv3-csv"`` a directory.
        format
            ``"kineto"`` is PyTorch's JSON, ``"perfetto"`` its protobuf.
        window
            As of `timeline`.

        Raises
        ------
        ConfigError
            No such format, no step in the window, or the file cannot be written.
        """
        self._core.write_trace(os.fspath(path), format, *_bounds(window))

    def save(self, directory: StrPath) -> None:
        """Keep the run: ``scenario.yaml``, ``result.json``, ``requests.csv``, ``steps.bin``.

        Parameters
        ----------
        directory
            Where; an earlier run that stands there is replaced. It is whole or not there.

        Raises
        ------
        ConfigError
            Something else stands there, or it cannot be written.
        """
        self._core.save(os.fspath(directory))

    def __repr__(self) -> str:
        binds = f", {self.diagnosis.regime}" if self.diagnosis else ""
        return f"Run({self._title()}{binds})\n{self.metrics!r}\n{self.ledger!r}"

    def _repr_html_(self) -> str:
        title = _html.paragraph(self._title())
        parts = [self.metrics._repr_html_(), self.ledger._repr_html_(), _html.listing("Notes", self.notes)]
        if self.diagnosis is not None:
            parts.append(self.diagnosis._repr_html_())
        return title + "".join(parts)

    def _title(self) -> str:
        own = self.result["ridgeline"]
        return f"{self.result['label']}: {self.result['model_id']} on {own['gpu']}, {own['stack']}"


def run(
    scenario: AnyScenario,
    overrides: Mapping[str, Any] | None = None,
    out: StrPath | None = None,
    *,
    progress: Callable[[int, int, float], object] | None = None,
) -> Run:
    """Simulate a scenario.

    The interpreter's lock is released meanwhile, and Ctrl-C stops the run. A process simulates one scenario at a time: a call from another
    thread waits for its turn. The same scenario gives the same run, bit for bit, whatever ran before.

    Parameters
    ----------
    scenario
        A `Scenario`, a scenario file, or the name of a shipped one.
    overrides
        Values to change, by dotted key: ``{"engine.max_num_seqs": 64}``. Quantities carry their unit, as in YAML:
        ``{"stack.launch.issue": "20 us"}``.
    out
        Directory to keep the run in; nothing is written when left out.
    progress
        Called now and then with requests answered, requests in all (0 where a trace does not say), and simulated seconds.

    Returns
    -------
    Run
        Metrics, ledger, diagnosis, and columns of requests and steps.

    Raises
    ------
    ConfigError
        The scenario, an override or a trace is wrong; a subclass of ``ValueError``. Says where.
    SimulationError
        The scenario is well formed but cannot run; a subclass of ``RuntimeError``.
    TypeError
        What should be a scenario is something else.
    KeyboardInterrupt
        Ctrl-C, in the main thread. Whatever else a signal handler or `progress` raises comes through too.

    Examples
    --------
    >>> import ridgeline as rl
    >>> done = rl.run("chat_8b", {"workload.requests": 20, "hw": "h200"})
    >>> done.metrics.completed, done.diagnosis["regime"]
    (20, 'bandwidth_bound')
    >>> done.requests.ttft_ns.shape
    (20,)
    """
    finished = Run(_core.run(opened(scenario, overrides), progress))
    if out is not None:
        finished.diagnosis  # what cannot be diagnosed leaves nothing behind
        finished.save(out)
    return finished


def load_run(directory: StrPath) -> Run:
    """A run that was kept.

    Parameters
    ----------
    directory
        What `Run.save` or ``ridgeline run --out`` wrote.

    Returns
    -------
    Run
        The same as when it was made.

    Raises
    ------
    ConfigError
        It is no run, or damaged; says which file and how.
    """
    return Run(_core.load_run(os.fspath(directory)))


def _bounds(window: Window) -> tuple[float, float]:
    begin, end = window
    return 0.0 if begin is None else float(begin), float("inf") if end is None else float(end)
