r"""
The near-isotonic path
======================

Isotonic regression forbids decreases. Near-isotonic regression penalizes them instead: it
minimizes

.. math::

    \frac{1}{2} \sum_i w_i (y_i - \beta_i)^2 + \lambda \sum_i \max(\beta_i - \beta_{i+1}, 0) .

With :math:`\lambda = 0`, the fit equals the data; at the end of the path, it is isotonic
regression. In between, it is piecewise linear in :math:`\lambda`, so the breakpoints determine
the whole path. The calibrator ENIR averages the fits along the path with weights based on the
BIC, which balances the goodness of fit against the number of steps.
"""

# %%
# The data are 2,400 scores of a classifier that ranks most rows correctly, except for those with
# scores near 0.7. As in the paper, neighboring scores are averaged in groups: 60 groups of 40
# rows.
import matplotlib.pyplot as plt
import numpy as np

from calibrant.calibrators import ENIR
from calibrant.near_isotonic import near_isotonic_path


def true_proba(score):
    """Return an increasing curve with a dip."""
    return 1 / (1 + np.exp(-8 * (score - 0.45))) - 0.55 * np.exp(-(((score - 0.7) / 0.1) ** 2))


rng = np.random.default_rng(0)
scores = np.sort(rng.uniform(size=2400))
positive = rng.uniform(size=2400) < true_proba(scores)
score = scores.reshape(60, 40).mean(axis=1)
frequency = positive.reshape(60, 40).mean(axis=1)
n_rows = np.full(60, 40)
truth = true_proba(score)

path = near_isotonic_path(frequency, n_rows)
print(f"{len(path.lambdas)} breakpoints, the last at lambda = {path.lambdas[-1]:.1f}")

# %%
# Four fits along the path. The larger the penalty, the fewer decreases remain.
fig, axes = plt.subplots(1, 4, figsize=(11, 3.2), sharey=True, layout="constrained")
for ax, fraction in zip(axes, (0.0, 0.15, 0.4, 1.0), strict=True):
    lam = fraction * path.lambdas[-1]
    ax.plot(score, truth, color="0.75", linewidth=5, solid_capstyle="round", label="truth")
    ax.scatter(score, frequency, s=12, color="0.35", label="groups", zorder=2)
    ax.step(score, path.solution(lam), where="mid", color="#0072b2", label="fit")
    ax.set_title(f"$\\lambda$ = {lam:.1f}", loc="left", fontsize=10)
    ax.set_xlabel("score")
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("fitted value")
axes[0].legend(frameon=False, loc="upper left", fontsize=9)

# %%
# In the path itself, each line is the fitted value of one group. Lines that meet stay together.
lambdas = np.linspace(0, path.lambdas[-1] * 1.05, 400)
fits = np.array([path.solution(lam) for lam in lambdas])
fig, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
colors = plt.colormaps["viridis"](score)
for values, color in zip(fits.T, colors, strict=True):
    ax.plot(lambdas, values, color=color, linewidth=1)
ax.axvline(path.lambdas[-1], color="0.6", linestyle="--", linewidth=1)
ax.text(
    path.lambdas[-1],
    1.02,
    "isotonic regression",
    transform=ax.get_xaxis_transform(),
    ha="right",
    fontsize=9,
    color="0.4",
)
ax.set(xlabel="$\\lambda$", ylabel="fitted value")
ax.spines[["top", "right"]].set_visible(False)
shades = plt.cm.ScalarMappable(plt.Normalize(0, 1), "viridis")
fig.colorbar(shades, ax=ax, label="score", pad=0.02)

# %%
# ENIR preserves the dip, for which the data give strong evidence, and is close to isotonic
# regression elsewhere. Isotonic regression has to flatten the dip. With a shallow dip or few rows,
# the two would hardly differ.
grid = np.linspace(0, 1, 401)
fig, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
ax.plot(score, truth, color="0.75", linewidth=5, solid_capstyle="round", label="truth")
ax.step(score, path.solution(path.lambdas[-1]), where="mid", color="0.45", label="isotonic")
ax.plot(grid, ENIR().fit(score, frequency, n_rows).predict(grid), color="#d55e00", label="ENIR")
ax.set(xlabel="score", ylabel="calibrated probability")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)

# sphinx_gallery_thumbnail_number = 2
