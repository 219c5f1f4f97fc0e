"""Critical-difference diagrams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike

from calibrant.comparison import RankComparison, compare_ranks
from calibrant.plots._panels import COLORS, clean, make_panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIGURE_WIDTH, MARGIN_HEIGHT, ROW_HEIGHT = 7.0, 1.0, 0.3
MUTED_COLOR = "0.35"


class ComparisonDisplay:
    """Critical-difference diagram: the mean ranks of methods over data sets.

    The bar around the mean rank of each method is as long as the critical difference, so two
    methods differ significantly if their bars do not overlap. The shaded band is the bar of the
    best method. Methods that do not differ significantly from it have filled dots.

    Parameters
    ----------
    comparison : RankComparison
        The mean ranks and the critical difference.
    names : sequence of str
        The names of the methods.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes, set by `plot`.

    See Also
    --------
    calibrant.comparison.compare_ranks : The mean ranks and the critical difference.

    Examples
    --------
    >>> from calibrant.plots import ComparisonDisplay
    >>> losses = [[0.31, 0.35, 0.40], [0.52, 0.55, 0.54], [0.10, 0.13, 0.17]]
    >>> display = ComparisonDisplay.from_losses(losses, ["auto", "sigmoid", "isotonic"])
    >>> display.comparison.mean_rank.round(2)
    array([1.  , 2.33, 2.67])
    """

    ax_: Axes

    def __init__(self, comparison: RankComparison, names: Sequence[str]):
        self.comparison = comparison
        self.names = names

    @classmethod
    def from_losses(
        cls, losses: ArrayLike, names: Sequence[str], *, alpha: float = 0.05, ax: Axes | None = None
    ) -> Self:
        """Draw the diagram from losses on several data sets.

        Parameters
        ----------
        losses : array-like of shape (n_data_sets, n_methods)
            The loss of each method on each data set.
        names : sequence of str
            The names of the methods.
        alpha : float, default=0.05
            The significance level.
        ax : matplotlib Axes, default=None
            The axes to draw on. ``None`` means a new figure.

        Returns
        -------
        ComparisonDisplay
            The drawn display.
        """
        return cls(compare_ranks(losses, alpha), names).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the diagram.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            The axes to draw on. ``None`` means a new figure.

        Returns
        -------
        self
            The display.
        """
        ranks = self.comparison.mean_rank
        half = self.comparison.critical_difference / 2
        if len(self.names) != len(ranks):
            raise ValueError(
                f"names must contain one name for each of the {len(ranks)} methods, got "
                f"{len(self.names)}. Pass the names in the order of the columns of losses."
            )
        if ax is None:
            height = MARGIN_HEIGHT + ROW_HEIGHT * len(ranks)
            ax = make_panels([""], None, height, FIGURE_WIDTH)[0]
        order = np.argsort(ranks, kind="stable")
        best = ranks[order[0]]
        ax.axvspan(best - half, best + half, color=COLORS[0], alpha=0.12, linewidth=0)
        for height, method in enumerate(order):
            differs = ranks[method] - half > best + half
            _draw_method(ax, ranks[method], half, height, differs=differs)
        clean(ax)
        ax.grid(visible=False, axis="y")
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)
        ax.set_yticks(range(len(ranks)), [self.names[method] for method in order], parse_math=False)
        ax.set_xticks(np.arange(1, len(ranks) + 1, max(1, len(ranks) // 10)))
        ax.set(
            xlabel=f"mean rank (1 is best), critical difference {2 * half:.2f}",
            ylim=(len(ranks) - 0.5, -0.5),
        )
        ax.margins(x=0.06)
        self.ax_ = ax
        return self


def _draw_method(ax: Axes, rank: float, half: float, height: float, *, differs: bool) -> None:
    color = MUTED_COLOR if differs else COLORS[0]
    ax.plot([rank - half, rank + half], [height] * 2, color=color, linewidth=1.5)
    ax.plot(rank, height, "o", color=color, markerfacecolor="white" if differs else color)
    ax.annotate(
        f"{rank:.1f}",
        (rank + half, height),
        xytext=(5, 0),
        textcoords="offset points",
        va="center",
        fontsize="small",
        color=MUTED_COLOR,
    )
