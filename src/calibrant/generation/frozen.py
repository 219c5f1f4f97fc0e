"""Held-out scores of a model that is not refitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from calibrant._core.class_scores import class_scores
from calibrant._core.fitting import Fitter
from calibrant._core.held_out import scored_points
from calibrant._core.problems import (
    Scorer,
    ScoringProblem,
    SharedModel,
    derived_score,
)
from calibrant.generation.base import Generated, Generator


@dataclass(frozen=True)
class FrozenModel(Generator):
    """Scores of a frozen model, which was fitted on other rows.

    All rows passed to ``fit`` are held out. The same model scores every problem.
    """

    refits: ClassVar[bool] = False
    scorer: ClassVar[Scorer] = SharedModel()

    def known_classes(self, estimator: Any) -> NDArray[Any]:
        """Return the classes of the frozen model, which must be fitted."""
        check_is_fitted(estimator)
        return estimator.classes_

    def fit_models(self, fitter: Fitter, problems: list[ScoringProblem]) -> list[Any]:
        """Return the frozen model."""
        return [fitter.estimator]

    def generate(
        self,
        fitter: Fitter,
        problems: list[ScoringProblem],
        models: Sequence[Any],
        n_voters: int = 0,
    ) -> Generated:
        """Score all rows once and derive the score of each problem."""
        score, is_proba = class_scores(models[0], fitter.data.X)
        held_out = [
            scored_points(
                derived_score(problem.side, score[problem.rows], is_proba),
                problem.target,
                fitter.data.weight,
                problem.rows,
            )
            for problem in problems
        ]
        return Generated(held_out, voters=[[] for _ in problems])
