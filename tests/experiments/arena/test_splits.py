from itertools import islice

import numpy as np
import pytest

from experiments.arena.splits import N_FITS, SPLIT_KINDS

# Classes of one, two and many rows.
Y = np.repeat([0, 1, 2, 3], [1, 2, 17, 30])


def draw(kind, n_splits=20, seed=0):
    return list(islice(SPLIT_KINDS[kind](Y, np.random.RandomState(seed)), n_splits))


@pytest.mark.parametrize("kind", SPLIT_KINDS)
def test_splits_are_disjoint_cover_all_rows_and_keep_every_class_in_training(kind):
    for train, test in draw(kind, 100):
        assert not set(train) & set(test)
        assert set(train) | set(test) == set(range(len(Y)))
        assert set(Y[train]) == set(Y)


@pytest.mark.parametrize("kind", SPLIT_KINDS)
def test_fewer_splits_are_the_first_of_more(kind):
    few, many = draw(kind, 10), draw(kind, 20)
    for split, same in zip(few, many, strict=False):
        np.testing.assert_array_equal(split[0], same[0])
    assert draw(kind, 1, seed=1)[0][1].tolist() != few[0][1].tolist()


@pytest.mark.parametrize("n_folds", [2, 3, 5, 10])
def test_every_repeat_of_folds_holds_out_each_row_once(n_folds):
    splits = draw(f"{n_folds} folds", 2 * n_folds)
    for repeat in (splits[:n_folds], splits[n_folds:]):
        held_out = np.concatenate([test for _, test in repeat])
        # The only row of a class is never held out.
        assert sorted(held_out) == list(range(1, len(Y)))
    assert splits[0][1].tolist() != splits[n_folds][1].tolist()


@pytest.mark.parametrize("percentage", [50, 70, 80])
def test_monte_carlo_trains_on_its_percentage_of_the_rows(percentage):
    for train, _ in draw(f"Monte Carlo {percentage}%"):
        assert len(train) == pytest.approx(len(Y) * percentage / 100, abs=2)


def test_the_bootstrap_draws_as_many_rows_of_each_class_as_there_are():
    splits = draw("bootstrap", 200)
    for train, _ in splits:
        np.testing.assert_array_equal(np.bincount(Y[train]), np.bincount(Y))
    of_class = np.flatnonzero(Y == 3)
    left_out = np.mean([np.isin(of_class, test).mean() for _, test in splits])
    assert left_out == pytest.approx((1 - 1 / 30) ** 30, abs=0.02)


def test_every_kind_has_20_fits_up_to_whole_repeats():
    assert set(N_FITS) == set(SPLIT_KINDS)
    for kind, numbers in N_FITS.items():
        assert any(20 <= n_fits <= 21 for n_fits in numbers)
        if kind.endswith("folds"):
            n_folds = int(kind.split()[0])
            assert all(n_fits % n_folds == 0 for n_fits in numbers)
    assert N_FITS["5 folds"] == N_FITS["Monte Carlo 70%"] == (10, 20, 50)
