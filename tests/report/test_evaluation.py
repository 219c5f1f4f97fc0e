import numpy as np

from calibrant.report import Evaluation


def test_predictions_of_a_row_share_its_weight_and_are_averaged():
    evaluation = Evaluation(
        classes=("a", "b"),
        y=np.array([0, 1, 1, 0]),
        group=np.arange(4),
        row=np.array([0, 1, 3, 0, 3, 1, 3]),  # row 2 was never held out
        split=np.array([0, 0, 0, 1, 1, 2, 2]),
        n_folds=3,
        n_repeats=1,
        models=(),
        random_state=0,
    )
    assert evaluation.held_out_rows.tolist() == [0, 1, 3]
    assert evaluation.y_true.tolist() == [0, 1, 0, 0, 0, 1, 0]
    np.testing.assert_allclose(
        evaluation.sample_weight, [1 / 2, 1 / 2, 1 / 3, 1 / 2, 1 / 3, 1 / 2, 1 / 3]
    )
    values = np.array([[1.0, 0], [2, 0], [3, 1], [5, 0], [4, 1], [6, 0], [8, 4]])
    np.testing.assert_allclose(evaluation.average_by_row(values), [[3, 0], [4, 0], [5, 2]])
    assert evaluation.class_count.tolist() == [2, 2]
