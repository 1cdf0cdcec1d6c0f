# %% [markdown]
# # Quantization: when int4, fp8 and an fp8 KV cache help
#
# Fewer bits mean fewer bytes to read. Whether that is faster depends on what binds: bytes, arithmetic, or neither.
# Three formats, one model, and the places where their order changes.

# %%
import matplotlib.pyplot as plt
import ridgeline as rl

roofs = rl.Scenario("chat_8b").roofs()

# %% [markdown]
# ## By hand
#
# An 8 B model has 16 GB of weights in bf16, about 9 GB in fp8 (embeddings stay), about 5.7 GB in int4 with its
# scales.
#
# * **A small batch** is paced by these bytes: int4 should win, by up to 16 / 5.7.
# * **A large batch** is paced by arithmetic. int4 weights are unpacked to bf16 and multiplied at bf16's rate: nothing
#   gained. fp8 multiplies at twice the rate.
# * **They cross** where unpacked int4 takes as long to compute as fp8 takes to read: 2 P B / rate = P bytes /
#   bandwidth, at half of bf16's ridge.

# %%
crossover = roofs.ridge("bf16", sustained=True) / 2
print(f"int4 and fp8 should cross near {crossover:.0f} sequences")
assert 80 < crossover < 95

# %% [markdown]
# ## Weights
#
# int4 is AWQ here; the batch is kept full by clients that never rest.

# %%
formats = ["none", "awq", "fp8"]
batches = [1, 4, 16, 32, 64, 128, 256, 512]
closed = ("engine.max_num_seqs", "workload.arrivals.closed_loop.concurrency", "workload.requests")
base = {"workload.arrivals": {"closed_loop": {"concurrency": 1}}, "workload.prompt_tokens": 32, "workload.output_tokens": 192}
sweep = rl.sweep("chat_8b", {"model.quantization": formats, closed: [(n, n, 2 * n) for n in batches]}, overrides=base, jobs=1)
rate = sweep.frame.pivot(index="engine.max_num_seqs", columns="model.quantization", values="output_throughput")[formats]
gain = rate.div(rate["none"], axis=0)
gain.style.format("{:.2f}x")

# %%
ax = rl.plot.curve(gain.stack().rename("gain").reset_index(), "engine.max_num_seqs", "gain", by="model.quantization")
ax.axvline(crossover, color=rl.plot.style.GREY, linewidth=1)
ax.set_ylabel("throughput / that of bf16")
ax.set_xlabel("sequences in the batch")

# %%
assert gain.loc[1, "awq"] > gain.loc[1, "fp8"] > 1.2, "bytes bind: the fewest win"
assert gain.loc[512, "fp8"] > 1.2 > 1.1 > gain.loc[512, "awq"], "arithmetic binds: int4 does not help"
first = next(n for n in batches if gain.loc[n, "fp8"] > gain.loc[n, "awq"])
print(f"fp8 overtakes int4 between {batches[batches.index(first) - 1]} and {first} sequences; by hand it was {crossover:.0f}")
assert crossover / 3 < first < crossover * 3

# %% [markdown]
# What the envelope left out: prompts are arithmetic at any batch, kernels have fixed costs, and unpacking is not
# free. They move the crossover, not the reason for it.
#
# ## The KV cache
#
# The cache is read by every step too, each sequence its own: 2 x 32 layers x 8 heads x 128 x 2 bytes = 131 kB a
# token. At 16 sequences of 8,000 tokens that is 17 GB, more than all the weights. Then half of the cache is a quarter
# of the step; with short contexts it is nothing. The median time between two tokens (ITL) is that of a step that only
# decodes.

# %%
contexts = [128, 1000, 4000, 8000, 15000]
grid = {"engine.kv_cache_dtype": ["auto", "fp8"], "workload.prompt_tokens": contexts}
sixteen = {"workload.arrivals": {"closed_loop": {"concurrency": 16}}, "workload.requests": 16, "workload.output_tokens": 128}
long = rl.sweep("chat_8b", grid, overrides=sixteen, jobs=1)
itl = long.frame.pivot(index="workload.prompt_tokens", columns="engine.kv_cache_dtype", values="median_itl_ms")
itl["faster"] = itl["auto"] / itl["fp8"]
itl.style.format("{:.3g}")

# %%
ax = rl.plot.curve(long, "workload.prompt_tokens", "median_itl_ms", by="engine.kv_cache_dtype")

# %%
assert itl.loc[128, "faster"] < 1.05, "short contexts: nothing to gain"
assert itl.loc[15000, "faster"] > 1.2, "long contexts: the cache is what is read"
assert itl["faster"].is_monotonic_increasing

# %% [markdown]
# A smaller cache also holds more sequences. Where memory and not speed keeps the batch small, that is the larger
# gain.

# %%
tokens = long.frame.drop_duplicates("engine.kv_cache_dtype").set_index("engine.kv_cache_dtype")["kv_cache_tokens"]
print(f"the KV cache holds {tokens['auto']:,.0f} tokens in bf16 and {tokens['fp8']:,.0f} in fp8")
assert 1.95 < tokens["fp8"] / tokens["auto"] < 2.05

# %% [markdown]
# ## What if, by name
#
# `rl.whatif` runs a scenario before and after changes and says what the diagnosis had predicted. With one client,
# int4 takes away memory time and nothing else.

# %%
alone = rl.whatif("chat_8b", "quantize:int4", overrides={**base, "workload.requests": 2})
alone

# %%
before, after = alone.variants
assert after.gain > 1.5
assert all(p.holds for p in alone.predictions), "as the diagnosis had said"
rl.plot.ledger_change(before, after, names=("bf16", "int4"))
