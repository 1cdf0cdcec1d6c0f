# %% [markdown]
# # Batching: throughput against latency, and where the ridge bends it
#
# A decode step reads all weights once, however many sequences it serves. So a second sequence is nearly free, and so
# is a tenth. Somewhere that ends. Where it ends can be computed on the back of an envelope, and then be seen.

# %%
import matplotlib.pyplot as plt
import ridgeline as rl

roofs = rl.Scenario("chat_8b").roofs()
roofs

# %% [markdown]
# ## By hand
#
# A matrix product of B tokens with a weight matrix of P parameters in bf16 does 2 P B FLOP and reads 2 P bytes: B
# FLOP per byte. It takes as long to compute as to read when B is the ridge point, the ratio of the two roofs:
#
# * datasheet: 1307.4 TFLOP/s / 5.3 TB/s = 247 FLOP/byte, so 247 sequences;
# * what clocks under power and long streams leave: 0.576 x 1307.4 TFLOP/s / (0.81 x 5.3 TB/s) = 175.

# %%
by_datasheet = roofs.ridge("bf16")
sustained = roofs.ridge("bf16", sustained=True)
assert round(by_datasheet) == 247 and round(sustained) == 175
by_datasheet, sustained

# %% [markdown]
# ## Simulated
#
# Clients that ask again as soon as they are answered keep the batch at a constant size. Prompts are short, so that
# weights and not the KV cache are what a step reads.

# %%
load = {"workload.prompt_tokens": 32, "workload.output_tokens": 192}
batches = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
points = [(n, n, 2 * n) for n in batches]
sweep = rl.sweep(
    "chat_8b",
    {("engine.max_num_seqs", "workload.arrivals.closed_loop.concurrency", "workload.requests"): points},
    overrides={"workload.arrivals": {"closed_loop": {"concurrency": 1}}, **load},
    jobs=1,
)
frame = sweep.frame.set_index("engine.max_num_seqs")
frame[["output_throughput", "output_throughput_per_user", "median_tpot_ms", "share_compute", "share_memory"]].style.format("{:.3g}")

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
rl.plot.curve(sweep, "engine.max_num_seqs", "output_throughput", ax=left)
rl.plot.curve(sweep, "engine.max_num_seqs", "median_tpot_ms", ax=right)
left.set(yscale="log", ylim=(100, 1e5))
free = frame.loc[1, "output_throughput"]
left.plot(batches, [free * n for n in batches], ":", color=rl.plot.style.GREY, label="every sequence free")
for ax in (left, right):
    ax.axvline(sustained, color=rl.plot.style.VERMILION, linewidth=1, label="ridge, sustained")
    ax.set_xlabel("sequences in the batch")
    ax.legend(frameon=False, fontsize=8)

# %% [markdown]
# Up to 16 sequences a step takes as long as for one: throughput grows in proportion and nobody waits longer. Beyond
# the ridge each doubling of the batch nearly doubles the step: throughput hardly grows, and every user waits twice as
# long. `share_compute` says it without a plot: the matrix products stop reading and begin to compute just where the
# envelope said.

# %%
tpot = frame["median_tpot_ms"]
assert tpot[16] < 1.05 * tpot[1], "free below"
assert tpot[1024] > 1.7 * tpot[512], "paid in full above"
bend = next(n for n in batches if frame.loc[n, "share_compute"] > 0.3)
assert bend // 2 < sustained < bend, "matrix products turn from reading to computing at the ridge"
assert frame.loc[bend // 2, "share_compute"] < 0.1
print(f"compute begins to bind between {bend // 2} and {bend} sequences; the sustained ridge is at {sustained:.0f}")

# %% [markdown]
# ## The same on the roofline
#
# Each matrix product moves along the memory roof as the batch grows, and stops at the compute roof. Attention does
# not move: every sequence reads a KV cache of its own, so its intensity is that of one sequence.

# %%
def one(n):
    closed = {"workload.arrivals": {"closed_loop": {"concurrency": n}}, "workload.requests": n, "engine.max_num_seqs": n}
    return rl.run("chat_8b", {**closed, **load})


fig, axes = plt.subplots(1, 2, figsize=(13, 4), layout="constrained")
for ax, n in zip(axes, (8, 512)):
    rl.plot.roofline(one(n), ax=ax)

# %% [markdown]
# ## What to choose
#
# There is no best batch, only a front: what one user gets against what a GPU gives. The bend is the ridge again.

# %%
ax = rl.plot.pareto(sweep, label="engine.max_num_seqs")

# %%
front = sweep.pareto()
assert len(front) == len(batches), "no batch size is better than another in both"
knee = frame[frame["output_throughput_per_user"] > 0.5 * frame["output_throughput_per_user"].max()].index.max()
share = frame.loc[knee, "output_throughput"] / frame["output_throughput"].max()
print(f"a batch of {knee} gives each user at least half of the most, and {share:.0%} of the largest throughput")
assert share > 0.5
