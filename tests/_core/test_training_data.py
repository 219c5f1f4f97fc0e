import numpy as np

from calibrant._core.training_data import TrainingData


def test_row_counts_are_weighted_or_ignore_rows_of_weight_zero():
    y, weight = np.array([0, 0, 2, 2]), np.array([1.0, 0.0, 2.0, 0.5])
    data = TrainingData(np.zeros((4, 1)), y, np.array(["a", "b", "c"]), weight)
    assert data.n_classes == 3
    np.testing.assert_array_equal(data.rows, [0, 2, 3])
    np.testing.assert_array_equal(data.class_count, [1.0, 0.0, 2.5])
    np.testing.assert_array_equal(data.row_count, [1, 0, 2])
