"""Critical-difference diagrams of methods over cases."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from calibrant._core.typing import FloatArray
from calibrant.plots import ComparisonDisplay

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 150
MIN_CASES, MIN_METHODS = 2, 3


def select_complete(losses: FloatArray, names: Sequence[str]) -> tuple[FloatArray, list[str]]:
    """Return the losses and names of the methods that have a value in every case."""
    complete = np.flatnonzero(~np.isnan(losses).any(axis=0)).tolist()
    return losses[:, complete], [names[index] for index in complete]


def can_rank(losses: FloatArray, names: Sequence[str]) -> bool:
    """Return whether there are enough cases and complete methods for a diagram."""
    complete, _ = select_complete(losses, names)
    n_cases, n_methods = complete.shape
    return n_cases >= MIN_CASES and n_methods >= MIN_METHODS


def draw_ranks(losses: FloatArray, names: Sequence[str], form: str = "png") -> bytes:
    """Draw the critical-difference diagram of the methods that have a value in every case.

    Parameters
    ----------
    losses : ndarray of shape (n_cases, n_methods)
        Loss of each method in each case; NaN where it failed.
    names : sequence of str
        Names of the methods.
    form : str, default="png"
        An image format that matplotlib can write, such as "png" or "svg".

    Returns
    -------
    bytes
        The content of the image file.
    """
    import matplotlib.pyplot as plt

    display = ComparisonDisplay.from_losses(*select_complete(losses, names))
    figure = cast("Figure", display.ax_.figure)
    content = io.BytesIO()
    figure.savefig(content, format=form, dpi=DPI)
    plt.close(figure)
    return content.getvalue()
