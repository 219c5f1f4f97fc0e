"""Loading of saved models."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import sklearn
from sklearn.base import BaseEstimator

from calibrant.exceptions import CalibrationWarning
from calibrant.persistence.compatibility import apply_renames, upgrade_model
from calibrant.persistence.model_file import ModelInfo, read_model_file
from calibrant.persistence.serialization import check_types, deserialize, first_line
from calibrant.persistence.validation import validate_loaded_model

# Version strings in a forged file can have any length.
MAX_VERSION_LENGTH = 20


def load(path: str | Path) -> Any:
    """Load a model written by `save`.

    No code in the file is run. A file that contains types other than those of calibrant,
    scikit-learn and numpy is refused before any object is built from it.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    estimator
        The fitted model.

    Raises
    ------
    ValueError
        If the file is damaged, contains anything but a model, or has another format version.

    Warns
    -----
    CalibrationWarning
        If the model was saved with another minor version of scikit-learn, since its
        probabilities may differ.

    See Also
    --------
    save : Save a fitted model.
    calibrant.persistence.read_info : Read the description of a saved model.
    """
    content, info = read_model_file(Path(path))
    content = apply_renames(content)
    check_types(content, str(path), "Ask the author of the file for one saved by calibrant.")
    try:
        model = deserialize(content)
        validate_loaded_model(model)
        upgrade_model(model)
    except Exception as error:  # a forged file can fail in any way
        raise ValueError(
            f"{path} must contain a model, but it is damaged or has been changed: "
            f"{first_line(error)} It was saved with {_versions(info)}. Save the model again."
        ) from None
    if not isinstance(model, BaseEstimator):
        raise ValueError(
            f"{path} must contain a model, got an object of type {type(model).__name__}. "
            "Save a fitted model with calibrant.save."
        )
    if _minor(info.versions.get("scikit-learn", "")) != _minor(sklearn.__version__):
        warnings.warn(
            f"{path} was saved with {_versions(info)}, but scikit-learn {sklearn.__version__} is "
            "installed, so probabilities may differ. Fit the model again or install the version "
            "that it was saved with.",
            CalibrationWarning,
            stacklevel=2,
        )
    return model


def read_info(path: str | Path) -> ModelInfo:
    """Read the description of a saved model without loading the model.

    Parameters
    ----------
    path : str or Path
        A file written by `save`.

    Returns
    -------
    ModelInfo
        The classes, features, notes and versions of the model.

    Raises
    ------
    ValueError
        If the file is damaged, is not a model file, or has another format version.
    """
    return read_model_file(Path(path))[1]


def _versions(info: ModelInfo) -> str:
    known = {name: info.versions.get(name, "?") for name in ("calibrant", "scikit-learn")}
    return " and ".join(
        f"{name} {str(version)[:MAX_VERSION_LENGTH]}" for name, version in known.items()
    )


def _minor(version: Any) -> list[str]:
    return str(version).split(".")[:2]
