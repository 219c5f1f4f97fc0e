"""Held-out scores without refitting: the out-of-bag votes of an ensemble."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from calibrant._core.fitting import Fitter
from calibrant._core.held_out import scored_points
from calibrant._core.phrases import count
from calibrant._core.problems import ScoringProblem, problem_score, take_rows
from calibrant._core.training_data import TrainingData
from calibrant._core.typing import FloatArray, Split
from calibrant.generation._tree_weights import tree_spread
from calibrant.generation.base import Generated, Generator
from calibrant.generation.resampling import RepeatedFolds, Resampling

# A row is out of bag for about a third of the models. With few models, its votes are much noisier
# than those of the whole ensemble and need a different calibration map. On the twelve data sets
# with 100 rows, the votes of 50 trees did as well as folds (log loss .810 and .811); the votes of
# 20 trees did not (.832 and .823).
ENOUGH_MODELS = 50
# Modules of scikit-learn whose transformers ignore labels, unless a tag says that they need them.
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
    """Out-of-bag votes: each row is scored by the models not fitted on it.

    No model is refitted. Requires a forest with ``bootstrap=True`` or a
    `sklearn.ensemble.BaggingClassifier`, alone or as the last step of a pipeline whose other
    steps are known to ignore labels. The ensemble is fitted with ``oob_score=True``. Rows that
    are in every bootstrap sample have no votes and are left out.

    ``cv="auto"`` uses out-of-bag votes only if there are at least 50 models, because the votes
    of fewer models are too noisy.

    Notes
    -----
    A row is out of bag for about a third of the models, so its votes are slightly noisier than
    those of the whole ensemble. The expected gain in the calibration report is estimated from
    these votes and is therefore slightly too large. Votes are compared with the labels, whereas
    the published code compares them with the ensemble's own predictions.
    """

    # Both concern rows in every bootstrap sample: they have no votes, and bagging divides by 0.
    handled_warnings: ClassVar[tuple[str, ...]] = (
        "Some inputs do not have OOB scores",
        "invalid value encountered in divide",
    )

    def prepare(self, estimator: Any) -> Any:
        """Return the estimator, configured to record its out-of-bag votes."""
        check_votes(estimator)
        name = _parameter(estimator, "oob_score")
        if estimator.get_params()[name]:
            return estimator
        return clone(estimator).set_params(**{name: True})

    def generate(
        self,
        fitter: Fitter,
        problems: list[ScoringProblem],
        models: Sequence[Any],
        n_voters: int = 0,
    ) -> Generated:
        """Return the out-of-bag votes for every problem."""
        if fitter.data.groups is not None:
            raise ValueError(
                "cv='oob' requires ungrouped rows, because bootstrap samples split groups, got "
                "groups. Use cv='auto', which holds out whole groups."
            )
        held_out = [
            scored_points(_votes(model, problem), problem.target, fitter.data.weight, problem.rows)
            for model, problem in zip(models, problems, strict=True)
        ]
        spread = _spread(models, problems, fitter.data)
        return Generated(held_out, [[] for _ in problems], relative_variance=spread)


@dataclass(frozen=True)
class GroupedVotes(Resampling):
    """Votes for grouped rows: each row is scored by models fitted without its group.

    Bootstrap samples split groups, so the out-of-bag votes of an ensemble are not held out.
    Instead, small ensembles of the same kind are fitted on two thirds of the groups each. Together
    they have as many models as the ensemble, and each row gets the votes of a third of them.

    Parameters
    ----------
    n_folds : int, default=3
        The number of folds that the groups are divided into.
    n_repeats : int, default=7
        The number of times that the groups are divided into folds.
    """

    # The small ensembles are too small to predict.
    resamples: ClassVar[bool] = False

    n_folds: int = 3
    n_repeats: int = 7

    def splits(self, data: TrainingData, rng: np.random.RandomState) -> Iterator[Split]:
        """Yield the folds of each repeat."""
        return RepeatedFolds(self.n_folds).repeat(self.n_repeats, data, rng)

    def generate(
        self,
        fitter: Fitter,
        problems: list[ScoringProblem],
        models: Sequence[Any],
        n_voters: int = 0,
    ) -> Generated:
        """Return the votes of the small ensembles for every problem."""
        n_splits = self.n_folds * self.n_repeats
        small = replace(fitter, estimator=_shrink(fitter.estimator, n_splits))
        # No models, because only the averaged scores of the small ensembles are needed.
        votes = super().generate(small, problems, (), n_splits).votes()
        fitter.absorb_warnings(small)
        spread = _spread(models, problems, fitter.data)
        return Generated(votes.held_out, [[] for _ in problems], relative_variance=spread)


def _shrink(estimator: Any, n_parts: int) -> Any:
    """Return an unfitted ensemble with a fraction of the models, without out-of-bag votes."""
    number, oob_score = _parameter(estimator, "n_estimators"), _parameter(estimator, "oob_score")
    n_models = -(-estimator.get_params()[number] // n_parts)
    return clone(estimator).set_params(**{number: n_models, oob_score: False})


def _parameter(estimator: Any, name: str) -> str:
    """Return the name of a parameter of the ensemble as a parameter of the whole estimator."""
    return f"{estimator.steps[-1][0]}__{name}" if isinstance(estimator, Pipeline) else name


def has_enough_votes(estimator: Any) -> bool:
    """Return whether an estimator has valid out-of-bag votes from enough models."""
    ensemble = _ensemble(estimator)
    return (
        _is_bootstrapped(ensemble)
        and not _supervised_steps(estimator)
        and ensemble.get_params()["n_estimators"] >= ENOUGH_MODELS
    )


def check_votes(estimator: Any) -> None:
    """Check that an estimator has valid out-of-bag votes."""
    ensemble = _ensemble(estimator)
    if not _is_bootstrapped(ensemble):
        raise ValueError(
            "cv='oob' requires a bootstrap ensemble, such as a forest with bootstrap=True, "
            f"got {ensemble!r}. Use cv='auto'."
        )
    supervised = _supervised_steps(estimator)
    if supervised:
        raise ValueError(
            "cv='oob' requires that no step before the ensemble use labels, got "
            f"{supervised[0]!r}, which may use the labels of out-of-bag rows. Use cv='auto'."
        )


def _ensemble(estimator: Any) -> Any:
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def _is_bootstrapped(ensemble: Any) -> bool:
    parameters = ensemble.get_params(deep=False) if hasattr(ensemble, "get_params") else {}
    return "oob_score" in parameters and bool(parameters.get("bootstrap"))


def _supervised_steps(estimator: Any) -> list[Any]:
    """Return the steps before the ensemble that use or may use labels."""
    if not isinstance(estimator, Pipeline):
        return []
    return [step for _, step in estimator.steps[:-1] if not _ignores_labels(step)]


def _ignores_labels(step: Any) -> bool:
    """Return whether a step and all its parts are known to ignore labels."""
    if not isinstance(step, BaseEstimator):
        return True  # "passthrough"
    from sklearn.feature_selection import VarianceThreshold  # slow to import

    parts = [step, *step.get_params(deep=True).values()]
    return all(
        isinstance(part, VarianceThreshold)
        or (
            type(part).__module__.startswith(LABEL_FREE) and not get_tags(part).target_tags.required
        )
        for part in parts
        if isinstance(part, BaseEstimator)
    )


def _spread(
    models: Sequence[Any], problems: list[ScoringProblem], data: TrainingData
) -> float | None:
    """Return the relative variance of the probabilities of a forest for all classes."""
    if not models or problems[0].is_binary:
        return None
    model, problem = models[0], problems[0]
    rows = take_rows(data.X, problem.rows)
    features = model[:-1].transform(rows) if isinstance(model, Pipeline) else rows
    return tree_spread(_ensemble(model), features, problem.target[problem.rows])


def _votes(model: Any, problem: ScoringProblem) -> FloatArray:
    """Return the frequencies of out-of-bag votes; NaN for rows without votes."""
    votes = np.array(_ensemble(model).oob_decision_function_, dtype=np.float64)
    if len(votes) != len(problem.rows):
        raise ValueError(
            f"cv='oob' requires out-of-bag votes for all {len(problem.rows)} training rows, got "
            f"votes for {count(len(votes), 'row')}, because a step adds or drops rows. "
            "Use cv='auto'."
        )
    # Forests report zeros for rows without votes.
    votes[votes.sum(axis=1) == 0] = np.nan
    return problem_score(votes, True, binary=problem.is_binary)
