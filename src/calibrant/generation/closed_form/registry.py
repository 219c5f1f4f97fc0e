"""Estimators that have a closed form, and the conditions under which it applies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn import get_config
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline

from calibrant._core.typing import FloatArray
from calibrant.generation.closed_form.batches import ProblemScores, SplitBatch
from calibrant.generation.closed_form.discriminant import linear_scores, quadratic_scores
from calibrant.generation.closed_form.naive_bayes import (
    Bernoulli,
    Categorical,
    Complement,
    Multinomial,
    gaussian_scores,
)
from calibrant.generation.closed_form.neighbors import neighbor_scores
from calibrant.generation.closed_form.preprocessing import UNSUPERVISED_STEPS


class ClosedForm(NamedTuple):
    """The closed form of one type of estimator.

    Attributes
    ----------
    scores : callable
        Takes an unfitted estimator and a `SplitBatch`. Yields the `ProblemBatch` of each problem
        together with the scores of its splits. Problems that it does not yield and splits whose
        scores are None are refitted.
    accepts_sample_weight : bool
        Whether the estimator accepts sample weights.
    accepts_sparse : bool
        Whether the closed form accepts sparse features.
    can_scale : bool
        Whether the closed form can scale features itself and does not depend on their means.
    """

    scores: Callable[[Any, SplitBatch], Iterator[ProblemScores]]
    accepts_sample_weight: bool = False
    accepts_sparse: bool = False
    can_scale: bool = False


# Looked up by exact type, since a subclass may compute something else.
CLOSED_FORMS: dict[type, ClosedForm] = {
    GaussianNB: ClosedForm(gaussian_scores, accepts_sample_weight=True, can_scale=True),
    MultinomialNB: ClosedForm(Multinomial.scores, accepts_sample_weight=True, accepts_sparse=True),
    BernoulliNB: ClosedForm(Bernoulli.scores, accepts_sample_weight=True, accepts_sparse=True),
    ComplementNB: ClosedForm(Complement.scores, accepts_sample_weight=True, accepts_sparse=True),
    CategoricalNB: ClosedForm(Categorical.scores, accepts_sample_weight=True),
    KNeighborsClassifier: ClosedForm(neighbor_scores),
    LinearDiscriminantAnalysis: ClosedForm(linear_scores, can_scale=True),
    QuadraticDiscriminantAnalysis: ClosedForm(quadratic_scores, can_scale=True),
}


class Plan(NamedTuple):
    """An estimator, taken apart for scoring in closed form.

    Attributes
    ----------
    final : classifier
        The estimator, or the last step of a pipeline.
    form : ClosedForm
        Its closed form.
    sample_weight : ndarray of shape (n_samples,) or None
        Its sample weights.
    steps : list of transformer
        The preprocessing steps.
    """

    final: Any
    form: ClosedForm
    sample_weight: FloatArray | None
    steps: list[Any]


def find_plan(estimator: Any, fit_params: dict[str, Any]) -> Plan | None:
    """Return how to score an estimator in closed form.

    Parameters
    ----------
    estimator : classifier
        An estimator, or a pipeline that ends with one.
    fit_params : dict
        Parameters of its ``fit`` other than X and y.

    Returns
    -------
    Plan or None
        None if the estimator, a preprocessing step or a parameter has no closed form.
    """
    steps, weight_name = [("", estimator)], "sample_weight"
    if type(estimator) is Pipeline:
        steps, weight_name = estimator.steps, f"{estimator.steps[-1][0]}__sample_weight"
        if estimator.memory is not None or estimator.verbose:
            return None
        if getattr(estimator, "transform_input", None) or get_config()["enable_metadata_routing"]:
            return None
    *preprocessing, final = (step for _, step in steps)
    preprocessing = [step for step in preprocessing if step not in (None, "passthrough")]
    form = CLOSED_FORMS.get(type(final))
    if form is None or not all(type(step) in UNSUPERVISED_STEPS for step in preprocessing):
        return None
    given = {name for name, value in fit_params.items() if value is not None}
    if not given <= ({weight_name} if form.accepts_sample_weight else set()):
        return None
    sample_weight = np.asarray(fit_params[weight_name], dtype=np.float64) if given else None
    return Plan(final, form, sample_weight, preprocessing)
