"""Kinds of splits to compare: repeated folds, Monte Carlo splits and the bootstrap."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from calibrant._core.splits import make_draws, make_folds
from calibrant._core.typing import IndexArray, Split


def draw_folds(y: IndexArray, rng: np.random.RandomState, *, n_folds: int) -> Iterator[Split]:
    """Yield stratified folds, repeated indefinitely, as the default of calibrant draws them."""
    while True:
        for test in make_folds(y, None, n_folds, rng):
            yield np.flatnonzero(~test), np.flatnonzero(test)


def draw_monte_carlo(
    y: IndexArray, rng: np.random.RandomState, *, test_size: float
) -> Iterator[Split]:
    """Yield stratified random splits indefinitely."""
    for test in make_draws(y, None, test_size, rng):
        yield np.flatnonzero(~test), np.flatnonzero(test)


def draw_bootstrap(y: IndexArray, rng: np.random.RandomState, *, size: float) -> Iterator[Split]:
    """Yield bootstrap samples of each class and the rows that are not in them, indefinitely."""
    rows_by_class = [np.flatnonzero(y == label) for label in np.unique(y)]
    while True:
        train = np.concatenate(
            [rng.choice(rows, math.ceil(size * len(rows))) for rows in rows_by_class]
        )
        yield train, np.setdiff1d(np.arange(len(y)), train)


# A kind takes the classes of the rows and the source of randomness. Percentages: training rows, for
# the bootstrap with repetitions.
SPLIT_KINDS: dict[str, Callable[[IndexArray, np.random.RandomState], Iterator[Split]]] = {
    "10 folds": partial(draw_folds, n_folds=10),
    "5 folds": partial(draw_folds, n_folds=5),
    "3 folds": partial(draw_folds, n_folds=3),
    "2 folds": partial(draw_folds, n_folds=2),
    "Monte Carlo 80%": partial(draw_monte_carlo, test_size=0.2),
    "Monte Carlo 70%": partial(draw_monte_carlo, test_size=0.3),
    "Monte Carlo 50%": partial(draw_monte_carlo, test_size=0.5),
    "bootstrap": partial(draw_bootstrap, size=1.0),
    "bootstrap 150%": partial(draw_bootstrap, size=1.5),
}
# Folds are repeated as a whole, so three folds cannot have 20 fits.
N_FITS = dict.fromkeys(SPLIT_KINDS, (20,)) | {
    "5 folds": (10, 20, 50),
    "3 folds": (21,),
    "Monte Carlo 70%": (10, 20, 50),
}
