import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from calibrant.datasets import load_dataset
from experiments.preprocessing import DropNearZeroVariance, make_preprocessor, preprocess_split


def test_features_that_hardly_vary_are_dropped():
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


def test_the_two_features_of_ecoli_that_ruin_naive_bayes_are_dropped(paper_data):
    ecoli = load_dataset("ecoli")
    selector = DropNearZeroVariance().fit(ecoli.data)
    dropped = np.array(ecoli.feature_names)[~selector.get_support()]
    assert list(dropped) == ["lip", "chg"]


def test_a_table_without_any_variation_raises_a_clear_error():
    with pytest.raises(ValueError, match=r"but all 3 would be dropped"):
        DropNearZeroVariance().fit(np.ones((10, 3)))


def test_the_preprocessor_standardizes_the_features_it_keeps():
    X = np.column_stack([np.zeros(50), np.arange(50.0)])
    preprocessor = make_preprocessor().fit(X)
    scaled = preprocessor.transform(X)
    assert scaled.shape == (50, 1)
    np.testing.assert_allclose([scaled.mean(), scaled.std()], [0, 1], rtol=0, atol=1e-12)


def test_a_split_is_scaled_by_its_training_rows_and_categories_are_encoded(paper_data):
    data = load_dataset("abalone")
    train, test = np.arange(100), np.arange(100, 150)
    X, X_test = preprocess_split(data, train, test)
    # Three sexes become three columns, which are scaled like the seven numbers.
    assert X.shape == (100, 10)
    assert X_test.shape == (50, 10)
    np.testing.assert_allclose(X.mean(axis=0), 0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(X.std(axis=0), 1)
    numbers = data.data[:, 1:]
    expected = (numbers[test] - numbers[train].mean(axis=0)) / numbers[train].std(axis=0)
    np.testing.assert_allclose(X_test[:, 3:], expected)


@parametrize_with_checks([DropNearZeroVariance()])
def test_dropping_features_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)
