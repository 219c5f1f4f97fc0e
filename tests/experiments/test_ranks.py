import numpy as np
import pytest

from experiments.paper.losses import Measures
from experiments.ranks import draw_ranks, never_failed, scenario_losses


def test_scenarios_have_their_log_loss_on_every_finished_data_set(make_runs):
    runs = make_runs() + make_runs(data_set="ecoli", seed=1) + make_runs(data_set="heart", folds=1)
    measures = Measures(runs, "equations")
    losses, names = scenario_losses(measures)
    assert losses.shape == (2, 5)
    assert names[0] == "multi-class raw"
    assert losses[1, 0] == pytest.approx(
        measures.mean("nb", "seeds", "multiclass_raw", "LL"), abs=1e-6
    )


def test_a_method_that_failed_once_is_left_out():
    losses, names = never_failed(np.array([[1.0, np.nan, 3.0], [1.0, 2.0, 3.0]]), ["a", "b", "c"])
    assert names == ["a", "c"]
    np.testing.assert_array_equal(losses, [[1.0, 3.0], [1.0, 3.0]])


def test_ranks_are_drawn(tmp_path):
    losses = np.array([[0.3, 0.2, 0.1, np.nan], [0.3, 0.1, 0.2, 0.1]])
    draw_ranks(losses, ["raw", "auto", "temperature", "sometimes"], tmp_path / "ranks.png")
    assert (tmp_path / "ranks.png").stat().st_size > 1000
