"""The figure of the replication: replicated against published errors of all pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The mean squared errors of the paper lie between these limits.
LIMITS = (0.0015, 0.4)
STYLES = ({"marker": "o", "color": "#0072B2"}, {"marker": "^", "color": "#D55E00"})

# Pairs of a published and a replicated value, by classifier.
Points = Mapping[str, Sequence[tuple[float, float]]]


def draw_agreement(panels: Mapping[str, Points]) -> Figure:
    """Draw replicated against published mean squared errors on logarithmic scales.

    Parameters
    ----------
    panels : mapping of str to Points
        Points of each panel by panel title, for at most two classifiers.

    Returns
    -------
    Figure
        The figure, with one panel per title. Points on the diagonal agree.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.5 * len(panels), 4.6), layout="constrained")
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for ax, (title, points) in zip(axes, panels.items(), strict=True):
        for style, (classifier, pairs) in zip(STYLES, points.items(), strict=False):
            if pairs:
                published, replicated = zip(*pairs, strict=True)
                ax.scatter(published, replicated, label=classifier, alpha=0.7, **style)
        ax.plot(LIMITS, LIMITS, color="black", linewidth=0.8)
        ax.set(xscale="log", yscale="log", xlim=LIMITS, ylim=LIMITS, title=title)
        ax.set_xlabel("MSE, published")
    axes[0].set_ylabel("MSE, replicated")
    axes[0].legend(loc="upper left")
    return figure
