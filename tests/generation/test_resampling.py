from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import GroupKFold, KFold
from sklearn.naive_bayes import GaussianNB

from calibrant._core.fitting import Fitter
from calibrant._core.problems import make_problems
from calibrant._core.training_data import TrainingData
from calibrant.generation import CrossFit, MonteCarloCV, RepeatedFolds, ResampledFolds
from calibrant.generation.resampling import MOST_SPLITS
from calibrant.strategies import AllPairs, Direct, OneVsRest


def make_rows(counts, seed=0):
    y = np.repeat(np.arange(len(counts)), counts)
    X = np.random.default_rng(seed).normal(size=(len(y), 3)) + y[:, None]
    return X, y


def make_data(X, y, *, weight=None, groups=None):
    weight = np.ones(len(y)) if weight is None else weight
    split_params = {} if groups is None else {"groups": groups}
    return TrainingData(X, y, np.unique(y), weight, groups, split_params=split_params)


def problems_of(y, strategy=None, weight=None):
    data = make_data(None, y, weight=weight)
    code = (strategy or OneVsRest()).code(data.n_classes, np.random.RandomState(0))
    return make_problems(code, data)


def splits_of(generator, X, y, *, groups=None, seed=0):
    return generator.splits(make_data(X, y, groups=groups), np.random.RandomState(seed))


def generate(generator, X, y, *, strategy=None, weight=None, groups=None, n_jobs=None):
    data = make_data(X, y, weight=weight, groups=groups)
    fitter = Fitter(GaussianNB(), data, np.random.RandomState(0), n_jobs)
    return generator.generate(fitter, problems_of(y, strategy, weight), ()).held_out


@pytest.mark.parametrize("counts", [[50, 30, 20], [100, 7], [40, 2, 3, 1], [3, 3, 3, 3]])
@pytest.mark.parametrize("test_size", [0.1, 0.3, 0.6])
def test_draws_hold_out_the_right_proportion_and_keep_every_class_in_training(counts, test_size):
    X, y = make_rows(counts)
    count = np.array(counts)
    held_out = np.zeros(len(counts))
    sizes = set()
    for train, test in islice(splits_of(MonteCarloCV(test_size=test_size), X, y), 400):
        assert len(np.intersect1d(train, test)) == 0
        assert len(train) + len(test) == len(y)
        assert (np.bincount(y[train], minlength=len(counts)) >= 1).all()
        held_out += np.bincount(y[test], minlength=len(counts))
        sizes.add(len(test))
    splittable = count > 1
    assert held_out[~splittable].sum() == 0
    if test_size <= 0.5:
        # Stratified: on average, each class is held out in proportion.
        total = max(1, int(test_size * count[splittable].sum()))
        expected = total * count / count[splittable].sum()
        np.testing.assert_allclose(
            (held_out / 400)[splittable], expected[splittable], rtol=0, atol=0.15
        )
        assert sizes == {total}


def test_published_number_of_splits():
    # T = ceil(5000 / floor(0.3 n)) for a problem of n rows.
    X, y = make_rows([100, 100, 100])
    parts = MonteCarloCV().problem_splits(splits_of(MonteCarloCV(), X, y), problems_of(y))
    assert [len(own) for own in parts] == [56, 56, 56]


def test_problems_with_fewer_rows_use_more_of_the_same_splits():
    X, y = make_rows([100, 50, 30])
    problems = problems_of(y, AllPairs())
    parts = MonteCarloCV().problem_splits(splits_of(MonteCarloCV(), X, y), problems)
    splits = list(islice(splits_of(MonteCarloCV(), X, y), max(map(len, parts))))
    for problem, own in zip(problems, parts, strict=True):
        assert sum(len(part.test) for part in own) >= 5000
        assert sum(len(part.test) for part in own[:-1]) < 5000
        for part, (train, test) in zip(own, splits, strict=False):
            np.testing.assert_array_equal(part.test, np.intersect1d(test, problem.rows))
            np.testing.assert_array_equal(part.train, np.intersect1d(train, problem.rows))


def test_repeated_splits_are_fitted_only_once():
    # One of four rows is held out: there are four splits, however many points are asked for.
    X, y = make_rows([2, 2])
    parts = MonteCarloCV().problem_splits(splits_of(MonteCarloCV(), X, y), problems_of(y))
    assert sorted(part.test.tolist() for part in parts[0]) == [[0], [1], [2], [3]]
    assert sum(part.times for part in parts[0]) == MOST_SPLITS
    assert len(list(splits_of(MonteCarloCV(), X, y))) == MOST_SPLITS


def test_classes_that_share_their_only_group_stay_in_training():
    X, y = make_rows([30, 30, 5, 5])
    groups = np.where(y >= 2, "lab", np.arange(len(y)).astype(str))
    for train, test in islice(splits_of(MonteCarloCV(), X, y, groups=groups), 50):
        assert set(y[train]) == {0, 1, 2, 3}
        assert len(test) > 0


def test_groups_of_very_different_sizes_are_held_out_in_about_the_right_proportion():
    X, y = make_rows([50, 50])
    groups = np.where(np.arange(100) < 5, np.arange(100), 99)
    groups[95:] = np.arange(95, 100)
    sizes = [len(test) for _, test in islice(splits_of(MonteCarloCV(), X, y, groups=groups), 50)]
    assert np.mean(np.array(sizes) <= 30) > 0.5


@pytest.mark.parametrize("as_mask", [True, False])
@pytest.mark.parametrize("kind", [list, np.array])
def test_splits_may_be_lists_or_masks(as_mask, kind):
    X, y = make_rows([20, 20])
    fold = np.arange(40) % 2 == 0
    parts = (fold, ~fold) if as_mask else (np.flatnonzero(fold), np.flatnonzero(~fold))
    (points,) = generate(CrossFit([tuple(kind(part) for part in parts)]), X, y)
    assert len(points.score) == 20


@pytest.mark.parametrize(
    ("splits", "message"),
    [
        ([], r"at least one split, got none"),
        ([1, 2, 3], r"pairs of row numbers, got 1"),
        ([([0, 1], [50])], "row numbers from 0 to 39"),
        ([([0.5], [1.0])], "row numbers from 0 to 39"),
        ([(np.arange(40), np.arange(-40, 0))], "row numbers from 0 to 39"),
        ([(np.arange(40), np.arange(40))], "40 rows in both"),
    ],
)
def test_invalid_splits_raise_a_clear_error(splits, message):
    X, y = make_rows([20, 20])
    with pytest.raises(ValueError, match=message):
        generate(CrossFit(splits), X, y)


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
def test_splits_that_divide_a_group_are_refused():
    X, y = make_rows([20, 20])
    groups = np.arange(40) // 4
    with pytest.raises(ValueError, match=r"must keep groups together, got a split with training"):
        generate(CrossFit(KFold(4, shuffle=True)), X, y, groups=groups)
    splits = list(KFold(4, shuffle=True).split(X))
    with pytest.raises(ValueError, match="must keep groups together"):
        generate(CrossFit(splits), X, y, groups=groups)


def test_scores_come_from_models_not_fitted_on_the_row():
    X, y = make_rows([30, 30, 30])
    (points, *_) = generate(CrossFit(3), X, y)
    expected = np.empty(len(y))
    rows = []
    for train, test in splits_of(CrossFit(3), X, y):
        model = GaussianNB().fit(X[train], y[train] == 0)
        expected[test] = model.predict_proba(X[test])[:, 1]
        rows.append(test)
    rows = np.concatenate(rows)
    np.testing.assert_array_equal(np.sort(rows), np.arange(len(y)))
    np.testing.assert_allclose(points.score, expected[rows])
    np.testing.assert_array_equal(points.target, y[rows] == 0)


def test_dgg_groups_what_dg_generates():
    X, y = make_rows([40, 60])
    (plain,) = generate(MonteCarloCV(group_size=None), X, y)
    (grouped,) = generate(MonteCarloCV(), X, y)
    assert len(plain) >= 5000
    np.testing.assert_array_equal(plain.score, grouped.score)
    assert len(plain.points()[0]) == len(plain)
    assert len(grouped.points()[0]) == len(plain) // 100 == 50


@pytest.mark.usefixtures("always_start_workers")
@pytest.mark.parametrize("generator", [MonteCarloCV(n_points=500), CrossFit(4)], ids=repr)
def test_result_does_not_depend_on_the_number_of_jobs(generator):
    X, y = make_rows([30, 30, 30])
    serial = generate(generator, X, y)
    parallel = generate(generator, X, y, n_jobs=2)
    for one, other in zip(serial, parallel, strict=True):
        np.testing.assert_array_equal(one.score, other.score)
        np.testing.assert_array_equal(one.target, other.target)


@given(st.lists(st.integers(1, 12), min_size=2, max_size=5).filter(lambda c: sum(c) > len(c)))
def test_folds_hold_out_every_row_of_a_repeated_class_once(counts):
    X, y = make_rows(counts)
    seen = np.zeros(len(y))
    for train, test in splits_of(CrossFit(min(5, len(y))), X, y):
        assert (np.bincount(y[train], minlength=len(counts)) >= 1).all()
        seen[test] += 1
    np.testing.assert_array_equal(seen, np.array(counts)[y] > 1)


def test_more_folds_than_groups_raise_a_clear_error():
    X, y = make_rows([10, 10])
    with pytest.raises(ValueError, match=r"at most the number of groups, 3, got 5"):
        next(splits_of(CrossFit(5), X, y, groups=np.arange(20) % 3))


@pytest.mark.parametrize("generator", [MonteCarloCV(), CrossFit(4), CrossFit(GroupKFold(4))])
def test_no_group_is_both_trained_on_and_scored(generator):
    X, y = make_rows([60, 60, 60])
    groups = np.random.default_rng(0).integers(0, 20, size=len(y))
    for train, test in islice(splits_of(generator, X, y, groups=groups), 50):
        assert len(test) > 0
        assert len(np.intersect1d(groups[train], groups[test])) == 0
        assert set(y[train]) == {0, 1, 2}


@pytest.mark.parametrize("generator", [MonteCarloCV(), CrossFit(5)], ids=repr)
def test_a_class_in_one_group_stays_in_training(generator):
    X, y = make_rows([30, 30, 2])
    groups = np.where(y == 2, "lab", np.arange(len(y)).astype(str))
    for train, _ in islice(splits_of(generator, X, y, groups=groups), 50):
        assert set(y[train]) == {0, 1, 2}


@pytest.mark.parametrize("counts", [[4, 4], [4, 4, 4], [3, 3, 3]])
def test_repeated_splits_count_repeatedly(counts):
    X, y = make_rows(counts)
    for points in generate(MonteCarloCV(), X, y):
        # Enough points for several groups, however few distinct splits there are.
        assert len(points.points()[0]) >= 10
        assert points.sample_weight.sum() >= 1000


def test_few_groups_still_yield_enough_points():
    X, y = make_rows([50, 50, 50])
    groups = np.random.default_rng(0).permutation(150) % 5
    for points in generate(MonteCarloCV(), X, y, groups=groups):
        assert points.sample_weight.sum() >= 5000
        assert len(points.points()[0]) >= 50


def test_group_folds_ignore_rows_of_weight_zero():
    X, y = make_rows([30, 30, 30])
    groups = np.random.default_rng(1).permutation(90) // 3
    weight = np.random.default_rng(0).integers(0, 2, size=90).astype(float)
    kept = np.flatnonzero(weight)
    weighted = generate(CrossFit(4), X, y, weight=weight, groups=groups)
    removed = generate(CrossFit(4), X[kept], y[kept], groups=groups[kept])
    for one, other in zip(weighted, removed, strict=True):
        np.testing.assert_allclose(one.score, other.score)


def test_splits_without_one_side_in_training_are_skipped():
    X, y = make_rows([20, 20, 20])
    by_class = [(np.flatnonzero(y != k), np.flatnonzero(y == k)) for k in range(3)]
    points = generate(CrossFit(by_class), X, y)
    # Where class k is held out, nothing can be trained for its own problem.
    for k, own in enumerate(points):
        assert len(own.score) == 40
        assert own.target.sum() == 0, k


def test_rows_of_weight_zero_are_ignored():
    X, y = make_rows([30, 30, 30])
    weight = np.random.default_rng(0).integers(0, 2, size=len(y)).astype(float)
    kept = np.flatnonzero(weight)
    weighted = generate(MonteCarloCV(300), X, y, weight=weight)
    removed = generate(MonteCarloCV(300), X[kept], y[kept])
    for one, other in zip(weighted, removed, strict=True):
        np.testing.assert_allclose(one.score, other.score)
        np.testing.assert_allclose(one.target, other.target)


def test_any_splitter_is_accepted():
    X, y = make_rows([30, 30])
    (points,) = generate(CrossFit(KFold(5, shuffle=True)), X, y)
    assert len(points.score) == 60


@pytest.mark.parametrize(("n_rows", "repeats"), [(60, 4), (400, 3), (1000, 1), (1200, 1)])
def test_folds_are_repeated_if_there_are_few_rows(n_rows, repeats):
    X, y = make_rows([n_rows // 2, n_rows // 2])
    splits = list(splits_of(RepeatedFolds(), X, y))
    assert len(splits) == 5 * repeats
    held_out = np.concatenate([test for _, test in splits])
    np.testing.assert_array_equal(np.bincount(held_out), repeats)
    if repeats > 1:
        assert set(splits[0][1]) != set(splits[5][1])


def test_repeated_folds_keep_groups_together():
    X, y = make_rows([30, 30])
    groups = np.arange(60) % 4
    splits = list(splits_of(RepeatedFolds(), X, y, groups=groups))
    assert len(splits) == 4 * 4
    for train, test in splits:
        assert not set(groups[train]) & set(groups[test])


@pytest.mark.parametrize("groups", [None, np.arange(40) // 2])
def test_resampled_folds_hold_out_every_row_once_per_repeat(groups):
    X, y = make_rows([20, 20])
    splits = list(splits_of(ResampledFolds(4, 3), X, y, groups=groups))
    assert len(splits) == 4 * 3
    for number, (train, test) in enumerate(splits):
        distinct = np.unique(train)
        np.testing.assert_array_equal(np.sort(np.r_[distinct, test]), np.arange(40))
        times = 2 if number // 4 == 1 else 1  # the second repeat is resampled
        np.testing.assert_array_equal(np.bincount(y[train]), times * np.bincount(y[distinct]))
        assert groups is None or not set(groups[train]) & set(groups[test])
    held_out = np.concatenate([test for _, test in splits])
    np.testing.assert_array_equal(np.bincount(held_out), 3)


def test_scores_of_resampled_folds_only_vote():
    X, y = make_rows([20, 20])
    data = make_data(X, y)
    fitter = Fitter(GaussianNB(), data, np.random.RandomState(0))
    models = [GaussianNB().fit(X, y)]
    generated = ResampledFolds(4, 3).generate(fitter, problems_of(y, Direct()), models, 12)
    (points,) = generated.held_out
    assert len(generated.voters[0]) == 12
    np.testing.assert_array_equal(np.bincount(points.rows), 2)
    splits = list(splits_of(ResampledFolds(4, 3), X, y))
    votes = np.zeros((40, 2))
    for train, test in splits:
        proba = GaussianNB().fit(X[train], y[train]).predict_proba(X[test])
        votes[test] += proba / 3
        if len(np.unique(train)) == len(train):
            mine = np.isin(points.rows, test)
            assert any(np.allclose(points.score[mine][i], proba[0]) for i in range(mine.sum()))
    np.testing.assert_allclose(points.vote, votes[points.rows])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_folds": 1}, "n_folds must be an integer of at least 2, got 1. Use 4"),
        ({"n_repeats": 0}, "n_repeats must be an integer of at least 1, got 0. Use 5"),
        ({"n_repeats": 2.5}, "got 2.5"),
    ],
)
def test_invalid_resampled_folds_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        ResampledFolds(**options)


def test_a_multiclass_problem_counts_each_row_once_however_often_it_was_scored():
    X, y = make_rows([20, 20, 1])
    weight = np.random.default_rng(0).integers(0, 4, size=41).astype(float)
    weight[[0, 20, 40]] = 1.0
    for generator in (RepeatedFolds(), MonteCarloCV(500), ResampledFolds()):
        (points,) = generate(generator, X, y, strategy=Direct(), weight=weight)
        assert points.score.shape == (len(points.rows), 3)
        total = np.bincount(points.rows, points.sample_weight, minlength=41)
        seen = np.bincount(points.rows, minlength=41) > 0
        np.testing.assert_allclose(total[seen], weight[seen])
        # The lone row of the third class stays in training.
        np.testing.assert_array_equal(seen, (weight > 0) & (y < 2))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MonteCarloCV(n_points=50), r"at least group_size \(100\), got 50\. Lower"),
        (
            lambda: MonteCarloCV(n_points=0, group_size=None),
            "n_points must be an integer of at least 1, got 0",
        ),
        (lambda: MonteCarloCV(n_points=300.5), "integer of at least 1, got 300.5"),
        (lambda: MonteCarloCV(test_size=1.0), "between 0 and 1, got 1.0"),
        (lambda: MonteCarloCV(test_size="a"), "between 0 and 1, got 'a'"),
        (
            lambda: MonteCarloCV(group_size=0),
            "group_size must be an integer of at least 1, got 0",
        ),
        (lambda: MonteCarloCV(group_size=20.5), "integer of at least 1, got 20.5"),
        (lambda: CrossFit(1), "at least 2 folds, got 1"),
        (lambda: CrossFit("loo"), "cv must be a number of folds.* got 'loo'"),
    ],
)
def test_invalid_generators_raise_a_clear_error(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_more_folds_than_rows_raise_a_clear_error():
    X, y = make_rows([3, 3])
    with pytest.raises(ValueError, match=r"at most the number of rows, 6, got 7"):
        list(splits_of(CrossFit(7), X, y))


def test_a_single_group_raises_a_clear_error():
    X, y = make_rows([3, 3])
    with pytest.raises(ValueError, match=r"at least two groups, got 1"):
        next(splits_of(MonteCarloCV(), X, y, groups=np.array(["a"] * 6)))


@pytest.mark.parametrize("grouped", [False, True])
def test_splits_do_not_depend_on_the_names_of_the_classes(grouped):
    rng = np.random.RandomState(0)
    y = rng.choice(4, size=50, p=[0.5, 0.3, 0.1, 0.1])
    X, groups = rng.normal(size=(50, 2)), rng.randint(12, size=50) if grouped else None
    for generator in (MonteCarloCV(), RepeatedFolds(), ResampledFolds()):
        first, renamed = (
            list(islice(splits_of(generator, X, labels, groups=groups), 20))
            for labels in (y, np.array([2, 0, 3, 1])[y])
        )
        for one, other in zip(first, renamed, strict=True):
            np.testing.assert_array_equal(one[0], other[0])
            np.testing.assert_array_equal(one[1], other[1])
