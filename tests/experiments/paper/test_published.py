import numpy as np
import pytest

from calibrant.datasets import dataset_names, load_dataset
from experiments.paper.methods import METHODS
from experiments.paper.published import published_folds, published_value
from experiments.store import Case


def test_published_values_and_dashes():
    faulty = METHODS["all_pairs_raw_as_published"]
    assert published_value(Case("nb", "seeds"), faulty, "LL").value == 0.848
    assert published_value(Case("nb", "steel"), METHODS["all_pairs_raw"], "MSE").value is None
    significant = published_value(Case("rf", "pendigits"), METHODS["one_vs_rest_dgg_enir"], "LL")
    assert significant.is_significant


@pytest.mark.parametrize("name", dataset_names())
def test_published_folds_are_a_stratified_partition(name, paper_data):
    y = load_dataset(name).target
    seen = np.zeros(len(y), dtype=int)
    for train, test in published_folds(name):
        assert len(np.intersect1d(train, test)) == 0
        assert len(train) + len(test) == len(y)
        seen[test] += 1
        share = np.bincount(y[test], minlength=y.max() + 1) / np.bincount(y)
        # Folds of small classes differ by a row or two, as caret assigns them.
        assert (np.abs(share - 0.1) * np.bincount(y) < 2.5).all()
    assert (seen == 1).all()
