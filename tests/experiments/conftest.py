import numpy as np
import pytest

from experiments.paper.methods import CORRECT_METHODS, METHODS
from experiments.store import Run

N_ROWS = 60


@pytest.fixture
def make_run():
    """Make one run of arbitrary probabilities; fields can be given by name."""

    def make(**fields):
        rng = np.random.default_rng(fields.get("fold", 0))
        defaults = {
            "experiment": "paper",
            "data_set": "seeds",
            "classifier": "nb",
            "method": "multiclass_raw",
            "fold": 0,
            "n_folds": 10,
            "seed": 7,
            "implementation": "sklearn",
            "versions": {"numpy": "2"},
            "n_problems": 3,
            "model_seconds": 0.5,
            "calibration_seconds": None,
            "y_true": rng.integers(0, 3, size=20),
            "proba": rng.dirichlet(np.ones(3), size=20),
        }
        return Run(**defaults | fields)

    return make


@pytest.fixture
def make_paper_runs(make_run):
    """Make runs of all of the paper's methods in one case."""

    def make(
        sharpness=None,
        *,
        data_set="seeds",
        classifier="nb",
        experiment="paper",
        n_folds=10,
        folds=None,
        n_classes=3,
        seed=0,
    ):
        """Mix the true classes into noise: by half, or by a method's sharpness."""
        rng = np.random.default_rng(seed)
        methods = METHODS if experiment == "as-published" else CORRECT_METHODS
        runs = []
        for fold in range(n_folds if folds is None else folds):
            y_true = rng.integers(0, n_classes, size=N_ROWS)
            for name, method in methods.items():
                share = (sharpness or {}).get(name, 0.5)
                noise = rng.dirichlet(np.ones(n_classes), size=N_ROWS)
                runs.append(
                    make_run(
                        experiment=experiment,
                        data_set=data_set,
                        classifier=classifier,
                        method=name,
                        fold=fold,
                        n_folds=n_folds,
                        n_problems=1 if name == "multiclass_raw" else 3,
                        model_seconds=0.3,
                        calibration_seconds=6.0 if method.is_calibrated else None,
                        y_true=y_true,
                        proba=share * np.eye(n_classes)[y_true] + (1 - share) * noise,
                    )
                )
        return runs

    return make


@pytest.fixture
def paper_losses():
    """Compute the losses of runs of the paper's experiment, with all of its methods."""
    from experiments.paper.losses import PaperLosses
    from experiments.registry import EXPERIMENTS

    def make(runs, definition="published"):
        return PaperLosses(runs, EXPERIMENTS[runs[0].experiment].methods, definition)

    return make
