"""Saving of fitted models."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
from sklearn.utils.validation import check_is_fitted

from calibrant import __version__
from calibrant._core.files import write_atomically
from calibrant.persistence.archive import read_archive
from calibrant.persistence.model_file import ModelInfo, add_info, fitted_labels
from calibrant.persistence.refusals import first_line
from calibrant.persistence.serialization import deserialize, serialize, skops_version

ALTERNATIVE = (
    "Replace that part, or use joblib.dump, which stores any model in a file that only its author "
    "should load."
)


def save(model: Any, path: str | Path, *, training: Mapping[str, Any] | None = None) -> None:
    """Save a fitted model to a file that contains no code.

    Parameters
    ----------
    model : estimator
        A fitted `CalibratedClassifier`, calibrator or scikit-learn estimator. The documentation
        lists the supported ones. A fitted search is stored as its best estimator.
    path : str or Path
        The file to write, with the suffix ".skops" by convention. An existing file is replaced.
    training : mapping, default=None
        Notes to store with the model: plain values, lists and dictionaries.

    Raises
    ------
    ValueError
        If the model or the notes contain a part that `load` would not accept, or if the file
        cannot be written.

    See Also
    --------
    load : Load a saved model.
    calibrant.persistence.read_info : Read the description of a saved model.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from calibrant import CalibratedClassifier, load, save
    >>> from calibrant.datasets import make_waveform
    >>> X, y = make_waveform(100, random_state=0)
    >>> model = CalibratedClassifier(GaussianNB(), random_state=0).fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     save(model, Path(folder) / "model.skops")
    ...     loaded = load(Path(folder) / "model.skops")
    >>> bool((loaded.predict_proba(X) == model.predict_proba(X)).all())
    True
    """
    check_is_fitted(model)
    try:
        content = serialize(model).to_bytes(compress=True)
        deserialize(read_archive(content))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"The model must consist of parts that model files support. {first_line(error)} "
            f"{ALTERNATIVE}"
        ) from None
    info = ModelInfo(
        model=type(model).__name__,
        classes=fitted_labels(model, "classes_"),
        features=tuple(map(str, fitted_labels(model, "feature_names_in_"))),
        training=dict(training or {}),
        versions={
            "calibrant": __version__,
            "scikit-learn": sklearn.__version__,
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "skops": skops_version(),
            "python": ".".join(map(str, sys.version_info[:3])),
        },
    )
    write_atomically(path, add_info(content, info))
