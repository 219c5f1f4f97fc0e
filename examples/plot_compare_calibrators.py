"""
Comparing calibrators on small data
===================================

This example compares six methods for the same classifier on ten samples of 60 rows each. A mean
loss can hide large gains and losses, so the figures show each sample.
"""

# %%
# Naive Bayes is trained and calibrated on 60 rows of Breiman's waveform data and evaluated on
# 2,000 others. ``cv=5`` computes held-out scores with one pass of five folds, which is fast. The
# default repeats the folds.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.naive_bayes import GaussianNB

from calibrant import CalibratedClassifier
from calibrant.datasets import make_waveform
from calibrant.metrics import log_loss
from calibrant.plots import ComparisonDisplay

METHODS = {
    "no calibration": None,
    "temperature": "temperature",
    "matrix": "matrix",
    "isotonic, all pairs": "isotonic",
    "ENIR, all pairs": "enir",
    "auto": "auto",
}
N_SAMPLES = 10

X_new, y_new = make_waveform(2000, random_state=1000)
losses = np.empty((N_SAMPLES, len(METHODS)))
for sample in range(N_SAMPLES):
    X, y = make_waveform(60, random_state=sample)
    for column, method in enumerate(METHODS.values()):
        model = CalibratedClassifier(GaussianNB(), method=method, cv=5, random_state=0)
        losses[sample, column] = log_loss(y_new, model.fit(X, y).predict_proba(X_new))

# %%
# Each line is one sample of 60 rows.
fig, ax = plt.subplots(figsize=(9, 4.4), layout="constrained")
ax.plot(losses.T, color="0.8", linewidth=1)
ax.plot(losses.T, "o", color="#0072b2", markersize=4, alpha=0.6)
ax.plot(losses.mean(axis=0), "_", color="#d55e00", ms=28, markeredgewidth=3, label="mean")
ax.set_xticks(range(len(METHODS)), METHODS)
ax.set_yscale("log")
ax.set_yticks([0.3, 0.5, 1, 2], ["0.3", "0.5", "1", "2"])
ax.minorticks_off()
ax.set_ylabel("held-out log loss")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)

# %%
# Ranks show how often a method is better, not by how much. Two methods differ significantly on
# these ten samples if their bars do not overlap (Nemenyi's test). Methods with filled dots do not
# differ significantly from the best.
ComparisonDisplay.from_losses(losses, list(METHODS))

# %%
# Ten samples of one problem show how to compare methods, not which one is best.
# :doc:`/choosing` compares them on twelve data sets with seven classifiers.
