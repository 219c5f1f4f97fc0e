"""The type of a method of the arena, and its input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from calibrant._core.typing import FloatArray, IndexArray
from experiments.arena.fit_cache import CachedClassifier


@dataclass(frozen=True, eq=False)
class MethodInput:
    """A classifier, its training rows and the rows to predict.

    Attributes
    ----------
    classifier : CachedClassifier
        The classifier, whose fits are shared by all methods.
    needs_refits : bool
        Whether `CalibratedClassifier` must refit the classifier to get held-out scores.
    X : ndarray of shape (n_train, n_features)
        Training rows.
    y : ndarray of shape (n_train,)
        Their classes, as consecutive indices.
    X_test : ndarray of shape (n_test, n_features)
        Rows to predict.
    seed : int
        Seed of all randomness in the method.
    """

    classifier: CachedClassifier
    needs_refits: bool
    X: FloatArray
    y: IndexArray
    X_test: FloatArray
    seed: int

    @property
    def uncached_classifier(self) -> Any:
        """The classifier without the cache."""
        return self.classifier.estimator


# Returns the class probabilities of the rows to predict, of shape (n_test, n_classes).
Method = Callable[[MethodInput], FloatArray]
