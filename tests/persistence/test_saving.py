import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.cluster import Birch
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, RepeatedStratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

from calibrant import CalibratedClassifier, calibrators, load, save
from calibrant._core.registries import CALIBRATORS
from calibrant.generation import CrossFit, MonteCarloCV, OutOfBag, RepeatedFolds
from calibrant.persistence import read_info
from calibrant.strategies import STRATEGIES, OutputCode

# One process loads all files, since each would take a second to start.
PREDICT_ALL = """
import sys
from pathlib import Path
import numpy as np
from calibrant import load
folder = Path(sys.argv[1])
rows = np.load(folder / "rows.npy")
for file in sorted(folder.glob("*.skops")):
    np.save(file.with_suffix(".npy"), load(file).predict_proba(rows))
"""


@pytest.fixture
def save_and_load(tmp_path):
    def save_and_load(model):
        save(model, tmp_path / "model.skops")
        return load(tmp_path / "model.skops")

    return save_and_load


def combinations():
    for strategy in STRATEGIES:
        binary = STRATEGIES[strategy]().binary
        for method in [None, *CALIBRATORS]:
            calibrator = None if method is None else CALIBRATORS[method]()
            if not (binary and method != "auto" and hasattr(calibrator, "predict_proba")):
                yield strategy, method


def test_every_method_and_strategy_predicts_the_same_bits_in_a_new_process(waveform, tmp_path):
    X, y, new = waveform
    np.save(tmp_path / "rows.npy", new)
    proba = {}
    for strategy, method in combinations():
        model = CalibratedClassifier(
            GaussianNB(), method=method, strategy=strategy, cv=3, random_state=0
        ).fit(X, y)
        save(model, tmp_path / f"{strategy}-{method}.skops")
        proba[f"{strategy}-{method}"] = model.predict_proba(new)
    subprocess.run([sys.executable, "-c", PREDICT_ALL, str(tmp_path)], check=True)
    assert len(proba) > 30
    for name, expected in proba.items():
        np.testing.assert_array_equal(np.load(tmp_path / f"{name}.npy"), expected, err_msg=name)


CLASSIFIERS = [
    SVC(),
    LogisticRegression(max_iter=1000),
    KNeighborsClassifier(algorithm="brute"),
    KNeighborsClassifier(algorithm="kd_tree"),
    KNeighborsClassifier(algorithm="ball_tree"),
    RandomForestClassifier(5),
    GradientBoostingClassifier(n_estimators=3),
    HistGradientBoostingClassifier(max_iter=3),
    GaussianProcessClassifier(),
    make_pipeline(StandardScaler(), GaussianNB()),
]


@pytest.mark.parametrize("frozen", [False, True], ids=["refitted", "frozen"])
@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=lambda model: type(model).__name__)
def test_calibrated_classifiers_predict_the_same(waveform, save_and_load, estimator, frozen):
    X, y, new = waveform
    if frozen:
        estimator = FrozenEstimator(clone(estimator).fit(X, y))
    model = CalibratedClassifier(estimator, method="matrix", cv=2, random_state=0).fit(X, y)
    loaded = save_and_load(model)
    np.testing.assert_array_equal(loaded.predict_proba(new), model.predict_proba(new))
    np.testing.assert_array_equal(loaded.predict(new), model.predict(new))


@pytest.mark.parametrize(
    "estimator",
    [SVR(), NuSVR(), OneClassSVM(), NuSVC(nu=0.1), GradientBoostingRegressor(n_estimators=2)],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("convert", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_scikit_learn_estimators_predict_the_same(waveform, save_and_load, estimator, convert):
    X, y, new = waveform
    _, numbers = np.unique(y, return_inverse=True)
    fitted = clone(estimator).fit(convert(X), numbers)
    np.testing.assert_array_equal(save_and_load(fitted).predict(new), fitted.predict(new))


@pytest.mark.parametrize(
    "name", [name for name in calibrators.__all__ if hasattr(getattr(calibrators, name), "fit")]
)
def test_calibrators_predict_the_same_without_a_classifier(waveform, save_and_load, name):
    X, y, _ = waveform
    _, numbers = np.unique(y, return_inverse=True)
    scores = GaussianNB().fit(X, y).predict_proba(X)
    calibrator = getattr(calibrators, name)()
    if hasattr(calibrator, "predict_proba"):
        fitted = calibrator.fit(scores, numbers)
        expected = fitted.predict_proba(scores)
        proba = save_and_load(fitted).predict_proba(scores)
    else:
        fitted = calibrator.fit(scores[:, 0], numbers == 0)
        expected = fitted.predict(scores[:, 0])
        proba = save_and_load(fitted).predict(scores[:, 0])
    np.testing.assert_array_equal(proba, expected)


@pytest.mark.parametrize(
    ("cv", "strategy", "method"),
    [
        (MonteCarloCV(500), OutputCode(), IsotonicRegression(out_of_bounds="clip")),
        (CrossFit(3), "direct", "auto"),
        (RepeatedFolds(3, 90), "direct", "matrix"),
        (RepeatedStratifiedKFold(), "direct", "auto"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_parameters_and_reports_are_kept(waveform, save_and_load, cv, strategy, method):
    X, y, new = waveform
    model = CalibratedClassifier(
        GaussianNB(),
        cv=cv,
        strategy=strategy,
        method=method,
        random_state=np.random.RandomState(3),
    ).fit(X, y)
    loaded = save_and_load(model)
    assert repr(loaded.cv) == repr(cv)
    assert type(loaded.strategy_) is type(model.strategy_)
    assert vars(loaded.strategy_) == vars(model.strategy_)
    report = getattr(model, "calibration_report_", None)
    assert getattr(loaded, "calibration_report_", None) == report
    assert loaded.random_state is None  # files contain no generators
    np.testing.assert_array_equal(loaded.predict_proba(new), model.predict_proba(new))


def test_models_calibrated_out_of_bag_predict_the_same(waveform, save_and_load):
    X, y, new = waveform
    model = CalibratedClassifier(
        RandomForestClassifier(50), method="matrix", cv=OutOfBag(), random_state=0
    ).fit(X, y)
    loaded = save_and_load(model)
    assert loaded.cv == OutOfBag()
    np.testing.assert_array_equal(loaded.predict_proba(new), model.predict_proba(new))


def test_models_that_could_not_be_loaded_are_not_saved(waveform, tmp_path):
    X, y, _ = waveform
    file = tmp_path / "model.skops"
    odd = make_pipeline(FunctionTransformer(np.asarray), GaussianNB())
    with pytest.raises(ValueError, match="asarray"):
        save(CalibratedClassifier(odd, cv=2).fit(X, y), file)
    splits = iter([(np.arange(45), np.arange(45, 90))])
    with pytest.raises(ValueError, match=r"cv is builtins\.list_iterator, which"):
        save(CalibratedClassifier(GaussianNB(), cv=splits).fit(X, y), file)
    with pytest.raises(ValueError, match="Birch are not supported"):
        save(Birch().fit(X), file)
    with pytest.raises(NotFittedError):
        save(CalibratedClassifier(), file)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_save_keeps_the_old_file(saved, monkeypatch):
    before = saved.read_bytes()
    model = load(saved)

    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save(model, saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def test_paths_that_cannot_be_written_are_refused(saved, tmp_path):
    model = load(saved)
    for path in (tmp_path, tmp_path / "none" / "model.skops"):
        with pytest.raises(ValueError, match="must"):
            save(model, path)
    assert list(tmp_path.iterdir()) == [saved]


def test_links_and_devices_stay_links_and_devices(saved, tmp_path):
    model = load(saved)
    link = tmp_path / "link.skops"
    link.symlink_to(saved)
    save(model, link)
    assert link.is_symlink()
    save(model, os.devnull)
    assert not Path(os.devnull).is_file()


@pytest.mark.parametrize("search", [GridSearchCV, RandomizedSearchCV])
def test_searches_are_saved_as_their_best_estimator(waveform, save_and_load, search):
    X, y, new = waveform
    fitted = search(GaussianNB(), {"var_smoothing": [1e-9, 0.1]}, cv=2).set_params(n_jobs=1)
    if search is RandomizedSearchCV:
        fitted.set_params(n_iter=2)
    fitted.fit(X, y)
    loaded = save_and_load(fitted)
    assert type(loaded) is GaussianNB
    assert loaded.var_smoothing == fitted.best_params_["var_smoothing"]
    model = CalibratedClassifier(fitted, method="matrix", cv=2, random_state=0).fit(X, y)
    np.testing.assert_array_equal(save_and_load(model).predict_proba(new), model.predict_proba(new))


def test_dates_as_classes_are_kept(waveform, tmp_path):
    X, y, new = waveform
    days = np.array(["2024-01-01", "2024-02-01", "2024-03-01"], dtype="datetime64[ns]")
    model = GaussianNB().fit(X, days[np.unique(y, return_inverse=True)[1]])
    save(model, tmp_path / "model.skops")
    loaded = load(tmp_path / "model.skops")
    np.testing.assert_array_equal(loaded.predict(new), model.predict(new))
    assert read_info(tmp_path / "model.skops").classes[0].startswith("2024-01-01")


def test_a_refusal_names_the_part_and_the_alternative(waveform, tmp_path):
    X, y, _ = waveform
    model = make_pipeline(FunctionTransformer(np.asarray), GaussianNB()).fit(X, y)
    with pytest.raises(ValueError, match=r"steps\[0\]\[1\]\.func is .*asarray.* joblib\.dump"):
        save(model, tmp_path / "model.skops")
