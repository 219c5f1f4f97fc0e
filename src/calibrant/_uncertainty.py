"""What a calibrated classifier says about the uncertainty of single probabilities."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from calibrant._core.conformal import predict_sets, sort_by_class
from calibrant._core.held_out import HeldOutScores
from calibrant._core.problems import PredictionScores, Scorer, is_scored, row_chunks
from calibrant._core.spread import (
    INFLATION,
    MOST_VARIANCE,
    Replicates,
    binomial_variance,
    dirichlet_interval,
)
from calibrant._core.typing import BoolArray, CodeMatrix, FloatArray
from calibrant._core.validation import check_coverage, check_level
from calibrant._core.voting import VotingEnsemble
from calibrant.generation.base import Generated
from calibrant.strategies import Strategy

# The number of rows to predict at a time: every voter has its own probabilities.
MOST_ROWS = 2**12


class UncertaintyMixin(ABC):
    """Intervals for the probabilities of a calibrated classifier."""

    class_count_: FloatArray
    code_: CodeMatrix | None
    estimators_: list[Any]
    ensembles_: list[VotingEnsemble] | None
    strategy_: Strategy
    _scorer: Scorer
    # The variance of true probabilities as a fraction of p (1 - p), estimated on held-out rows.
    # Files of version 0.1.0 do not have it.
    _relative_variance: float | None = None
    # The sorted held-out probabilities of the rows of each class.
    _true_proba: list[FloatArray] | None = None

    def predict_interval(self, X: Any, *, level: float = 0.95) -> FloatArray:
        """Predict intervals for the true class probabilities.

        The intervals show how far the probabilities may be from those that a model fitted on
        unlimited rows would predict. They come from the spread of the models that were fitted on
        resampled rows, before and after calibration.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to classify.
        level : float, default=0.95
            The confidence level, on average over rows and classes.

        Returns
        -------
        ndarray of shape (n_samples, n_classes, 2)
            The lower and upper ends of the interval of each class, in the order of ``classes_``.
            Each interval is for its class alone and contains the probability of `predict_proba`.
        """
        check_is_fitted(self)
        check_level(level)
        self._check_spread()
        chunks = []
        for rows in row_chunks(X, MOST_ROWS):
            proba = self._class_proba(rows, calibrated=True)
            spread = self._relative_variances(rows, proba)
            chunks.append(dirichlet_interval(proba, spread, self.class_count_.sum(), level))
        return np.concatenate(chunks)

    def predict_set(self, X: Any, *, coverage: float = 0.9) -> BoolArray:
        """Predict the set of classes that cannot be excluded.

        A class is excluded if its probability is lower than those of nearly all training rows of
        that class, when these were held out.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to classify.
        coverage : float, default=0.9
            For each class, the proportion of its new rows whose set is to contain it.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Whether each class is in the set, in the order of ``classes_``. The most probable class
            always is. So is a class with fewer than ``coverage / (1 - coverage)`` held-out rows:
            with a coverage of 0.9, nine rows are needed to exclude a class.
        """
        check_is_fitted(self)
        check_coverage(coverage)
        if self._true_proba is None:
            raise ValueError(
                "predict_set requires held-out rows of one multi-class problem. This classifier "
                "has none, because of its strategy, because of method=None, or because it was "
                "saved by an earlier version. Fit it with strategy='direct' and a method."
            )
        return predict_sets(self._class_proba(X, calibrated=True), self._true_proba, coverage)

    def predict_resampled_proba(self, X: Any) -> FloatArray:
        """Predict calibrated class probabilities by each model fitted on resampled rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        ndarray of shape (n_models, n_samples, n_classes)
            The probabilities by each of the voters; NaN for rows that have no score.
        """
        check_is_fitted(self)
        self._check_voters()
        return self._replicate(X, self._voters()).calibrated

    def _relative_variances(self, X: Any, proba: FloatArray) -> FloatArray:
        """Return the relative variance of each row, from that of all rows and its own."""
        typical = self._relative_variance
        parts = [] if typical is None else [np.full(len(proba), typical)]
        if voters := self._voters():
            own, largest = self._replicate(X, voters).variance(), binomial_variance(proba)
            unknown = np.full_like(own, MOST_VARIANCE / INFLATION)
            known = np.isfinite(own) & (largest > 0)
            parts.append(INFLATION * np.divide(own, largest, out=unknown, where=known))
        # The spread of few models is noisy, and small by chance for some rows.
        return np.maximum(np.mean(parts, axis=0), 1.0 / (1.0 + self.class_count_.sum()))

    def _record_uncertainty(
        self, generated: Generated | None = None, calibrated: HeldOutScores | None = None
    ) -> None:
        """Record what held-out scores and models tell about uncertainty.

        Parameters
        ----------
        generated : Generated, default=None
            What the generator produced.
        calibrated : HeldOutScores, default=None
            The scores that the calibrator of the first problem was fitted to, if any.
        """
        self._relative_variance = self._true_proba = None
        if generated is None or not calibrated or self.strategy_.binary:
            return
        self._record_true_proba(calibrated)
        if generated.relative_variance is not None:
            self._relative_variance = generated.relative_variance
        else:
            self._record_spread(generated.scored_twice or generated.held_out[0])

    def _record_true_proba(self, held_out: HeldOutScores) -> None:
        """Keep the mean held-out probability of the true class of each row."""
        votes: list[FloatArray] | None = None
        if self.ensembles_ is not None and held_out.vote is not None:
            scored = is_scored(held_out.vote)
            votes = [held_out.vote[scored]]
            held_out = held_out.take(scored)
        proba = self._combine(PredictionScores([held_out.score], True, votes), True)
        _, first, row = np.unique(held_out.rows, return_index=True, return_inverse=True)
        true_proba = np.bincount(row, proba[np.arange(len(row)), held_out.target])
        self._true_proba = sort_by_class(
            true_proba / np.bincount(row), held_out.target[first], len(self.class_count_)
        )

    def _record_spread(self, held_out: HeldOutScores) -> None:
        """Estimate the relative variance from the scores of rows held out several times."""
        scores = held_out.by_row()
        n_models = len(scores)
        if n_models < 2 or held_out.variance_factor is None:
            return
        # An unbiased variance, because the splits of repeats are independent.
        factor = held_out.variance_factor * n_models / (n_models - 1)
        calibrated = [self._calibrate_alone([score], are_proba=True) for score in scores]
        replicates = Replicates(scores, np.array(calibrated), np.full(n_models, factor))
        largest = binomial_variance(replicates.calibrated.mean(axis=0))
        if largest.any():
            relative = replicates.variance().mean() / largest.mean()
            self._relative_variance = float(INFLATION * relative)

    def _check_spread(self) -> None:
        """Check that something is known about the spread of the probabilities."""
        if self._relative_variance is None and not self._voters():
            raise ValueError(
                "predict_interval requires rows that were held out several times, or models that "
                f"were refitted to vote. {self._describe_lack()}"
            )

    def _check_voters(self) -> None:
        """Check that there are voters."""
        if not self._voters():
            raise ValueError(
                "predict_resampled_proba requires models that were refitted to vote. "
                f"{self._describe_lack()}"
            )

    def _describe_lack(self) -> str:
        """Say how this classifier was fitted, and the remedy."""
        return (
            "This classifier has none, because of its parameters or because it was saved by an "
            "earlier version. Fit it with ensemble=True, on the estimator itself rather than a "
            "frozen one."
        )

    def _voters(self) -> list[VotingEnsemble]:
        """Return the ensembles of voters; an empty list if there are none with variance factors."""
        ensembles = self.estimators_ if self.ensembles_ is None else self.ensembles_
        are_known = [getattr(each, "variance_factor_", None) is not None for each in ensembles]
        return ensembles if all(are_known) else []

    def _replicate(self, X: Any, ensembles: list[VotingEnsemble]) -> Replicates:
        """Return the probabilities by each of the voters; NaN for rows that have no score."""
        uncalibrated: list[FloatArray] = []
        calibrated: list[FloatArray] = []
        most = max(ensembles, key=len)
        for number in range(len(most)):
            # A problem none of whose rows can be held out has a single voter.
            models = [each.estimators_[number % len(each)] for each in ensembles]
            scores, are_proba = self._scorer.scores(models, self.code_, X)
            found = PredictionScores(scores, are_proba)
            scored = found.is_scored()
            for proba in (uncalibrated, calibrated):
                proba.append(np.full((len(scored), len(self.class_count_)), np.nan))
            if scored.any():
                found = found.take(scored)
                uncalibrated[-1][scored] = self._combine(found, False)
                calibrated[-1][scored] = self._calibrate_alone(found.of_models, are_proba)
        factor = np.asarray(most.variance_factor_)
        return Replicates(np.array(uncalibrated), np.array(calibrated), factor)

    def _calibrate_alone(self, scores: list[FloatArray], are_proba: bool) -> FloatArray:
        """Return calibrated probabilities as if one model were all that predicts."""
        votes = None if self.ensembles_ is None else scores
        return self._combine(PredictionScores(scores, are_proba, votes), True)

    @abstractmethod
    def _class_proba(self, X: Any, *, calibrated: bool) -> FloatArray: ...

    @abstractmethod
    def _combine(self, scores: PredictionScores, calibrated: bool) -> FloatArray: ...
