"""Traces of real profilers: what is in them, and what binds."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from . import _core, _html
from ._values import StrPath
from .diagnoses import Diagnosis
from .scenarios import AnyScenario, opened
from .tables import Calls, Kernels, Timeline, TimelineSteps

__all__ = ["Trace", "compare", "inspect", "read_trace"]


class Trace:
    """A profiler's trace, read. `read_trace` makes it.

    Steps are found in it, each with its kernels on the busiest device; times are whole nanoseconds since the recording began.
    """

    def __init__(self, core: _core.Trace, path: str) -> None:
        self._core = core
        self.path = path

    @cached_property
    def timeline(self) -> Timeline:
        """Steps, kernels and calls as columns."""
        return Timeline(self._core.spans())

    @property
    def kernels(self) -> Kernels:
        """One row a kernel that belongs to a step."""
        return self.timeline.kernels

    @property
    def calls(self) -> Calls:
        """One row a call of the runtime on the host."""
        return self.timeline.calls

    @property
    def steps(self) -> TimelineSteps:
        """One row a step."""
        return self.timeline.steps

    def summary(self, top: int = 15) -> dict[str, Any]:
        """Kernels by class and name, gaps and their causes, whether to believe it.

        Parameters
        ----------
        top
            How many kernels to list by name.

        Returns
        -------
        dict
            ``kernel_count``, ``device_span_ns``, ``device_busy_ns``, ``kernels_by_class``, ``top_kernels``, ``devices``, ``gaps``,
            ``gates`` and more. Times in nanoseconds.
        """
        answer: dict[str, Any] = json.loads(self._core.json(top))
        return answer

    def diagnose(self, hw: StrPath | None = None, model: StrPath | None = None) -> Diagnosis:
        """What binds.

        Parameters
        ----------
        hw, model
            Names or paths of configurations, where the trace does not say the GPU, and from which bytes and FLOP follow.

        Returns
        -------
        Diagnosis
            With ``gates`` and ``notes``; ``regime`` is None, and ``cannot_tell`` says why, where the trace cannot be believed.

        Raises
        ------
        ConfigError
            No such machine or model.
        """
        return Diagnosis(self._core.diagnose("" if hw is None else os.fspath(hw), "" if model is None else os.fspath(model)))

    def __repr__(self) -> str:
        found = self.summary(1)
        span, busy = found["device_span_ns"] * 1e-9, found["device_busy_ns"] * 1e-9
        return f"Trace({self.path}: {found['kernel_count']:,} kernels in {span:.4g} s, busy {busy:.4g} s)"

    def _repr_html_(self) -> str:
        found = self.summary(5)
        classes = found["kernels_by_class"]
        whole = sum(row["total_ns"] for row in classes) or 1
        rows = [
            [row["class"], f"{row['count']:,}", f"{row['total_ns'] * 1e-6:,.4g}", f"{share:.1%}", _html.bar(share)]
            for row in classes
            for share in [row["total_ns"] / whole]
        ]
        gates = (f"{gate['name']}: {gate['sentence']}" for gate in found["gates"] if not gate["passed"])
        table = _html.table(["kernels of class", "count", "ms", "share", ""], rows)
        return _html.paragraph(repr(self)) + table + _html.listing("Not to be believed", gates)


def read_trace(path: StrPath) -> Trace:
    """Read a profiler's trace.

    Parameters
    ----------
    path
        A file of the PyTorch profiler, rocprofv3, rocprof, RPD or rocprofiler-compute, compressed or not; or a directory of
        rocprofv3 CSV files.

    Returns
    -------
    Trace
        Kernels as columns, a summary, a diagnosis.

    Raises
    ------
    ConfigError
        The file cannot be read, or is no recording; says what it is and what is understood.
    """
    return Trace(_core.read_trace(os.fspath(path)), os.fspath(path))


def inspect(trace: StrPath, top: int = 15) -> dict[str, Any]:
    """What a profiler's trace holds: kernels by class and name, gaps and their causes, whether to believe it.

    Parameters
    ----------
    trace
        A file of the PyTorch profiler, rocprofv3, rocprof, RPD or rocprofiler-compute, compressed or not; or a directory of
        rocprofv3 CSV files.
    top
        How many kernels to list by name.

    Returns
    -------
    dict
        ``kernel_count``, ``device_span_ns``, ``device_busy_ns``, ``kernels_by_class``, ``top_kernels``, ``devices``, ``gaps``,
        ``gates`` and more. Times in nanoseconds.

    Raises
    ------
    ConfigError
        The file cannot be read, or is no recording; says what it is and what is understood.
    """
    return read_trace(trace).summary(top)


def compare(
    trace: StrPath | Trace,
    scenario: AnyScenario,
    overrides: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A trace beside a simulation of the same steps.

    Parameters
    ----------
    trace
        A `Trace`, or a path as for `read_trace`; its annotations must say what its steps hold.
    scenario, overrides
        As for `run`; machine, model and stack are used.

    Returns
    -------
    dict
        ``classes`` and ``roles``: rows with real and simulated seconds a step, and their ratio (None where one side has none).

    Raises
    ------
    ConfigError
        The trace or the scenario is wrong, or no step's batch is known.
    """
    study = trace if isinstance(trace, Trace) else read_trace(trace)
    answer: dict[str, Any] = json.loads(study._core.compare(opened(scenario, overrides)))
    return answer
