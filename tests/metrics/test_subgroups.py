import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import binom, norm
from sklearn.linear_model import LogisticRegression

from calibrant.metrics import subgroup_calibration
from calibrant.metrics._proportions import wilson_interval

QUICK = {"n_resamples": 99}


@pytest.fixture
def rows(predictions):
    """Labels, probabilities and subgroups of unequal sizes."""
    y, proba, _ = predictions
    return y, proba, np.random.default_rng(1).choice(["F", "M", "X"], p=[0.5, 0.4, 0.1], size=200)


def as_text(found):
    return str(found.to_dict())


def test_shares_and_differences_are_those_of_the_rows(rows):
    y, proba, by = rows
    found = subgroup_calibration(y, proba, by, **QUICK)
    assert found.events == ("a", "b", "c", "d", "top-label")
    assert [each.name for each in found.subgroups] == ["F", "M", "X"]
    assert found.whole.name is None
    for each in (*found.subgroups, found.whole):
        chosen = by == each.name if each.name else np.full(200, True)
        outcome = (y[chosen, None] == np.array(["a", "b", "c", "d"])).astype(float)
        top = proba[chosen].argmax(axis=1)
        right = outcome[np.arange(len(top)), top]
        expected = [*outcome.mean(axis=0), right.mean()]
        assert each.n_rows == chosen.sum()
        assert each.observed == pytest.approx(expected)
        assert each.predicted == pytest.approx(
            [*proba[chosen].mean(axis=0), proba[chosen].max(axis=1).mean()]
        )
        for difference, observed, predicted in zip(
            each.difference, each.observed, each.predicted, strict=True
        ):
            assert difference.estimate == pytest.approx(observed - predicted)
            assert -predicted <= difference.low <= difference.estimate <= difference.high
            assert difference.high <= 1 - predicted


def test_intervals_of_equal_probabilities_are_those_of_wilson():
    y = np.repeat([0, 1, 0, 1], [30, 10, 19, 1])
    by = np.repeat(["A", "B"], [40, 20])
    found = subgroup_calibration(y, np.full(60, 0.2), by, level=0.9, **QUICK)
    low, high = wilson_interval(np.array([0.25, 0.05]), np.array([40.0, 20.0]), 0.9)
    for at, each in enumerate(found.subgroups):
        np.testing.assert_allclose(tuple(each.difference[1]), [low[at] - 0.2, high[at] - 0.2])


def test_an_interval_contains_the_shares_that_a_score_test_does_not_reject(rows):
    y, proba, _ = rows
    outcome, log_odds = (y == "a").astype(float), logit(proba[:, 0])
    # Recalibrated probabilities are almost those given if these are calibrated and numerous.
    found = subgroup_calibration(y, proba, np.zeros(200), **QUICK).whole.difference[0]
    shifts = np.linspace(-2, 2, 4001)
    shifted = expit(log_odds[:, None] + shifts)
    statistic = (outcome[:, None] - shifted).sum(axis=0) ** 2 / (shifted * (1 - shifted)).sum(
        axis=0
    )
    accepted = shifted.mean(axis=0)[statistic <= norm.ppf(0.975) ** 2] - proba[:, 0].mean()
    np.testing.assert_allclose(tuple(found), [accepted.min(), accepted.max()], atol=0.01)


def test_one_subgroup_is_the_whole(rows):
    y, proba, _ = rows
    found = subgroup_calibration(y, proba, np.full(200, "all"), **QUICK)
    (only,) = found.subgroups
    assert only.difference == only.shrunken == found.whole.difference
    assert only.observed == found.whole.observed
    # After the recalibration, nothing but noise in slopes is left to differ.
    assert found.difference_p_value > 0.05


def test_two_classes_mirror_each_other():
    rng = np.random.RandomState(0)
    proba = rng.uniform(0.1, 0.9, size=150)
    y = rng.uniform(size=150) < proba
    found = subgroup_calibration(y, proba, rng.choice(3, size=150), **QUICK)
    for each in found.subgroups:
        for first, second in (each.difference[:2], each.shrunken[:2]):
            assert first.estimate == pytest.approx(-second.estimate, abs=1e-9)
            assert first.low == pytest.approx(-second.high, abs=1e-6)
        assert each.p_values[0] == each.p_values[1]


def test_of_two_classes_the_second_is_shown():
    found = subgroup_calibration([0, 1, 1], [0.2, 0.5, 0.7], ["A", "B", "B"], **QUICK)
    lines = str(found).splitlines()
    assert [lines[1], lines[5]] == ["class 1", "most probable class"]


def test_the_p_value_of_one_subgroup_with_equal_probabilities_is_binomial():
    y = np.repeat([0, 1], [31, 19])
    found = subgroup_calibration(y, np.full(50, 0.25), np.zeros(50), n_resamples=19_999)
    far = np.abs(np.arange(51) - 12.5) >= 6.5 - 1e-9
    expected = binom.pmf(np.arange(51), 50, 0.25)[far].sum()
    assert found.p_value == pytest.approx(expected, abs=4 * np.sqrt(expected / 20_000))


def test_the_test_of_differences_agrees_with_score_tests_of_logistic_regression():
    # With many rows, the score statistics of two subgroups and two events (the class, and that
    # the most probable class is the true one) have a normal distribution.
    rng = np.random.RandomState(3)
    proba = rng.uniform(0.1, 0.9, size=1500)
    by = rng.choice(2, size=1500)
    y = (rng.uniform(size=1500) < expit(logit(proba) + 0.45 * by)).astype(int)
    X = logit(proba)[:, None]
    null = LogisticRegression(C=1e6, tol=1e-10).fit(X, y).predict_proba(X)[:, 1]
    design, weight = np.column_stack([np.ones(1500), X]), (null * (1 - null))[:, None]
    of_class = np.column_stack([by, 1 - by])
    tested = np.hstack([of_class, of_class * np.where(proba > 0.5, 1, -1)[:, None]])
    fitted = np.linalg.solve(design.T @ (weight * design), design.T @ (weight * tested))
    rest = tested - design @ fitted
    covariance = rest.T @ (weight * rest)
    deviation = np.sqrt(np.diag(covariance))
    observed = (np.abs((y - null) @ tested) / deviation).max()
    drawn = rng.multivariate_normal(np.zeros(4), covariance, size=20_000)
    expected = np.mean((np.abs(drawn) / deviation).max(axis=1) >= observed)
    found = subgroup_calibration(y, proba, by, n_resamples=1999)
    assert 0.01 < expected < 0.3
    assert found.difference_p_value == pytest.approx(expected, abs=0.025)


def test_a_wrong_subgroup_is_found_and_the_others_are_not():
    rng = np.random.RandomState(0)
    by = np.repeat(["A", "B", "C"], [300, 300, 50])
    proba = rng.uniform(0.2, 0.6, size=650)
    y = rng.uniform(size=650) < proba + 0.2 * (by == "B")
    found = subgroup_calibration(y, proba, by)
    assert [each.p_value < 0.05 for each in found.subgroups] == [False, True, False]
    assert found.p_value == found.subgroups[1].p_value == 0.001
    assert found.difference_p_value < 0.01
    assert found.subgroups[1].shrunken[1].low > 0.05


def test_what_is_wrong_in_all_subgroups_is_no_difference(draw_labels):
    rng = np.random.RandomState(1)
    proba = rng.dirichlet(np.ones(3), size=900)
    flat = np.sqrt(proba) / np.sqrt(proba).sum(axis=1, keepdims=True)
    by = rng.choice(3, size=900)
    found = subgroup_calibration(draw_labels(rng, flat), proba, by)
    assert found.p_value == 0.001
    assert found.difference_p_value > 0.05


def test_confidence_alone_is_found_in_the_most_probable_class(draw_labels):
    rng = np.random.RandomState(1)
    proba = rng.dirichlet(np.full(4, 0.5), size=600)
    by = rng.choice(2, size=600)
    flat = np.sqrt(proba) / np.sqrt(proba).sum(axis=1, keepdims=True)
    y = draw_labels(rng, np.where(by[:, None] == 1, flat, proba))
    first, second = subgroup_calibration(y, proba, by).subgroups
    assert first.p_value > 0.05
    assert second.p_values[-1] == min(second.p_values) == 0.001
    assert second.difference[-1].high < 0


def test_weights_are_numbers_of_rows(rows):
    y, proba, by = rows
    weight = np.random.RandomState(0).randint(0, 4, size=200)
    weighted = subgroup_calibration(y, proba, by, sample_weight=weight, **QUICK)
    times = np.repeat(np.arange(200), weight)
    repeated = subgroup_calibration(y[times], proba[times], by[times], **QUICK)
    for one, other in zip(
        (weighted.whole, *weighted.subgroups), (repeated.whole, *repeated.subgroups), strict=True
    ):
        assert one.n_rows == other.n_rows
        assert one.p_values == other.p_values
        for each in ("difference", "shrunken"):
            np.testing.assert_allclose(
                [[x.estimate, *x] for x in getattr(one, each)],
                [[x.estimate, *x] for x in getattr(other, each)],
                rtol=1e-6,
                atol=1e-8,
            )
    assert weighted.difference_p_value == repeated.difference_p_value
    halved = subgroup_calibration(y, proba, by, sample_weight=np.full(200, 0.5), **QUICK)
    assert as_text(halved) == as_text(subgroup_calibration(y, proba, by, **QUICK))


def test_groups_of_one_row_are_independent_rows(rows):
    y, proba, by = rows
    alone = subgroup_calibration(y, proba, by, groups=np.arange(200), **QUICK)
    together = subgroup_calibration(y, proba, by, groups=np.arange(200) // 4, **QUICK)
    independent = subgroup_calibration(y, proba, by, **QUICK)
    widths = [
        np.array([np.diff(tuple(each))[0] for each in found.subgroups[0].difference])
        for found in (independent, alone, together)
    ]
    np.testing.assert_allclose(widths[1], widths[0], rtol=0.1)
    assert np.all(widths[2] >= widths[0] * (1 - 1e-9))


def test_repeated_rows_of_a_group_are_no_evidence():
    rng = np.random.RandomState(0)
    proba = rng.uniform(0.2, 0.8, size=60)
    y = rng.uniform(size=60) < np.clip(proba + 0.03, 0, 1)
    by = rng.choice(2, size=60)
    times = np.repeat(np.arange(60), 10)
    once = subgroup_calibration(y, proba, by, **QUICK)
    naive, grouped = (
        subgroup_calibration(y[times], proba[times], by[times], groups=groups, n_resamples=499)
        for groups in (None, times)
    )
    assert naive.p_value < grouped.p_value
    for one, ten in zip(once.subgroups, grouped.subgroups, strict=True):
        (low, high), (other_low, other_high) = one.difference[1], ten.difference[1]
        assert other_high - other_low == pytest.approx(high - low, rel=0.35)


@pytest.mark.parametrize(
    ("y", "proba"),
    [
        (np.zeros(12, dtype=int), np.full((12, 3), 1 / 3)),  # two classes have no rows
        (np.arange(12) % 3, np.full((12, 3), 1 / 3)),  # constant probabilities
        (np.arange(12) % 3, np.eye(3)[np.arange(12) % 3]),  # certain, and right
        (np.arange(12) % 3, np.eye(3)[(np.arange(12) + 1) % 3]),  # certain, and wrong
        (np.zeros(12, dtype=int), np.tile([1.0, 0.0, 0.0], (12, 1))),
    ],
)
def test_degenerate_rows_give_finite_numbers(y, proba):
    by = ["A"] * 10 + ["B", "C"]
    found = subgroup_calibration(y, proba, by, labels=range(3), **QUICK)
    for each in (found.whole, *found.subgroups):
        values = [
            x for kind in (each.difference, each.shrunken) for i in kind for x in (i.low, i.high)
        ]
        assert np.isfinite(values).all()
    assert 0 < found.p_value <= 1
    assert 0 < found.difference_p_value <= 1
    assert "class 2" in str(found)


def test_the_tables_show_every_class_and_subgroup_and_no_html_of_theirs(rows):
    y, proba, by = rows
    by = np.where(by == "X", "<b>", by)
    found = subgroup_calibration(y, proba, by, **QUICK)
    lines = str(found).splitlines()
    assert len(lines) == 1 + 5 * (1 + 4) + 2
    assert lines[1] == "class a"
    assert lines[2].split()[:3] == ["all", "rows", "200"]
    assert "most probable class" in lines
    assert (
        lines[-1] == f"Test of no difference between subgroups: p = {found.difference_p_value:.3g}"
    )
    html = found._repr_html_()
    assert html.count("<tr>") == 1 + 5 * 5
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
    content = found.to_dict()
    assert content["p_value"] == found.p_value
    assert content["whole"]["p_value"] is None
    assert content["subgroups"][0]["shrunken"][0]["level"] == 0.95


def test_the_result_does_not_depend_on_the_order_of_rows_and_names(rows):
    y, proba, by = rows
    found = subgroup_calibration(y, proba, by, n_resamples=999)
    order = np.random.RandomState(0).permutation(200)
    names = {"F": 3, "M": 2, "X": 1}
    other = subgroup_calibration(
        y[order], proba[order], [names[each] for each in by[order]], n_resamples=999
    )
    for one, two in zip(found.subgroups, other.subgroups[::-1], strict=True):
        assert names[one.name] == two.name
        assert one.observed == pytest.approx(two.observed)
        assert one.p_value == pytest.approx(two.p_value, abs=0.08)
        assert one.shrunken[0].estimate == pytest.approx(two.shrunken[0].estimate)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": ["A", None, "B"]}, "by must hold a label for every row"),
        ({"by": ["A", "B"]}, "inconsistent numbers of samples"),
        ({"groups": [1, 2]}, "inconsistent numbers of samples"),
        ({"level": 95}, "level must lie strictly between 0 and 1"),
        ({"n_resamples": 5}, "n_resamples must be an integer of at least 19"),
    ],
)
def test_input_that_does_not_fit_is_refused(options, message):
    options = {"by": ["A", "B", "B"], **options}
    with pytest.raises(ValueError, match=message):
        subgroup_calibration([0, 1, 1], [0.2, 0.5, 0.7], **options)
