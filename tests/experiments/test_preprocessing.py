import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from calibrant.datasets import load_dataset
from experiments.preprocessing import DropNearZeroVariance, paper_pipeline


def test_drops_what_hardly_varies():
    n = 200
    columns = {
        "constant": np.zeros(n),
        "nearly constant": np.r_[np.zeros(195), np.ones(5)],
        "many distinct values": np.r_[np.zeros(160), np.arange(40)],
        "balanced": np.arange(n) % 2,
        "just below the ratio": np.r_[np.zeros(190), np.ones(10)],
    }
    kept = DropNearZeroVariance().fit(np.column_stack(list(columns.values()))).get_support()
    assert dict(zip(columns, kept, strict=True)) == {
        "constant": False,
        "nearly constant": False,
        "many distinct values": True,
        "balanced": True,
        "just below the ratio": True,
    }


def test_drops_the_two_features_of_ecoli_that_ruin_naive_bayes(paper_data):
    ecoli = load_dataset("ecoli")
    selector = DropNearZeroVariance().fit(ecoli.data)
    dropped = np.array(ecoli.feature_names)[~selector.get_support()]
    assert list(dropped) == ["lip", "chg"]


def test_a_table_without_any_variation_gets_one_clear_error():
    with pytest.raises(ValueError, match=r"a feature that varies\. Got 3 that hardly do"):
        DropNearZeroVariance().fit(np.ones((10, 3)))


def test_the_pipeline_standardizes_what_is_left():
    X = np.column_stack([np.zeros(50), np.arange(50.0)])
    pipeline = paper_pipeline(GaussianNB()).fit(X, np.arange(50) % 2)
    scaled = pipeline[:-1].transform(X)
    assert scaled.shape == (50, 1)
    np.testing.assert_allclose([scaled.mean(), scaled.std()], [0, 1], rtol=0, atol=1e-12)


@parametrize_with_checks([DropNearZeroVariance()])
def test_dropping_features_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)
