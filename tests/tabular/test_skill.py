import numpy as np
import pytest
from sklearn.metrics import log_loss

from calibrant.metrics import measure_performance
from calibrant.tabular.skill import warn_of_guessing

Y = np.array(["a", "b", "b", "b"] * 20)


def performance_of(chance_of_a):
    return measure_performance(Y, np.column_stack([chance_of_a, 1 - chance_of_a]))


@pytest.mark.parametrize("chance", [0.2, 0.4])
def test_a_model_that_only_guesses_is_named_with_both_losses(chance):
    proba = np.full(len(Y), chance)
    text = warn_of_guessing(performance_of(proba), "outcome")
    assert "no better at predicting 'outcome' than guessing" in text
    guessing = log_loss(Y, np.tile([0.25, 0.75], (len(Y), 1)))
    found = log_loss(Y, np.column_stack([proba, 1 - proba]))
    assert f"(log loss {found:.3f}, guessing {guessing:.3f})" in text


def test_a_model_that_is_less_than_one_percent_better_is_hardly_better():
    text = warn_of_guessing(performance_of(np.where(Y == "a", 0.252, 0.25)), "outcome")
    assert "hardly better at predicting 'outcome' than guessing" in text


def test_a_model_with_skill_or_without_a_record_is_not_named():
    assert warn_of_guessing(performance_of(np.where(Y == "a", 0.5, 0.2)), "outcome") == ""
    assert warn_of_guessing(None, "outcome") == ""
