"""The interface that all sources of held-out scores implement."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from calibrant._core.fitting import Fitter
from calibrant._core.held_out import HeldOutScores
from calibrant._core.problems import ModelPerProblem, Scorer, ScoringProblem
from calibrant._core.typing import FloatArray
from calibrant._core.voting import VotingEnsemble


@dataclass(frozen=True, eq=False)
class Generated:
    """What a generator produces for every problem.

    Attributes
    ----------
    held_out : list of HeldOutScores
        One per problem. It has no points if no row can be held out, for example because no
        split leaves all labels of the problem in the training rows.
    voters : list of list of classifier
        The refitted models of each problem that are kept to vote.
    variance_factors : list of ndarray
        The variance factors of the voters of each problem.
    scored_twice : HeldOutScores or None
        Scores of some rows by two models each, if every row of ``held_out`` has one only.
    relative_variance : float or None
        The variance of true probabilities as a fraction of p (1 - p), if the models show it.
    """

    held_out: list[HeldOutScores]
    voters: list[list[Any]]
    variance_factors: list[FloatArray] = field(default_factory=list)
    scored_twice: HeldOutScores | None = None
    relative_variance: float | None = None

    def ensembles(self) -> list[VotingEnsemble]:
        """Return the ensemble of voters of every problem; an empty list if one has no voters."""
        if not all(self.voters):
            return []
        return [
            VotingEnsemble(voters, factor)
            for voters, factor in zip(self.voters, self.variance_factors, strict=True)
        ]

    def complete(self, fitter: Fitter, problems: list[ScoringProblem]) -> Generated:
        """Let a model fitted on all rows vote alone where no row of a problem can be held out."""
        models = iter(
            fitter.fit(
                [each for each, voters in zip(problems, self.voters, strict=True) if not voters]
            )
        )
        return replace(
            self,
            voters=[voters or [next(models)] for voters in self.voters],
            variance_factors=[
                factor if len(factor) else np.ones(1) for factor in self.variance_factors
            ],
        )

    def votes(self) -> Generated:
        """Return the averaged scores of the voters in place of those of single models."""
        return replace(self, held_out=[scores.votes() for scores in self.held_out])


class Generator(ABC):
    """A source of held-out scores."""

    # Prefixes of estimator warnings that the generator handles itself.
    handled_warnings: ClassVar[tuple[str, ...]] = ()

    # Whether the estimator is fitted on the training rows.
    refits: ClassVar[bool] = True
    # Whether models are refitted on some of the rows, so that they can vote.
    resamples: ClassVar[bool] = False
    # How the models of `fit_models` score rows.
    scorer: ClassVar[Scorer] = ModelPerProblem()

    def known_classes(self, estimator: Any) -> NDArray[Any] | None:
        """Return the classes of a model that is not refitted; None for a model that is."""
        return None

    def prepare(self, estimator: Any) -> Any:
        """Return the estimator to fit."""
        return estimator

    def fit_models(self, fitter: Fitter, problems: list[ScoringProblem]) -> list[Any]:
        """Fit the models used for prediction on all rows, one per problem."""
        return fitter.fit(problems)

    @abstractmethod
    def generate(
        self,
        fitter: Fitter,
        problems: list[ScoringProblem],
        models: Sequence[Any],
        n_voters: int = 0,
    ) -> Generated:
        """Return the held-out scores of every problem.

        Parameters
        ----------
        fitter : Fitter
            The classifier and the training data.
        problems : list of ScoringProblem
            The problems.
        models : sequence of classifier
            The models that `fit_models` returned; empty if the voters replace them, so that
            only the splits of voters are needed.
        n_voters : int, default=0
            The number of refitted models to keep for each problem. A generator that does not
            refit keeps none.

        Returns
        -------
        Generated
            The held-out scores and the voters.
        """
