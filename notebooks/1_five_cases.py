# %% [markdown]
# # The five cases, and what they have in common
#
# Five servers are slow, each for another reason, and each is known by a few numbers only. Which regime binds, which
# observation settles it, what helps, and which tempting fix would not? Here the five are simulated; nothing that must
# come out is put in ([cases](../docs/cases.md)).

# %%
import matplotlib.pyplot as plt
import pandas as pd
import ridgeline as rl

cases = rl.cases()
pd.DataFrame(
    {
        "case": case.title,
        "numbers hold": case.numbers_hold,
        "binds": case.from_timeline["regime"],
        "phase": case.from_timeline["phase"],
        "do first": case.from_timeline["fixes"][0]["name"],
        "not": case.from_timeline["rejects"][0]["name"],
    }
    for case in cases
).set_index("case")

# %% [markdown]
# Each case is diagnosed twice: from the simulated timeline, in which every nanosecond has a cause, and from the
# numbers as a person would type them. Both must come to the same answer.

# %%
assert all(case.numbers_hold for case in cases)
assert all(case.diagnoses_agree for case in cases)
assert {case.letter: case.from_typed["regime"] for case in cases} == {
    "A": "bandwidth_bound",
    "B": "compute_bound",
    "C": "kernel_inefficiency",
    "D": "compute_bound",
    "E": "overhead_bound",
}

# %% [markdown]
# ## What the numbers of one case say
#
# Case A answers one request at a time with a 13 B model in fp16. A step has to read 26 GB of weights; at 5.3 TB/s
# that takes 4.9 ms, so no more than 204 tokens come a second, whatever is computed meanwhile. 160 are measured: bytes
# pace it, and the arithmetic is free.

# %%
assert round(26e9 / 5.3e12 * 1e3, 1) == 4.9 and round(5.3e12 / 26e9) == 204
cases[0]

# %% [markdown]
# ## Where the time goes in all five
#
# The ledger splits the time of a server by cause. Read from the left: in kernels that compute, HBM or their own fixed
# cost binds; between kernels; and with the host alone.

# %%
names = ["a_chatbot", "b_training", "c_summarizer", "d_api", "e_gaps"]
runs = {name: rl.run(name) for name in names}
shares = pd.DataFrame({name: run.ledger.shares() for name, run in runs.items()}).T

fig, ax = plt.subplots(figsize=(8, 2.6), layout="constrained")
shares[::-1].plot.barh(stacked=True, ax=ax, width=0.7, color=[rl.plot.style.CAUSE_COLOURS[cause] for cause in shares])
ax.set_xlabel("share of the time")
ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
ax.spines[["top", "right"]].set_visible(False)

# %% [markdown]
# A glance at the ledger tells most of it: B and D are compute, A is memory, E is neither. C it does not settle: its
# kernels read more than they compute, and only the roofs say whether these bytes are needed. They are not: attention
# that is not fused writes its scores to memory.

# %%
assert shares.loc[["b_training", "d_api"]].idxmax(axis=1).eq("compute").all()
assert shares.loc[["a_chatbot", "c_summarizer"]].idxmax(axis=1).eq("memory").all()
assert cases[2].from_timeline["fixes"][0]["name"] == "fused_attention"
assert shares.loc["e_gaps", ["launch", "host"]].sum() > 0.5

# %% [markdown]
# ## Case E as a profiler shows it
#
# Both utilisations are low, and the picture says why: kernels wait for their launches, and between steps nothing runs
# but the host.

# %%
rl.plot.timeline(runs["e_gaps"])

# %% [markdown]
# ## The synthesis: ask for two numbers
#
# The five differ in where they stand against two roofs. So, before any opinion on a slow server, ask for the achieved
# HBM bandwidth and the achieved FLOP rate over the same step, both as shares of peak. One of them high names the roof
# and its remedy; both low means that the time is lost between kernels or in kernels that are far from either roof,
# and the timeline is the next question.

# %%
def of_peak(run):
    """Shares of peak FLOP rate and peak bandwidth over ten steps in the middle of a run."""
    starts = run.steps.start_ns
    first = max(0, len(starts) // 2 - 5)
    last = min(first + 10, len(starts)) - 1
    kernels = run.kernels((starts[first] * 1e-9, (starts[last] + 1) * 1e-9))
    seconds = (run.steps.end_ns[last] - starts[first]) * 1e-9
    flop = kernels.issued_flop.sum() / seconds / run.roofs.flop_per_second["bf16"]
    moved = (kernels.hbm_read_bytes + kernels.hbm_written_bytes).sum() / seconds / run.roofs.hbm_bytes_per_second
    return {"FLOP rate / peak": flop, "HBM bandwidth / peak": moved}


two = pd.DataFrame({name: of_peak(run) for name, run in runs.items()}).T
two.style.format("{:.1%}")

# %%
assert two.loc["b_training"].idxmax() == "FLOP rate / peak"
assert two.loc["a_chatbot"].idxmax() == "HBM bandwidth / peak"
assert two.loc["e_gaps"].max() < 0.3, "both low: neither roof binds"
