"""Pictures of probabilities, in the manner of scikit-learn's displays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from calibrant.comparison import RankComparison, compare_ranks
from calibrant.metrics import ReliabilityCurve, reliability_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ReliabilityDisplay:
    """Reliability diagram: observed frequency against predicted probability.

    Parameters
    ----------
    curve : ReliabilityCurve
        The points to draw.
    name : str, default=None
        The name in the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on, after `plot`.
    """

    ax_: Axes

    def __init__(self, curve: ReliabilityCurve, *, name: str | None = None):
        self.curve = curve
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        name: str | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Draw the diagram of a fitted classifier on rows it has not seen.

        Parameters
        ----------
        estimator : classifier
            A fitted classifier with ``predict_proba``.
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            True labels.
        name : str, default=None
            The name in the legend; None is the class name of the estimator.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **options : dict
            Passed to `calibrant.metrics.reliability_curve`.

        Returns
        -------
        ReliabilityDisplay
            The display, drawn.
        """
        return cls.from_predictions(
            y,
            estimator.predict_proba(X),
            name=name or type(estimator).__name__,
            ax=ax,
            labels=estimator.classes_,
            **options,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        proba: ArrayLike,
        *,
        name: str | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Draw the diagram of given probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels.
        proba : array-like of shape (n_samples, n_classes)
            Class probabilities.
        name : str, default=None
            The name in the legend.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **options : dict
            Passed to `calibrant.metrics.reliability_curve`.

        Returns
        -------
        ReliabilityDisplay
            The display, drawn.
        """
        return cls(reliability_curve(y_true, proba, **options), name=name).plot(ax)

    def plot(self, ax: Axes | None = None, **line_options: Any) -> Self:
        """Draw the diagram.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **line_options : dict
            Passed to matplotlib's ``plot``.

        Returns
        -------
        ReliabilityDisplay
            The display itself.
        """
        if ax is None:
            ax = _new_axes()
        if not ax.lines:
            ax.plot([0, 1], [0, 1], color="0.6", linewidth=1, linestyle="--", label="perfect")
        options: dict[str, Any] = {
            "marker": "o",
            "markersize": 4,
            "label": self.name,
        } | line_options
        ax.plot(self.curve.predicted, self.curve.observed, **options)
        ax.set(
            xlabel="predicted probability",
            ylabel="observed frequency",
            xlim=(-0.02, 1.02),
            ylim=(-0.02, 1.02),
            aspect="equal",
        )
        self.ax_ = ax
        return self


class ComparisonDisplay:
    """Critical-difference diagram: mean ranks of methods, and which do not differ.

    Parameters
    ----------
    comparison : RankComparison
        Ranks and critical difference.
    names : list of str
        The names of the methods.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on, after `plot`.
    """

    ax_: Axes

    def __init__(self, comparison: RankComparison, names: Sequence[str]):
        self.comparison = comparison
        self.names = names

    @classmethod
    def from_losses(
        cls, losses: ArrayLike, names: Sequence[str], *, level: float = 0.05, ax: Axes | None = None
    ) -> Self:
        """Draw the diagram of methods on several data sets.

        Parameters
        ----------
        losses : array-like of shape (n_data_sets, n_methods)
            The loss of each method on each data set.
        names : list of str
            The names of the methods.
        level : float, default=0.05
            The level of significance.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ComparisonDisplay
            The display, drawn.
        """
        return cls(compare_ranks(losses, level), names).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the diagram.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ComparisonDisplay
            The display itself.
        """
        ax = _new_axes() if ax is None else ax
        ranks = self.comparison.mean_rank
        order = np.argsort(ranks, kind="stable")
        for height, method in enumerate(order):
            ax.plot(ranks[method], height, "o", color="black")
            ax.annotate(
                f"{self.names[method]} ({ranks[method]:.2f})",
                (ranks[method], height),
                xytext=(8, 0),
                textcoords="offset points",
                va="center",
            )
        place = {method: height for height, method in enumerate(order)}
        for clique in self.comparison.cliques():
            top, bottom = place[clique[0]], place[clique[-1]]
            ax.plot([ranks[clique[0]]] * 2, [top, bottom], color="0.6", linewidth=4, zorder=0)
            ax.plot([ranks[clique[0]], ranks[clique[-1]]], [bottom] * 2, color="0.6", zorder=0)
        difference = self.comparison.critical_difference
        ax.set(
            xlabel=f"mean rank (1 is best); critical difference {difference:.2f}",
            xlim=(0.8, len(ranks) + 1.5),
            ylim=(len(ranks) - 0.5, -0.5),
            yticks=[],
        )
        for side in ("left", "right", "top"):
            ax.spines[side].set_visible(False)
        self.ax_ = ax
        return self


def _new_axes() -> Axes:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("Drawing needs matplotlib: pip install 'calibrant[plots]'") from None
    return plt.subplots()[1]
