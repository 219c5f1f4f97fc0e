import numpy as np
import pytest
from scipy.special import softmax

from calibrant.prior_shift import adjust_prior
from calibrant.tabular.prevalence import adjust_to_prevalence

CLASSES = ("a", "b=1", "c, d")
COUNT = (20.0, 30.0, 50.0)
PROBA = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])


def adjust(*items):
    return adjust_to_prevalence(PROBA, CLASSES, COUNT, items)


@pytest.mark.parametrize(
    "items",
    [
        ["a=0.5", "b=1=0.2", "c, d=0.3"],
        ["c, d=0.3", "a=.5"],  # the rest is for the class that is left out
        ["a=0.5,b=1=0.2,c, d=0.3"],
        ["b=1=0.2, c, d=0.3", " a = 0.5 "],
    ],
)
def test_items_may_be_separated_and_ordered_in_any_way(items):
    found = adjust(*items)
    np.testing.assert_allclose(found.new, [0.5, 0.2, 0.3])
    np.testing.assert_allclose(found.proba, adjust_prior(PROBA, old=COUNT, new=[0.5, 0.2, 0.3]))
    assert found.old == (0.2, 0.3, 0.5)
    assert found.estimate is None
    assert "'a' 50.0% (was 20.0%), 'b=1' 20.0% (was 30.0%)" in found.note


def test_the_shares_of_training_change_nothing():
    np.testing.assert_allclose(adjust("a=0.2", "b=1=0.3").proba, PROBA, rtol=1e-12)


def test_rounded_shares_are_normalized():
    np.testing.assert_allclose(adjust("a=0.33", "b=1=0.33", "c, d=0.33").new, [1 / 3] * 3)


@pytest.mark.parametrize(
    ("items", "message"),
    [
        (["a=10", "b=1=20"], r"shares from 0 to 1, got '10' in 'a=10'\. Write, for example, 0\.1"),
        (["a=10%", "b=1=0.2"], "got '10%'"),
        (["a=-0.1", "b=1=0.2"], "got '-0.1'"),
        (["a=nan", "b=1=0.2"], "got 'nan'"),
        (["a=0.5"], "got no share of 'b=1', 'c, d'. Add the shares of all but one"),
        (["a=0.5", "b=1=0.5"], "leave a share for 'c, d', but the other shares sum to 1"),
        (["a=0.5", "b=1=0.5", "c, d=0.5"], "sum to 1, got a sum of 1.5"),
        (["a=0.5", "a=0.2"], "name each class once, got 'a' twice"),
        (["A=0.5", "b=1=0.2"], r"classes of the model, got 'A'\. Did you mean 'a'\?"),
        (["a=0.5,z=0.2"], "classes of the model, got 'z'"),
        (["a"], "the form class=share, or be the word estimate, got 'a'. Write, for example, a=0"),
        (["a="], "got 'a='"),
        (["estimate", "a=0.1"], "got 'estimate'"),
    ],
)
def test_shares_that_do_not_fit_are_refused_in_one_line(items, message):
    with pytest.raises(ValueError, match=message) as raised:
        adjust(*items)
    assert "\n" not in str(raised.value)


def draw(share, n_rows, seed=0):
    """Return exact probabilities of rows of two classes, for equal shares."""
    rng = np.random.RandomState(seed)
    y = rng.choice(2, p=share, size=n_rows)
    x = rng.standard_normal((n_rows, 2)) + 2.0 * np.eye(2)[y]
    return softmax(2.0 * x, axis=1)


def test_estimated_shares_are_used_if_they_have_changed():
    proba = draw([0.9, 0.1], 300)
    found = adjust_to_prevalence(proba, "ab", (100.0, 100.0), None)
    assert found.estimate.p_value < 0.05
    share = found.estimate.share[0]
    assert share.low < 0.9 < share.high
    # The ends of the intervals that are nearer to 0.5.
    total = share.low + found.estimate.share[1].high
    np.testing.assert_allclose(found.new[0], share.low / total)
    np.testing.assert_allclose(
        found.proba, adjust_prior(proba, old=[0.5, 0.5], new=found.new), rtol=1e-12
    )
    assert f"'a' {share.estimate:.1%} (95% CI {share.low:.1%} to {share.high:.1%}" in found.note
    assert f"as far as the intervals show: 'a' {found.new[0]:.1%} (was 50.0%)" in found.note
    assert "proba" not in found.to_dict()


def test_estimated_shares_that_have_not_changed_beyond_chance_are_not_used():
    proba = draw([0.5, 0.5], 300)
    found = adjust_to_prevalence(proba, "ab", (100.0, 100.0), None)
    assert found.new is None
    assert found.proba is proba
    assert found.note.endswith("so the probabilities were not adjusted.")
    assert adjust_to_prevalence(proba[:1], "ab", (100.0, 100.0), None).new is None


def test_no_class_becomes_impossible_by_an_estimate():
    proba = draw([1.0, 0.0], 200)
    found = adjust_to_prevalence(proba, "ab", (100.0, 100.0), None)
    assert found.new[1] > 0
    assert found.proba.min() > 0


def test_a_model_that_has_no_rows_of_a_class_is_refused():
    with pytest.raises(ValueError, match=r"had none of 'b'\. Update it on rows of all classes"):
        adjust_to_prevalence(PROBA[:, :2], "ab", (10.0, 0.0), ["a=0.5"])
