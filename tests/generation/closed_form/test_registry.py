import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


class ReversedNB(GaussianNB):
    def predict_proba(self, X):
        return super().predict_proba(X)[:, ::-1]


@pytest.mark.parametrize(
    "estimator",
    [
        ReversedNB(),
        make_pipeline(StandardScaler(), ReversedNB()),
        make_pipeline(SelectKBest(k=2), GaussianNB()),
        make_pipeline(StandardScaler(), GaussianNB(), memory="cache"),
    ],
    ids=["subclass", "subclass in a pipeline", "supervised step", "cached steps"],
)
def test_other_estimators_are_left_to_refits(compare, make_rows, estimator, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    comparison = compare(estimator, *make_rows())
    assert comparison.n_refits == comparison.n_splits


def test_a_scalar_weight_is_left_to_refits(compare, make_rows):
    comparison = compare(GaussianNB(), *make_rows(), fit_params={"sample_weight": 2.0})
    assert comparison.n_refits == comparison.n_splits


@pytest.mark.parametrize("weight", [None, [1.5] * 90], ids=["none", "list"])
def test_weights_can_be_none_or_a_list(compare, make_rows, weight):
    comparison = compare(GaussianNB(), *make_rows(), fit_params={"sample_weight": weight})
    assert comparison.n_refits == 1


def test_weights_of_the_last_step_of_a_pipeline(compare, make_rows):
    X, y = make_rows()
    pipeline = make_pipeline(StandardScaler(), GaussianNB())
    weight = np.linspace(1.0, 3.0, len(y))
    fit_params = {"gaussiannb__sample_weight": weight}
    assert compare(pipeline, X, y, fit_params=fit_params).n_refits == 1
    fit_params = {"standardscaler__sample_weight": weight}
    comparison = compare(pipeline, X, y, fit_params=fit_params)
    assert comparison.n_refits == comparison.n_splits


def test_the_plain_estimator_and_a_pipeline_of_it_have_the_same_closed_form(compare, make_rows):
    for estimator in (KNeighborsClassifier(), make_pipeline(KNeighborsClassifier())):
        assert compare(estimator, *make_rows()).n_refits == 1
