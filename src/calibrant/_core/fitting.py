"""Seeded and parallel fits of the user's classifier on subsets of the rows."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, starmap
from typing import Any

import numpy as np
from joblib import effective_n_jobs, parallel_config
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.parallel import Parallel, delayed

from calibrant._core.class_scores import class_scores
from calibrant._core.phrases import count
from calibrant._core.problems import (
    ProblemSplit,
    ScoringProblem,
    problem_score,
    take_rows,
)
from calibrant._core.progress import track
from calibrant._core.signals import tie_worker_to_command
from calibrant._core.threads import one_blas_thread
from calibrant._core.training_data import TrainingData
from calibrant._core.typing import FloatArray, IndexArray
from calibrant._core.workers import worker_options

# Distinct warnings in order of appearance, since hundreds of fits repeat the same ones.
Warned = dict[tuple[type[Warning], str], None]
# Starting worker processes takes about this long. If they would save less, none are started.
WORKER_START_SECONDS = 1.0
LARGEST_SEED = np.iinfo(np.int32).max


@dataclass(frozen=True, eq=False)
class FitTask:
    """One fit: its seed, the rows to fit on with their labels, and the rows to score.

    ``keep`` says whether the fitted model is needed after scoring, ``place`` which rows the fit
    is on, for errors.
    """

    seed: int
    labels: NDArray[Any]
    train: IndexArray
    test: IndexArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    binary: bool = False
    keep: bool = False
    place: str = "all rows"


@dataclass(frozen=True, eq=False)
class Fitter:
    """Fits clones of the user's classifier on some of the training rows.

    Attributes
    ----------
    estimator : classifier
        The classifier to clone for each fit.
    data : TrainingData
        The training data. Arrays in its ``fit_params`` that have one entry per row are
        restricted to the rows of each fit.
    rng : RandomState
        The source of seeds for estimators without a seed.
    n_jobs : int or None
        The number of parallel jobs.
    verbose : int
        Whether to show a progress bar.
    """

    estimator: Any
    data: TrainingData
    rng: np.random.RandomState
    n_jobs: int | None = None
    verbose: int = 0
    _warned: Warned = field(default_factory=dict, init=False)
    _seconds: list[float] = field(default_factory=list, init=False)

    def fit(self, problems: list[ScoringProblem]) -> list[Any]:
        """Fit one model per problem, on all its rows."""
        seeds = self.draw_seeds(len(problems))
        tasks = [
            FitTask(seed, problem.labels[problem.rows], problem.rows)
            for seed, problem in zip(seeds, problems, strict=True)
        ]
        return self._run(fit_clone, tasks, "fitting")

    def fit_and_score(
        self, splits: Sequence[ProblemSplit], seeds: NDArray[np.int64], keep: Sequence[bool]
    ) -> list[tuple[FloatArray, Any]]:
        """Score the test rows of each split with a model fitted on its training rows.

        Returns, for each split, the scores and the model, or None if the model is not kept.
        """
        tasks = [
            FitTask(
                seed,
                split.problem.labels[split.train],
                split.train,
                split.test,
                split.problem.is_binary,
                is_kept,
                f"split {split.split + 1}",
            )
            for seed, split, is_kept in zip(seeds, splits, keep, strict=True)
        ]
        return self._run(_fit_and_score, tasks, "scoring held-out rows")

    def draw_seeds(self, number: int) -> NDArray[np.int64]:
        """Draw seeds before work is distributed, so that they do not depend on ``n_jobs``."""
        return self.rng.randint(LARGEST_SEED, size=number)

    def issue_warnings(self, handled: tuple[str, ...] = ()) -> None:
        """Issue each warning of the fits once, except those that start with ``handled``."""
        for category, message in self._warned:
            if not message.startswith(handled):
                warnings.warn(message, category, stacklevel=3)
        self._warned.clear()

    def absorb_warnings(self, other: Fitter) -> None:
        """Take over the warnings of another fitter."""
        self._warned.update(other._warned)

    def _run(self, function: Callable[..., Any], tasks: list[FitTask], title: str) -> list[Any]:
        """Return the results in the order of the tasks and record warnings."""
        # X is a separate argument so that joblib memory-maps it and Dask sends it only once.
        calls = [
            (function, self.estimator, self.data.X, self.data.fit_params, task) for task in tasks
        ]
        results = []
        with one_blas_thread():
            finished = self._distribute(calls)
            for result, caught in track(finished, len(calls), title) if self.verbose else finished:
                results.append(result)
                self._warned.update(dict.fromkeys(caught))
        return results

    def _distribute(self, calls: list[tuple]) -> Iterable[tuple[Any, list[tuple]]]:
        n_jobs = min(len(calls), effective_n_jobs(self.n_jobs))
        if n_jobs <= 1:
            # A single fit may use several cores itself.
            return (self._timed(_recorded, call) for call in calls)
        first: list[tuple] = []
        if not self._seconds:
            first, calls = [self._timed(_in_worker, calls[0])], calls[1:]
        if self._seconds[-1] * len(calls) * (1.0 - 1.0 / n_jobs) < WORKER_START_SECONDS:
            return chain(first, starmap(_in_worker, calls))
        others = Parallel(n_jobs=self.n_jobs, return_as="generator", **worker_options())(
            delayed(_in_worker)(*call) for call in calls
        )
        return chain(first, others)

    def _timed(self, make: Callable[..., Any], call: tuple) -> tuple[Any, list[tuple]]:
        """Make a call and remember how long it took."""
        start = time.perf_counter()
        result = make(*call)
        self._seconds.append(time.perf_counter() - start)
        return result


def _in_worker(*call: Any) -> tuple[Any, list[tuple]]:
    """Make a call without nested parallelism, since all workers are already busy."""
    tie_worker_to_command()
    with parallel_config(backend="sequential"), one_blas_thread():
        return _recorded(*call)


def _recorded(function: Callable[..., Any], *args: Any) -> tuple[Any, list[tuple]]:
    """Return the result together with the warnings issued."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(*args)
    return result, [(warning.category, str(warning.message)) for warning in caught]


def fit_clone(estimator: Any, X: Any, fit_params: dict[str, Any], task: FitTask) -> Any:
    """Fit a clone of the estimator on the training rows of a task."""
    n_samples = X.shape[0] if hasattr(X, "shape") else len(X)
    params = {
        name: take_rows(value, task.train) if _is_per_row(value, n_samples) else value
        for name, value in fit_params.items()
    }
    model = set_seeds(clone(estimator), task.seed)
    with _errors_name(task):
        model.fit(take_rows(X, task.train), task.labels, **params)
        expected, found = np.unique(task.labels), np.asarray(getattr(model, "classes_", ()))
        if not np.array_equal(found, expected):
            raise ValueError(
                f"A fitted {type(model).__name__} must have the classes it was fitted on as "
                f"classes_, {expected.tolist()}, got {found.tolist()}. "
                "If it contains a prefitted model, wrap the whole estimator in FrozenEstimator."
            )
    return model


def _fit_and_score(
    estimator: Any, X: Any, fit_params: dict[str, Any], task: FitTask
) -> tuple[FloatArray, Any]:
    model = fit_clone(estimator, X, fit_params, task)
    with _errors_name(task):
        score = problem_score(*class_scores(model, take_rows(X, task.test)), binary=task.binary)
    return score, model if task.keep else None


@contextmanager
def _errors_name(task: FitTask) -> Iterator[None]:
    """Add the rows of a fit to the errors of the estimator."""
    scored = f" and scored on {count(len(task.test), 'row')}" if len(task.test) else ""
    note = (
        f"The estimator failed on {task.place}: it was fitted on {count(len(task.train), 'row')}"
        f"{scored}."
    )
    try:
        yield
    except StopIteration as error:  # would end an iteration over the fits without a trace
        raise ValueError(f"The estimator must not raise StopIteration. {note}") from error
    except Exception as error:
        error.add_note(note)
        raise


def check_classifier(estimator: Any) -> None:
    """Check that an estimator can be fitted on some rows and can score the others."""
    if isinstance(estimator, type) or not (
        hasattr(estimator, "fit")
        and (hasattr(estimator, "predict_proba") or is_classifier(estimator))
    ):
        raise ValueError(
            "estimator must be a classifier with predict_proba or decision_function, "
            f"got {estimator!r}. Pass an instance, such as GaussianNB()."
        )
    if get_tags(estimator).input_tags.pairwise:
        raise ValueError(
            f"estimator must take rows of features. {type(estimator).__name__} takes precomputed "
            "distances or kernels, which cannot be split by rows. "
            "Let the estimator compute them itself."
        )


def has_class_weights(estimator: Any) -> bool:
    """Return whether an estimator, or a part of it, weights classes by label."""
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


def set_seeds(estimator: Any, rng: int | np.random.RandomState) -> Any:
    """Seed every part of an estimator that has no seed, drawing from ``rng`` only if needed.

    ``rng`` may be the seed of the source of randomness, which takes long to create.
    """
    unseeded = [
        name
        for name, value in sorted(estimator.get_params(deep=True).items())
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    ]
    if not unseeded:
        return estimator
    source = check_random_state(rng)
    return estimator.set_params(**{name: int(source.randint(LARGEST_SEED)) for name in unseeded})
