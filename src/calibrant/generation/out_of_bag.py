"""Out-of-sample scores without refits: the votes of trees that a row was not given to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from calibrant._core.fitting import Fitter
from calibrant._core.problems import ScoringProblem, problem_score
from calibrant._core.typing import FloatArray, IndexArray
from calibrant.generation.base import Generator, HeldOutScores, scored_rows

# A row is out of bag for about a third of the models: where models are few, its votes are much
# noisier than those of the whole ensemble, and calibrate something else. On the twelve sets with
# 100 rows, votes of 50 trees did as well as folds (log loss .810 and .811), of 20 trees not (.832
# and .823).
ENOUGH_MODELS = 50
# Where scikit-learn's transformers look at features alone; those that need labels say so.
LABEL_FREE = tuple(
    f"sklearn.{name}"
    for name in (
        "compose",
        "decomposition",
        "feature_extraction",
        "impute",
        "kernel_approximation",
        "pipeline",
        "preprocessing",
        "random_projection",
    )
)


@dataclass(frozen=True)
class OutOfBag(Generator):
    """The votes of an ensemble's models on the rows that were not in their bootstrap samples.

    Costs no refits. For forests with ``bootstrap=True`` and for
    `sklearn.ensemble.BaggingClassifier`, alone or at the end of a pipeline whose other steps
    are known not to look at labels. The fitted model has ``oob_score=True``. Rows that are in every
    sample are left out. ``cv="auto"`` uses it from 50 models on: votes of fewer are too noisy.

    Notes
    -----
    Scores come from about a third of the models, so they are a little noisier than those
    of the whole ensemble, and the expected gain of a calibration report, which is of them, is
    a little larger than that of the whole. They are compared with the labels; published code
    of the paper's authors compares them with the ensemble's own predictions.
    """

    # Said of rows that no model was without; bagging divides by their number of votes.
    handled_warnings: ClassVar[tuple[str, ...]] = (
        "Some inputs do not have OOB scores",
        "invalid value encountered in divide",
    )

    def prepare(self, estimator: Any) -> Any:
        """Return the estimator, set to keep its out-of-bag votes."""
        check_votes(estimator)
        prefix = f"{estimator.steps[-1][0]}__" if isinstance(estimator, Pipeline) else ""
        if estimator.get_params()[f"{prefix}oob_score"]:
            return estimator
        return clone(estimator).set_params(**{f"{prefix}oob_score": True})

    def generate(
        self,
        fitter: Fitter,
        problems: list[ScoringProblem],
        y: IndexArray,
        sample_weight: FloatArray,
        groups: NDArray[Any] | None = None,
        split_params: dict[str, Any] | None = None,
        models: Sequence[Any] = (),
    ) -> list[HeldOutScores]:
        """Out-of-bag votes of every problem's own model."""
        if groups is not None:
            raise ValueError(
                "cv='oob' must be for rows that stand alone. Got groups, whose rows are on both "
                "sides of a bootstrap sample. Use cv='auto', which holds out whole groups."
            )
        return [
            scored_rows(_votes(model, problem), problem.target, sample_weight, problem.rows)
            for model, problem in zip(models, problems, strict=True)
        ]


def has_enough_votes(estimator: Any) -> bool:
    """Whether enough out-of-bag votes can be had of an estimator, and only those."""
    ensemble = _ensemble(estimator)
    return (
        _is_bootstrapped(ensemble)
        and not _supervised_steps(estimator)
        and ensemble.get_params()["n_estimators"] >= ENOUGH_MODELS
    )


def check_votes(estimator: Any) -> None:
    """Refuse an estimator without out-of-bag votes."""
    ensemble = _ensemble(estimator)
    if not _is_bootstrapped(ensemble):
        raise ValueError(
            "cv='oob' must be with an ensemble of models on bootstrap samples, such as a forest "
            f"with bootstrap=True. Got {ensemble!r}. Use cv='auto'."
        )
    supervised = _supervised_steps(estimator)
    if supervised:
        raise ValueError(
            "cv='oob' must be with steps known not to look at the labels of out-of-bag rows. "
            f"Got {supervised[0]!r} before the ensemble. Use cv='auto'."
        )


def _ensemble(estimator: Any) -> Any:
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def _is_bootstrapped(ensemble: Any) -> bool:
    parameters = ensemble.get_params(deep=False) if hasattr(ensemble, "get_params") else {}
    return "oob_score" in parameters and bool(parameters.get("bootstrap"))


def _supervised_steps(estimator: Any) -> list[Any]:
    """Return the steps before the ensemble that look at labels, or may."""
    if not isinstance(estimator, Pipeline):
        return []
    return [step for _, step in estimator.steps[:-1] if not _ignores_labels(step)]


def _ignores_labels(step: Any) -> bool:
    """Whether a step and all its parts are known not to look at labels."""
    if not isinstance(step, BaseEstimator):
        return True  # "passthrough"
    from sklearn.feature_selection import VarianceThreshold  # on use: it imports far more

    parts = [step, *step.get_params(deep=True).values()]
    return all(
        isinstance(part, VarianceThreshold)
        or (
            type(part).__module__.startswith(LABEL_FREE) and not get_tags(part).target_tags.required
        )
        for part in parts
        if isinstance(part, BaseEstimator)
    )


def _votes(model: Any, problem: ScoringProblem) -> FloatArray:
    """Shares of out-of-bag votes; NaN for rows that no model was without."""
    votes = np.array(_ensemble(model).oob_decision_function_, dtype=np.float64)
    if len(votes) != len(problem.rows):
        raise ValueError(
            f"An ensemble must vote on each of the {len(problem.rows)} rows it was fitted on. "
            f"Got votes on {len(votes)}. Use cv='auto' with steps that add or drop rows."
        )
    # Without a single vote, forests say 0 for every class.
    votes[votes.sum(axis=1) == 0] = np.nan
    return problem_score(votes, True, binary=problem.is_binary)
