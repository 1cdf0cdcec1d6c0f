"""Ridgeline simulates an LLM inference server on a GPU and says what its speed is bound by.

The same as the program ``ridgeline``, from Python::

    import ridgeline
    run = ridgeline.run("chat_8b", {"engine.max_num_seqs": 64})
    run["result"]["output_throughput"]      # tokens per second
    run["diagnosis"]["regime"]              # "bandwidth_bound", ...
"""

from __future__ import annotations

import json
import os
from typing import Any, Mapping

from ._core import ConfigError, SimulationError
from . import _core

__all__ = ["ConfigError", "SimulationError", "run", "diagnose", "inspect", "compare"]


def run(
    scenario: str | os.PathLike[str],
    overrides: Mapping[str, Any] | None = None,
    out: str | os.PathLike[str] | None = None,
) -> dict[str, Any]:
    """Simulate a scenario and diagnose it.

    Parameters
    ----------
    scenario
        A scenario file, or the name of a shipped one.
    overrides
        Values to change, by dotted key: ``{"engine.max_num_seqs": 64}``. Quantities carry their unit, as in YAML:
        ``{"stack.launch.issue": "20 us"}``.
    out
        Directory to keep the run in; nothing is written when left out.

    Returns
    -------
    dict
        ``result``: metrics by the names of vLLM's benchmark (milliseconds where the name ends in ``_ms``, else SI units);
        ``diagnosis``: regime, evidence, fixes and rejects.

    Raises
    ------
    ConfigError
        The scenario, an override or a trace is wrong; a subclass of ``ValueError``. Says where.
    SimulationError
        The scenario is well formed but cannot run; a subclass of ``RuntimeError``.
    """
    pairs = [(key, _yaml(value)) for key, value in (overrides or {}).items()]
    return json.loads(_core.run(os.fspath(scenario), pairs, "" if out is None else os.fspath(out)))


def diagnose(
    evidence: str | os.PathLike[str],
    hw: str | None = None,
    model: str | None = None,
) -> dict[str, Any]:
    """Diagnose a finished run, typed evidence or a profiler's trace.

    Parameters
    ----------
    evidence
        The directory of a run; a YAML file with any subset of machine, model, serving, measured and profile; or a trace as
        `inspect` reads it.
    hw, model
        Of a trace: names or paths of configurations, where the trace does not say the GPU, and from which bytes and FLOP follow.

    Returns
    -------
    dict
        Regime, phase, confidence, settling evidence, time budget (seconds), fixes, rejects, inconsistencies, question. Of a trace
        also ``gates`` and ``notes``; ``regime`` is None, and ``cannot_tell`` says why, where the trace cannot be believed.

    Raises
    ------
    ConfigError
        The file or the directory is wrong; says where.
    """
    path = os.fspath(evidence)
    if _core.looks_like_trace(path):
        return json.loads(_core.diagnose_trace(path, hw or "", model or ""))
    if hw or model:
        raise ConfigError("hw and model go with a trace; evidence and runs say their machine and model themselves")
    return json.loads(_core.diagnose(path))


def inspect(trace: str | os.PathLike[str], top: int = 15) -> dict[str, Any]:
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
    return json.loads(_core.inspect(os.fspath(trace), top))


def compare(
    trace: str | os.PathLike[str],
    scenario: str | os.PathLike[str],
    overrides: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A trace beside a simulation of the same steps.

    Parameters
    ----------
    trace
        As for `inspect`; its annotations must say what its steps hold.
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
    pairs = [(key, _yaml(value)) for key, value in (overrides or {}).items()]
    return json.loads(_core.compare(os.fspath(trace), os.fspath(scenario), pairs))


def _yaml(value: Any) -> str:
    """A Python value as YAML: JSON is YAML, and strings are taken as they stand."""
    return value if isinstance(value, str) else json.dumps(value)
