"""Whether probabilities can be trusted: the sizes of their error, and the verdict."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import isnan, sqrt
from typing import ClassVar

from calibrant._core.binning import MAX_BINS, default_n_bins
from calibrant._core.records import Interval, Record

ALPHA = 0.05
# Calibration errors up to this are small: they affect few decisions.
SMALL_ERROR = 0.05
# An error below this is displayed as 0 percentage points.
NO_ERROR = 0.005
# A smaller difference between confidence and accuracy is not called over- or underconfidence.
SMALL_EXCESS = 0.02
# Rows beyond those for which the interval is expected to be just narrow enough, which it then is in
# only half of all samples. With this factor, it is in about three of four.
MARGIN = 1.5


class Verdict(StrEnum):
    """Whether probabilities can be trusted.

    Attributes
    ----------
    CALIBRATED, NEARLY_CALIBRATED, UNCLEAR, MISCALIBRATED : str
        In the report: yes, nearly, cannot tell, no.
    """

    CALIBRATED = "calibrated"
    NEARLY_CALIBRATED = "nearly calibrated"
    UNCLEAR = "unclear"
    MISCALIBRATED = "miscalibrated"


class Tendency(StrEnum):
    """The direction in which probabilities are off.

    Attributes
    ----------
    OVERCONFIDENT, UNDERCONFIDENT, NEITHER : str
        In the report: too confident, not confident enough, and no remark.
    """

    OVERCONFIDENT = "overconfident"
    UNDERCONFIDENT = "underconfident"
    NEITHER = "neither"


@dataclass(frozen=True)
class Miscalibration(Record):
    """How far the probabilities of a model are off, and what follows from it.

    Attributes
    ----------
    confidence : float
        Mean probability of the most probable class.
    accuracy : float
        Fraction of rows whose most probable class is the true one.
    error : Interval
        The larger of two errors: that of the most probable class, root mean square, and the
        largest difference between the mean probability and the frequency of a class.
    p_value : float
        P-value of a test that the probabilities of all classes are calibrated.
    n_rows, n_groups : int
        Number of rows and of independent groups of rows behind the error. 0 means unknown.
    """

    DERIVED: ClassVar[tuple[str, ...]] = (
        "verdict",
        "tendency",
        "typical_error",
        "largest_error",
        "n_more",
    )

    confidence: float
    accuracy: float
    error: Interval
    p_value: float
    n_rows: int = 0
    n_groups: int = 0

    @property
    def is_significant(self) -> bool:
        """Whether the test finds a miscalibration."""
        return self.p_value < ALPHA

    @property
    def tendency(self) -> Tendency:
        """The direction of the error, if the test finds one and it is large enough to name."""
        excess = self.confidence - self.accuracy
        if not self.is_significant or abs(excess) <= SMALL_EXCESS:
            return Tendency.NEITHER
        return Tendency.OVERCONFIDENT if excess > 0 else Tendency.UNDERCONFIDENT

    @property
    def typical_error(self) -> float:
        """The estimated error, but no less than the mean error in the direction that is named."""
        if self.tendency is Tendency.NEITHER:
            return self.error.estimate
        return max(self.error.estimate, abs(self.confidence - self.accuracy))

    @property
    def largest_error(self) -> float:
        """The largest typical error that the rows are compatible with; NaN if not computed."""
        high = self.error.high
        return high if isnan(high) else max(high, self.typical_error)

    @property
    def verdict(self) -> Verdict:
        """The verdict, based on whether a miscalibration is significant and whether it is small."""
        is_small = self.largest_error <= SMALL_ERROR
        if not self.is_significant:
            return Verdict.CALIBRATED if is_small else Verdict.UNCLEAR
        if is_small:
            return Verdict.NEARLY_CALIBRATED
        # The test finds a miscalibration whose size cannot be measured.
        return Verdict.UNCLEAR if self.typical_error < NO_ERROR else Verdict.MISCALIBRATED

    @property
    def n_more(self) -> int | None:
        """About how many more rows, or groups, would settle an unclear verdict.

        ``None`` if the verdict is clear or if there is no interval.
        """
        if self.verdict is not Verdict.UNCLEAR or not self.n_groups or isnan(self.largest_error):
            return None
        # The square of the upper end is proportional to the root of the number of bins, divided
        # by the number of groups.
        more_bins = sqrt(MAX_BINS / default_n_bins(self.n_rows))
        ratio = MARGIN * more_bins * (self.largest_error / SMALL_ERROR) ** 2
        return _round_up(self.n_groups * (ratio - 1))


def _round_up(number: float) -> int:
    """Round up to a number with one digit, or to 15, 25, 150, 250 and so on."""
    power = 10
    while number > 10 * power:
        power *= 10
    steps = (1, 1.5, 2, 2.5, *range(3, 11))
    return next(int(power * step) for step in steps if number <= power * step)
