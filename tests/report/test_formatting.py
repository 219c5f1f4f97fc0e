import numpy as np
import pytest

from calibrant._core.records import Interval
from calibrant.report import formatting
from calibrant.report.formatting import NBSP


@pytest.mark.parametrize(
    ("fraction", "text"),
    [
        (0.0, "0%"),
        (1.0, "100%"),
        (0.5, "50%"),
        (0.004, "< 1%"),
        (0.9999, "> 99%"),
        (0.126, "13%"),
    ],
)
def test_percentages_are_not_rounded_to_certainty(fraction, text):
    assert formatting.percent(fraction) == text.replace(" ", NBSP)


def test_numbers_have_a_minus_sign_and_no_negative_zero():
    assert formatting.number(-0.25) == "\N{MINUS SIGN}0.250"
    assert formatting.number(-0.0001) == "0.000"
    assert formatting.signed(0.1234) == "+0.123"
    assert formatting.signed(-0.0001) == "0.000"
    assert formatting.signed(-0.051, is_percentage=True) == "\N{MINUS SIGN}5.1"


@pytest.mark.parametrize(
    ("value", "text"), [(1e-9, "p ≤ 0.001"), (0.047, "p = 0.047"), (0.4, "p = 0.40")]
)
def test_p_values_are_short(value, text):
    assert formatting.p_value(value) == text.replace(" ", NBSP)


def test_upper_ends_are_rounded_up():
    assert [formatting.points_up(value) for value in (0.101, 0.11, 0.07 + 1e-12)] == [11, 11, 7]


def test_percentage_points_agree_with_their_number():
    assert formatting.points(0.012) == "1 percentage point"
    assert formatting.points(0.17) == "17 percentage points"


def test_an_interval_without_ends_has_no_bounds():
    assert formatting.has_bounds(Interval(0.2, 0.1, 0.3))
    assert not formatting.has_bounds(Interval(0.2, np.nan, np.nan))
