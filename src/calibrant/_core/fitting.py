"""Fit clones of the user's classifier on parts of the rows, seeded and in parallel."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from itertools import starmap
from typing import Any

import numpy as np
from joblib import effective_n_jobs, parallel_config
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import ThreadpoolController

from calibrant._core.problems import Part, ScoringProblem, class_scores, problem_score, take_rows
from calibrant._core.progress import track
from calibrant._core.typing import FloatArray, IndexArray

# What was warned of, in order; hundreds of fits give each warning once.
Warned = dict[tuple[type[Warning], str], None]
LARGEST_SEED = np.iinfo(np.int32).max


@dataclass(frozen=True, eq=False)
class Fitter:
    """What all fits of one calibration have in common.

    Attributes
    ----------
    estimator : classifier
        What is cloned for each fit.
    X : array-like of shape (n_samples, n_features)
        All training rows.
    fit_params : dict
        What ``estimator.fit`` takes beside X and y. Arrays with one entry a row are
        cut to the rows of each fit.
    rng : RandomState
        The source of seeds for estimators that have none of their own.
    n_jobs : int or None
        The number of parallel jobs.
    verbose : int
        Whether a progress bar is shown.
    handled_warnings : tuple of str
        How warnings begin that are made good elsewhere, and so not passed on.
    """

    estimator: Any
    X: Any
    fit_params: dict[str, Any]
    rng: np.random.RandomState
    n_jobs: int | None = None
    verbose: int = 0
    handled_warnings: tuple[str, ...] = ()

    def models(self, problems: list[ScoringProblem]) -> list[Any]:
        """One model a problem, fitted on all its rows."""
        work = [(problem.labels[problem.rows], problem.rows) for problem in problems]
        warned: Warned = {}
        models = self._run(fit_clone, self._seeds(len(work)), work, "fitting", warned)
        self._warn(warned)
        return models

    def held_out_scores(self, parts: list[Part]) -> list[FloatArray]:
        """Scores of each part's test rows by a model fitted on its training rows.

        Where algebra gives the scores of all parts at once, hardly any is fitted.
        """
        # It imports the types that it knows, which takes time.
        from calibrant.generation.closed_form import closed_form_scores

        seeds = self._seeds(len(parts))
        warned: Warned = {}

        def refit(positions: Sequence[int]) -> list[FloatArray]:
            work = [
                (part.problem.labels[part.train], part.train, part.test, part.problem.is_binary)
                for part in (parts[position] for position in positions)
            ]
            title = "scoring held-out rows"
            return self._run(_fit_and_score, seeds[list(positions)], work, title, warned)

        with _one_blas_thread():
            scores = closed_form_scores(self.estimator, self.X, self.fit_params, parts, refit)
        self._warn(warned)
        return scores

    def _seeds(self, number: int) -> NDArray[np.int64]:
        """Draw seeds before the work is spread: the result does not depend on how."""
        return self.rng.randint(LARGEST_SEED, size=number)

    def _run(
        self,
        function: Callable[..., Any],
        seeds: NDArray[np.int64],
        work: list[tuple],
        title: str,
        warned: Warned,
    ) -> list[Any]:
        """Results of the work, in its order; what estimators warn of is added to ``warned``."""
        # X is an argument of its own, which joblib maps into memory and Dask sends once; what is
        # a task's own is in a tuple, which Dask sends along with the task.
        tasks = [
            (function, self.estimator, self.X, self.fit_params, (seed, *args))
            for seed, args in zip(seeds, work, strict=True)
        ]
        results = []
        with _one_blas_thread():
            finished = self._spread(tasks)
            for result, caught in track(finished, len(work), title) if self.verbose else finished:
                results.append(result)
                warned.update(dict.fromkeys(caught))
        return results

    def _warn(self, warned: Warned) -> None:
        for category, message in warned:
            if not message.startswith(self.handled_warnings):
                warnings.warn(message, category, stacklevel=3)

    def _spread(self, tasks: list[tuple]) -> Iterable[tuple[Any, list[tuple]]]:
        if min(len(tasks), effective_n_jobs(self.n_jobs)) <= 1:
            return starmap(_recorded, tasks)  # a single fit may spread its own work
        return Parallel(n_jobs=self.n_jobs, return_as="generator")(
            delayed(_in_worker)(*task) for task in tasks
        )


def _in_worker(*task: Any) -> tuple[Any, list[tuple]]:
    """Do a task without spreading it further: the workers are busy already."""
    with parallel_config(backend="sequential"), _one_blas_thread():
        return _recorded(*task)


def _recorded(
    function: Callable[..., Any], estimator: Any, X: Any, fit_params: dict[str, Any], own: tuple
) -> tuple[Any, list[tuple]]:
    """Keep the estimator's warnings beside the result."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(estimator, X, fit_params, *own)
    return result, [(warning.category, str(warning.message)) for warning in caught]


def _one_blas_thread() -> AbstractContextManager[Any]:
    """Sum in one order: the last bits of a matrix product depend on the number of threads."""
    return _thread_pools().limit(limits=1, user_api="blas")


@cache
def _thread_pools() -> Any:
    return ThreadpoolController()  # looks through all libraries of the process, which takes time


def fit_clone(
    estimator: Any,
    X: Any,
    fit_params: dict[str, Any],
    seed: int,
    labels: NDArray[Any],
    rows: IndexArray,
) -> Any:
    """Fit a clone of the estimator on some of the rows; ``labels`` are those rows'."""
    n_samples = X.shape[0] if hasattr(X, "shape") else len(X)
    params = {
        name: take_rows(value, rows) if _is_per_row(value, n_samples) else value
        for name, value in fit_params.items()
    }
    model = _seeded(clone(estimator), seed).fit(take_rows(X, rows), labels, **params)
    expected = np.unique(labels)
    if not np.array_equal(model.classes_, expected):
        raise ValueError(
            f"A fitted {type(model).__name__} must have the classes it was fitted on, "
            f"{expected.tolist()}. Got {list(model.classes_)}. "
            "If it holds a model that is fitted already, wrap the whole of it in FrozenEstimator."
        )
    return model


def _fit_and_score(
    estimator: Any,
    X: Any,
    fit_params: dict[str, Any],
    seed: int,
    labels: NDArray[Any],
    train: IndexArray,
    test: IndexArray,
    binary: bool,
) -> FloatArray:
    model = fit_clone(estimator, X, fit_params, seed, labels, train)
    return problem_score(*class_scores(model, take_rows(X, test)), binary=binary)


def check_classifier(estimator: Any) -> None:
    """Refuse what cannot be fitted on parts of the rows and score the others."""
    if isinstance(estimator, type) or not (
        hasattr(estimator, "fit")
        and (hasattr(estimator, "predict_proba") or is_classifier(estimator))
    ):
        raise ValueError(
            "estimator must be a classifier with predict_proba or decision_function. "
            f"Got {estimator!r}. Pass an instance, such as GaussianNB()."
        )
    if get_tags(estimator).input_tags.pairwise:
        raise ValueError(
            f"estimator must take rows of features. {type(estimator).__name__} takes precomputed "
            "distances or kernels, of which a part of the rows is no table. "
            "Let it compute them itself."
        )


def has_class_weights(estimator: Any) -> bool:
    """Whether some part of an estimator weights classes by their labels."""
    parameters = estimator.get_params(deep=True) if hasattr(estimator, "get_params") else {}
    return any(
        isinstance(value, dict) and name.split("__")[-1] == "class_weight"
        for name, value in parameters.items()
    )


def _is_per_row(value: Any, n_samples: int) -> bool:
    if isinstance(value, str | bytes | dict) or np.isscalar(value):
        return False
    if hasattr(value, "shape"):
        return len(value.shape) > 0 and value.shape[0] == n_samples
    return hasattr(value, "__len__") and len(value) == n_samples


def _seeded(estimator: Any, seed: int) -> Any:
    """Give a seed to every part of the estimator that has none."""
    rng = np.random.RandomState(seed)
    seeds = {
        name: int(rng.randint(LARGEST_SEED))
        for name, value in sorted(estimator.get_params(deep=True).items())
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    }
    return estimator.set_params(**seeds)
