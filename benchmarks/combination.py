"""Coupling of pairwise probabilities compared with solving its linear systems."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.timing import Row, Work, growth, measure
from calibrant._core.typing import FloatArray
from calibrant.combination import couple


def rows() -> Iterator[Row]:
    """Time the default coupling and its growth with the numbers of rows and classes."""
    pairwise = draw_pairwise(100_000, 10)
    systems, right_side = make_bordered_systems(pairwise)
    yield measure(
        "couple, n = 100,000, K = 10 / numpy.linalg.solve of Wu, Lin and Weng's systems",
        lambda: couple(pairwise),
        lambda: np.linalg.solve(systems, right_side),
        1.5,
        repeats=11,
    )
    yield growth(
        "growth with n: couple, K = 10", lambda n: make_coupling(n, 10), [1000, 10_000, 100_000]
    )
    # Each row has about K^2 pairs and a system that takes about K^3 operations.
    yield growth(
        "growth with K: couple, n = 5,000", lambda k: make_coupling(5000, k), [5, 10, 20, 40], 3.0
    )


def draw_pairwise(n_samples: int, n_classes: int) -> FloatArray:
    """Draw pairwise probabilities that are inconsistent with any class probabilities."""
    rng = np.random.default_rng(0)
    pairwise = rng.uniform(size=(n_samples, n_classes, n_classes))
    first, second = np.triu_indices(n_classes, 1)
    pairwise[:, second, first] = 1.0 - pairwise[:, first, second]
    return pairwise


def make_bordered_systems(pairwise: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the linear systems of the coupling, bordered by the constraint on the sum."""
    n_samples, n_classes, _ = pairwise.shape
    r = pairwise * (1.0 - np.eye(n_classes))
    systems = np.zeros((n_samples, n_classes + 1, n_classes + 1))
    systems[:, :-1, :-1] = -r * r.transpose(0, 2, 1)
    systems[:, range(n_classes), range(n_classes)] = np.einsum("nij,nij->nj", r, r)
    systems[:, -1, :-1] = systems[:, :-1, -1] = 1.0
    right_side = np.zeros((n_samples, n_classes + 1, 1))
    right_side[:, -1] = 1.0
    return systems, right_side


def make_coupling(n_samples: int, n_classes: int) -> Work:
    """Return a function that couples a given number of rows and classes."""
    pairwise = draw_pairwise(n_samples, n_classes)
    return lambda: couple(pairwise)
