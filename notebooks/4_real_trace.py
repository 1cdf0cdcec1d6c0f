# %% [markdown]
# # Diagnosing a real trace
#
# A profiler's trace is read, doubted, diagnosed, and held against a simulation of the same step.
#
# The trace is one decode step of Qwen3 8B under SGLang on an MI300X, 32 sequences, recorded by PyTorch's profiler; it
# is public (AMD-AGI/TraceLens, MIT licence) and not shipped here. Where the folder that `RIDGELINE_CORPUS` names does
# not have it, a simulated trace of such a step is written and read instead, and everything below says so.

# %%
import os
import tempfile
from pathlib import Path

import pandas as pd
import ridgeline as rl

server = {"model": "qwen3_8b", "stack": "sglang", "engine.max_num_seqs": 32}
found = Path(os.environ.get("RIDGELINE_CORPUS", "")) / "traces/tracelens/mi300x_sglang_qwen3-8b_decode_bs32_fullgraph.json.gz"
real = found.is_file()
if real:
    path = found
else:
    thirty_two = {
        "workload": {"requests": 32, "arrivals": {"closed_loop": {"concurrency": 32}}, "prompt_tokens": 1000, "output_tokens": 48},
        "engine.enforce_eager": False,
    }
    run = rl.run("chat_8b", {**server, **thirty_two})
    full = next(i for i, n in enumerate(run.steps.decode_sequences) if n == 32)
    folder = tempfile.TemporaryDirectory()  # is removed when the notebook ends
    path = Path(folder.name) / "simulated.json.gz"
    run.write_trace(path, window=(run.steps.start_ns[full] * 1e-9, (run.steps.start_ns[full] + 1) * 1e-9))
print("a real trace" if real else "a simulated trace: no real one is here")

# %% [markdown]
# ## What is in it, and whether to believe it
#
# Before any number is used, the recording is tested: does work overlap that cannot, were events lost, did the
# profiler itself slow the host?

# %%
trace = rl.read_trace(path)
trace

# %%
summary = trace.summary()
for gate in summary["gates"]:
    print("passed " if gate["passed"] else "DOUBTED", gate["name"], "-", gate["sentence"])
assert not [gate["name"] for gate in summary["gates"] if not gate["passed"] and gate["decisive"]], "nothing forbids a diagnosis"

# %% [markdown]
# ## The kernels

# %%
kernels = trace.kernels.to_frame()
by_class = kernels.groupby("kernel_class", observed=True)["duration_ns"].agg(["count", "sum"])
by_class["ms"] = by_class.pop("sum") * 1e-6
by_class.sort_values("ms", ascending=False)

# %%
if real:  # the host waited half a second for the prefill before: look at the kernels alone
    begin = int(trace.kernels.start_ns.min()) * 1e-9
    ax = rl.plot.timeline(trace)
    ax.set_xlim(left=ax.get_xlim()[1] - 1.02 * (trace.kernels.end_ns.max() * 1e-6 - begin * 1e3))
else:
    ax = rl.plot.timeline(trace)
ax.set_title("one decode step", loc="left")

# %% [markdown]
# ## By hand
#
# Qwen3 8B has 8.19 G parameters, 16.4 GB in bf16. At 5.3 TB/s they take 3.1 ms; the KV cache of 32 sequences of about
# 1,000 tokens is 147 kB a token, 4.8 GB, 0.9 ms. So a step cannot take less than 4.0 ms, and a device that is busy
# for 10 ms has kernels that are not at their floor.

# %%
floor_ms = (16.4e9 + 4.8e9) / rl.Scenario("chat_8b").roofs().hbm_bytes_per_second * 1e3
busy_ms = kernels["duration_ns"].sum() * 1e-6
print(f"floor {floor_ms:.1f} ms, kernels {busy_ms:.1f} ms")
assert 3.9 < floor_ms < 4.1 < busy_ms < 20

# %% [markdown]
# ## The diagnosis

# %%
diagnosis = rl.diagnose(trace, "mi300x", "qwen3_8b")
diagnosis

# %%
assert diagnosis.regime == "bandwidth_bound" and diagnosis.phase == "decode"
assert "weight_quantization" in diagnosis["fixes"][0]["name"], "fewer bytes"
assert "larger_batch" not in [fix["name"] for fix in diagnosis["fixes"]]

# %% [markdown]
# ## Beside a simulation
#
# The trace says what its step held, so the same step can be simulated: machine, model and stack from here, the batch
# from there.

# %%
beside = rl.compare(trace, "chat_8b", server)
classes = pd.DataFrame(beside["classes"]).set_index("name")
classes[["real_count", "simulated_count", "real_seconds", "simulated_seconds", "ratio"]]

# %%
whole = classes[["real_seconds", "simulated_seconds"]].sum()
error = whole["simulated_seconds"] / whole["real_seconds"] - 1
print(f"kernels of the step: simulated {error:+.1%}")
assert abs(error) < 0.12
assert 0.85 < classes.loc["gemm", "ratio"] < 1.15

# %% [markdown]
# ## And with the fix?
#
# The simulation that fits the trace can answer what the trace cannot: the same server with weights in 4 bit, while 32
# sequences decode.

# %%
steady = {"workload": {"requests": 64, "arrivals": {"closed_loop": {"concurrency": 32}}, "prompt_tokens": 1000, "output_tokens": 64}}
tried = rl.whatif("chat_8b", "quantize:int4", overrides={**server, **steady})
after = tried["quantize:int4"]
gain = tried["before"].figures["median_itl_ms"] / after.figures["median_itl_ms"]  # of steps that only decode
(fix,) = [fix for fix in diagnosis["fixes"] if fix["name"] == "weight_quantization_4bit"]
print(f"a token comes {gain:.2f}x as fast; the diagnosis of the trace said {fix['speedup_low']:.2f}x to {fix['speedup_high']:.2f}x")
assert 0.95 * fix["speedup_low"] < gain < 1.05 * fix["speedup_high"]

# %% [markdown]
# `ridgeline whatif from-trace` does all of that in one command: it chooses the shipped stack whose kernels are
# nearest, fits what is left, says how well the trace is explained and what is not known, and replays the recorded
# step with the change.

# %%
import subprocess
import sys

command = [sys.executable, "-m", "ridgeline", "whatif", "from-trace", str(path), "--model", "qwen3_8b", "quantize:int4"]
told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
print(told.replace(str(path), path.name))
