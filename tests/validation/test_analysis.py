import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import chi2_contingency, ttest_ind, ttest_rel

from calibrant.calibrators import UpdateChoice
from calibrant.comparison import holm
from calibrant.metrics import calibration_test, measure_performance
from calibrant.report import Effect, Verdict
from calibrant.validation import Cause, validate_probabilities
from calibrant.validation.analysis import check_frequencies, validate_candidates
from calibrant.validation.records import Candidate


def draw(proba, rng):
    return (rng.uniform(size=(len(proba), 1)) >= proba.cumsum(axis=1)[:, :-1]).sum(axis=1)


def two_normal_classes(rng, n_rows, frequency, spread=1.0):
    """Return classes and the right probabilities for equal frequencies and a spread of 1."""
    y = (rng.uniform(size=n_rows) < frequency).astype(int)
    x = spread * rng.normal(size=n_rows) + 1.5 * y
    p = 1 / (1 + np.exp(-1.5 * (x - 0.75)))
    return y, np.column_stack([1 - p, p])


@pytest.fixture
def rng():
    return np.random.RandomState(0)


@pytest.fixture
def before(rng):
    y, proba = two_normal_classes(rng, 1000, 0.5)
    return measure_performance(y, proba)


def test_rows_like_those_of_training_are_not_objected_to(rng, before):
    y, proba = two_normal_classes(rng, 2500, 0.5)
    found = validate_probabilities(proba, y, before=before)
    assert found.verdict is Verdict.CALIBRATED
    assert found.cause is Cause.NONE
    assert found.update.choice == UpdateChoice.NONE
    assert not found.has_changed


def test_a_new_mix_of_classes_is_told_from_a_new_model(before):
    rng = np.random.RandomState(1)
    y, proba = two_normal_classes(rng, 800, 0.85)
    found = validate_probabilities(proba, y, before=before)
    assert found.verdict is Verdict.MISCALIBRATED
    assert found.cause is Cause.CLASSES
    assert found.frequencies.frequency(1)[1] == pytest.approx(0.85, abs=0.03)
    # The rows of each class look as before.
    assert not any(change.is_significant for change in found.by_class)


def test_classes_that_are_harder_to_tell_apart_are_a_change_of_the_model(rng, before):
    y, proba = two_normal_classes(rng, 800, 0.5, spread=2.0)
    found = validate_probabilities(proba, y, before=before)
    assert found.verdict is Verdict.MISCALIBRATED
    assert found.cause is Cause.MODEL
    assert not found.has_new_frequencies
    assert any(change.is_significant for change in found.by_class)
    assert found.scores[0].is_significant


def test_without_frequencies_of_training_the_cause_is_unknown():
    rng = np.random.RandomState(1)
    y, proba = two_normal_classes(rng, 800, 0.85)
    found = validate_probabilities(proba, y)
    assert (found.cause, found.frequencies, found.scores) == (Cause.UNKNOWN, None, ())


def test_few_rows_leave_the_verdict_open(rng, before):
    y, proba = two_normal_classes(rng, 30, 0.5)
    assert validate_probabilities(proba, y, before=before).verdict is Verdict.UNCLEAR


def test_the_p_value_is_twice_the_smaller_one_of_both_tests(rng):
    proba = rng.dirichlet([1.0] * 3, size=200)
    y = draw(softmax(np.log(proba) + np.array([0.5, 0.0, 0.0]), axis=1), rng)
    found = validate_probabilities(proba, y)
    assert found.kernel_p_value == calibration_test(y, proba, random_state=0).p_value
    smaller = min(found.kernel_p_value, found.update.tests[0].p_value)
    assert found.miscalibration.p_value == min(1.0, 2 * smaller)


def test_changes_of_scores_are_those_of_welchs_t_test(rng):
    old, new = rng.dirichlet([1.0] * 2, size=80), rng.dirichlet([0.4] * 2, size=130)
    y_old, y_new = draw(old, rng), draw(new, rng)
    found = validate_probabilities(new, y_new, before=measure_performance(y_old, old))

    def values(y, proba):
        true, top = proba[np.arange(len(y)), y], proba.max(axis=1)
        is_correct = (proba.argmax(axis=1) == y) * 1.0
        return -np.log(true), 2 * (1 - true) ** 2, is_correct, top - is_correct

    expected = [
        ttest_ind(*pair, equal_var=False)
        for pair in zip(values(y_new, new), values(y_old, old), strict=True)
    ]
    for score, test in zip(found.scores, expected, strict=True):
        assert tuple(score.change) == pytest.approx(tuple(test.confidence_interval()))
    adjusted = holm([test.pvalue for test in expected])
    assert [score.change.p_value for score in found.scores] == pytest.approx(adjusted.tolist())


def test_frequencies_are_tested_like_a_contingency_table():
    training, new = [400, 350, 250], [360, 370, 270]
    found = check_frequencies(training, new)
    expected = chi2_contingency([training, new], correction=False)
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.p_value == pytest.approx(expected.pvalue, abs=0.01)


def test_a_class_without_any_row_does_not_disturb_the_test_of_frequencies():
    assert check_frequencies([40, 60, 0], [4, 6, 0]).p_value == 1.0
    assert check_frequencies([40, 60, 0], [4, 6, 30]).p_value < 0.001


def test_two_models_are_compared_on_the_same_rows(rng):
    proba = rng.dirichlet([1.0] * 3, size=300)
    y = draw(proba, rng)
    blurred = 0.2 * proba + 0.8 / 3
    candidates = [Candidate("blurred", blurred), Candidate("right", proba)]
    found = validate_candidates(candidates, y, "abc")
    rows = np.arange(300)
    expected = ttest_rel(-np.log(proba[rows, y]), -np.log(blurred[rows, y]))
    assert found.difference.log_loss.p_value == pytest.approx(expected.pvalue)
    assert found.difference.effect is Effect.IMPROVED
    swapped = validate_candidates(candidates[::-1], y, "abc")
    assert swapped.difference.effect is Effect.IMPAIRED
    same = validate_candidates([candidates[0]] * 2, y, "abc")
    assert same.difference.effect is Effect.NEUTRAL


@pytest.mark.slow
def test_false_alarms_are_as_rare_as_promised():
    # Nothing has changed between 150 training rows and 80 new rows.
    rng = np.random.RandomState(3)
    n_runs = 60
    alarms = np.zeros(4)
    for _ in range(n_runs):
        y_old, old = two_normal_classes(rng, 150, 0.3)
        y, proba = two_normal_classes(rng, 80, 0.3)
        # The probabilities are right for this frequency.
        old, proba = (softmax(np.log(each) + np.log([0.7, 0.3]), axis=1) for each in (old, proba))
        found = validate_probabilities(proba, y, before=measure_performance(y_old, old))
        alarms += [
            found.miscalibration.p_value < 0.05,
            found.frequencies.is_significant,
            any(change.is_significant for change in found.scores),
            any(change.is_significant for change in found.by_class),
        ]
    # Three standard errors above 5%.
    assert (alarms / n_runs < 0.05 + 3 * (0.05 * 0.95 / n_runs) ** 0.5).all(), alarms


def test_rows_of_a_group_count_once_in_the_tests(rng):
    y, proba = two_normal_classes(rng, 60, 0.7)
    copies = np.repeat(np.arange(60), 15)
    grouped = validate_probabilities(proba[copies], y[copies], groups=copies)
    naive = validate_probabilities(proba[copies], y[copies])
    assert grouped.update.n_tested == 60
    assert (
        grouped.performance.log_loss.standard_error > 3 * naive.performance.log_loss.standard_error
    )


def test_columns_in_any_order_give_the_same_numbers(rng):
    proba = rng.dirichlet([1.0] * 3, size=100)
    y = np.array(["a", "b", "c"])[draw(proba, rng)]
    found = validate_probabilities(proba, y)
    turned = validate_probabilities(proba[:, [2, 0, 1]], y, classes=["c", "a", "b"])
    assert turned.performance.log_loss.estimate == pytest.approx(
        found.performance.log_loss.estimate
    )
    assert turned.update.tests[0].statistic == pytest.approx(found.update.tests[0].statistic)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="y must hold only labels of the columns, got \\['x'\\]"):
        validate_probabilities([[0.5, 0.5]] * 2, ["a", "x"], classes=["a", "b"])
    with pytest.raises(ValueError, match="proba must have one row for each of the 3 labels"):
        validate_probabilities([[0.5, 0.5]] * 2, ["a", "b", "a"])


def test_an_update_is_called_for_only_if_the_verdict_finds_something():
    rng = np.random.RandomState(3)
    for _ in range(40):
        proba = rng.dirichlet([1.0] * 2, size=60)
        true = proba[:, 0] ** 1.3
        found = validate_probabilities(proba, (rng.uniform(size=60) >= true).astype(int), [0, 1])
        assert found.update.choice == "none" or found.is_significant


def test_full_recalibration_has_no_performance_that_was_not_measured():
    rng = np.random.RandomState(0)
    proba = rng.dirichlet([1.0] * 3, size=1500)
    true = softmax(np.log(proba) * np.array([4.0, 0.1, 1.0]), axis=1)
    y = (rng.uniform(size=(1500, 1)) >= true.cumsum(axis=1)[:, :-1]).sum(axis=1)
    found = validate_probabilities(proba, y, [0, 1, 2])
    assert found.update.choice == "full"
    assert found.update.performance is None
    assert "falls from" not in str(found.update)


def test_frequencies_of_grouped_training_rows_are_compared_by_group():
    rng = np.random.RandomState(0)
    p_values = []
    for _ in range(100):
        labels = [np.repeat(rng.randint(2, size=n), 10) for n in (30, 20)]
        old, new = (np.full((len(y), 2), 0.5) for y in labels)
        groups = [np.arange(len(y)) // 10 for y in labels]
        before = measure_performance(labels[0], old, groups=groups[0], labels=[0, 1])
        performance = measure_performance(labels[1], new, groups=groups[1], labels=[0, 1])
        counts = [[each.n_rows for each in found.by_class] for found in (before, performance)]
        p_values.append(check_frequencies(*counts, unit="group").p_value)
    found = validate_probabilities(new, labels[1], [0, 1], before=before, groups=groups[1])
    assert found.frequencies.unit == "group"
    assert found.frequencies.p_value == p_values[-1]
    assert np.mean(np.array(p_values) < 0.05) <= 0.12
