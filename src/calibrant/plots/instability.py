"""How far the probability of each row varies with the training rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_array

from calibrant._core.typing import FloatArray
from calibrant.plots._panels import UNIT_LIMITS, UNIT_TICKS, PanelDisplay, draw_diagonal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DOTS: dict[str, Any] = {
    "marker": ".",
    "linestyle": "none",
    "markersize": 3,
    "alpha": 0.35,
    "markeredgewidth": 0,
}
BARS: dict[str, Any] = {"marker": "", "linewidth": 0.8, "alpha": 0.25}


@dataclass(frozen=True, eq=False)
class Instability:
    """Probabilities of one class.

    Attributes
    ----------
    predicted : ndarray of shape (n_rows,)
        The predicted probability of each row.
    resampled : ndarray of shape (n_models, n_rows)
        Its probability by each of the models fitted on resampled rows.
    interval : ndarray of shape (n_rows, 2) or None
        The ends of its interval.
    """

    predicted: FloatArray
    resampled: FloatArray
    interval: FloatArray | None = None


class InstabilityDisplay(PanelDisplay):
    """Probability of each row by models fitted on resampled rows, against its prediction.

    Dots far from the diagonal belong to rows whose probability depends on which rows the model
    happened to be fitted on [1]_. Bars are 95% intervals.

    Parameters
    ----------
    classes : dict of str to Instability
        The probabilities to draw, by panel title.
    name : str, default=None
        The name in the legend. ``None`` means no legend.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        The panels, set by `plot`.

    See Also
    --------
    calibrant.CalibratedClassifier.predict_interval : The intervals.
    calibrant.CalibratedClassifier.predict_resampled_proba : The dots.

    References
    ----------
    .. [1] R. D. Riley and G. S. Collins, "Stability of clinical prediction models developed using
           statistical or machine learning methods", Biometrical Journal 65(8), 2023.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from calibrant import CalibratedClassifier
    >>> from calibrant.datasets import make_waveform
    >>> from calibrant.plots import InstabilityDisplay
    >>> model = CalibratedClassifier(GaussianNB(), random_state=0)
    >>> model = model.fit(*make_waveform(100, random_state=0))
    >>> display = InstabilityDisplay.from_estimator(model, make_waveform(50, random_state=1)[0])
    >>> [ax.get_title() for ax in display.axes_]
    ['class 0', 'class 1', 'class 2']
    """

    _panel_height = 3.6

    def __init__(self, classes: Mapping[str, Instability], *, name: str | None = None):
        super().__init__(name)
        self.classes = classes

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, name: str | None = None, ax: Any = None
    ) -> Self:
        """Draw the display of a fitted classifier.

        Parameters
        ----------
        estimator : CalibratedClassifier
            A fitted classifier that can predict intervals. If it has no voters, as forests do not,
            only intervals are drawn.
        X : array-like of shape (n_samples, n_features)
            Rows, new ones or those that the classifier was fitted on.
        name, ax
            See `from_predictions`.

        Returns
        -------
        InstabilityDisplay
            The drawn display.
        """
        interval = estimator.predict_interval(X)
        proba = estimator.predict_proba(X)
        resampled = estimator.predict_resampled_proba(X) if estimator._voters() else None
        return cls.from_predictions(
            proba, resampled, interval=interval, labels=estimator.classes_, name=name, ax=ax
        )

    @classmethod
    def from_predictions(
        cls,
        proba: ArrayLike,
        resampled: ArrayLike | None = None,
        *,
        interval: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        name: str | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the display of predicted probabilities.

        Parameters
        ----------
        proba : array-like of shape (n_samples, n_classes)
            Predicted probabilities.
        resampled : array-like of shape (n_models, n_samples, n_classes), default=None
            Probabilities by models fitted on resampled rows, such as bootstrap samples.
        interval : array-like of shape (n_samples, n_classes, 2), default=None
            The ends of intervals. ``None`` means no intervals.
        labels : array-like of shape (n_classes,), default=None
            The labels of the columns. ``None`` means the column numbers.
        name : str, default=None
            The name in the legend. ``None`` means no legend.
        ax : matplotlib Axes or array of them, default=None
            The axes to draw on, one per panel. ``None`` means a new figure.

        Returns
        -------
        InstabilityDisplay
            The drawn display: one panel for the second of two classes, or one per class.
        """
        predicted = check_array(proba, dtype=np.float64, input_name="proba")
        dots = np.empty((0, *predicted.shape)) if resampled is None else np.asarray(resampled)
        ends = None if interval is None else np.asarray(interval)
        _check_shape("resampled", dots, (len(dots), *predicted.shape))
        if ends is not None:
            _check_shape("interval", ends, (*predicted.shape, 2))
        names = list(range(predicted.shape[1])) if labels is None else np.asarray(labels).tolist()
        if len(names) != predicted.shape[1]:
            raise ValueError(
                f"labels must name each of the {predicted.shape[1]} columns, got {len(names)} "
                "labels. Omit labels to number the columns."
            )
        shown = [1] if len(names) == 2 else range(len(names))
        classes = {
            f"class {names[k]}": Instability(
                predicted[:, k], dots[:, :, k], None if ends is None else ends[:, k]
            )
            for k in shown
        }
        return cls(classes, name=name).plot(ax)

    def _contents(self) -> Mapping[str, Instability]:
        return self.classes

    def _prepare(self, ax: Axes, content: Instability) -> None:  # noqa: ARG002 (inherited)
        draw_diagonal(ax)
        ax.set(
            xlabel="predicted probability",
            ylabel="probability by resampled models",
            xlim=UNIT_LIMITS,
            ylim=UNIT_LIMITS,
            xticks=UNIT_TICKS,
            yticks=UNIT_TICKS,
            aspect="equal",
        )

    def _draw(
        self, ax: Axes, content: Instability, style: dict[str, Any], line_options: dict[str, Any]
    ) -> None:
        predicted = np.broadcast_to(content.predicted, content.resampled.shape)
        ax.plot(predicted.ravel(), content.resampled.ravel(), **style | DOTS | line_options)
        if content.interval is not None:
            # One line that is interrupted after each row.
            gap = np.full((len(content.predicted), 1), np.nan)
            x = np.repeat(content.predicted, 3)
            ax.plot(x, np.hstack([content.interval, gap]).ravel(), color=style["color"], **BARS)


def _check_shape(name: str, values: FloatArray, expected: tuple[int, ...]) -> None:
    if values.shape != expected:
        raise ValueError(
            f"{name} must have the rows and classes of proba, so shape {expected}, got "
            f"{values.shape}. Predict the same rows with the same classes."
        )
