"""A classifier that is fitted once on the same rows, however many methods ask for it."""

from __future__ import annotations

import time
from typing import Any, Self

import numpy as np
from joblib import hash as content_hash
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.metaestimators import available_if


class FitMemory:
    """Fitted models by training rows, and the seconds that their fits took.

    Attributes
    ----------
    models : dict
        The model and its seconds, by content of the training rows.
    saved_seconds : float
        What the fits would have taken that were remembered instead; reset by the reader.
    """

    def __init__(self) -> None:
        self.models: dict[str, tuple[Any, float]] = {}
        self.saved_seconds = 0.0

    def __deepcopy__(self, memo: dict[int, Any]) -> FitMemory:
        """Clones of an estimator share its memory."""
        return self

    def fitted(self, estimator: Any, X: Any, y: Any) -> Any:
        """Return the estimator fitted on these rows, fitting it only the first time."""
        key = content_hash((np.ascontiguousarray(X), np.asarray(y)))
        if key in self.models:
            model, seconds = self.models[key]
            self.saved_seconds += seconds
            return model
        began = time.perf_counter()
        model = clone(estimator).fit(X, y)
        self.models[key] = (model, time.perf_counter() - began)
        return model


def _has(method: str) -> Any:
    return available_if(lambda self: hasattr(self.estimator, method))


class Remembering(ClassifierMixin, BaseEstimator):
    """A classifier with a memory of its fits.

    The methods of the arena fit the same classifier on the same parts of the rows over and
    over. What they get is what they would get without the memory; the time of each counts
    the fits that it was spared.

    Parameters
    ----------
    estimator : classifier
        With a seed of its own, so that fits on the same rows are the same.
    memory : FitMemory
        The memory, shared by all clones.
    """

    def __init__(self, estimator: Any, memory: FitMemory):
        self.estimator = estimator
        self.memory = memory

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier, or recall it."""
        self.model_ = self.memory.fitted(self.estimator, X, y)
        self.classes_ = self.model_.classes_
        self.n_features_in_ = np.shape(X)[1]
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict classes."""
        return self.model_.predict(X)

    @_has("predict_proba")  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict probabilities, if the classifier does."""
        return self.model_.predict_proba(X)

    @_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return decision values, if the classifier has them."""
        return self.model_.decision_function(X)
