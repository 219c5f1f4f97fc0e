import numpy as np
import pytest

from calibrant.datasets import load_dataset, make_waveform


def test_classes_are_mixtures_of_the_three_waves():
    X, y = make_waveform(30_000, random_state=0)
    points = np.arange(1, 22)
    waves = {peak: np.maximum(6 - np.abs(points - peak), 0) for peak in (7, 11, 15)}
    for label, (one, other) in enumerate([(7, 15), (7, 11), (15, 11)]):
        np.testing.assert_allclose(
            X[y == label].mean(axis=0), (waves[one] + waves[other]) / 2, rtol=0, atol=0.08
        )
    np.testing.assert_allclose(np.bincount(y) / len(y), 1 / 3, rtol=0, atol=0.02)


def test_the_distribution_is_that_of_the_published_file(paper_data):
    published = load_dataset("waveform")
    X, y = make_waveform(50_000, random_state=0)
    for label in range(3):
        ours, theirs = X[y == label], published.data[published.target == label]
        np.testing.assert_allclose(ours.mean(axis=0), theirs.mean(axis=0), rtol=0, atol=0.2)
        np.testing.assert_allclose(ours.std(axis=0), theirs.std(axis=0), rtol=0, atol=0.15)


def test_random_state_determines_the_samples():
    one, other = make_waveform(10, random_state=3), make_waveform(10, random_state=3)
    np.testing.assert_array_equal(one[0], other[0])
    assert not np.array_equal(one[0], make_waveform(10, random_state=4)[0])


def test_fewer_than_one_sample_is_refused():
    with pytest.raises(ValueError, match=r"at least 1, got 0\. Omit it"):
        make_waveform(0)
