"""A classifier that fits and scores the same rows only once, however many methods use it."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from typing import Any, Self

import numpy as np
from joblib import hash as content_hash
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.metaestimators import available_if


class FitCache:
    """Fitted models and their predictions, with the times that they took.

    Attributes
    ----------
    models : dict
        Model and seconds of its fit, by the content of the training rows.
    predictions : dict
        Prediction and its seconds, by the model, its method and the content of the rows.
    saved_seconds : float
        Time saved by what was found in the cache. The caller resets it.
    """

    def __init__(self) -> None:
        self.models: dict[Hashable, tuple[Any, float]] = {}
        self.predictions: dict[Hashable, tuple[Any, float]] = {}
        self.saved_seconds = 0.0

    def __deepcopy__(self, memo: dict[int, Any]) -> FitCache:
        """Return the cache itself, since clones of an estimator share it."""
        return self

    def fit(self, estimator: Any, X: Any, y: Any) -> Any:
        """Return the estimator fitted on these rows, from the cache if possible."""
        key = content_hash((np.ascontiguousarray(X), np.asarray(y)))
        return self._recall(self.models, key, lambda: clone(estimator).fit(X, y))

    def predict(self, model: Any, method: str, X: Any) -> NDArray[Any]:
        """Return what a method of a cached model predicts for these rows."""
        # The cache keeps its models, so their ids remain unique.
        key = (id(model), method, content_hash(np.ascontiguousarray(X)))
        # A copy, in case the caller changes it.
        return self._recall(self.predictions, key, lambda: getattr(model, method)(X)).copy()

    def _recall(
        self,
        results: dict[Hashable, tuple[Any, float]],
        key: Hashable,
        compute: Callable[[], Any],
    ) -> Any:
        if key in results:
            result, seconds = results[key]
            self.saved_seconds += seconds
            return result
        start = time.perf_counter()
        result = compute()
        results[key] = (result, time.perf_counter() - start)
        return result


def _available_if_estimator_has(method: str) -> Any:
    return available_if(lambda self: hasattr(self.estimator, method))


class CachedClassifier(ClassifierMixin, BaseEstimator):
    """A classifier whose fits and predictions are cached.

    The methods of the arena fit the same classifier on the same rows many times. Caching does not
    change predictions, and the recorded time of each method includes the time that it saved.

    Parameters
    ----------
    estimator : classifier
        The classifier. It must be seeded, so that fits on the same rows are identical.
    cache : FitCache
        The cache, shared by all clones.
    """

    def __init__(self, estimator: Any, cache: FitCache):
        self.estimator = estimator
        self.cache = cache

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier or take it from the cache."""
        self.model_ = self.cache.fit(self.estimator, X, y)
        self.classes_ = self.model_.classes_
        self.n_features_in_ = np.shape(X)[1]
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict classes."""
        return self.cache.predict(self.model_, "predict", X)

    @_available_if_estimator_has("predict_proba")  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict probabilities, if the classifier can."""
        return self.cache.predict(self.model_, "predict_proba", X)

    @_available_if_estimator_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return decision values, if the classifier has them."""
        return self.cache.predict(self.model_, "decision_function", X)
