import numpy as np
import pytest

from experiments.store import Run

SCENARIOS = (
    "multiclass_raw",
    "one_vs_rest_raw",
    "one_vs_rest_dgg_enir",
    "all_pairs_raw",
    "all_pairs_dgg_enir",
)


@pytest.fixture
def make_runs():
    """Made-up runs of one data set in all scenarios of the paper."""

    def make(
        sharpness=None,
        *,
        data_set="seeds",
        classifier="nb",
        protocol="proper",
        n_folds=10,
        folds=None,
        n_classes=3,
        seed=0,
    ):
        """Mix the truth into noise: by half, or in a scenario by its sharpness."""
        rng = np.random.default_rng(seed)
        names = list(SCENARIOS)
        if protocol == "as-published":
            names += [f"{name}_as_published" for name in names if name.startswith("all_pairs")]
        runs = []
        for fold in range(n_folds if folds is None else folds):
            true = rng.integers(0, n_classes, size=60)
            for scenario in names:
                share = (sharpness or {}).get(scenario, 0.5)
                noise = rng.dirichlet(np.ones(n_classes), size=60)
                runs.append(
                    Run(
                        protocol=protocol,
                        data_set=data_set,
                        classifier=classifier,
                        scenario=scenario,
                        fold=fold,
                        n_folds=n_folds,
                        seed=0,
                        implementation="sklearn",
                        versions={},
                        n_problems=1 if scenario == "multiclass_raw" else 3,
                        model_seconds=0.3,
                        calibration_seconds=6.0 if "enir" in scenario else None,
                        true=true,
                        proba=share * np.eye(n_classes)[true] + (1 - share) * noise,
                    )
                )
        return runs

    return make
