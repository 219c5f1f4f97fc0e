"""Weak calibration: calibration intercepts, slopes and observed/expected ratios."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from calibrant._core.multinomial import MultinomialModel
from calibrant._core.records import Interval, Record
from calibrant._core.typing import FloatArray
from calibrant._core.validation import check_level
from calibrant.metrics._forecasts import Forecast, choose_forecast
from calibrant.metrics._proportions import wilson_interval
from calibrant.metrics._validation import Predictions, check_predictions

# Parameters whose standard error is larger than this are not determined by the rows: a class has
# no rows, or the probabilities separate the classes.
LARGEST_ERROR = 100.0
NO_INFORMATION = 1e-12


@dataclass(frozen=True)
class WeakCalibration(Record):
    """Calibration of the probabilities of one event, in four numbers.

    Attributes
    ----------
    calibration_in_the_large : Interval
        The intercept if the slope is 1. Positive: the event is more frequent than predicted. The
        ideal value is 0.
    intercept : Interval
        The intercept that is estimated together with the slope. The ideal value is 0.
    slope : Interval
        The slope. Below 1: the probabilities are too extreme. The ideal value is 1.
    observed_expected_ratio : Interval
        The number of events divided by the sum of their probabilities. The ideal value is 1.
    n_rows, n_events : float
        The total weight of all rows, and of those with the event.
    """

    calibration_in_the_large: Interval
    intercept: Interval
    slope: Interval
    observed_expected_ratio: Interval
    n_rows: float
    n_events: float


@dataclass(frozen=True)
class MultinomialCalibration(Record):
    """Calibration of the probabilities of all classes, relative to a reference class.

    Attributes
    ----------
    reference : label
        The reference class.
    classes : tuple of labels
        The other classes, to which the following estimates belong, in order.
    calibration_in_the_large : tuple of Interval
        The intercepts if all slopes are 1. The ideal value is 0.
    intercept, slope : tuple of Interval
        The intercepts and slopes that are estimated together. The ideal values are 0 and 1.
    """

    reference: Any
    classes: tuple[Any, ...]
    calibration_in_the_large: tuple[Interval, ...]
    intercept: tuple[Interval, ...]
    slope: tuple[Interval, ...]

    def __str__(self) -> str:
        lines = [f"Calibration relative to class {self.reference}"]
        for name, large, intercept, slope in zip(
            self.classes, self.calibration_in_the_large, self.intercept, self.slope, strict=True
        ):
            lines += [
                f"class {name}",
                f"  in the large  {large}",
                f"  intercept     {intercept}",
                f"  slope         {slope}",
            ]
        return "\n".join(lines)


def weak_calibration(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    of: Any = None,
    level: float = 0.95,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> WeakCalibration:
    r"""Estimate calibration intercept, calibration slope and observed/expected ratio.

    Parameters
    ----------
    y_true, proba, labels, sample_weight : array-like
        See `log_loss`.
    of : label, pair of labels or "top-label", default=None
        The event: a class as opposed to all others; the first of two classes, given that the class
        is one of the two; or that the most probable class is the true one. ``None`` means the
        second of two classes.
    level : float, default=0.95
        The confidence level of the intervals.

    Returns
    -------
    WeakCalibration
        The estimates with their intervals. Estimates that the rows do not determine, for example
        because there is no event, are NaN.

    See Also
    --------
    multinomial_calibration : The same for all classes jointly.
    smooth_calibration_curve : Calibration at each probability.

    Notes
    -----
    With :math:`l = \log(p / (1 - p))` the predicted log odds, the intercept :math:`\alpha` and the
    slope :math:`\beta` are those of the logistic regression

    .. math:: \operatorname{logit} P(\text{event} \mid p) = \alpha + \beta \, l

    and calibration in the large is :math:`\alpha` with :math:`\beta = 1` [1]_, [2]_. Their
    intervals are Wald intervals: with 50 to 1,000 rows, they cover at least as well as those of
    the profile likelihood. Those of calibration in the large have robust standard errors [3]_,
    because the slope need not be 1; with the usual ones, they would contain the true value in
    about 92% of the cases if the slope is 0.6. The interval of the ratio :math:`r` of observed to
    expected events is symmetric on the log scale, with the squared standard error
    :math:`\sum_i (o_i - r p_i)^2 / (\sum_i o_i)^2`; without events, it is Wilson's.

    Weights are numbers of rows. Probabilities of 0 and 1 are clipped as in `log_loss`, which makes
    the slope depend on the clipping; a :term:`probability floor` avoids them.

    References
    ----------
    .. [1] D. R. Cox, "Two further applications of a model for binary regression", Biometrika 45,
           1958.
    .. [2] B. Van Calster, D. Nieboer, Y. Vergouwe, B. De Cock, M. J. Pencina and E. W.
           Steyerberg, "A calibration hierarchy for risk models was defined: from utopia to
           empirical data", Journal of Clinical Epidemiology 74, 2016.
    .. [3] H. White, "Maximum likelihood estimation of misspecified models", Econometrica 50(1),
           1982.

    Examples
    --------
    Probabilities that are too extreme:

    >>> from calibrant.metrics import weak_calibration
    >>> y, proba = [0] * 30 + [1] * 20 + [0] * 20 + [1] * 30, [0.2] * 50 + [0.8] * 50
    >>> found = weak_calibration(y, proba)
    >>> print(found.slope)
    0.2925 (95% CI 0.003887 to 0.5811)
    >>> print(found.observed_expected_ratio)
    1 (95% CI 0.8127 to 1.231)
    """
    data = check_predictions(y_true, proba, labels, sample_weight)
    check_level(level)
    forecast = choose_forecast(data.with_row_counts(), of)
    log_odds = forecast.log_odds(data.eps)
    target = forecast.weight[:, None] * np.column_stack([1.0 - forecast.outcome, forecast.outcome])
    in_the_large, intercept, slope = _estimate([log_odds], target, 0, level)
    return WeakCalibration(
        calibration_in_the_large=in_the_large[0],
        intercept=intercept[0],
        slope=slope[0],
        observed_expected_ratio=_observed_expected_ratio(forecast, level),
        n_rows=float(forecast.weight.sum()),
        n_events=float(forecast.weight @ forecast.outcome),
    )


def multinomial_calibration(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    reference: Any = None,
    level: float = 0.95,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> MultinomialCalibration:
    r"""Estimate calibration intercepts and slopes of all classes jointly.

    Parameters
    ----------
    y_true, proba, labels, sample_weight : array-like
        See `log_loss`.
    reference : label, default=None
        The reference class. ``None`` means the first label.
    level : float, default=0.95
        The confidence level of the intervals.

    Returns
    -------
    MultinomialCalibration
        The estimates with their intervals. Those that the rows do not determine, for example
        because a class has no rows, are NaN.

    See Also
    --------
    weak_calibration : One class as opposed to the others, or to one other.
    estimated_calibration_index : A single number.

    Notes
    -----
    In the multinomial recalibration framework [1]_, the log ratios
    :math:`l_k = \log(p_k / p_r)` to the reference class :math:`r` are the predictors of a
    multinomial logistic regression, each in the logit of its own class:

    .. math:: \log \frac{P(k \mid p)}{P(r \mid p)} = \alpha_k + \beta_k l_k .

    Calibration in the large is :math:`\alpha_k` with all :math:`\beta_k = 1`. For two classes,
    these are the estimates of `weak_calibration`. The slopes depend on the reference class.
    Intervals and weights are those of `weak_calibration`.

    References
    ----------
    .. [1] K. Van Hoorde, Y. Vergouwe, D. Timmerman, S. Van Huffel, E. W. Steyerberg and B. Van
           Calster, "Assessing calibration of multinomial risk prediction models", Statistics in
           Medicine 33(15), 2014.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from calibrant.datasets import make_waveform
    >>> from calibrant.metrics import multinomial_calibration
    >>> model = GaussianNB().fit(*make_waveform(300, random_state=0))
    >>> X, y = make_waveform(1000, random_state=1)
    >>> print(multinomial_calibration(y, model.predict_proba(X)).slope[1])  # overconfident
    0.4648 (95% CI 0.4002 to 0.5295)
    """
    data = check_predictions(y_true, proba, labels, sample_weight).with_row_counts()
    check_level(level)
    base = reference_column(data, reference)
    log_ratio = log_ratios(data, base)
    target = data.one_hot * data.weight[:, None]
    in_the_large, intercept, slope = _estimate(log_ratio, target, base, level)
    names = data.labels.tolist()
    return MultinomialCalibration(
        names.pop(base), tuple(names), tuple(in_the_large), tuple(intercept), tuple(slope)
    )


def reference_column(data: Predictions, reference: Any) -> int:
    """Return the column of the reference class; ``None`` means the first."""
    if reference is None:
        return 0
    found = np.flatnonzero(data.labels == reference)
    if len(found) != 1:
        raise ValueError(
            f"reference must be one of the labels {data.labels.tolist()}, got {reference!r}. "
            "Omit it to use the first label."
        )
    return int(found[0])


def log_ratios(data: Predictions, reference: int) -> list[FloatArray]:
    """Return the log ratio of each class to the reference, which is left out."""
    log_proba = np.log(np.maximum(data.proba, data.eps))
    others = np.delete(np.arange(len(data.labels)), reference)
    return [log_proba[:, k] - log_proba[:, reference] for k in others]


def _estimate(
    log_ratio: list[FloatArray], target: FloatArray, reference: int, level: float
) -> tuple[list[Interval], list[Interval], list[Interval]]:
    """Return calibration in the large, intercepts and slopes of the classes but the reference."""
    n_ratios = len(log_ratio)
    logits = np.delete(np.arange(n_ratios + 1), reference)
    one = np.ones((len(target), n_ratios))
    offset = np.zeros_like(target)
    offset[:, logits] = np.column_stack(log_ratio)
    fixed = MultinomialModel(one, logits, offset, target, np.zeros(n_ratios))
    columns, twice = np.column_stack([one, *log_ratio]), np.tile(logits, 2)
    joint = MultinomialModel(columns, twice, np.zeros_like(target), target, np.zeros(2 * n_ratios))
    both = _wald_intervals(joint, level)
    return _wald_intervals(fixed, level, is_robust=True), both[:n_ratios], both[n_ratios:]


def _wald_intervals(
    model: MultinomialModel, level: float, *, is_robust: bool = False
) -> list[Interval]:
    """Return the parameters with their intervals, which are robust to a wrong model if asked."""
    parameters = model.fit()
    information, vectors = np.linalg.eigh(model.information(parameters))
    inverse = (vectors / np.maximum(information, NO_INFORMATION)) @ vectors.T
    variance = np.diag(inverse)
    if is_robust and np.all(variance <= LARGEST_ERROR**2):
        variance = np.diag(inverse @ model.score_products(parameters) @ inverse)
    quantile = float(ndtri(0.5 + level / 2))
    return [
        Interval(each, each - quantile * error, each + quantile * error, level)
        if error <= LARGEST_ERROR
        else Interval(np.nan, -np.inf, np.inf, level)
        for each, error in zip(parameters.tolist(), np.sqrt(variance).tolist(), strict=True)
    ]


def _observed_expected_ratio(forecast: Forecast, level: float) -> Interval:
    weight = forecast.weight
    observed, expected = float(weight @ forecast.outcome), float(weight @ forecast.predicted)
    if expected == 0:
        return Interval(np.nan, 0.0, np.inf, level)
    ratio = observed / expected
    if observed == 0:
        n_rows = weight.sum()
        _, high = wilson_interval(np.zeros(1), np.full(1, n_rows), level)
        return Interval(0.0, 0.0, float(high[0] * n_rows / expected), level)
    error = np.sqrt(weight @ (forecast.outcome - ratio * forecast.predicted) ** 2) / observed
    factor = float(np.exp(ndtri(0.5 + level / 2) * error))
    return Interval(ratio, ratio / factor, ratio * factor, level)
