"""Critical-difference diagrams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike

from calibrant.comparison import RankComparison, compare_ranks
from calibrant.plots.panels import COLORS, clean, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW_HEIGHT = 0.3


class ComparisonDisplay:
    """Critical-difference diagram: mean ranks of methods, and which do not differ.

    Each method has its mean rank and a bar as long as the critical difference: two methods
    differ if their bars do not overlap. Those that do not differ from the best are filled, and
    reach into the band of its bar.

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
        cls, losses: ArrayLike, names: Sequence[str], *, alpha: float = 0.05, ax: Axes | None = None
    ) -> Self:
        """Draw the diagram of methods on several data sets.

        Parameters
        ----------
        losses : array-like of shape (n_data_sets, n_methods)
            The loss of each method on each data set.
        names : list of str
            The names of the methods.
        alpha : float, default=0.05
            The significance level.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ComparisonDisplay
            The display, drawn.
        """
        return cls(compare_ranks(losses, alpha), names).plot(ax)

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
        ranks = self.comparison.mean_rank
        half = self.comparison.critical_difference / 2
        if ax is None:
            ax = panels([""], None, 1.0 + ROW_HEIGHT * len(ranks), width=7.0)[0]
        order = np.argsort(ranks, kind="stable")
        best = ranks[order[0]]
        ax.axvspan(best - half, best + half, color=COLORS[0], alpha=0.12, linewidth=0)
        for height, method in enumerate(order):
            rank = ranks[method]
            as_good = rank - half <= best + half
            color = COLORS[0] if as_good else "0.35"
            ax.plot([rank - half, rank + half], [height] * 2, color=color, linewidth=1.5)
            ax.plot(rank, height, "o", color=color, markerfacecolor=color if as_good else "white")
            ax.annotate(
                f"{rank:.1f}",
                (rank + half, height),
                xytext=(5, 0),
                textcoords="offset points",
                va="center",
                fontsize="small",
                color="0.35",
            )
        clean(ax)
        ax.grid(visible=False, axis="y")
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)
        ax.set_yticks(range(len(ranks)), [self.names[method] for method in order], parse_math=False)
        ax.set(
            xlabel=f"mean rank, 1 is best; critical difference {2 * half:.2f}",
            ylim=(len(ranks) - 0.5, -0.5),
        )
        ax.margins(x=0.06)
        self.ax_ = ax
        return self
