"""Voters: models that were fitted on different rows and predict together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# More voters change the averaged scores only in the third digit.
MOST_VOTERS = 20


def resolve_n_voters(ensemble: Any, *, resamples: bool, chooses: bool) -> int:
    """Return the number of refitted models to keep for each problem.

    Parameters
    ----------
    ensemble : bool, int or "auto"
        As for `calibrant.CalibratedClassifier`.
    resamples : bool
        Whether models are refitted on some of the rows.
    chooses : bool
        Whether the calibrator can choose between a model and an ensemble.

    Returns
    -------
    int
        The largest number of voters; 0 if no models vote.
    """
    if isinstance(ensemble, str) and ensemble == "auto":
        return MOST_VOTERS if resamples and chooses else 0
    if isinstance(ensemble, bool | np.bool_):
        n_voters = MOST_VOTERS if ensemble else 0
    elif isinstance(ensemble, int | np.integer) and ensemble >= 2:
        n_voters = int(ensemble)
    else:
        raise ValueError(
            "ensemble must be 'auto', True, False or a number of models of at least 2, got "
            f"{ensemble!r}. Omit it to use 'auto'."
        )
    if n_voters and not resamples:
        raise ValueError(
            f"ensemble={ensemble!r} requires models that are refitted on some of the rows. "
            "Out-of-bag votes, frozen models and method=None have none. "
            "Use ensemble=False, or another cv."
        )
    return n_voters


class VotingEnsemble:
    """Fitted models that vote: their scores of a problem are averaged.

    Attributes
    ----------
    estimators_ : list of classifier
        The fitted models, all with the same classes.
    classes_ : ndarray of shape (n_classes,)
        Their class labels.
    """

    def __init__(self, estimators: list[Any]):
        self.estimators_ = estimators
        self.classes_: NDArray[Any] = estimators[0].classes_

    def __len__(self) -> int:
        return len(self.estimators_)
