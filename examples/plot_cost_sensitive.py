"""
Cost-sensitive decisions
========================

With calibrated probabilities, finding the cheapest decision is simple arithmetic: choose the
action with the lowest expected cost. With overconfident probabilities, the same arithmetic
chooses poorly and underestimates the cost of its decisions.
"""

# %%
# A production line yields sound, worn and cracked parts. Shipping a cracked part costs 50,
# scrapping a sound one costs 10, and so on. A manual inspection costs 3 and is always right. The
# cost table has one row per condition and one column per action. Breiman's waveform data stand in
# for measurements of the parts: 200 rows for training and 3,000 for evaluation.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.naive_bayes import GaussianNB

from calibrant import CalibratedClassifier
from calibrant.datasets import make_waveform

ACTIONS = ["ship", "repair", "scrap", "inspect"]
COSTS = np.array(
    [
        [0, 4, 10, 3],  # sound
        [12, 0, 6, 3],  # worn
        [50, 20, 0, 3],  # cracked
    ]
)

X, y = make_waveform(200, random_state=0)
X_new, y_new = make_waveform(3000, random_state=1)
models = {
    "uncalibrated": GaussianNB().fit(X, y),
    "calibrated": CalibratedClassifier(GaussianNB(), random_state=0).fit(X, y),
}

# %%
# The expected costs of the actions are the matrix product of the probabilities and the cost
# table. The mean of the lowest expected costs is what the model expects to pay per part; it is
# compared with the actual mean cost.
chosen, expected_cost, actual_cost = {}, {}, {}
for name, model in models.items():
    expected = model.predict_proba(X_new) @ COSTS
    chosen[name] = expected.argmin(axis=1)
    expected_cost[name] = expected.min(axis=1).mean()
    actual_cost[name] = COSTS[y_new, chosen[name]].mean()
    print(f"{name}: expected {expected_cost[name]:.2f}, actual {actual_cost[name]:.2f} per part")

# %%
# The uncalibrated model is overconfident. It rarely requests an inspection, and its decisions
# cost three times as much as expected. The calibrated model has doubtful parts inspected. Its
# decisions cost less, and no more than expected.
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
position = np.arange(len(ACTIONS))
colors = {"uncalibrated": "#0072b2", "calibrated": "#d55e00"}
for shift, name in zip((-0.2, 0.2), models, strict=True):
    percent = 100 * np.bincount(chosen[name], minlength=len(ACTIONS)) / len(y_new)
    bars = left.bar(position + shift, percent, 0.38, color=colors[name], label=name)
    left.bar_label(bars, fmt="%.0f", fontsize=8, padding=2)
left.set_xticks(position, ACTIONS)
left.set_ylabel("percent of parts")
left.set_title("Chosen actions", loc="left", fontsize=10)
left.legend(frameon=False)
for center, name in enumerate(models):
    bars = right.bar(
        [center - 0.2, center + 0.2],
        [expected_cost[name], actual_cost[name]],
        0.38,
        color=colors[name],
        hatch=["//", ""],
        edgecolor="white",
    )
    right.bar_label(bars, ["expected", "actual"], fontsize=8, padding=2)
right.set_xticks([0, 1], models)
right.set_ylabel("cost per part")
right.set_title("Expected and actual cost", loc="left", fontsize=10)
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)

# %%
# The decisions that calibration changes, and what each change saves:
before, after = chosen.values()
changed = before != after
print(f"{changed.mean():.0%} of the decisions change")
for old, new in sorted({*zip(before[changed], after[changed], strict=True)}):
    parts = (before == old) & (after == new)
    saved = (COSTS[y_new, old] - COSTS[y_new, new])[parts].mean()
    change = f"{ACTIONS[old]:>7} -> {ACTIONS[new]:<7}"
    print(f"{change} {parts.sum():4d} parts, {saved:+6.2f} saved per part")
