"""The default compared with scikit-learn's ``CalibratedClassifierCV`` at its defaults.

Ratios of fits are medians over the twelve data sets of the paper, of at most 1,000 rows each.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from statistics import median
from subprocess import run
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from benchmarks.timing import Row, Work, compare, growth, make_timer, measure
from calibrant import CalibratedClassifier
from calibrant._core.phrases import count
from calibrant._core.typing import FloatArray, IndexArray
from calibrant.datasets import dataset_names, load_dataset, make_waveform
from calibrant.datasets.catalog import find_dataset
from calibrant.datasets.storage import data_folder
from calibrant.metrics import log_loss
from experiments.preprocessing import preprocess_split

MAX_ROWS = 1000
LOGISTIC, FOREST = LogisticRegression(max_iter=1000), RandomForestClassifier(random_state=0)
BOOSTING = HistGradientBoostingClassifier(random_state=0)
FAST_BOOSTING = HistGradientBoostingClassifier(max_iter=20, random_state=0)
# Estimators with the limits on the time of a default fit: closed forms, refits and forests.
CASES: list[tuple[Any, float]] = [
    (GaussianNB(), 5.0),
    (KNeighborsClassifier(), 5.0),
    (LinearDiscriminantAnalysis(), 5.0),
    (LOGISTIC, 4.0),
    (SVC(), 4.0),
    (FOREST, 0.5),
]
# The largest share of a default fit that is not spent in the estimator, if it must be refitted.
MAX_OVERHEAD = 1 / 3
# With many classes, twice the limits of the twelve data sets, which have at most eleven.
MANY_CLASSES = 26
MAX_REPORT_SECONDS = 15.0
MAX_SIZE = 1_000_000

DataSet = tuple[FloatArray, IndexArray]


def rows() -> Iterator[Row]:
    """Time default fits, predictions and a report."""
    peer = "CalibratedClassifierCV"
    for estimator, limit in CASES:
        yield over_data_sets(
            f"default fit, {name(estimator)}, twelve data sets / {peer}",
            lambda X, y, estimator=estimator, limit=limit: measure_fit(estimator, X, y, limit),  # type: ignore[misc]
        )
    for estimator in (LOGISTIC, SVC(), FAST_BOOSTING):
        yield over_data_sets(
            f"default fit, {name(estimator)}, twelve data sets: time not in the estimator / total",
            partial(measure_overhead, estimator),
        )
    yield over_data_sets(
        "default fit, RandomForestClassifier, twelve data sets, groups / no groups",
        measure_groups,
    )
    X, y = draw_classes(MANY_CLASSES)
    for estimator, limit in CASES:
        title = f"default fit, {name(estimator)}, n = 1,000, K = {MANY_CLASSES} / {peer}"
        yield measure_fit(estimator, X, y, 2.0 * limit, title)
    yield growth(
        "growth with K: default fit, GaussianNB, n = 1,000",
        lambda k: make_fit(GaussianNB(), *draw_classes(k)),
        [25, 50, 100],
        limit=2.0,
        repeats=1,
    )
    yield from measure_many_rows(20_000)
    yield from measure_predictions()
    X, y = load_scaled("heart")
    yield measure(
        "default fit, LogisticRegression, n = 297, n_jobs = 2 / n_jobs = 1",
        make_fit(LOGISTIC, X, y, n_jobs=2),
        make_fit(LOGISTIC, X, y),
        1.1,
    )
    yield from measure_report()


def name(estimator: Any) -> str:
    """Return the name of the class of an estimator."""
    return type(estimator).__name__


def over_data_sets(title: str, measure_one: Callable[[FloatArray, IndexArray], Row]) -> Row:
    """Measure each of the twelve data sets and return the medians."""
    measured = [measure_one(*load_scaled(each)) for each in dataset_names()]
    return Row(
        title,
        median(row.seconds or 0.0 for row in measured),
        median(row.peer_seconds or 0.0 for row in measured),
        median(row.ratio for row in measured),
        measured[0].limit,
    )


@cache
def load_scaled(dataset: str) -> DataSet:
    """Return the preprocessed features and the classes of at most 1,000 rows of a data set."""
    data = load_dataset(dataset)
    rows = np.arange(len(data.target))
    if len(rows) > MAX_ROWS:
        rows, _ = train_test_split(rows, train_size=MAX_ROWS, stratify=data.target, random_state=0)
    X, _ = preprocess_split(data, rows, rows)
    return X, data.target[rows]


def draw_classes(n_classes: int, n_rows: int = MAX_ROWS) -> DataSet:
    """Draw rows of many classes."""
    X, y = make_classification(
        n_rows,
        20,
        n_informative=15,
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=1,
        class_sep=2.0,
        random_state=0,
    )
    return X, y


def make_fit(estimator: Any, X: FloatArray, y: IndexArray, **options: Any) -> Work:
    """Return a function that fits the default."""
    model = CalibratedClassifier(estimator, random_state=0, **options)
    return lambda: model.fit(X, y)


def measure_fit(estimator: Any, X: FloatArray, y: IndexArray, limit: float, title: str = "") -> Row:
    """Time a default fit against the default of scikit-learn."""
    peer = CalibratedClassifierCV(estimator, cv=5)
    repeats = 1 if estimator is FOREST else 3
    return measure(title, make_fit(estimator, X, y), lambda: peer.fit(X, y), limit, repeats=repeats)


def measure_overhead(estimator: Any, X: FloatArray, y: IndexArray) -> Row:
    """Measure the share of a default fit that is not spent in the methods of the estimator."""
    timed, inside = time_methods(estimator)
    fit_timer = make_timer(make_fit(timed, X, y))
    total = [0.0]

    def overhead_timer() -> float:
        inside.clear()
        total[0] = fit_timer()
        return total[0] - sum(inside)

    return compare("", overhead_timer, lambda: total[0], MAX_OVERHEAD, repeats=3)


def time_methods(estimator: Any) -> tuple[Any, list[float]]:
    """Return an estimator that appends the seconds of its fits and scores to a list."""
    seconds: list[float] = []
    scores = "predict_proba" if hasattr(estimator, "predict_proba") else "decision_function"

    def make_timed(method: Callable[..., Any]) -> Callable[..., Any]:
        def timed(self: Any, *args: Any, **kwargs: Any) -> Any:
            start = time.perf_counter()
            result = method(self, *args, **kwargs)
            seconds.append(time.perf_counter() - start)
            return result

        return timed

    base = type(estimator)
    methods = {method: make_timed(getattr(base, method)) for method in ("fit", scores)}
    return type(base.__name__, (base,), methods)(**estimator.get_params()), seconds


def measure_groups(X: FloatArray, y: IndexArray) -> Row:
    """Time a default fit of a forest to groups of about three rows against one without groups."""
    groups = np.random.default_rng(0).integers(len(y) // 3, size=len(y))
    model = CalibratedClassifier(FOREST, random_state=0)
    return measure(
        "", lambda: model.fit(X, y, groups=groups), lambda: model.fit(X, y), 2.0, repeats=1
    )


def measure_many_rows(n_rows: int) -> Iterator[Row]:
    """Compare the time of a default fit to many rows, and the log loss on as many new ones."""
    X, y = make_waveform(n_rows, random_state=0)
    title = f"LogisticRegression, waveform, n = {n_rows:,}"
    peer = CalibratedClassifierCV(LOGISTIC, cv=5)
    yield measure_fit(LOGISTIC, X, y, 2.0, f"default fit, {title} / {name(peer)}")
    X_new, y_new = make_waveform(n_rows, random_state=1)
    loss, peer_loss = (
        log_loss(y_new, model.fit(X, y).predict_proba(X_new))
        for model in (CalibratedClassifier(LOGISTIC, random_state=0), peer)
    )
    losses = f"log loss ({loss:.4f} / {peer_loss:.4f})"
    yield Row(f"{losses}, {title} / {name(peer)}", None, None, loss / peer_loss, 1.0)


def measure_predictions() -> Iterator[Row]:
    """Time predictions of the default, for each model that predicts, against the model."""
    X, y = make_waveform(300, random_state=0)
    X_new, _ = make_waveform(10_000, random_state=1)
    alone = clone(BOOSTING).fit(X, y)
    for ensemble in ("auto", False):
        model = CalibratedClassifier(BOOSTING, ensemble=ensemble, random_state=0).fit(X, y)
        n_models = 1 + (len(model.ensembles_[0]) if model.ensembles_ else 0)
        yield measure(
            f"predict_proba, {name(BOOSTING)}, n = 10,000, K = 3, ensemble = {ensemble} / "
            f"{count(n_models, 'time')} the model",
            lambda model=model: model.predict_proba(X_new),  # type: ignore[misc]
            lambda n=n_models: [alone.predict_proba(X_new) for _ in range(n)],  # type: ignore[misc]
            1.1,
        )


def measure_report() -> Iterator[Row]:
    """Time a report on the heart data, all 303 rows, with the default models, and weigh it."""
    info = find_dataset("heart")
    [file] = info.files
    content = (data_folder() / info.name / file).read_text().replace("?", "")
    with TemporaryDirectory() as folder:
        table = Path(folder) / "heart.csv"
        table.write_text(",".join([*info.features, "disease"]) + "\n" + content)
        command = [sys.executable, "-m", "calibrant", "report", str(table), "--target", "disease"]
        timer = make_timer(
            lambda: run([*command, "-o", f"{folder}/report.html"], check=True, capture_output=True)
        )
        seconds = timer()
        size = (Path(folder) / "report.html").stat().st_size
    title = "calibrant report, heart, n = 303, default models, two jobs"
    ratio = seconds / MAX_REPORT_SECONDS
    yield Row(f"{title} / 15 seconds", seconds, MAX_REPORT_SECONDS, ratio, 1.0)
    yield Row(f"size of that page ({size:,} bytes) / 1 MB", None, None, size / MAX_SIZE, 1.0)
