import numpy as np

from experiments.subgroups import Population, simulate_once, true_differences


def test_a_population_has_subgroups_of_decreasing_size():
    population = Population.draw(3, 4)
    counts = np.bincount(population.by)
    assert len(counts) == 4
    assert np.all(np.diff(counts) < 0)
    np.testing.assert_allclose(population.proba().sum(axis=1), 1.0)


def test_true_differences_are_those_of_the_probabilities():
    predicted = np.array([[0.6, 0.4], [0.2, 0.8], [0.5, 0.5]])
    true = np.array([[0.5, 0.5], [0.4, 0.6], [0.5, 0.5]])
    found = true_differences(predicted, true, np.array([0, 0, 1]))
    np.testing.assert_allclose(found, [[0.05, -0.05, -0.15], [0, 0, 0]], atol=1e-12)


def test_most_intervals_cover_and_few_tests_reject_without_differences():
    population = Population.draw(2, 2)
    found = np.mean([simulate_once(population, 100, seed) for seed in range(8)], axis=0)
    assert found.shape == (7,)
    assert np.all(found[:3] < 0.5)
    assert np.all(found[3:5] > 0.8)
    assert found[6] < found[5]  # shrinkage lowers the error
