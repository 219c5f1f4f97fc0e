"""Random cases, drawn from their numbers; ``make torture`` runs many more."""

import warnings

import numpy as np
import pytest

from tools.torture.classifiers import STRATEGIES, check_sklearn_classifier, sklearn_classifiers
from tools.torture.runner import KINDS, run_cases

N_CASES = 400


def test_random_cases_break_no_invariant(record_property):
    outcome = run_cases(range(N_CASES))
    record_property("cases", outcome.counts.total())
    print(f"{outcome.counts.total():,} random cases, {len(outcome.broken):,} broken invariants")
    assert outcome.broken == {}
    assert outcome.counts.total() == N_CASES
    assert sum(KINDS.values()) == pytest.approx(1.0)


@pytest.mark.slow
@pytest.mark.parametrize("name", sklearn_classifiers())
def test_every_classifier_of_scikit_learn_can_be_calibrated_with_every_strategy(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for strategy in (*STRATEGIES, "frozen"):
            check_sklearn_classifier(name, strategy, np.random.default_rng(0))
