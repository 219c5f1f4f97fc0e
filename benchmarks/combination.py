"""Coupling beside the bare solution of its linear systems."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Row, Work, growth, measure
from calibrant.combination import couple

FloatArray = NDArray[np.float64]


def rows() -> Iterator[Row]:
    """Time the default coupling, and its growth with the rows and with the classes."""
    R = pairwise(100_000, 10)
    system, constant = bordered_systems(R)
    yield measure(
        "couple, n = 100,000, K = 10 / numpy.linalg.solve of Wu, Lin and Weng's systems",
        lambda: couple(R),
        lambda: np.linalg.solve(system, constant),
        1.5,
        repeats=11,
    )
    yield growth(
        "growth with n: couple, K = 10", lambda n: couple_of(n, 10), [1000, 10_000, 100_000]
    )
    # Each row has K^2 pairs, and its system takes K^3 steps.
    yield growth(
        "growth with K: couple, n = 5,000", lambda k: couple_of(5000, k), [5, 10, 20, 40], 3.0
    )


def pairwise(n_samples: int, n_classes: int) -> FloatArray:
    """Return pairwise probabilities that contradict each other."""
    rng = np.random.default_rng(0)
    R = rng.uniform(size=(n_samples, n_classes, n_classes))
    first, second = np.triu_indices(n_classes, 1)
    R[:, second, first] = 1.0 - R[:, first, second]
    return R


def bordered_systems(R: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the linear systems of the coupling, with one equation more than classes."""
    n_samples, n_classes, _ = R.shape
    r = R * (1.0 - np.eye(n_classes))
    system = np.zeros((n_samples, n_classes + 1, n_classes + 1))
    system[:, :-1, :-1] = -r * r.transpose(0, 2, 1)
    system[:, range(n_classes), range(n_classes)] = np.einsum("nij,nij->nj", r, r)
    system[:, -1, :-1] = system[:, :-1, -1] = 1.0
    constant = np.zeros((n_samples, n_classes + 1, 1))
    constant[:, -1] = 1.0
    return system, constant


def couple_of(n_samples: int, n_classes: int) -> Work:
    """Return the coupling of so many rows and classes."""
    R = pairwise(n_samples, n_classes)
    return lambda: couple(R)
