import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from scipy.stats import chi2

from calibrant.calibrators import TemperatureScaling, UpdateCalibrator, UpdateChoice
from calibrant.metrics import log_loss


def draw(proba, rng):
    return (rng.uniform(size=(len(proba), 1)) >= proba.cumsum(axis=1)[:, :-1]).sum(axis=1)


def shifted(proba, intercept=0.0, slope=1.0):
    return softmax(np.log(proba) * slope + intercept, axis=1)


@pytest.fixture
def rng():
    return np.random.RandomState(0)


def maximize(log_proba, y, n_intercepts, n_slopes):
    """Fit a map of the family by a general optimizer, without derivatives."""
    n_classes = log_proba.shape[1]

    def loss(parameters):
        intercept = np.append(parameters[:n_intercepts], np.zeros(n_classes - n_intercepts))
        slope = np.append(parameters[n_intercepts:], np.ones(1 if n_slopes == 0 else 0))
        logit = log_proba * slope + intercept
        return -log_softmax(logit, axis=1)[np.arange(len(y)), y].sum()

    start = np.append(np.zeros(n_intercepts), np.ones(n_slopes))
    if len(start) == 0:
        return -loss(start)
    return -minimize(loss, start, method="BFGS", options={"gtol": 1e-7}).fun


def test_statistics_of_two_classes_are_those_of_statsmodels():
    # 2 * (m3.llf - m.llf) with statsmodels 0.14.6, where
    # m1 = GLM(y, ones, family=Binomial(), offset=logit(p)).fit()
    # m2 = Logit(y, add_constant(logit(p))).fit()
    # m3 = Logit(y, add_constant(column_stack([log(p), log(1 - p)]))).fit()
    # and the log likelihood of the current probabilities instead of m1 for the first.
    rng = np.random.RandomState(0)
    p = np.round(rng.uniform(0.02, 0.98, 150), 6)
    q = 1 / (1 + np.exp(-(0.6 * np.log(p / (1 - p)) + 0.7)))
    y = (rng.uniform(size=150) < q).astype(int)
    update = UpdateCalibrator(alpha=0.9, n_resamples=19).fit(np.column_stack([1 - p, p]), y)
    found = [test.statistic for test in update.report_.tests]
    expected = [30.199868918750212, 5.155853983559979, 0.08487662588575517]
    assert found == pytest.approx(expected[: len(found)], rel=1e-6)
    assert len(found) >= 2


def test_statistics_of_three_classes_are_those_of_a_general_optimizer(rng):
    proba = rng.dirichlet([1.0] * 3, size=120)
    y = draw(shifted(proba, [0.8, 0.0, -0.5], 0.5), rng)
    tests = UpdateCalibrator(alpha=0.999, n_resamples=19).fit(proba, y).report_.tests
    log_proba = np.log(proba)
    largest = maximize(log_proba, y, 2, 3)
    expected = [
        2 * (largest - maximize(log_proba, y, *shape)) for shape in ((0, 0), (2, 0), (2, 1))
    ]
    assert [test.statistic for test in tests] == pytest.approx(expected[: len(tests)], abs=1e-5)
    assert [test.degrees_of_freedom for test in tests] == [5, 3, 2][: len(tests)]


def test_simulated_p_value_is_near_that_of_the_chi_squared_distribution_with_many_rows(rng):
    proba = rng.dirichlet([2.0] * 3, size=1500)
    y = draw(shifted(proba, [0.06, 0.0, -0.05]), rng)
    [test, *_] = UpdateCalibrator(n_resamples=499).fit(proba, y).report_.tests
    expected = chi2.sf(test.statistic, test.degrees_of_freedom)
    assert 0.01 < expected < 0.9
    assert test.p_value == pytest.approx(expected, abs=4 * (expected * (1 - expected) / 499) ** 0.5)


def test_without_a_shift_probabilities_are_unchanged(rng):
    proba = rng.dirichlet([0.3] * 4, size=100)
    proba[0] = [1.0, 0.0, 0.0, 0.0]
    y = draw(proba, rng)
    update = UpdateCalibrator().fit(proba, y)
    assert update.report_.choice == UpdateChoice.NONE
    assert update.predict_proba(proba) == pytest.approx(proba, rel=1e-14, abs=0)
    assert update.report_.performance.log_loss.estimate == pytest.approx(log_loss(y, proba))


def test_a_shift_of_class_frequencies_is_corrected_by_their_ratios(rng):
    # Two normal classes of equal frequency become four times as different in frequency.
    y = (rng.uniform(size=20_000) < 0.8).astype(int)
    x = rng.normal(size=20_000) + 2.0 * y
    before = 1 / (1 + np.exp(-(2.0 * x - 2.0)))
    after = 1 / (1 + np.exp(-(2.0 * x - 2.0 + np.log(0.8 / 0.2))))
    proba = np.column_stack([1 - before, before])
    update = UpdateCalibrator(n_resamples=99).fit(proba, y)
    assert update.report_.choice == UpdateChoice.INTERCEPTS
    assert np.diff(update.intercept_)[0] == pytest.approx(np.log(4.0), abs=0.06)
    assert update.predict_proba(proba)[:, 1] == pytest.approx(after, abs=0.015)


def test_corrected_probabilities_have_the_frequencies_of_the_rows_and_the_prior(rng):
    proba = rng.dirichlet([1.0] * 3, size=300)
    y = draw(shifted(proba, [1.5, 0.0, 0.0]), rng)
    update = UpdateCalibrator(n_resamples=99).fit(proba, y)
    assert update.report_.choice == UpdateChoice.INTERCEPTS
    # The score equations of the likelihood with 12 imaginary rows that follow the probabilities.
    expected = (np.bincount(y, minlength=3) + 12 * proba.mean(axis=0)) / 312
    assert update.predict_proba(proba).mean(axis=0) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("intercept", "slope", "expected"),
    [
        ([0.0, 0.0, 0.0], 0.4, UpdateChoice.SLOPE),
        ([1.0, 0.0, 0.0], 1.0, UpdateChoice.INTERCEPTS),
        ([0.0, 0.0, 0.0], [2.5, 0.2, 1.0], UpdateChoice.FULL),
    ],
)
def test_the_smallest_sufficient_update_is_chosen(rng, intercept, slope, expected):
    proba = rng.dirichlet([1.0] * 3, size=600)
    true = shifted(proba, intercept, np.asarray(slope))
    update = UpdateCalibrator(n_resamples=99).fit(proba, draw(true, rng))
    assert update.report_.choice == expected
    new = rng.dirichlet([1.0] * 3, size=4000)
    y_new = draw(shifted(new, intercept, np.asarray(slope)), rng)
    assert log_loss(y_new, update.predict_proba(new)) < log_loss(y_new, new) - 0.01
    assert (update.calibrator_ is not None) == (expected == UpdateChoice.FULL)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_rows", "n_classes", "intercept"), [(30, 3, 0.0), (60, 2, 0.0), (60, 3, 1.0)]
)
def test_going_too_far_is_as_rare_as_alpha_promises(n_rows, n_classes, intercept):
    # With 99 resamples, p < 0.1 has a probability of 0.09 if the test is exact.
    rng = np.random.RandomState(1)
    shift = np.append(intercept, np.zeros(n_classes - 1))
    right = UpdateChoice.INTERCEPTS if intercept else UpdateChoice.NONE
    n_runs, too_far = 200, 0
    for _ in range(n_runs):
        proba = rng.dirichlet([0.8] * n_classes, size=n_rows)
        y = draw(shifted(proba, shift), rng)
        update = UpdateCalibrator(TemperatureScaling(), alpha=0.1, n_resamples=99, random_state=rng)
        choice = update.fit(proba, y).report_.choice
        too_far += choice not in (UpdateChoice.NONE, right)
    # Three standard errors above 0.09.
    assert too_far / n_runs < 0.09 + 3 * (0.09 * 0.91 / n_runs) ** 0.5


def test_power_grows_with_the_number_of_rows():
    rng = np.random.RandomState(2)
    found = []
    for n_rows in (30, 300):
        chosen = []
        for _ in range(20):
            proba = rng.dirichlet([1.0] * 2, size=n_rows)
            y = draw(shifted(proba, [0.8, 0.0]), rng)
            update = UpdateCalibrator(n_resamples=39, random_state=rng).fit(proba, y)
            chosen.append(update.report_.choice != UpdateChoice.NONE)
        found.append(np.mean(chosen))
    assert found[0] < 0.7
    assert found[1] > 0.9


def test_few_rows_and_absent_classes_give_finite_moderate_corrections(rng):
    proba = rng.dirichlet([1.0] * 5, size=30)
    y = np.where(proba[:, 0] > 0.1, 0, 1)  # classes 2, 3 and 4 do not occur
    update = UpdateCalibrator().fit(proba, y)
    assert update.report_.absent_classes == (2, 3, 4)
    updated = update.predict_proba(proba)
    assert np.isfinite(updated).all()
    assert updated.min() > 0
    assert updated.sum(axis=1) == pytest.approx(np.ones(30))
    assert "Classes without new rows: 2, 3, 4." in str(update.report_)


def test_few_rows_do_not_overshoot():
    # Whatever is chosen, an update on 30 rows is better than none on average.
    rng = np.random.RandomState(5)
    excess = []
    for _ in range(30):
        proba, new = (rng.dirichlet([1.0] * 2, size=n) for n in (30, 2000))
        y = draw(shifted(proba, [1.0, 0.0]), rng)
        update = UpdateCalibrator(n_resamples=39, random_state=rng).fit(proba, y)
        right, updated = shifted(new, [1.0, 0.0]), update.predict_proba(new)
        excess.append(
            [np.mean(np.sum(right * np.log(right / each), axis=1)) for each in (new, updated)]
        )
    left, updated = np.mean(excess, axis=0)
    assert updated < 0.8 * left
    assert np.max(excess, axis=0)[1] < 2 * left


def test_rows_of_one_group_count_once_in_the_tests(rng):
    proba = rng.dirichlet([1.0] * 3, size=40)
    y = draw(shifted(proba, [0.9, 0.0, 0.0]), rng)
    once = UpdateCalibrator().fit(proba, y).report_
    copies = np.repeat(np.arange(40), 20)
    grouped = UpdateCalibrator().fit(proba[copies], y[copies], groups=copies).report_
    naive = UpdateCalibrator().fit(proba[copies], y[copies]).report_
    assert (grouped.n_rows, grouped.n_tested) == (800, 40)
    assert grouped.tests[0].statistic == pytest.approx(once.tests[0].statistic)
    assert naive.tests[0].statistic == pytest.approx(20 * once.tests[0].statistic, rel=1e-4)


def test_reports_say_what_was_chosen_and_why():
    rng = np.random.RandomState(3)
    proba = rng.dirichlet([1.0] * 3, size=300)
    unchanged = str(UpdateCalibrator(n_resamples=99).fit(proba, draw(proba, rng)).report_)
    assert unchanged.startswith("The probabilities are left as they are: 300 new rows give no ")
    y = draw(shifted(proba, 0.0, 0.3), rng)
    changed = str(UpdateCalibrator(n_resamples=99).fit(proba, y).report_)
    assert changed.startswith("A correction for class frequencies and confidence is chosen: 300 ")
    assert "p = 0.010" in changed


def test_too_few_resamples_are_refused(rng):
    with pytest.raises(ValueError, match="n_resamples must be an integer of at least 19, got 5"):
        UpdateCalibrator(n_resamples=5).fit([[0.5, 0.5], [0.4, 0.6]], [0, 1])


def test_a_single_group_is_refused():
    proba = np.full((20, 2), 0.5)
    with pytest.raises(ValueError, match="at least two groups"):
        UpdateCalibrator().fit(proba, [0, 1] * 10, groups=["a"] * 20)
