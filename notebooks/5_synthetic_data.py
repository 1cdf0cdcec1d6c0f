# %% [markdown]
# # A labelled data set, and a classifier that has to beat physics
#
# Profilers do not label their servers. The simulator does: it knows what a server responds to, because it can change
# one thing and run it again. So a data set of slow servers can be made, each with its evidence and its true limiter,
# and anything can be trained on it. Here a small classifier is, and then held against the diagnosis, which was not
# trained on any of it but knows what bytes and FLOP are.

# %%
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import ridgeline as rl
import yaml
from sklearn.ensemble import RandomForestClassifier

items = 90
folder = Path(tempfile.mkdtemp()) / "corpus"
command = [sys.executable, "-m", "ridgeline", "corpus", "generate", "--n", str(items), "--seed", "7", "--out", str(folder), "--quiet"]
subprocess.run(command, check=True, capture_output=True)
labels = [json.loads((folder / f"{i:04d}" / "label.json").read_text()) for i in range(items)]
pd.Series([label["regime"] for label in labels]).value_counts()

# %% [markdown]
# ## One item
#
# A machine, a model, how it is served, what a benchmark and a few counters say. The label is what its speed responds
# to: elasticities found by running it again with 10 % more of each resource. Where two causes are nearly even, both
# are accepted.

# %%
print((folder / "0003" / "percentages.evidence.yaml").read_text())
print(labels[3]["regime"], labels[3]["accepted"], {name: round(x, 2) for name, x in labels[3]["elasticity"].items()})

# %%
assert all(label["regime"] in label["accepted"] for label in labels)
mean = pd.DataFrame([label["elasticity"] for label in labels]).groupby([label["regime"] for label in labels]).mean()
assert mean["hbm_bandwidth"].idxmax() == "bandwidth_bound" and mean["launch_and_host"].idxmax() == "overhead_bound"
mean.style.format("{:.2f}")

# %% [markdown]
# ## Features
#
# Every number of the evidence by its dotted name, units left off; what an item does not say is -1. That is what
# somebody gets who feeds the profiler's numbers to a model without telling it what they mean.

# %%
def flat(value, name=""):
    if isinstance(value, dict):
        for key, part in value.items():
            yield from flat(part, f"{name}.{key}" if name else key)
    else:
        word = str(value).split()[0] if str(value) else ""
        try:
            yield name, float(word)
        except ValueError:
            yield f"{name}={word}", 1.0


evidence = [dict(flat(yaml.safe_load((folder / f"{i:04d}" / "percentages.evidence.yaml").read_text()))) for i in range(items)]
features = pd.DataFrame(evidence).fillna(-1.0)
features = features[[name for name in features if not name.startswith("title")]]
truth = np.array([label["regime"] for label in labels])
assert len(features) == items and not any("regime" in name or "limiter" in name for name in features), "nothing gives the label away"
features.shape

# %% [markdown]
# ## Trained on two thirds, judged on the last third
#
# An answer is right if the label accepts it. The diagnosis reads the same files.

# %%
train, held = slice(0, 2 * items // 3), range(2 * items // 3, items)
forest = RandomForestClassifier(n_estimators=300, min_samples_leaf=2, random_state=1).fit(features[train], truth[train])
guessed = forest.predict(features.iloc[list(held)])
diagnosed = [rl.diagnose(folder / f"{i:04d}" / "percentages.evidence.yaml").regime for i in held]
majority = pd.Series(truth[train]).value_counts().index[0]


def right(answers):
    return np.mean([answer in labels[i]["accepted"] for answer, i in zip(answers, held)])


answers = {"always the most frequent": [majority] * len(held), "trained classifier": guessed, "diagnosis": diagnosed}
score = pd.Series({who: right(said) for who, said in answers.items()})
score.map("{:.0%}".format)

# %%
fig, ax = plt.subplots(figsize=(6, 2), layout="constrained")
ax.barh(score.index[::-1], 100 * score[::-1], color=rl.plot.style.BLUE, height=0.6)
ax.set_xlabel(f"right, % of {len(held)} held-out servers")
ax.set_xlim(0, 100)
ax.spines[["top", "right"]].set_visible(False)

# %% [markdown]
# The classifier learns something: it beats the guess. It loses to the physics, which needs no example to know that 26
# % of peak bandwidth is not what 80 % is, and that bytes divided by seconds can be compared with a datasheet. Thirty
# held-out servers decide nothing finer than that: one standard error is nine points.

# %%
assert score["trained classifier"] > score["always the most frequent"]
assert score["diagnosis"] > score["trained classifier"]

# %% [markdown]
# ## With more data
#
# Does the gap close? Half of the training set against all of it hints at the slope.

# %%
half = RandomForestClassifier(n_estimators=300, min_samples_leaf=2, random_state=1).fit(features[: items // 3], truth[: items // 3])
few = right(half.predict(features.iloc[list(held)]))
print(f"{items // 3} items: {few:.0%}; {2 * items // 3} items: {score['trained classifier']:.0%}; physics, no items: {score['diagnosis']:.0%}")
