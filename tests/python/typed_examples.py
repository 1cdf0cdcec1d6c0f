"""What a user writes, for mypy --strict: every line has the types that it says. Not run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import ridgeline as rl
from numpy.typing import NDArray

scenario: rl.Scenario = rl.Scenario(
    "chat_8b",
    hw={"base": "mi300x", "hbm": {"capacity": "100 GB"}},
    engine=rl.Engine(max_num_seqs=64, kv_cache_dtype="fp8"),
    workload=rl.GeneratedWorkload(requests=100, arrivals=rl.PoissonArrivals(2.0), prompt_tokens=512, output_tokens=rl.UniformLength(1, 9)),
)
faster: rl.Scenario = scenario.with_({"stack.launch.issue": "2 us"}, hw="h200")
run: rl.Run = rl.run(faster, {"seed": 2}, progress=lambda answered, in_all, seconds: None)
throughput: float = run.metrics.output_throughput
energy: float | None = run.metrics.energy_joules_rough
ttft_ns: NDArray[np.int64] = run.requests.ttft_ns
status: NDArray[np.object_] = run.requests.status
sequences: NDArray[np.uint32] = run.steps.decode_sequences
frame: pd.DataFrame = run.kernels((0.0, 0.5)).to_frame()
host_ns: int = run.ledger.host_ns
shares: dict[str, float] = run.ledger.shares()
diagnosis: rl.Diagnosis | None = run.diagnosis
if diagnosis is not None:
    regime: str | None = diagnosis.regime
    fixes: list[dict[str, Any]] = diagnosis["fixes"]
trace: rl.Trace = rl.read_trace("trace.json.gz")
durations: NDArray[np.int64] = trace.kernels.duration_ns
answer: rl.Diagnosis = rl.diagnose(trace, hw="mi300x", model="qwen3_8b")
case: rl.Case = rl.cases("A")[0]
swept: rl.Sweep = rl.sweep(scenario, {"engine.max_num_seqs": "1..256*2", ("hw", "model"): [("h200", "qwen3_8b")]}, seeds=range(3))
front: pd.DataFrame = swept.pareto("output_throughput_per_user", "usd_per_million_output_tokens")
most: float = rl.capacity("chat_8b", {"p99_ttft_ms": 2000, "mean_tpot_ms": 50}).request_rate
slopes: pd.DataFrame = rl.elasticities("chat_8b", ["hw.hbm.*"], "mean_tpot_ms")
rows: list[dict[str, Any]] = rl.predict("gemm", [{"hw": "MI300X", "M": 16, "N": 8192, "K": 8192, "dtype": "bf16"}])
