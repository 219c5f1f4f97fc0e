from dataclasses import replace

import numpy as np
import pytest

from calibrant.decisions import DecisionCurve, implied_thresholds
from calibrant.report.section_text import describe_advantage, describe_thresholds


def make_curve(low):
    unused = np.zeros(len(low))
    threshold = np.arange(1, len(low) + 1) / 100
    return DecisionCurve(threshold, *[unused] * 5, np.array(low, dtype=float), unused, 0.5)


@pytest.mark.parametrize(
    ("low", "sentence"),
    [
        ([-1, 0, -1], "At no threshold clearly better than treating all or none."),
        ([1, 1, 1], "Better than treating all and none, beyond chance, at 1% to 3%."),
        ([1, 0, 1, 1], "Better than treating all and none, beyond chance, at 1% and 3% to 4%."),
    ],
)
def test_thresholds_with_an_advantage_are_listed_as_ranges(low, sentence):
    assert describe_advantage(make_curve(low)) == sentence


def test_thresholds_at_which_decisions_do_harm_are_listed_too():
    curve = replace(make_curve([1, -1, -1]), advantage_high=np.array([2.0, -0.5, -0.5]))
    assert describe_advantage(curve) == (
        "Better than treating all and none, beyond chance, at 1%. Worse than one of them, beyond "
        "chance, at 2% to 3%."
    )


def test_thresholds_are_put_into_words():
    (pair,) = implied_thresholds([[0, 1, 0.5], [10, 0, 0.5]], labels=["no", "yes"])
    assert describe_thresholds(pair, ("wait", "treat", "test"), False) == (
        "'wait' is cheapest at low probabilities of 'yes', 'test' from 5.0% and 'treat' from "
        "50.0% on."
    )
    (pair,) = implied_thresholds([[0, 1], [0, 1]], labels=["no", "yes"])
    assert describe_thresholds(pair, ("wait", "treat"), True) == (
        "If only 'no' and 'yes' are possible: 'wait' is always cheapest."
    )
