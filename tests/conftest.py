import json
import os
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import settings
from threadpoolctl import threadpool_info

from calibrant._core import merging
from calibrant.datasets import dataset_names
from calibrant.datasets.storage import configured_folder, provide_datasets

# The raw data files of the paper are next to the checkout or in the folder CALIBRANT_DATA.
BESIDE_CHECKOUT = Path(__file__).parents[2] / "shared" / "data"
if "CALIBRANT_DATA" not in os.environ and BESIDE_CHECKOUT.is_dir():
    os.environ["CALIBRANT_DATA"] = str(BESIDE_CHECKOUT)

# The scripts that write the golden files require packages that the tests do not.
collect_ignore_glob = ["golden/*.py"]

# On a busy machine, the time that an example takes is not informative.
settings.register_profile("calibrant", deadline=None)
settings.load_profile("calibrant")


def pytest_report_header() -> str:
    """Name the BLAS kernels in use, since rounding differs between them."""
    kernels = {
        f"{library['internal_api']} {library.get('architecture', '')}".strip()
        for library in threadpool_info()
        if library["user_api"] == "blas"
    }
    return f"linear algebra: {', '.join(sorted(kernels)) or 'unknown to threadpoolctl'}"


@pytest.fixture(scope="session")
def peers():
    """Results of other packages for the same scores, written by golden/make_peers.py."""
    path = Path(__file__).parent / "golden" / "peers.json"
    return {
        family: {case["name"]: case for case in cases}
        for family, cases in json.loads(path.read_text()).items()
    }


@pytest.fixture(scope="session")
def paper_data() -> None:
    """Skip if the raw data files, which are not part of the repository, are not available."""
    try:
        provide_datasets(dataset_names())
    except OSError as error:
        if configured_folder():
            raise
        pytest.skip(f"the paper's data files are not here: {error}")


@pytest.fixture
def always_start_workers(monkeypatch):
    """Run fits in workers even if they take less time than starting workers does."""
    monkeypatch.setattr("calibrant._core.fitting.WORKER_START_SECONDS", 0.0)


@pytest.fixture
def unprivileged():
    """Return a context in which files without permission cannot be read, even by the superuser."""

    @contextmanager
    def context():
        if os.geteuid() != 0:
            yield
            return
        os.seteuid(65534)
        try:
            yield
        finally:
            os.seteuid(0)

    return context


@pytest.fixture(scope="module", params=["python", "compiled"])
def each_kernel(request):
    """Run a module's tests with either kernel of the near-isotonic path."""
    if request.param == "compiled" and merging.KERNEL != "compiled":
        missing = "the compiled kernel is not built: python setup.py build_ext --inplace"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merging, "KERNEL", request.param)
        yield request.param


@pytest.fixture(scope="session")
def make_evaluation():
    """Make held-out predictions of overconfident models; calibrated, they are the truth."""
    import numpy as np

    from calibrant.report import Evaluation, ModelEvaluation

    def make(classes, n_rows=240, n_models=2, n_folds=4, n_repeats=1, seed=0):
        rng = np.random.RandomState(seed)
        truth = rng.dirichlet(np.full(len(classes), 0.6), n_rows)
        y = np.array([rng.choice(len(classes), p=row) for row in truth])
        folds = [np.arange(n_rows) * (1 + repeat) % n_folds for repeat in range(n_repeats)]
        row = np.concatenate([np.argsort(fold, kind="stable") for fold in folds])
        split = np.concatenate([n_folds * i + np.sort(fold) for i, fold in enumerate(folds)])
        models = []
        for power in 3.0 + np.arange(n_models):
            sharpened = np.maximum(truth, 1e-6) ** power
            sharpened /= sharpened.sum(axis=1, keepdims=True)
            models.append(ModelEvaluation(f"model {power:.0f}", sharpened[row], truth[row]))
        return Evaluation(
            classes=tuple(classes),
            y=y,
            group=np.arange(n_rows),
            row=row,
            split=split,
            n_folds=n_folds,
            n_repeats=n_repeats,
            models=tuple(models),
            random_state=seed,
        )

    return make
