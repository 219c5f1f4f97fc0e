import numpy as np
import pytest

from calibrant.metrics import measure_performance
from calibrant.validation.analysis import validate_candidates
from calibrant.validation.methods import describe_methods
from calibrant.validation.records import Candidate


@pytest.fixture(scope="module")
def rows():
    rng = np.random.RandomState(0)
    proba = rng.dirichlet([1.0] * 2, size=80)
    return (rng.uniform(size=80) < proba[:, 1]).astype(int), proba


def test_a_validation_without_a_record_of_training(rows):
    y, proba = rows
    found = describe_methods(validate_candidates([Candidate("m.skops", proba)], y, ("no", "yes")))
    n_yes = int(y.sum())
    assert found.paragraph.startswith(
        f"The probabilities of m.skops were evaluated on 80 new rows of 2 classes: no (n = "
        f"{80 - n_yes}) and yes (n = {n_yes}). These rows are assumed not to have been used"
    )
    assert "Welch" not in found.paragraph
    assert "permutation test" not in found.paragraph
    assert "updated before" not in found.paragraph
    assert any(reference.startswith("Vergouwe") for reference in found.references)


def test_comparisons_groups_and_updates_are_described(rows):
    y, proba = rows
    before = measure_performance(y, proba)
    candidates = [Candidate("a", proba, before, (40.0, 40.0)), Candidate("b", proba[:, ::-1])]
    result = validate_candidates(candidates, y, ("no", "yes"), np.arange(80) // 2)
    found = describe_methods(result, ["It was updated on 10 rows."]).paragraph
    assert "of a and b were evaluated on 80 new rows in 40 groups" in found
    assert "updated before. It was updated on 10 rows." in found
    assert "Welch's t-tests" in found
    assert "permutation test" in found
    assert "paired t-tests" in found
    assert "treat rows as independent" in found
