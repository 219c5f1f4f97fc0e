"""Fingerprint random fits to show that a refactoring leaves every probability unchanged.

Run on two commits on the same machine, then compare::

    python tools/fingerprint_fits.py run before.json
    python tools/fingerprint_fits.py run after.json
    python tools/fingerprint_fits.py compare before.json after.json

Each fit draws an estimator, a strategy, a calibration method, a source of held-out scores, weights,
groups and labels from its seed alone, so the same seed means the same fit on any commit.
"""

import hashlib
import json
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from calibrant import CalibratedClassifier
from calibrant.generation import MonteCarloCV, RepeatedFolds

N_FITS = 200

ESTIMATORS = {
    "naive Bayes": GaussianNB,
    "logistic regression": lambda: LogisticRegression(max_iter=200),
    "neighbors": KNeighborsClassifier,
    "tree": lambda: DecisionTreeClassifier(max_depth=4),
    "forest": lambda: RandomForestClassifier(60, max_depth=5),
    "discriminant": LinearDiscriminantAnalysis,
    "support vectors": lambda: SVC(decision_function_shape="ovr"),
    "scaled naive Bayes": lambda: make_pipeline(StandardScaler(), GaussianNB()),
    "frozen naive Bayes": None,
}
ROW_METHODS = ("auto", "auto", "auto", "temperature", "vector", "matrix", "dirichlet")
BINARY_METHODS = ("enir", "sigmoid", "beta", "isotonic", "venn-abers", "histogram", None)
STRATEGIES = ("auto", "auto", "one-vs-rest", "all-pairs", "output-code")
SOURCES = {
    "auto": "auto",
    "three folds": 3,
    "ten folds": RepeatedFolds(),
    "Monte Carlo": MonteCarloCV(n_points=600, group_size=20),
}


def fingerprint(seed: int) -> dict[str, object]:
    """Draw one fit and return what was drawn, with a digest of its probabilities."""
    rng = np.random.RandomState(seed)
    n_classes = rng.randint(2, 6)
    X, y = make_classification(
        rng.randint(60, 160) + 60,
        8,
        n_informative=5,
        n_classes=n_classes,
        n_clusters_per_class=1,
        class_sep=0.8,
        random_state=rng.randint(10**6),
    )
    if rng.uniform() < 0.3:
        y = np.array([f"class {label}" for label in y])
    name = rng.choice(list(ESTIMATORS))
    strategy = rng.choice(STRATEGIES)
    methods = BINARY_METHODS if strategy != "auto" else ROW_METHODS + BINARY_METHODS
    method = methods[rng.randint(len(methods))]
    source = rng.choice(list(SOURCES))
    weight = rng.randint(0, 4, len(y) - 60).astype(float) if rng.uniform() < 0.3 else None
    groups = rng.randint(0, 25, len(y) - 60) if rng.uniform() < 0.3 else None
    if name == "support vectors" and method in (None, "beta"):
        method = "sigmoid"
    estimator = (
        FrozenEstimator(GaussianNB().fit(X[-60:-30], y[-60:-30]))
        if ESTIMATORS[name] is None
        else ESTIMATORS[name]()
    )
    drawn = {
        "estimator": str(name),
        "strategy": str(strategy),
        "method": method,
        "cv": str(source),
        "weights": weight is not None,
        "groups": groups is not None,
    }
    model = CalibratedClassifier(
        estimator, method=method, strategy=str(strategy), cv=SOURCES[source], random_state=seed
    )
    try:
        model.fit(X[:-60], y[:-60], sample_weight=weight, groups=groups)
        proba = model.predict_proba(X[-60:])
    except ValueError as error:
        return {**drawn, "error": type(error).__name__}
    return {**drawn, "digest": hashlib.sha256(proba.tobytes()).hexdigest()}


def compare(before: Path, after: Path) -> int:
    """Print the fits that differ and return an exit code: 0 if none do, 1 otherwise."""
    old, new = (json.loads(path.read_text()) for path in (before, after))
    different = [seed for seed in old if old[seed] != new.get(seed)]
    fitted = sum("digest" in fit for fit in old.values())
    print(f"{len(old)} fits, {fitted} with probabilities, {len(different)} different")
    for seed in different:
        print(seed, old[seed], new.get(seed))
    return 1 if different else 0


def main(arguments: list[str]) -> int:
    """Run the fits or compare two runs."""
    if arguments[0] == "compare":
        return compare(Path(arguments[1]), Path(arguments[2]))
    warnings.simplefilter("ignore")
    fits = {str(seed): fingerprint(seed) for seed in range(N_FITS)}
    Path(arguments[1]).write_text(json.dumps(fits, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
