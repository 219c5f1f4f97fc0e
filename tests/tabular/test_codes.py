import numpy as np
import pytest

from calibrant.tabular.codes import find_codes


@pytest.mark.parametrize(
    ("rest", "code"),
    [
        (np.arange(18, 81), -999),
        (np.arange(18, 81), -9),
        (np.arange(0, 16), 999),
        (np.arange(7, 61), 99),
        (np.linspace(-2, 2, 50), -99),
        (np.linspace(0, 100, 50), 888),
    ],
)
def test_a_code_far_from_the_other_values_is_found(rest, code):
    numbers = np.array([*rest, code, np.nan, code], dtype=float)
    assert find_codes(numbers) == {float(code): 2}


def test_a_code_above_the_other_values_is_found_if_it_is_the_most_frequent_one():
    ages = np.repeat(np.arange(18.0, 81.0), 2)
    assert find_codes(np.append(ages, [99.0] * 3)) == {99.0: 3}
    assert find_codes(np.append(ages, [99.0] * 2)) == {}
    assert find_codes(np.append(np.arange(18.0, 99.0), [99.0] * 3)) == {}  # next to 98


@pytest.mark.parametrize(
    "numbers",
    [
        np.arange(18, 100),  # 99 is the next age after 98
        np.arange(0, 1200),
        np.append(np.linspace(-60, 60, 50), -99),
        np.append(np.arange(18, 81), 150),  # far, but not a code
        np.array([1, 2, 999] * 20),  # too few other values
        np.full(5, np.nan),
    ],
)
def test_other_numbers_are_not_suspected(numbers):
    assert find_codes(numbers.astype(float)) == {}
