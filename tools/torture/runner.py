"""Running cases: each is drawn from its number, so that a broken one can be repeated."""

from __future__ import annotations

import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator, default_rng

from tools.torture import arrays, classifiers

# The kinds of cases and their proportions. Fits of classifiers take most of the time.
KINDS: dict[Callable[[Generator], str], float] = {
    arrays.torture_metric: 0.34,
    arrays.torture_combination: 0.28,
    arrays.torture_binary_calibrator: 0.2,
    arrays.torture_multiclass_calibrator: 0.07,
    arrays.torture_choosing_calibrator: 0.001,
    arrays.torture_weights: 0.05,
    arrays.torture_path: 0.05,
    classifiers.torture_classifier: 0.005,
    classifiers.torture_sklearn: 0.004,
}


@dataclass
class Outcome:
    """What was checked, and which cases broke an invariant."""

    counts: Counter[str] = field(default_factory=Counter)
    broken: dict[int, str] = field(default_factory=dict)


def run_case(number: int) -> tuple[str, str | None]:
    """Run one case and return what it checked, and the error if an invariant is broken."""
    rng = default_rng(number)
    kind = rng.choice(np.array(list(KINDS), dtype=object), p=list(KINDS.values()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return kind(rng), None
        except Exception:  # whatever it is, it breaks an invariant
            return kind.__name__, traceback.format_exc()


def run_cases(numbers: Iterable[int]) -> Outcome:
    """Run cases one after the other."""
    outcome = Outcome()
    for number in numbers:
        checked, error = run_case(number)
        outcome.counts[checked] += 1
        if error is not None:
            outcome.broken[number] = error
    return outcome
