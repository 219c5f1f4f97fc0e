"""Loading of saved models."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import sklearn

from calibrant.exceptions import CalibrationWarning
from calibrant.persistence.archive import read_archive
from calibrant.persistence.model_file import ModelInfo, read_model_file
from calibrant.persistence.refusals import first_line, printable
from calibrant.persistence.serialization import deserialize, import_skops

# Version strings in a forged file can have any length.
MAX_VERSION_LENGTH = 20


def load(path: str | Path) -> Any:
    """Load a model written by `save`.

    No code in the file is run. What a file may contain is declared for each supported type; a
    file with anything else is refused, and what would be unsafe to build is refused before any
    object is built.

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
        If the model was saved with another minor version of scikit-learn, or if a parameter gets
        its default because the installed version does not accept it: probabilities may differ.

    See Also
    --------
    save : Save a fitted model.
    calibrant.persistence.read_info : Read the description of a saved model.
    """
    content, info = read_model_file(Path(path))
    import_skops()
    try:
        model = deserialize(read_archive(content))
    except Exception as error:  # a forged file can fail in any way
        raise ValueError(
            f"{path} must contain a model, but it is damaged or has been changed: "
            f"{first_line(error)} It was saved with {_versions(info)}. Save the model again."
        ) from None
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
        f"{name} {printable(str(version)[:MAX_VERSION_LENGTH])}" for name, version in known.items()
    )


def _minor(version: Any) -> list[str]:
    return str(version).split(".")[:2]
