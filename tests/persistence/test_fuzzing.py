"""A bounded run of the fuzzer; ``make fuzz`` runs 20,000 files of every supported model."""

import sys

import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC

from calibrant import CalibratedClassifier

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs limits of Linux")
MODELS = [
    GaussianNB(),
    SVC(),
    KNeighborsClassifier(),
    RandomForestClassifier(3, max_depth=3, random_state=0),
    GradientBoostingClassifier(n_estimators=2, random_state=0),
    HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=5, categorical_features=[0]),
    make_pipeline(
        make_column_transformer((OneHotEncoder(handle_unknown="ignore"), [0, 1])), GaussianNB()
    ).set_params(columntransformer__sparse_threshold=0.0),
    CalibratedClassifier(GaussianNB(), method="matrix", cv=2, random_state=0),
]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    from tests.persistence.fuzzing import Fitted, save_one
    from tests.persistence.zoo import X, Y

    path = tmp_path_factory.mktemp("fuzzing") / "model.skops"
    return [
        save_one(Fitted(type(model).__name__, clone(model).fit(X, Y), X), path) for model in MODELS
    ]


def unacceptable(outcomes):
    from tests.persistence.fuzzing import ACCEPTABLE

    return [outcome for outcome in outcomes if outcome[0] not in ACCEPTABLE]


def test_mutated_files_are_refused_or_predict_finite_numbers(saved):
    from tests.persistence.fuzzing import FINITE, REFUSED, fuzz

    outcomes = fuzz(saved, 400, seed=2)
    assert unacceptable(outcomes) == []
    assert {REFUSED, FINITE} <= {outcome for outcome, _ in outcomes}


def test_forged_files_are_refused_or_predict_finite_numbers(saved):
    from tests.persistence.fuzzing import run_forgeries

    cases, outcomes = run_forgeries(saved)
    assert len(cases) > 100
    assert unacceptable(outcomes) == []


def test_the_fuzzer_notices_crashes_hangs_and_memory(saved):
    from tests.persistence import fuzzing

    # What is wrong is in the rows here, since no file does it.
    class Rows:
        def __init__(self, action):
            self.action = action

        def __array__(self, *args, **kwargs):
            return eval(self.action)

    actions = {
        fuzzing.CRASHED: "__import__('os').kill(__import__('os').getpid(), 9)",
        fuzzing.NO_MEMORY: "__import__('numpy').ones((2**28, 4))",
        fuzzing.RAISED: "1 / 0",
    }
    cases = [fuzzing.Case("", saved[0].content, Rows(action)) for action in actions.values()]
    outcomes = fuzzing.run(len(cases), cases.__getitem__)
    assert [outcome for outcome, _ in outcomes] == list(actions)
