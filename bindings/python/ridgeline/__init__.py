"""Ridgeline simulates an LLM inference server on a GPU and says what its speed is bound by.

The same as the program ``ridgeline``, from Python::

    import ridgeline as rl
    scenario = rl.Scenario("chat_8b", engine=rl.Engine(max_num_seqs=64), hw="h200")
    run = rl.run(scenario)
    run.metrics.output_throughput           # tokens per second
    run.requests.ttft_ns                    # a NumPy array
    run.diagnosis.regime                    # "bandwidth_bound", ...
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._installed import __version__  # first: it says where the configurations are
from . import plot
from .cases import Case, cases
from .columns import Columns
from .diagnoses import Diagnosis, diagnose
from .engine import Engine, SpeculativeConfig
from .errors import ConfigError, SimulationError
from .evidence import check_evidence, evidence_template, exercise, read_pasted
from .experiments import Experiment, Prediction, Variant, changes, verify_diagnosis, whatif
from .measurements import calibrate, predict, validate
from .metrics import Ledger, Metrics
from .roofs import Roofs
from .runs import Run, load_run, run
from .scenarios import Scenario, names
from .tables import Calls, Counters, Kernels, Requests, Steps, Timeline, TimelineSteps, TokenGaps
from .traces import Trace, compare, inspect, read_trace
from .workloads import (
    ClosedLoop,
    ConstantArrivals,
    EmpiricalLength,
    GammaArrivals,
    Gather,
    GeneratedWorkload,
    LognormalLength,
    PoissonArrivals,
    QuantileLength,
    SharedPrefix,
    TraceWorkload,
    TrainingWorkload,
    UniformLength,
)

if TYPE_CHECKING:
    from .sweeps.capacity import Capacity, capacity
    from .sweeps.result import Sweep
    from .sweeps.run import sweep
    from .sweeps.sensitivity import elasticities, tornado

__all__ = [
    "Calls",
    "Capacity",
    "Case",
    "ClosedLoop",
    "Columns",
    "ConfigError",
    "ConstantArrivals",
    "Counters",
    "Diagnosis",
    "EmpiricalLength",
    "Engine",
    "Experiment",
    "GammaArrivals",
    "Gather",
    "GeneratedWorkload",
    "Kernels",
    "Ledger",
    "LognormalLength",
    "Metrics",
    "PoissonArrivals",
    "Prediction",
    "QuantileLength",
    "Requests",
    "Roofs",
    "Run",
    "Scenario",
    "SharedPrefix",
    "SimulationError",
    "SpeculativeConfig",
    "Steps",
    "Sweep",
    "Timeline",
    "TimelineSteps",
    "TokenGaps",
    "Trace",
    "TraceWorkload",
    "TrainingWorkload",
    "UniformLength",
    "Variant",
    "__version__",
    "calibrate",
    "capacity",
    "cases",
    "changes",
    "check_evidence",
    "compare",
    "diagnose",
    "elasticities",
    "evidence_template",
    "exercise",
    "inspect",
    "load_run",
    "names",
    "plot",
    "predict",
    "read_pasted",
    "read_trace",
    "run",
    "sweep",
    "tornado",
    "validate",
    "verify_diagnosis",
    "whatif",
]

#: Names that are loaded when they are first asked for, and their modules.
_LATER = {
    "Capacity": ".sweeps.capacity",
    "Sweep": ".sweeps.result",
    "capacity": ".sweeps.capacity",
    "elasticities": ".sweeps.sensitivity",
    "sweep": ".sweeps.run",
    "tornado": ".sweeps.sensitivity",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'ridgeline' has no attribute '{name}'")
    return getattr(importlib.import_module(_LATER[name], __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
