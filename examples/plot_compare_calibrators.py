"""
Calibrators on small data
=========================

The same scores, six calibrators, and ten draws of 60 rows. Averages hide that a method may
win by much and lose by much, so we look at every draw.
"""

# %%
# Naive Bayes on Breiman's waveforms: 60 rows to train and calibrate on, 2,000 others to judge.
# ``cv=5`` scores rows by five folds, which is quick; the default repeats folds.
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
    "isotonic, pairs": "isotonic",
    "ENIR, pairs": "enir",
    "auto": "auto",
}
N_DRAWS = 10

X_new, y_new = make_waveform(2000, random_state=1000)
losses = np.empty((N_DRAWS, len(METHODS)))
for draw in range(N_DRAWS):
    X, y = make_waveform(60, random_state=draw)
    for column, method in enumerate(METHODS.values()):
        model = CalibratedClassifier(GaussianNB(), method=method, cv=5, random_state=0)
        losses[draw, column] = log_loss(y_new, model.fit(X, y).predict_proba(X_new))

# %%
# Each line is one draw of 60 rows.
fig, ax = plt.subplots(figsize=(8, 4.4), layout="constrained")
ax.plot(losses.T, color="0.8", linewidth=1)
ax.plot(losses.T, "o", color="#0072b2", markersize=4, alpha=0.6)
ax.plot(losses.mean(axis=0), "_", color="#d55e00", ms=28, markeredgewidth=3, label="mean")
ax.set_xticks(range(len(METHODS)), METHODS)
ax.set_yscale("log")
ax.set_yticks([0.3, 0.5, 1, 2], ["0.3", "0.5", "1", "2"])
ax.minorticks_off()
ax.set_ylabel("log loss of new rows")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)

# %%
# Ranks ask how often a method is better, not by how much. Methods whose bars overlap do not
# differ significantly over these ten draws; filled dots do not differ from the best (Friedman's
# and Nemenyi's tests).
ComparisonDisplay.from_losses(losses, list(METHODS))

# %%
# Ten draws of one problem show how to compare, not what is best.
# :doc:`Which method, when </choosing>` has twelve data sets and seven classifiers.
