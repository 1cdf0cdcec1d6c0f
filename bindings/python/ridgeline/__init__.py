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

__all__ = ["ConfigError", "SimulationError", "run", "diagnose"]


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


def diagnose(evidence: str | os.PathLike[str]) -> dict[str, Any]:
    """Diagnose a finished run or typed evidence.

    Parameters
    ----------
    evidence
        The directory of a run, or a YAML file with any subset of machine, model, serving, measured and profile.

    Returns
    -------
    dict
        Regime, phase, confidence, settling evidence, time budget (seconds), fixes, rejects, inconsistencies, question.

    Raises
    ------
    ConfigError
        The file or the directory is wrong; says where.
    """
    return json.loads(_core.diagnose(os.fspath(evidence)))


def _yaml(value: Any) -> str:
    """A Python value as YAML: JSON is YAML, and strings are taken as they stand."""
    return value if isinstance(value, str) else json.dumps(value)
