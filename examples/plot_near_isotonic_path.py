"""
The near-isotonic path
======================

Isotonic regression forbids every step down. Near-isotonic regression only charges for it: a
penalty lambda for each unit of descent. At lambda 0 the fit is the data; at the end of the
path it is isotonic regression. Between them the fit is a straight line in lambda from each
breakpoint to the next, so the whole path is known exactly. ENIR, the calibrator, averages the
fits along it, each weighted by how well it explains the data for its number of steps.
"""

# %%
# 2,400 scores of a classifier that ranks most rows rightly, but not those with scores near
# 0.7. As in the paper, neighbors are averaged in groups, here of 40, which leaves 60 points.
import matplotlib.pyplot as plt
import numpy as np

from calibrant.calibrators import ENIR
from calibrant.near_isotonic import near_isotonic_path


def true_proba(score):
    """Rise, with a dip."""
    return 1 / (1 + np.exp(-8 * (score - 0.45))) - 0.55 * np.exp(-(((score - 0.7) / 0.1) ** 2))


rng = np.random.default_rng(0)
scores = np.sort(rng.uniform(size=2400))
positive = rng.uniform(size=2400) < true_proba(scores)
score = scores.reshape(60, 40).mean(axis=1)
share = positive.reshape(60, 40).mean(axis=1)
n_rows = np.full(60, 40)
truth = true_proba(score)

path = near_isotonic_path(share, n_rows)
print(f"{len(path.lambdas)} breakpoints, the last at lambda = {path.lambdas[-1]:.1f}")

# %%
# Four fits along the path. Steps down get fewer, until none is left.
fig, axes = plt.subplots(1, 4, figsize=(11, 3.2), sharey=True, layout="constrained")
for ax, part in zip(axes, (0.0, 0.15, 0.4, 1.0), strict=True):
    lam = part * path.lambdas[-1]
    ax.plot(score, truth, color="0.75", linewidth=5, solid_capstyle="round", label="truth")
    ax.scatter(score, share, s=12, color="0.35", label="groups", zorder=2)
    ax.step(score, path.solution(lam), where="mid", color="#0072b2", label="fit")
    ax.set_title(f"$\\lambda$ = {lam:.1f}", loc="left", fontsize=10)
    ax.set_xlabel("score")
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("fitted value")
axes[0].legend(frameon=False, loc="upper left", fontsize=9)

# %%
# The path itself: each line is the fitted value of one group. Where two lines meet, they are
# one step from there on.
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
# ENIR keeps the dip, since the data insist on it, and is close to isotonic regression
# elsewhere. Isotonic regression has to level it. Were the dip shallow or the rows few, the two
# would hardly differ.
at = np.linspace(0, 1, 401)
fig, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
ax.plot(score, truth, color="0.75", linewidth=5, solid_capstyle="round", label="truth")
ax.step(score, path.solution(path.lambdas[-1]), where="mid", color="0.45", label="isotonic")
ax.plot(at, ENIR().fit(score, share, n_rows).predict(at), color="#d55e00", label="ENIR")
ax.set(xlabel="score", ylabel="probability")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)

# sphinx_gallery_thumbnail_number = 2
