"""Which estimators have a closed form, and when it is used."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn import get_config
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline

from calibrant._core.problems import ProblemSplit
from calibrant._core.typing import FloatArray
from calibrant.generation.closed_form.blocks import Block, Scores, ShareScores
from calibrant.generation.closed_form.discriminant import linear_scores, quadratic_scores
from calibrant.generation.closed_form.features import BLIND_STEPS, as_numbers, tables
from calibrant.generation.closed_form.naive_bayes import (
    Bernoulli,
    Categorical,
    Complement,
    Multinomial,
    gaussian_scores,
)
from calibrant.generation.closed_form.neighbors import neighbor_scores

# How far scores may be from those of the one refit, such that all are within 1e-8 of theirs.
AGREEMENT = 1e-9
# What p (1 - p) is where scores are far from 0 and from 1.
CLEAR_DOUBT = 0.01
# Work arrays hold about this many numbers, some 30 MB, unless a single split needs more.
MOST_NUMBERS = 2**22


class Form(NamedTuple):
    """How the parts of a block are scored, and what the estimator and the form take.

    Problems that ``scores`` leaves out, and parts whose scores are None, are refitted. A form
    that ``rescales`` works on features that are still to be scaled, and may be shifted.
    """

    scores: Callable[[Any, Block], Iterator[ShareScores]]
    takes_weight: bool = False
    takes_sparse: bool = False
    rescales: bool = False


# By the very type: a subclass may compute anything.
FORMS: dict[type, Form] = {
    GaussianNB: Form(gaussian_scores, takes_weight=True, rescales=True),
    MultinomialNB: Form(Multinomial.scores, takes_weight=True, takes_sparse=True),
    BernoulliNB: Form(Bernoulli.scores, takes_weight=True, takes_sparse=True),
    ComplementNB: Form(Complement.scores, takes_weight=True, takes_sparse=True),
    CategoricalNB: Form(Categorical.scores, takes_weight=True),
    KNeighborsClassifier: Form(neighbor_scores),
    LinearDiscriminantAnalysis: Form(linear_scores, rescales=True),
    QuadraticDiscriminantAnalysis: Form(quadratic_scores, rescales=True),
}


class Plan(NamedTuple):
    """The last step of an estimator, its closed form, its weights, and the steps before it."""

    final: Any
    form: Form
    weight: FloatArray | None
    steps: list[Any]


def closed_form_scores(
    estimator: Any,
    X: Any,
    fit_params: dict[str, Any],
    parts: list[ProblemSplit],
    refit: Callable[[Sequence[int]], list[FloatArray]],
) -> list[FloatArray]:
    """Scores of each part's test rows, by algebra where it gives those of a refit.

    Parameters
    ----------
    estimator : classifier
        What would be fitted on each part.
    X : array-like of shape (n_samples, n_features)
        All training rows.
    fit_params : dict
        What ``estimator.fit`` takes beside X and y.
    parts : list of ProblemSplit
        The parts.
    refit : callable
        Fits and scores the parts at some positions.

    Returns
    -------
    list of ndarray
        One for each part, within 1e-8 of its refit.

    Notes
    -----
    The first part is refitted in any case, and one that has a closed form; with luck it is
    the same. The one tells what the estimator refuses or warns of; the other, whether this
    version of the estimator computes, on features of this kind, what the closed form does.
    """
    plan = _plan(estimator, fit_params)
    if plan is None or len(parts) < 2:
        return refit(range(len(parts)))
    refitted = {0: refit([0])[0]}
    scores = _scores(plan, X, parts)
    witness = _witness(scores)
    if witness is not None:
        if witness not in refitted:
            refitted[witness] = refit([witness])[0]
        if not _agree(scores[witness], refitted[witness]):
            scores = [None] * len(parts)
    left = [k for k, score in enumerate(scores) if score is None and k not in refitted]
    if left:
        refitted.update(zip(left, refit(left), strict=True))
    return [refitted[k] if score is None else score for k, score in enumerate(scores)]


def _witness(scores: Scores) -> int | None:
    """Return the first part that is not all but certain, or else the one that is least so.

    Scores that are all but 0 or 1 agree whatever they are computed from.
    """
    least_certain, most_doubt = None, -1.0
    for position, score in enumerate(scores):
        doubt = -1.0 if score is None else float((score * (1.0 - score)).max())
        if doubt > most_doubt:
            least_certain, most_doubt = position, doubt
        if doubt > CLEAR_DOUBT:
            break
    return least_certain


def _agree(score: FloatArray | None, refitted: FloatArray) -> bool:
    return score is not None and bool((np.abs(score - refitted) <= AGREEMENT).all())


def _plan(estimator: Any, fit_params: dict[str, Any]) -> Plan | None:
    """How to score an estimator in closed form; None if there is no way."""
    steps, weight_name = [("", estimator)], "sample_weight"
    if type(estimator) is Pipeline:
        steps, weight_name = estimator.steps, f"{estimator.steps[-1][0]}__sample_weight"
        if estimator.memory is not None or estimator.verbose:
            return None
        if getattr(estimator, "transform_input", None) or get_config()["enable_metadata_routing"]:
            return None
    *earlier, final = (step for _, step in steps)
    earlier = [step for step in earlier if step not in (None, "passthrough")]
    form = FORMS.get(type(final))
    given = {name for name, value in fit_params.items() if value is not None}
    if form is None or not all(type(step) in BLIND_STEPS for step in earlier):
        return None
    if not given <= ({weight_name} if form.takes_weight else set()):
        return None
    weight = np.asarray(fit_params[weight_name], dtype=np.float64) if given else None
    return Plan(final, form, weight, earlier)


def _scores(plan: Plan, X: Any, parts: list[ProblemSplit]) -> Scores:
    """Scores of the parts in closed form; None where there is none."""
    scores: Scores = [None] * len(parts)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for table in tables(plan.steps, X, parts, rescales=plan.form.rescales):
            features = as_numbers(table.X)
            if features is None or (issparse(features) and not plan.form.takes_sparse):
                continue
            for chunk in _chunks([parts[k].split for k in table.positions], features.shape):
                positions = [table.positions[k] for k in chunk]
                scale = None if table.scale is None else table.scale[chunk]
                block = Block(features, [parts[k] for k in positions], plan.weight, scale)
                if block.is_plain():
                    for share, own in plan.form.scores(plan.final, block):
                        for index, score in zip(share.index, own, strict=True):
                            scores[positions[index]] = score
    # What an estimator would warn of, it shall warn of itself.
    return [None] * len(parts) if caught else scores


def _chunks(splits: list[int], shape: tuple[int, int]) -> Iterable[list[int]]:
    """Group parts by their splits such that work arrays stay small."""
    n_splits = max(1, MOST_NUMBERS // (sum(shape) * shape[1]))
    chunks: dict[int, list[int]] = {}
    for index, split in enumerate(splits):
        chunks.setdefault(split // n_splits, []).append(index)
    return chunks.values()
