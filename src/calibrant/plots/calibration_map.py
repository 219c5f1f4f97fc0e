"""Calibration maps: what becomes of a score."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from calibrant.plots.panels import (
    REFERENCE_COLOR,
    SERIES,
    clean,
    is_new,
    name_series,
    panels,
    style,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The points at which the curve of a single score is drawn, between its smallest and largest.
N_POINTS = 401
DOTS = {"linestyle": "", "markersize": 4, "markeredgewidth": 0, "alpha": 0.45}
HEIGHT = 3.6


class CalibrationMapDisplay:
    """Calibration map: probability after calibration against score before.

    A calibrator of one score is a curve. One of whole rows is a dot for each row and class,
    since what becomes of the score of a class depends on the scores of the others.

    Parameters
    ----------
    maps : dict of str to (before, after)
        Title of each panel, and two arrays of the same length to draw in it.
    name : str, default=None
        The name in the legend.
    is_curve : bool, default=False
        Whether to draw a line rather than dots.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        The panels drawn on, after `plot`.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from calibrant import CalibratedClassifier
    >>> from calibrant.datasets import make_waveform
    >>> from calibrant.plots import CalibrationMapDisplay
    >>> X, y = make_waveform(300, random_state=0)
    >>> model = CalibratedClassifier(GaussianNB(), random_state=0).fit(X, y)
    >>> display = CalibrationMapDisplay.from_estimator(model, X)
    >>> list(display.maps)
    ['class 0', 'class 1', 'class 2']
    """

    axes_: NDArray[Any]

    def __init__(
        self,
        maps: Mapping[str, tuple[ArrayLike, ArrayLike]],
        *,
        name: str | None = None,
        is_curve: bool = False,
    ):
        self.maps = maps
        self.name = name
        self.is_curve = is_curve

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, name: str | None = None, ax: Any = None
    ) -> Self:
        """Draw what a fitted classifier or calibrator makes of scores.

        Parameters
        ----------
        estimator : CalibratedClassifier or calibrator
            Fitted.
        X : array-like
            Rows for the classifier, or scores for the calibrator. The curve of a single score
            is drawn from the smallest of the scores to the largest.
        name : str, default=None
            The name in the legend.
        ax : matplotlib Axes or array of them, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        CalibrationMapDisplay
            The display, drawn.
        """
        # Not needed to draw what is predicted already.
        from calibrant.classifier import CalibratedClassifier

        if isinstance(estimator, CalibratedClassifier):
            before, after = _uncalibrated(estimator).predict_proba(X), estimator.predict_proba(X)
            return cls.from_predictions(before, after, labels=estimator.classes_, name=name, ax=ax)
        if hasattr(estimator, "predict_proba"):
            labels = estimator.classes_
            return cls.from_predictions(
                X, estimator.predict_proba(X), labels=labels, name=name, ax=ax
            )
        score = check_array(X, dtype=np.float64, ensure_2d=False, input_name="X").ravel()
        at = np.linspace(score.min(), score.max(), N_POINTS)
        return cls({"": (at, estimator.predict(at))}, name=name, is_curve=True).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        before: ArrayLike,
        after: ArrayLike,
        *,
        labels: ArrayLike | None = None,
        name: str | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw what became of given probabilities.

        Parameters
        ----------
        before, after : array-like of shape (n_samples, n_classes)
            Class probabilities of the same rows, before and after calibration.
        labels : array-like of shape (n_classes,), default=None
            The labels of the columns; None numbers them.
        name : str, default=None
            The name in the legend.
        ax : matplotlib Axes or array of them, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        CalibrationMapDisplay
            The display, drawn.
        """
        score = check_array(before, dtype=np.float64, input_name="before")
        proba = check_array(after, dtype=np.float64, input_name="after")
        if score.shape != proba.shape:
            raise ValueError(
                "before and after must be of the same rows and classes. "
                f"Got shapes {score.shape} and {proba.shape}. Pass both for all classes."
            )
        names = np.arange(score.shape[1]) if labels is None else np.asarray(labels)
        if len(names) != score.shape[1]:
            raise ValueError(
                f"labels must name each of the {score.shape[1]} columns. Got {len(names)}. "
                "Leave them out to number the columns."
            )
        maps = {
            f"class {label}": (score[:, k], proba[:, k]) for k, label in enumerate(names.tolist())
        }
        return cls(maps, name=name).plot(ax)

    def plot(self, ax: Any = None, **line_options: Any) -> Self:
        """Draw the map.

        Parameters
        ----------
        ax : matplotlib Axes or array of them, default=None
            Where to draw; None makes a new figure.
        **line_options : dict
            Passed to matplotlib's ``plot``.

        Returns
        -------
        CalibrationMapDisplay
            The display itself.
        """
        self.axes_ = panels(list(self.maps), ax, HEIGHT)
        for each, (before, after) in zip(self.axes_, self.maps.values(), strict=True):
            if is_new(each):
                _prepare(each, in_unit=bool(np.min(before) >= 0 and np.max(before) <= 1))
            how = {"marker": ""} if self.is_curve else DOTS
            options: dict[str, Any] = style(each) | how | {"label": self.name} | line_options
            each.plot(before, after, gid=SERIES, **options)
        if self.name is not None:
            name_series(self.axes_[0])
        return self


def _uncalibrated(estimator: Any) -> Any:
    """Return the same classifier with its scores left as they are."""
    binary = estimator.code_ is not None
    if binary and not hasattr(estimator.estimators_[0], "predict_proba"):
        raise ValueError(
            "A calibrated classifier of binary problems must have probabilities before calibration "
            f"too. {type(estimator.estimators_[0]).__name__} has no predict_proba. "
            "Draw its calibrators_ one by one."
        )
    bare = copy(estimator)
    bare.calibrators_ = None
    return bare


def _prepare(ax: Axes, *, in_unit: bool) -> None:
    """Draw the diagonal, where scores are on the scale of probabilities."""
    clean(ax)
    ax.set(xlabel="score before", ylabel="probability after", ylim=(-0.03, 1.03))
    ax.set_yticks(np.linspace(0, 1, 6))
    if in_unit:
        ax.plot([0, 1], [0, 1], color=REFERENCE_COLOR, linewidth=1, linestyle="--", zorder=1)
        ax.set(xlim=(-0.03, 1.03), xticks=np.linspace(0, 1, 6), aspect="equal")
