"""A test of whether calibration differs between subgroups, by simulation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calibrant._core.multinomial import MultinomialModel
from calibrant._core.typing import FloatArray, IndexArray
from calibrant.metrics._drawing import draw_labels
from calibrant.metrics._validation import Predictions

# The penalty on the parameters of the recalibration, in rows. It keeps them finite if the
# probabilities separate the classes.
RIDGE = 1.0
# A variance, in rows, that is added to that of each number of events. Without it, one event where
# hardly any is expected would outweigh all else.
LEAST_VARIANCE = 1.0
# Simulated residuals are kept in arrays of at most this many numbers.
MAX_CHUNK_SIZE = 2_000_000
# If weights sum to more than this, a row is drawn once rather than as often as its weight says.
MAX_DRAWN_ROWS = 20_000
# Statistics that differ by less than this, relative to their size, are ties.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Recalibration:
    """The probabilities of all rows, recalibrated by an intercept and a slope per class.

    Attributes
    ----------
    data : Predictions
        The rows, with weights that are numbers of rows.
    """

    data: Predictions

    @cached_property
    def proba(self) -> FloatArray:
        """The recalibrated probabilities."""
        return self._model.proba(self._parameters)

    @cached_property
    def columns(self) -> FloatArray:
        """The factor of the intercept and of the slope of each class, for each row."""
        log_proba = np.log(np.maximum(self.data.proba, self.data.eps))
        centered = log_proba - log_proba.mean(axis=1, keepdims=True)
        return np.stack([np.ones_like(centered), centered], axis=2)

    @cached_property
    def information(self) -> FloatArray:
        """The information on the parameters, in the order of the last two axes of columns."""
        return self._model.information(self._parameters)

    @cached_property
    def _model(self) -> MultinomialModel:
        n_rows, n_classes, n_kinds = self.columns.shape
        n_parameters = n_classes * n_kinds
        return MultinomialModel(
            self.columns.reshape(n_rows, n_parameters),
            np.repeat(np.arange(n_classes), n_kinds),
            self.columns[:, :, 1],
            self.data.one_hot * self.data.weight[:, None],
            np.full(n_parameters, RIDGE),
        )

    @cached_property
    def _parameters(self) -> FloatArray:
        return self._model.fit()


def append_top_label(values: FloatArray, data: Predictions) -> FloatArray:
    """Append the value of each row's most probable class to those of all classes."""
    top = np.broadcast_to(data.top_label[:, None], (*values.shape[:-1], 1))
    return np.concatenate([values, np.take_along_axis(values, top, axis=-1)], axis=-1)


def adjusted_p_values(
    data: Predictions,
    member: FloatArray,
    recalibration: Recalibration | None,
    *,
    groups: IndexArray | None,
    n_resamples: int,
    rng: np.random.RandomState,
) -> FloatArray:
    """Test each subgroup and event for a departure from probabilities.

    Parameters
    ----------
    data : Predictions
        The rows, with weights that are numbers of rows.
    member : ndarray of shape (n_samples, n_subgroups)
        1 where a row belongs to a subgroup, 0 elsewhere.
    recalibration : Recalibration or None
        The recalibration that is right under the hypothesis. ``None`` means that the
        probabilities themselves are.
    groups : ndarray of shape (n_samples,) or None
        The index of the group of each row. ``None`` means independent rows.
    n_resamples : int
        The number of simulated sets of residuals.
    rng : RandomState
        The source of randomness.

    Returns
    -------
    ndarray of shape (n_subgroups, n_classes + 1)
        P-values for each class and for the most probable class, adjusted for their number.

    Notes
    -----
    The statistic of a subgroup and an event is the sum of its residuals, divided by its standard
    deviation. Its p-value is the fraction of simulated data sets in which the largest statistic of
    all subgroups and events is at least as large [1]_. Independent rows are simulated by drawing
    their labels, groups by changing the signs of their residuals at random. After a recalibration,
    the sums are score statistics: what one step of its fit would explain is subtracted.

    References
    ----------
    .. [1] P. H. Westfall and S. S. Young, "Resampling-based multiple testing", Wiley, 1993.
    """
    proba = data.proba if recalibration is None else recalibration.proba
    copies = np.ceil(data.weight).astype(np.intp)
    if groups is not None or data.weight.sum() > MAX_DRAWN_ROWS:
        copies[:] = 1
    rows = np.repeat(np.arange(len(copies)), copies)
    weight = (data.weight / copies)[rows, None]
    one_hot = np.eye(proba.shape[1])
    residual = (data.one_hot - proba)[rows] * weight
    sums = _Sums(data, member, recalibration, rows)

    def simulate(n_vectors: int) -> FloatArray:
        if groups is not None:
            sign = 2.0 * rng.randint(2, size=(n_vectors, groups.max() + 1)) - 1.0
            return sign[:, groups, None] * residual
        drawn = one_hot[draw_labels(proba[rows], n_vectors, rng)] - proba[rows]
        # The variance, not the standard deviation, is proportional to a number of rows.
        return np.asarray(drawn * np.sqrt(weight))

    chunk = max(1, MAX_CHUNK_SIZE // (len(rows) * (proba.shape[1] + 1)))
    drawn = [
        sums.compute(simulate(min(chunk, n_resamples - done)))
        for done in range(0, n_resamples, chunk)
    ]
    # The observed sums are treated like the drawn ones, also here, so that the test is exact.
    every = np.concatenate([sums.compute(residual[None]), *drawn])
    statistic = np.abs(every) / np.sqrt(np.mean(every**2, axis=0) + LEAST_VARIANCE)
    found, largest = statistic[0], statistic[1:].max(axis=(1, 2))
    n_larger = (largest >= found[..., None] * (1.0 - ROUNDING)).sum(axis=-1)
    return np.asarray((1 + n_larger) / (1 + n_resamples))


class _Sums:
    """Sums of the residuals of each subgroup and event.

    Parameters
    ----------
    data : Predictions
        The rows.
    member : ndarray of shape (n_samples, n_subgroups)
        1 where a row belongs to a subgroup, 0 elsewhere.
    recalibration : Recalibration or None
        The recalibration whose fit is adjusted for. ``None`` means no adjustment.
    rows : ndarray of shape (n_rows,)
        The rows to which residuals belong, which may be repeated.
    """

    def __init__(
        self,
        data: Predictions,
        member: FloatArray,
        recalibration: Recalibration | None,
        rows: IndexArray,
    ):
        self.data = data.take(rows)
        self.member = member[rows].T
        self.columns = self.explained = None
        if recalibration is not None:
            self.columns = recalibration.columns[rows]
            self.explained = _explained_sums(recalibration, member)

    def compute(self, residual: FloatArray) -> FloatArray:
        """Return the sums for several sets of residuals.

        Parameters
        ----------
        residual : ndarray of shape (n_vectors, n_rows, n_classes)
            The residuals of the class indicators, times weights.

        Returns
        -------
        ndarray of shape (n_vectors, n_subgroups, n_classes + 1)
            The sums.
        """
        raw = np.asarray(self.member @ append_top_label(residual, self.data))
        if self.columns is None:
            return raw
        scores = np.einsum("bnk,nkp->bkp", residual, self.columns)
        return raw - (scores.reshape(len(raw), -1) @ self.explained).reshape(raw.shape)


def _explained_sums(recalibration: Recalibration, member: FloatArray) -> FloatArray:
    """Return by how much each score changes the sums, if the recalibration is refitted."""
    data, proba = recalibration.data, recalibration.proba
    n_classes = proba.shape[1]
    # The covariance of the events of a row, in the last axis, with its class indicators.
    covariance = proba[:, :, None] * (np.eye(n_classes) - proba[:, None, :])
    events = append_top_label(covariance.transpose(1, 0, 2), data)
    weighted = events * data.weight[:, None]
    covariance = np.einsum(
        "ng,kne,nkp->kpge", member, weighted, recalibration.columns, optimize=True
    )
    n_parameters = len(recalibration.information)
    return np.linalg.solve(recalibration.information, covariance.reshape(n_parameters, -1))
