"""Rows made ready for a classifier inside a fold, and the forest in use."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils import Bunch

from calibrant.datasets import load_dataset
from experiments.preprocessing import paper_pipeline

FloatArray = NDArray[np.float64]
Rows = NDArray[np.intp]


@lru_cache(maxsize=2)
def cached_dataset(name: str) -> Bunch:
    """Load a data set once a process."""
    return load_dataset(name)


def prepare_fold(data: Bunch, train: Rows, test: Rows) -> tuple[FloatArray, FloatArray]:
    """Fit the authors' preprocessing on the training rows, apply it to both parts.

    Parameters
    ----------
    data : Bunch
        A data set of `calibrant.datasets`.
    train, test : ndarray
        Row numbers.

    Returns
    -------
    X, X_new : ndarray
        Features of the training and of the test rows.
    """
    X, X_new = data.data[train], data.data[test]
    if data.categorical:
        columns = [data.feature_names.index(name) for name in data.categorical]
        encoder = make_column_transformer(
            (OneHotEncoder(sparse_output=False, handle_unknown="ignore"), columns),
            remainder="passthrough",
        )
        X, X_new = encoder.fit_transform(X), encoder.transform(X_new)
    steps = paper_pipeline("passthrough").fit(X)
    return steps.transform(X), steps.transform(X_new)


def random_forest(seed: int, n_trees: int) -> Any:
    """Return a forest: scikit-learn-intelex's, many times faster, if installed."""
    if find_spec("sklearnex"):
        from sklearnex.ensemble import RandomForestClassifier as FastForest

        return FastForest(n_trees, random_state=seed, n_jobs=1)
    return RandomForestClassifier(n_trees, random_state=seed, n_jobs=1)
