"""The interface that all sources of held-out scores implement."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from numpy.typing import NDArray

from calibrant._core.fitting import Fitter
from calibrant._core.held_out import HeldOutScores
from calibrant._core.problems import ModelPerProblem, Scorer, ScoringProblem


class Generator(ABC):
    """A source of held-out scores."""

    # Prefixes of estimator warnings that the generator handles itself.
    handled_warnings: ClassVar[tuple[str, ...]] = ()

    # Whether the estimator is fitted on the training rows.
    refits: ClassVar[bool] = True
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
        self, fitter: Fitter, problems: list[ScoringProblem], models: Sequence[Any]
    ) -> list[HeldOutScores]:
        """Return the held-out scores of every problem.

        Parameters
        ----------
        fitter : Fitter
            The classifier and the training data.
        problems : list of ScoringProblem
            The problems.
        models : sequence of classifier
            The models that `fit_models` returned.

        Returns
        -------
        list of HeldOutScores
            One per problem. It has no points if no row can be held out, for example because no
            split leaves all labels of the problem in the training rows.
        """
