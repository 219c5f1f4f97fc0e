"""Rows needed to show that probabilities are calibrated, by simulation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, check_random_state

from calibrant._core.records import Interval, Record
from calibrant._core.rowwise import normalize_rows
from calibrant._core.typing import FloatArray
from calibrant._core.validation import check_level
from calibrant._core.workers import Progress
from calibrant.metrics import measure_discrimination, weak_calibration
from calibrant.planning.populations import draw_classes
from calibrant.planning.simulation import find_rows, name_rows, round_up, simulate_sizes

#: What can be measured to a wanted precision, and the usual one: half the width of the interval.
DEFAULT_MARGINS = {"slope": 0.2, "ratio": 0.2, "auc": 0.05}
# Their names in sentences.
MEASURES = {
    "slope": "calibration slope",
    "ratio": "observed/expected ratio",
    "auc": "AUC",
}
# Numbers of rows are simulated at which the rarest class has this many rows, up to a largest
# number. Beyond them, the width of intervals is inversely proportional to the root of the rows.
RAREST_COUNTS = (10, 20, 40, 80, 160, 320)
LARGEST_SIMULATED = 20_000
# Intervals of classes with fewer rows are not to be relied on.
LEAST_COUNT = 10


@dataclass(frozen=True)
class Requirement(Record):
    """Rows needed to estimate one measure of one class.

    Attributes
    ----------
    measure : str
        "slope", the calibration slope; "ratio", the ratio of observed to expected rows of the
        class; or "auc".
    of : label
        The class, as opposed to all others.
    margin : float
        The wanted half-width of the interval.
    n_rows : int
        The number of rows of all classes, rounded up to two digits. Infinity means that no number
        of rows would do.
    """

    measure: str
    of: Any
    margin: float
    n_rows: float


@dataclass(frozen=True)
class ValidationPlan(Record):
    """Rows needed to show that probabilities are calibrated.

    Attributes
    ----------
    requirements : tuple of Requirement
        The rows needed for each measure and class.
    shares : tuple of float
        The expected share of each class.
    level : float
        The confidence level of the intervals.
    assurance : float
        The probability that an interval is as narrow as wanted.
    """

    requirements: tuple[Requirement, ...]
    shares: tuple[float, ...]
    level: float
    assurance: float

    DERIVED = ("n_rows",)

    @property
    def deciding(self) -> Requirement:
        """The requirement with the most rows."""
        return max(self.requirements, key=lambda each: each.n_rows)

    @property
    def n_rows(self) -> float:
        """The rows needed for all measures and classes."""
        return self.deciding.n_rows

    def __str__(self) -> str:
        deciding = self.deciding
        answer = (
            f"To show calibration: {name_rows(self.n_rows, 'new row')} with known classes. The "
            f"{MEASURES[deciding.measure]} of {str(deciding.of)!r} decides: it is then known to "
            f"within {deciding.margin:g} (half the width of its {self.level:.0%} interval), with a "
            f"probability of {self.assurance:.0%}."
        )
        return f"{answer}\n{self._table()}"

    def _table(self) -> str:
        """Return a table of the measures, each with the class that needs the most rows."""
        rows = [("measure", "within", "rows", "class that needs most")]
        for measure in dict.fromkeys(each.measure for each in self.requirements):
            of_measure = [each for each in self.requirements if each.measure == measure]
            most = max(of_measure, key=lambda each: each.n_rows)
            margin = f"\N{PLUS-MINUS SIGN}{most.margin:g}"
            rows.append((MEASURES[measure], margin, f"{most.n_rows:,}", str(most.of)))
        return "\n".join(
            f"  {title:23}  {margin:>6}  {n_rows:>7}  {of}" for title, margin, n_rows, of in rows
        )


def plan_validation(
    proba: ArrayLike,
    *,
    margins: Mapping[str, float] | None = None,
    labels: ArrayLike | None = None,
    level: float = 0.95,
    assurance: float = 0.8,
    n_repeats: int = 100,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> ValidationPlan:
    r"""Find how many rows it takes to show that probabilities are calibrated.

    Parameters
    ----------
    proba : array-like of shape (n_samples, n_classes)
        Probabilities like those to validate: of the held-out rows of a pilot study, or from
        `simulate_probabilities`.
    margins : mapping of str to float, default=None
        For "slope", "ratio" and "auc", or some of them, the wanted half-width of the interval of
        every class. ``None`` means 0.2, 0.2 and 0.05.
    labels : array-like of shape (n_classes,), default=None
        The names of the classes. ``None`` means 0, 1 and so on.
    level : float, default=0.95
        The confidence level of the intervals.
    assurance : float, default=0.8
        The probability that an interval is at most as wide as wanted. With 0.5, every other study
        is less precise than planned.
    n_repeats : int, default=100
        The number of simulated studies of each size.
    random_state : int, RandomState or None, default=None
        Seed of the simulation.
    n_jobs : int, default=None
        Number of processes. ``None`` means 1 and -1 means one per core.
    progress : callable, default=None
        Wraps the iterator of finished simulations, for example to show a progress bar. It is
        called with the iterator and their number.

    Returns
    -------
    ValidationPlan
        The rows needed for each measure and each class, as opposed to all others.

    See Also
    --------
    simulate_probabilities : Probabilities, given class shares and a guess at the AUC.
    weak_calibration, measure_discrimination : Estimate the measures.

    Notes
    -----
    Rows are drawn with replacement and their classes from the probabilities, which are thus
    calibrated. From the simulated studies, the intervals of calibrant's own estimates are computed
    at numbers of rows at which the rarest class has 10 to 320 rows. The number of rows at which
    the ``assurance`` quantile of their half-widths is the margin is interpolated, and
    extrapolated with the inverse square root of the number of rows. Every class must have ten
    rows.

    For two classes, there are closed formulas [1]_, with which the simulation agrees: exactly, in
    the limit, for the slope, closely for the AUC. For the ratio, [1]_ takes the expected number of
    rows as fixed, and `weak_calibration` does not, so that the plan has fewer rows the better the
    classes are told apart.

    References
    ----------
    .. [1] R. D. Riley, T. P. A. Debray, G. S. Collins, L. Archer, J. Ensor, M. van Smeden and
           K. I. E. Snell, "Minimum sample size for external validation of a clinical prediction
           model with a binary outcome", Statistics in Medicine 40(19), 2021.

    Examples
    --------
    >>> from calibrant.planning import plan_validation, simulate_probabilities
    >>> proba = simulate_probabilities([0.7, 0.3], auc=0.8, random_state=0)
    >>> plan = plan_validation(proba, margins={"slope": 0.3}, n_repeats=20, random_state=0)
    >>> plan.n_rows
    290
    """
    # scikit-learn's check; rows that are rounded are made to sum to 1.
    rows = normalize_rows(check_array(proba, dtype=np.float64))
    check_level(level)
    wanted = check_margins(margins)
    if not 0 < assurance < 1:
        raise ValueError(f"assurance must lie strictly between 0 and 1, got {assurance}. Use 0.8.")
    shares = rows.mean(axis=0)
    names = list(range(len(shares))) if labels is None else np.asarray(labels).tolist()
    if shares.min() * LARGEST_SIMULATED < LEAST_COUNT:
        raise ValueError(
            f"Every class must have a mean probability of at least "
            f"{LEAST_COUNT / LARGEST_SIMULATED:g}, got {shares.min():.2g} for class "
            f"{names[int(shares.argmin())]}. Merge it with another class."
        )
    sizes = [
        round(count / shares.min())
        for count in RAREST_COUNTS
        if count / shares.min() <= LARGEST_SIMULATED
    ]
    widths = simulate_sizes(
        partial(_half_widths, rows, tuple(wanted), level),
        sizes,
        n_repeats,
        check_random_state(random_state),
        n_jobs=n_jobs,
        progress=progress,
    )
    quantile = np.quantile(widths, assurance, axis=1, method="higher")
    requirements = []
    for i, (measure, margin) in enumerate(wanted.items()):
        for k, name in enumerate(names):
            needed = find_rows(sizes, quantile[:, i, k], margin)
            n_rows = round_up(max(needed, LEAST_COUNT / shares[k]))
            requirements.append(Requirement(measure, name, margin, n_rows))
    return ValidationPlan(tuple(requirements), tuple(shares.tolist()), level, assurance)


def check_margins(margins: Mapping[str, float] | None) -> dict[str, float]:
    """Return the wanted margins after checking them; ``None`` means the default."""
    wanted = dict(DEFAULT_MARGINS if margins is None else margins)
    if not wanted or not set(wanted) <= set(DEFAULT_MARGINS):
        raise ValueError(
            f"margins must name some of {', '.join(DEFAULT_MARGINS)}, got "
            f"{', '.join(wanted) or 'none'}. Use these names."
        )
    for name, margin in wanted.items():
        if not 0 < margin < np.inf:
            raise ValueError(
                f"Every margin must be a positive number, got {margin} for {name}. Use "
                f"{DEFAULT_MARGINS[name]}."
            )
    return wanted


def _half_widths(
    population: FloatArray, measures: tuple[str, ...], level: float, n_rows: int, seed: int
) -> FloatArray:
    """Return the half-widths of one simulated study, by measure and class."""
    rng = np.random.RandomState(seed)
    proba = population[rng.randint(len(population), size=n_rows)]
    y = draw_classes(proba, rng)
    found = np.array(
        [
            [_half_width(each) for each in _estimate(y == k, proba[:, k], measures, level)]
            for k in range(proba.shape[1])
        ]
    )
    return found.T


def _estimate(
    outcome: Any, predicted: FloatArray, measures: tuple[str, ...], level: float
) -> list[Interval]:
    """Return the intervals of the measures of one class."""
    intervals = {}
    if "slope" in measures or "ratio" in measures:
        weak = weak_calibration(outcome, predicted, labels=[False, True], level=level)
        intervals = {"slope": weak.slope, "ratio": weak.observed_expected_ratio}
    if "auc" in measures:
        found = measure_discrimination(outcome, predicted, labels=[False, True], level=level)
        intervals["auc"] = found.by_class[1]
    return [intervals[name] for name in measures]


def _half_width(interval: Interval) -> float:
    """Return half the width of an interval; infinity if the rows do not determine the estimate."""
    return np.inf if np.isnan(interval.estimate) else (interval.high - interval.low) / 2.0
