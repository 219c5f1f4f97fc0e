"""Updates of fitted classifiers on new rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from calibrant._core.labels import class_index
from calibrant._core.typing import FloatArray
from calibrant._core.validation import check_rows
from calibrant.calibrators.updating import UpdateCalibrator, UpdateReport


class UpdatedClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A fitted classifier whose probabilities are updated on new rows.

    The classifier itself is not refitted. A closed testing procedure chooses how far its
    probabilities are updated: not at all, for class frequencies, for class frequencies and
    confidence, or by full recalibration.

    Parameters
    ----------
    estimator : classifier
        A fitted classifier with ``predict_proba``: a `CalibratedClassifier`, or any other. To clone
        the updated classifier, for example in a cross-validation, wrap it in
        `sklearn.frozen.FrozenEstimator`.
    calibrator : UpdateCalibrator, default=None
        The procedure, with its parameters. ``None`` means the default parameters.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes of the estimator.
    calibrator_ : UpdateCalibrator
        The fitted update.
    update_report_ : UpdateReport
        What was chosen, and why. ``print(update_report_)`` says it in words.
    n_features_in_ : int
        The number of features of the estimator.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        The names of its features, if it has any.

    See Also
    --------
    calibrant.calibrators.UpdateCalibrator : The procedure, for given probabilities.
    calibrant.validation.validate_probabilities : Says whether probabilities are still right.

    Examples
    --------
    One of three classes has become rare:

    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from calibrant.datasets import make_waveform
    >>> from calibrant.metrics import log_loss
    >>> from calibrant.updating import UpdatedClassifier
    >>> model = LogisticRegression(C=0.05, max_iter=1000).fit(*make_waveform(1000, random_state=0))
    >>> X, y = make_waveform(2000, random_state=1)
    >>> kept = (y > 0) | (np.arange(2000) % 10 == 0)
    >>> X, y = X[kept], y[kept]
    >>> updated = UpdatedClassifier(model).fit(X[:500], y[:500])
    >>> updated.update_report_.choice
    <UpdateChoice.INTERCEPTS: 'intercepts'>
    >>> before = log_loss(y[500:], model.predict_proba(X[500:]))
    >>> after = log_loss(y[500:], updated.predict_proba(X[500:]))
    >>> print(f"log loss {before:.2f} before, {after:.2f} after")
    log loss 0.26 before, 0.18 after
    """

    classes_: NDArray[Any]
    calibrator_: UpdateCalibrator
    update_report_: UpdateReport

    def __init__(self, estimator: Any, *, calibrator: UpdateCalibrator | None = None):
        self.estimator = estimator
        self.calibrator = calibrator

    def fit(self, X: Any, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Choose an update and fit it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows: rows that the estimator was not fitted on.
        y : array-like of shape (n_samples,)
            Their classes, which the estimator must know. Classes may be absent.
        groups : array-like of shape (n_samples,), default=None
            The group of each row: rows of one group, such as those of one patient, are not
            independent. ``None`` means ungrouped.

        Returns
        -------
        UpdatedClassifier
            The updated classifier.
        """
        check_is_fitted(self.estimator)
        rows = check_rows(X, y, None, groups)
        classes = np.asarray(self.estimator.classes_)
        unknown = np.setdiff1d(rows.labels, classes)
        if len(unknown):
            raise ValueError(
                f"y must hold only classes of the fitted estimator, {classes.tolist()}, got "
                f"{unknown.tolist()} as well. Drop those rows, or fit the estimator again."
            )
        calibrator = UpdateCalibrator() if self.calibrator is None else clone(self.calibrator)
        self.calibrator_ = calibrator.fit(
            self.estimator.predict_proba(rows.X),
            class_index(rows.labels, classes),
            groups=rows.groups,
        )
        self.classes_ = classes
        self.update_report_ = self.calibrator_.report_.with_labels(classes)
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Predict updated class probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column per class, in the order of ``classes_``; each row sums to 1.
        """
        check_is_fitted(self)
        return self.calibrator_.predict_proba(self.estimator.predict_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most probable class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.
        """
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    @property
    def n_features_in_(self) -> int:
        """Number of features of the estimator."""
        return self.estimator.n_features_in_

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the features of the estimator."""
        return self.estimator.feature_names_in_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        return tags
