"""
Decisions that follow costs
===========================

With probabilities that can be trusted, the cheapest decision is arithmetic: choose the action
whose expected cost is lowest. With probabilities that are too sure, the same arithmetic
chooses wrongly, and no one notices.
"""

# %%
# Three kinds of parts come off a line: sound, worn, cracked. Shipping a cracked part costs
# 50, scrapping a sound one costs 10, and so on. An inspection by hand costs 3 and is never
# wrong. Rows of the table are what a part is, columns what we do. The measurements of the
# parts are Breiman's waveforms, 200 of them with the truth known.
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
    "before": GaussianNB().fit(X, y),
    "after": CalibratedClassifier(GaussianNB(), random_state=0).fit(X, y),
}

# %%
# The expected cost of each action is the probabilities times the table. We compare what the
# model promises to pay with what is paid once the truth is known.
chosen, promised, paid = {}, {}, {}
for name, model in models.items():
    expected = model.predict_proba(X_new) @ COSTS
    chosen[name] = expected.argmin(axis=1)
    promised[name] = expected.min(axis=1).mean()
    paid[name] = COSTS[y_new, chosen[name]].mean()
    print(f"{name}: promised {promised[name]:.2f} a part, paid {paid[name]:.2f}")

# %%
# The uncalibrated model hardly ever inspects: it is sure, and too often wrong. It costs three
# times what it promises. The calibrated one inspects where it is in doubt, costs less, and
# keeps its promise.
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
place = np.arange(len(ACTIONS))
colors = {"before": "#d55e00", "after": "#0072b2"}
for shift, name in ((-0.2, "before"), (0.2, "after")):
    share = np.bincount(chosen[name], minlength=len(ACTIONS)) / len(y_new)
    bars = left.bar(place + shift, 100 * share, 0.38, color=colors[name], label=name)
    left.bar_label(bars, fmt="%.0f", fontsize=8, padding=2)
left.set_xticks(place, ACTIONS)
left.set_ylabel("percent of parts")
left.set_title("What is done", loc="left", fontsize=10)
left.legend(frameon=False)
for at, name in enumerate(models):
    bars = right.bar(
        [at - 0.2, at + 0.2],
        [promised[name], paid[name]],
        0.38,
        color=colors[name],
        hatch=["//", ""],
        edgecolor="white",
    )
    right.bar_label(bars, ["promised", "paid"], fontsize=8, padding=2)
right.set_xticks([0, 1], models)
right.set_ylabel("cost of a part")
right.set_title("What it costs", loc="left", fontsize=10)
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)

# %%
# The decisions that changed, from what to what:
changed = chosen["before"] != chosen["after"]
print(f"{changed.mean():.0%} of decisions change")
for was, now in sorted({*zip(chosen["before"][changed], chosen["after"][changed], strict=True)}):
    both = (chosen["before"] == was) & (chosen["after"] == now)
    saved = (COSTS[y_new, was] - COSTS[y_new, now])[both].mean()
    print(
        f"{ACTIONS[was]:>7} -> {ACTIONS[now]:<7} {both.sum():4d} parts, {saved:+6.2f} saved on each"
    )
