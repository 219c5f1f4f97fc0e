"""Voters: models that were fitted on different rows and predict together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant._core.typing import FloatArray

# More voters change the averaged scores only in the third digit.
MOST_VOTERS = 20


@dataclass(frozen=True)
class Voting:
    """Whether models that are refitted for calibration also predict.

    Attributes
    ----------
    ensemble : bool, int or "auto"
        The parameter of `calibrant.CalibratedClassifier`.
    most_voters : int
        The largest number of voters for each problem; 0 if no models vote.
    required : bool
        Whether the voters replace the model fitted on all rows.
    """

    ensemble: Any
    most_voters: int
    required: bool

    def n_voters(self, *, resamples: bool) -> int:
        """Return the number of refitted models to keep for each problem.

        Parameters
        ----------
        resamples : bool
            Whether models are refitted on some of the rows.

        Returns
        -------
        int
            The largest number of voters; 0 if no models vote.
        """
        if self.required and not resamples:
            raise ValueError(
                f"ensemble={self.ensemble!r} requires models that are refitted on some of the rows."
                " Out-of-bag votes, frozen models and method=None have none. "
                "Use ensemble=False, or another cv."
            )
        return self.most_voters if resamples else 0


NO_VOTING = Voting(False, 0, required=False)


def resolve_voting(ensemble: Any, *, chooses: bool) -> Voting:
    """Check the parameter ``ensemble``.

    Parameters
    ----------
    ensemble : bool, int or "auto"
        As for `calibrant.CalibratedClassifier`.
    chooses : bool
        Whether the calibrator can choose between a model and an ensemble.

    Returns
    -------
    Voting
        Whether models may or must vote.
    """
    if isinstance(ensemble, str) and ensemble == "auto":
        return Voting(ensemble, MOST_VOTERS if chooses else 0, required=False)
    if isinstance(ensemble, bool | np.bool_):
        return Voting(ensemble, MOST_VOTERS if ensemble else 0, required=bool(ensemble))
    if isinstance(ensemble, int | np.integer) and ensemble >= 2:
        return Voting(ensemble, int(ensemble), required=True)
    raise ValueError(
        "ensemble must be 'auto', True, False or a number of models of at least 2, got "
        f"{ensemble!r}. Omit it to use 'auto'."
    )


class VotingEnsemble:
    """Fitted models that vote: their scores of a problem are averaged.

    Attributes
    ----------
    estimators_ : list of classifier
        The fitted models, all with the same classes.
    classes_ : ndarray of shape (n_classes,)
        Their class labels.
    variance_factor_ : ndarray of shape (n_voters,) or None
        The factor from the variance among models fitted on such rows to the variance among models
        fitted on other data sets of the same size. None in files of version 0.1.0.
    """

    variance_factor_: FloatArray | None = None

    def __init__(self, estimators: list[Any], variance_factor: FloatArray):
        self.estimators_ = estimators
        self.classes_: NDArray[Any] = estimators[0].classes_
        self.variance_factor_ = variance_factor

    def __len__(self) -> int:
        return len(self.estimators_)
