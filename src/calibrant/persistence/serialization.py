"""Serialization of models with skops, which stores data but no code."""

from __future__ import annotations

import sys
import warnings
from types import ModuleType
from typing import Any

import sklearn
from sklearn.exceptions import InconsistentVersionWarning

from calibrant.exceptions import CalibrationWarning
from calibrant.persistence.archive import Archive, read_archive
from calibrant.persistence.compatibility import apply_renames, upgrade_model
from calibrant.persistence.declarations import DECLARATIONS
from calibrant.persistence.schema import SPARSE, check_schema
from calibrant.persistence.simplification import simplify
from calibrant.persistence.specifications import ALLOWED_VALUES
from calibrant.persistence.validation import validate_loaded_model


def serialize(model: Any) -> Archive:
    """Return the archive of a model, in the form in which model files store it.

    Parameters
    ----------
    model : estimator
        The model.

    Returns
    -------
    Archive
        Its schema and arrays.

    Raises
    ------
    TypeError
        If skops cannot serialize a part of the model.
    """
    archive = read_archive(import_skops().dumps(model))
    return Archive(simplify(archive.schema), archive.arrays)


def deserialize(archive: Archive) -> Any:
    """Build the model in an archive, and check it before and after.

    Parameters
    ----------
    archive : Archive
        The contents of a model file.

    Returns
    -------
    estimator
        The model.

    Raises
    ------
    Exception
        Of any type, if the archive is damaged or forged.

    Warns
    -----
    CalibrationWarning
        If the installed scikit-learn does not accept a parameter of the model.
    """
    skops = import_skops()
    apply_renames(archive.schema)
    archive = Archive(simplify(archive.schema), archive.arrays)
    check_schema(archive)
    trusted = sorted({*DECLARATIONS, *ALLOWED_VALUES.paths(), *SPARSE, "numpy.dtype"})
    with warnings.catch_warnings():
        # `load` warns once per file rather than once per estimator.
        warnings.simplefilter("ignore", InconsistentVersionWarning)
        model = skops.loads(archive.to_bytes(compress=False), trusted=trusted)
    replaced = upgrade_model(model)
    validate_loaded_model(model)
    if replaced:
        warnings.warn(
            f"scikit-learn {sklearn.__version__} does not accept these parameters of the model, "
            f"which get their defaults: {', '.join(replaced)}. Predictions may differ. Fit the "
            "model again with parameters that it accepts.",
            CalibrationWarning,
            stacklevel=3,
        )
    return model


def skops_version() -> str:
    """Return the version of the installed skops."""
    return sys.modules[import_skops().__name__.partition(".")[0]].__version__


def import_skops() -> ModuleType:
    """Return ``skops.io``, or raise an error that says how to install it."""
    try:
        from skops import io as skops_io
    except ImportError:
        raise ImportError(
            "Saving and loading models requires skops. "
            "Install it with: pip install 'calibrant[cli]'"
        ) from None
    return skops_io
