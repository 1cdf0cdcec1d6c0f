# %% [markdown]
# # Capacity planning: how many GPUs, of which kind, at what cost
#
# A service expects 60 requests a second, chat-sized. Nine of ten users shall see their first token within half a
# second, and tokens shall come at 30 ms or less on average. How many GPUs does that take, which, and what does a
# million tokens cost?

# %%
import math

import matplotlib.pyplot as plt
import pandas as pd
import ridgeline as rl

expected = 60.0  # requests/s
slo = {"p90_ttft_ms": 500, "mean_tpot_ms": 30}

# %% [markdown]
# ## Why not at full throughput
#
# As arrivals come near to what a server can do, waiting grows without bound; latencies of a short run look well for a
# while. Three rates show it.

# %%
few = {"workload.requests": 300}
loads = {f"{rate} requests/s": rl.run("chat_8b", {**few, "workload.arrivals.gamma.rate": f"{rate} /s"}) for rate in (4, 12, 40)}
axes = rl.plot.latencies(loads, slo={"ttft": slo["p90_ttft_ms"], "tpot": slo["mean_tpot_ms"]})

# %%
ttft = [run.metrics.p90_ttft_ms for run in loads.values()]
assert ttft[0] < ttft[1] < ttft[2]
assert loads["40 requests/s"].metrics.peak_waiting >= loads["4 requests/s"].metrics.peak_waiting

# %% [markdown]
# ## The largest rate that meets the objectives
#
# `rl.capacity` finds it by bisection, and knows a server that falls behind its arrivals by its growing queue, not by
# its latencies.

# %%
machines = {"mi300x": "MI300X", "h200": "H200", "h100": "H100"}
found = {hw: rl.capacity("chat_8b", slo, overrides={"hw": hw}, requests=400, tolerance=0.1) for hw in machines}
print(found["mi300x"])

# %%
for hw, answer in found.items():
    low, high = answer.bracket
    assert low <= answer.request_rate <= high
    assert answer.request_rate < answer.service_rate, "objectives bind before the throughput does"

# %% [markdown]
# ## What it costs
#
# A GPU at its capacity answers so many requests in an hour of rent. Rents are those of `configs/prices.yaml`, rough
# and moving; set your own by `usd_per_gpu_hour`. Each machine is run once more at its rate, and the figures of that
# run say what a million tokens cost.

# %%
key = ("hw", "workload.arrivals.gamma.rate")
at_capacity = rl.sweep("chat_8b", {key: [(hw, f"{found[hw].request_rate:.4g} /s") for hw in machines]}, overrides=few, jobs=1).frame
hours = at_capacity["usd_per_million_output_tokens"] * at_capacity["output_throughput"] * 3600 / 1e6  # of one GPU
plan = pd.DataFrame(
    {
        "requests/s and GPU": [found[hw].request_rate for hw in machines],
        "what binds": [found[hw].binds for hw in machines],
        "GPUs": [math.ceil(expected / found[hw].request_rate) for hw in machines],
        "US$/hour and GPU": hours.to_list(),
    },
    index=list(machines.values()),
)
plan["US$/hour"] = plan["GPUs"] * plan["US$/hour and GPU"]
plan.style.format(precision=2)

# %%
assert plan["US$/hour and GPU"].round(2).to_list() == [1.99, 2.30, 2.99], "as configs/prices.yaml has them"
cheapest = plan["US$/hour"].idxmin()
fewest = plan["GPUs"].idxmin()
print(f"cheapest: {plan.loc[cheapest, 'GPUs']} {cheapest}, {plan.loc[cheapest, 'US$/hour']:.2f} US$/hour")
print(f"fewest: {plan.loc[fewest, 'GPUs']} {fewest}")
assert (plan["GPUs"] * plan["requests/s and GPU"] >= expected).all()

# %%
fig, ax = plt.subplots(figsize=(6, 2), layout="constrained")
ax.barh(plan.index, plan["US$/hour"], color=rl.plot.style.BLUE, height=0.6)
ax.set_xlabel(f"US$/hour for {expected:g} requests/s")
ax.spines[["top", "right"]].set_visible(False)

# %% [markdown]
# ## What the answer hangs on
#
# A plan rests on numbers that may be wrong. The tornado moves each by a fifth: what moves the answer deserves to be
# measured, the rest does not.

# %%
keys = ["hw.hbm.bandwidth", "hw.peak.bf16", "workload.arrivals.gamma.rate", "workload.prompt_tokens.lognormal.median"]
swings = rl.tornado("chat_8b", keys, "p90_ttft_ms", overrides={**few, "workload.arrivals.gamma.rate": "12 /s"}, jobs=1)
rl.plot.tornado(swings)

# %%
strongest = swings["key"][0]
print(f"{strongest} moves the 90th percentile of TTFT most")
moved = (swings["at_high"] - swings["at_low"]).abs()
assert moved.is_monotonic_decreasing
assert strongest != "hw.hbm.bandwidth", "the first token is arithmetic and waiting, not bytes"
