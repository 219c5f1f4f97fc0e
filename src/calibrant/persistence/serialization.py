"""Serialization of models with skops, which stores data but no code."""

from __future__ import annotations

import sys
import warnings
from types import ModuleType
from typing import Any
from zipfile import ZIP_DEFLATED

from sklearn.exceptions import InconsistentVersionWarning

from calibrant.persistence.allowed_types import ALLOWED_TYPES

MAX_TYPES_SHOWN = 3


def serialize(model: Any) -> bytes:
    """Return a skops archive of a model.

    Parameters
    ----------
    model : estimator
        The model.

    Returns
    -------
    bytes
        A zip archive.

    Raises
    ------
    TypeError
        If skops cannot serialize a part of the model.
    """
    return _import_skops().dumps(model, compression=ZIP_DEFLATED)


def deserialize(content: bytes) -> Any:
    """Build the model in a skops archive.

    Parameters
    ----------
    content : bytes
        A zip archive.

    Returns
    -------
    object
        The model. A forged archive may contain any other value of the allowed types.

    Raises
    ------
    Exception
        Of any type, if the archive is damaged or forged.
    """
    skops = _import_skops()
    with warnings.catch_warnings():
        # `load` warns once per file rather than once per estimator.
        warnings.simplefilter("ignore", InconsistentVersionWarning)
        return skops.loads(content, trusted=sorted(ALLOWED_TYPES))


def check_types(content: bytes, name: str, remedy: str) -> None:
    """Raise an error if an archive contains types that are not allowed.

    No object is built from the archive.

    Parameters
    ----------
    content : bytes
        A zip archive.
    name : str
        The name of the file or model, for the message.
    remedy : str
        The last sentence of the message if a type is not allowed.

    Raises
    ------
    ValueError
        If the archive contains other types or cannot be read.
    """
    skops = _import_skops()
    try:
        refused = sorted(set(skops.get_untrusted_types(data=content)) - ALLOWED_TYPES)
    except Exception as error:  # a forged archive can fail in any way
        raise ValueError(
            f"{name} must contain a model, but it is damaged or has been changed: "
            f"{first_line(error)} Save the model again."
        ) from None
    if refused:
        # Names in a forged archive can contain line breaks, which repr escapes.
        shown = ", ".join(repr(kind)[1:-1] for kind in refused[:MAX_TYPES_SHOWN])
        n_more = len(refused) - MAX_TYPES_SHOWN
        more = f" and {n_more} more" if n_more > 0 else ""
        raise ValueError(
            f"{name} must contain only types of calibrant, scikit-learn and numpy, "
            f"got {shown}{more}. {remedy}"
        )


def skops_version() -> str:
    """Return the version of the installed skops."""
    return sys.modules[_import_skops().__name__.partition(".")[0]].__version__


def first_line(error: Exception) -> str:
    """Return the first line of an error message, ending with a period."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].rstrip(".") + "."


def _import_skops() -> ModuleType:
    try:
        from skops import io as skops_io
    except ImportError:
        raise ImportError(
            "Saving and loading models requires skops. "
            "Install it with: pip install 'calibrant[cli]'"
        ) from None
    return skops_io
