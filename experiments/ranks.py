"""Critical-difference diagrams of methods over data sets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from experiments.paper.losses import Measures, scenario_title

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FloatArray = NDArray[np.float64]

# All pairs raw is multi-class raw for naive Bayes: what differs is rounding, and no rank.
TIED_DIGITS = 6


def scenario_losses(measures: Measures) -> tuple[FloatArray, list[str]]:
    """Log loss of the paper's scenarios on all finished data sets, and their names.

    Parameters
    ----------
    measures : Measures
        The metrics of a suite.

    Returns
    -------
    losses : ndarray of shape (n_rows, n_scenarios)
        A row a classifier and data set; NaN where a scenario has no number.
    names : list of str
        The scenarios.
    """
    measures.check_finished()
    losses = [
        [measures.mean(classifier, data_set, scenario, "LL") for scenario in measures.scenarios]
        for classifier in measures.classifiers
        for data_set in measures.finished_sets(classifier)
    ]
    return np.round(losses, TIED_DIGITS), [
        scenario_title(scenario) for scenario in measures.scenarios
    ]


def never_failed(losses: FloatArray, names: Sequence[str]) -> tuple[FloatArray, list[str]]:
    """Return the losses and names of the methods that have a number on every row."""
    ran = np.flatnonzero(~np.isnan(losses).any(axis=0)).tolist()
    return losses[:, ran], [names[place] for place in ran]


def draw_ranks(losses: FloatArray, names: Sequence[str], path: Path) -> None:
    """Draw the diagram of the methods that never failed.

    Parameters
    ----------
    losses : ndarray of shape (n_rows, n_methods)
        The loss of each method on each row; NaN where it failed.
    names : sequence of str
        The methods.
    path : Path
        The picture to write.
    """
    from calibrant.plots import ComparisonDisplay

    display = ComparisonDisplay.from_losses(*never_failed(losses, names))
    cast("Figure", display.ax_.figure).savefig(path, dpi=150)
