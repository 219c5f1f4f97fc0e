"""Calibration of the rows of each subgroup, beside that of all rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri
from sklearn.utils import check_consistent_length, check_random_state

from calibrant._core.labels import read_labels
from calibrant._core.records import Interval, Record
from calibrant._core.typing import BoolArray
from calibrant._core.validation import check_groups, check_level
from calibrant.metrics._event_differences import EventRows
from calibrant.metrics._heterogeneity import Recalibration, adjusted_p_values, append_top_label
from calibrant.metrics._random_effects import shrink
from calibrant.metrics._validation import check_count, check_predictions

# The name of the event that the most probable class is the true one.
TOP_LABEL = "top-label"
ALL_ROWS = "all rows"


@dataclass(frozen=True)
class Subgroup(Record):
    """Calibration of the rows of one subgroup, for each event.

    Attributes
    ----------
    name : label
        The subgroup. ``None`` means all rows.
    n_rows : float
        The total weight of its rows.
    observed, predicted : tuple of float
        The share of rows with the event, and the mean probability of the event.
    difference : tuple of Interval
        Observed minus predicted share, from the rows of the subgroup alone. The ideal value is 0.
    shrunken : tuple of Interval
        The same difference, shrunk toward those of the other subgroups by its noise.
    p_values : tuple of float
        P-values of the hypothesis that the probabilities of the subgroup are right, adjusted for
        the number of subgroups and events. Empty for all rows.
    """

    DERIVED: ClassVar[tuple[str, ...]] = ("p_value",)

    name: Any
    n_rows: float
    observed: tuple[float, ...]
    predicted: tuple[float, ...]
    difference: tuple[Interval, ...]
    shrunken: tuple[Interval, ...]
    p_values: tuple[float, ...] = ()

    @property
    def title(self) -> str:
        """The name as text."""
        return ALL_ROWS if self.name is None else str(self.name)

    @property
    def p_value(self) -> float:
        """The smallest of the adjusted p-values; NaN for all rows."""
        return min(self.p_values, default=float("nan"))


@dataclass(frozen=True)
class SubgroupCalibration(Record):
    """Calibration by subgroup.

    Attributes
    ----------
    events : tuple
        What the values of each subgroup belong to, in order: the classes, and "top-label", that
        is, the event that the most probable class is the true one.
    whole : Subgroup
        All rows.
    subgroups : tuple of Subgroup
        The subgroups, sorted by name.
    difference_p_value : float
        P-value of the hypothesis that calibration does not differ between subgroups: that one
        recalibration of all rows would make the probabilities right in each of them.
    """

    DERIVED: ClassVar[tuple[str, ...]] = ("p_value",)

    events: tuple[Any, ...]
    whole: Subgroup
    subgroups: tuple[Subgroup, ...]
    difference_p_value: float

    @property
    def p_value(self) -> float:
        """P-value of the hypothesis that the probabilities are right in every subgroup."""
        return min(each.p_value for each in self.subgroups)

    @property
    def shown_events(self) -> tuple[int, ...]:
        """Positions of the events to show: of two classes, which mirror each other, the second."""
        n_events = len(self.events)
        return tuple(range(1 if n_events == 3 else 0, n_events))

    def __str__(self) -> str:
        table = list(self._table())
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = []
        for first, *cells in table:
            padded = [f"{each:>{width}}" for each, width in zip(cells, widths[1:], strict=True)]
            lines.append("  ".join([f"{first:{widths[0]}}", *padded]).rstrip())
        return "\n".join([*lines, *self._tests])

    def _repr_html_(self) -> str:
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
            for cells in self._table()
        )
        return f"<table><caption>{'<br>'.join(self._tests)}</caption>{rows}</table>"

    @property
    def _tests(self) -> tuple[str, str]:
        return (
            f"Test of calibration in every subgroup: p = {self.p_value:.3g}",
            f"Test of no difference between subgroups: p = {self.difference_p_value:.3g}",
        )

    def _table(self) -> Iterator[tuple[str, ...]]:
        """Return the cells of the table: a title, then for each event all rows and subgroups."""
        level = f"({self.whole.difference[0].level:.0%} CI)"
        yield "", "rows", "observed", "predicted", f"difference {level}", f"shrunken {level}", "p"
        for at in self.shown_events:
            yield describe_event(self.events[at]), "", "", "", "", "", ""
            for row in (self.whole, *self.subgroups):
                yield (
                    f"  {row.title}",
                    f"{row.n_rows:,.6g}",
                    f"{row.observed[at]:.1%}",
                    f"{row.predicted[at]:.1%}",
                    in_points(row.difference[at]),
                    in_points(row.shrunken[at]) if row.p_values else "",
                    f"{row.p_values[at]:.3g}" if row.p_values else "",
                )


def describe_event(event: Any) -> str:
    """Return the name of an event: a class, or the most probable class."""
    is_top = isinstance(event, str) and event == TOP_LABEL
    return "most probable class" if is_top else f"class {event}"


def in_points(interval: Interval) -> str:
    """Return a difference of shares with its interval, in percentage points."""
    estimate, low, high = (f"{100 * each:+.1f}" for each in (interval.estimate, *interval))
    return f"{estimate} ({low} to {high})"


def subgroup_calibration(
    y_true: ArrayLike,
    proba: ArrayLike,
    by: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    n_resamples: int = 999,
    random_state: int | np.random.RandomState | None = 0,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> SubgroupCalibration:
    r"""Compare observed and predicted class shares in subgroups of the rows.

    Parameters
    ----------
    y_true, proba, labels, sample_weight : array-like
        See `log_loss`.
    by : array-like of shape (n_samples,)
        The subgroup of each row, such as a sex or a site.
    groups : array-like of shape (n_samples,), default=None
        Which rows belong together, such as those of one patient. ``None`` means that all rows are
        independent.
    level : float, default=0.95
        The confidence level of the intervals.
    n_resamples : int, default=999
        The number of simulated data sets for the p-values, at least 19.
    random_state : int, RandomState or None, default=0
        Seeds the simulation. By default, the same rows give the same result.

    Returns
    -------
    SubgroupCalibration
        For each class and subgroup, the observed and the predicted share of the class, their
        difference with intervals, and p-values. The same for the event that the most probable
        class is the true one, which shows where probabilities are too confident.

    See Also
    --------
    calibration_test : Tests whether the probabilities of all rows are calibrated.
    calibrant.plots.SubgroupCalibrationDisplay : Draws the differences.

    Notes
    -----
    For an event with outcomes :math:`o_i` and probabilities :math:`p_i`, the difference of
    subgroup :math:`g` is :math:`d_g = \sum_{i \in g} (o_i - p_i) / n_g`. Its interval contains the
    shares that a score test with shifted log odds does not reject; for equal probabilities, it is
    Wilson's. It is therefore finite with few rows and without any event.

    The difference of a small subgroup is mostly noise. The shrunken difference is the posterior
    mean in the random-effects model :math:`d_g \sim N(\delta_g, s_g^2)`,
    :math:`\delta_g \sim N(\mu, \tau^2)`, where :math:`s_g` is the standard error to which the
    interval corresponds. The posterior averages over the spread :math:`\tau` between subgroups
    [1]_, because a single estimate of it from two to ten subgroups is unreliable.

    The p-values of subgroups and events test whether their probabilities are right. Labels are
    drawn from the probabilities, and a p-value is the fraction of draws in which the largest
    standardized difference of all subgroups and events is at least as large. The p-values are
    therefore adjusted for the number of subgroups and events [2]_ and exact for any number of
    rows.

    ``difference_p_value`` tests whether subgroups differ from each other: if all of them are
    equally overconfident, they do not. The probabilities of all rows are first recalibrated by one
    intercept and one slope per class. The statistics are score statistics of each subgroup and
    event in this model, and labels are drawn from the recalibrated probabilities. This test is
    not exact. In simulations of 2 to 8 subgroups, with 2 classes and 100 to 1,000 rows and with 3
    and 5 classes and 100 rows, it rejected at the 5% level in 1 to 10% of 100 or 200 data sets
    per case, and in 5% on average. ``python -m experiments.measures`` repeats them.

    If rows belong together in ``groups``, the signs of the residuals of each group are drawn
    instead of labels, and the intervals are widened by a factor for each event. Both require many
    groups.

    Weights are numbers of rows.

    References
    ----------
    .. [1] W. DuMouchel, "Hierarchical Bayes linear models for meta-analysis", Technical Report 27,
           National Institute of Statistical Sciences, 1994.
    .. [2] P. H. Westfall and S. S. Young, "Resampling-based multiple testing", Wiley, 1993.

    Examples
    --------
    A model that underestimates the risk of one of three sites:

    >>> import numpy as np
    >>> from calibrant.metrics import subgroup_calibration
    >>> rng = np.random.RandomState(0)
    >>> site = np.repeat(["A", "B", "C"], [200, 150, 30])
    >>> risk = rng.uniform(0.1, 0.6, size=380)
    >>> y = rng.uniform(size=380) < risk + 0.2 * (site == "B")
    >>> found = subgroup_calibration(y, risk, site)
    >>> for subgroup in found.subgroups:
    ...     print(subgroup.name, subgroup.difference[1], "p =", subgroup.p_value)
    A 0.01478 (95% CI -0.04682 to 0.08064) p = 0.946
    B 0.2474 (95% CI 0.171 to 0.32) p = 0.001
    C 0.02717 (95% CI -0.1242 to 0.1986) p = 0.93
    """
    data = check_predictions(y_true, proba, labels, sample_weight).with_row_counts()
    check_level(level)
    check_count("n_resamples", n_resamples, 19)
    subgroup = read_labels(by, "by")
    check_consistent_length(y_true, subgroup)
    names, index = np.unique(subgroup[data.position], return_inverse=True)
    related = None
    if groups is not None:
        check_consistent_length(y_true, groups)
        related = np.unique(check_groups(groups)[data.position], return_inverse=True)[1]
    recalibration = Recalibration(data)
    member = np.eye(len(names))[index]
    rng = check_random_state(random_state)
    p_values, of_differences = (
        adjusted_p_values(data, member, each, groups=related, n_resamples=n_resamples, rng=rng)
        for each in (None, recalibration)
    )
    rows = EventRows(
        outcome=append_top_label(data.one_hot, data),
        predicted=append_top_label(data.proba, data),
        recalibrated=append_top_label(recalibration.proba, data),
        weight=data.weight,
        groups=related,
    )
    differences = [rows.differences(each > 0, level) for each in member.T]
    shrunken = _shrink(differences, level)
    whole = np.ones(len(index), dtype=bool)
    of_all = rows.differences(whole, level)
    return SubgroupCalibration(
        events=(*data.labels.tolist(), TOP_LABEL),
        whole=_describe(None, rows, whole, of_all, of_all),
        subgroups=tuple(
            _describe(
                name, rows, member[:, at] > 0, differences[at], shrunken[at], p_values[at].tolist()
            )
            for at, name in enumerate(names.tolist())
        ),
        difference_p_value=float(of_differences.min()),
    )


def _shrink(
    differences: Sequence[tuple[Interval, ...]], level: float
) -> list[tuple[Interval, ...]]:
    """Shrink the differences of each event toward each other."""
    if len(differences) == 1:
        return list(differences)
    columns = []
    for intervals in zip(*differences, strict=True):
        estimate, low, high = np.array([[each.estimate, *each] for each in intervals]).T
        error = (high - low) / (2.0 * ndtri(0.5 + level / 2))
        found = (each.tolist() for each in shrink(estimate, error, level))
        columns.append(
            [Interval(mean, low, high, level) for mean, low, high in zip(*found, strict=True)]
        )
    return list(zip(*columns, strict=True))


def _describe(
    name: Any,
    rows: EventRows,
    chosen: BoolArray,
    difference: tuple[Interval, ...],
    shrunken: tuple[Interval, ...],
    p_values: Sequence[float] = (),
) -> Subgroup:
    observed, predicted = rows.means(chosen)
    n_rows = float(rows.weight[chosen].sum())
    return Subgroup(name, n_rows, observed, predicted, difference, shrunken, tuple(p_values))
