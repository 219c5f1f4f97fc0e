"""The format of a model file: a zip archive with a serialized model and its description.

skops writes the model as ``schema.json`` and arrays. ``calibrant.json`` describes the model and
can be read without building any object.
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile

import numpy as np

from calibrant._core.records import Record
from calibrant.persistence.archive import read_member
from calibrant.persistence.refusals import is_harmless

# Incremented when files of the previous version can no longer be read.
FORMAT_VERSION = 1
INFO_MEMBER = "calibrant.json"


@dataclass(frozen=True)
class ModelInfo(Record):
    """Description of a saved model.

    Attributes
    ----------
    model : str
        The class name of the model.
    classes : tuple
        The class labels; empty unless the model is a classifier.
    features : tuple of str
        The feature names; empty if the model was fitted without names.
    training : dict
        The notes passed to `save`: plain values, lists and dictionaries.
    versions : dict
        The versions of calibrant, Python and the libraries with which the model was saved.
    format : int
        The version of the file format.
    """

    model: str
    classes: tuple[Any, ...] = ()
    features: tuple[str, ...] = ()
    training: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    format: int = FORMAT_VERSION


def fitted_labels(model: Any, attribute: str) -> tuple[Any, ...]:
    """Return an array attribute of a fitted model as plain values.

    Parameters
    ----------
    model : estimator
        The fitted model.
    attribute : {"classes_", "feature_names_in_"}
        The attribute.

    Returns
    -------
    tuple
        Strings or numbers, with dates as ISO strings; empty if the model does not have the
        attribute.
    """
    labels = np.asarray(getattr(model, attribute, ())).ravel()
    return tuple((labels.astype(str) if labels.dtype.kind == "M" else labels).tolist())


def add_info(content: bytes, info: ModelInfo) -> bytes:
    """Return a copy of a skops archive that also contains the description of its model.

    Raises
    ------
    ValueError
        If `read_model_file` would refuse the description.
    """
    fields = json.loads(json.dumps(info.to_dict()))
    if not _is_harmless(fields):
        raise ValueError(
            "The notes in training must not have control characters, which could make a terminal "
            "do what they say. Remove them."
        )
    buffer = io.BytesIO(content)
    # Not compressed, so that no notes inflate beyond what can be read.
    with ZipFile(buffer, "a", ZIP_STORED) as archive:
        archive.writestr(INFO_MEMBER, json.dumps(fields, indent=1))
    return buffer.getvalue()


def is_model_file(path: str | Path) -> bool:
    """Return whether a file is a model file, damaged or not, rather than anything else."""
    try:
        with ZipFile(path) as archive:
            return INFO_MEMBER in archive.namelist()
    except Exception:  # no such file, another kind of file, or a forged archive
        return False


def read_model_file(path: Path) -> tuple[bytes, ModelInfo]:
    """Read a model file without building the model.

    Parameters
    ----------
    path : Path
        A file written by `save`.

    Returns
    -------
    content : bytes
        The whole archive.
    info : ModelInfo
        The description of the model.

    Raises
    ------
    ValueError
        If the file cannot be read, is not a model file, or has another format version.
    """
    rule = f"{path} must be a file saved by calibrant"
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise ValueError(f"{rule}, but there is no such file. Check the spelling.") from None
    except OSError as error:
        raise ValueError(
            f"{rule}, but it cannot be read: {error.strerror}. Check the path and its permissions."
        ) from None
    try:
        with ZipFile(io.BytesIO(content)) as archive:
            fields = json.loads(read_member(archive, archive.getinfo(INFO_MEMBER), len(content)))
    except Exception:  # a forged archive can fail in any way
        raise ValueError(
            f"{rule}, but it is damaged or of another kind, such as a pickle. "
            "Save the model again with calibrant."
        ) from None
    fields = fields if isinstance(fields, dict) else {}
    if not _is_harmless(fields):
        raise ValueError(
            f"{rule}, but its {INFO_MEMBER} has control characters, which could make a terminal "
            "do what the file says. Save the model again without them."
        )
    _check_format(fields, rule)
    try:
        tuples = {name: tuple(fields[name]) for name in ("classes", "features")}
        dicts = {name: dict(fields[name]) for name in ("training", "versions")}
        return content, ModelInfo(**{**fields, **tuples, **dicts})
    except (KeyError, TypeError, ValueError):
        raise ValueError(
            f"{rule}, but its {INFO_MEMBER} has been changed. Save the model again."
        ) from None


def _is_harmless(value: Any) -> bool:
    """Return whether all text in plain values is free of control characters."""
    if isinstance(value, dict):
        return all(map(is_harmless, value)) and all(map(_is_harmless, value.values()))
    if isinstance(value, list):
        return all(map(_is_harmless, value))
    return not isinstance(value, str) or is_harmless(value)


def _check_format(fields: dict[str, Any], rule: str) -> None:
    versions = fields.get("versions")
    saved_by = versions.get("calibrant", "?") if isinstance(versions, dict) else "?"
    version = fields.get("format")
    if not isinstance(version, int) or version < FORMAT_VERSION:
        raise ValueError(
            f"{rule} in format {FORMAT_VERSION}, got the older format {version!r}. "
            f"Fit the model again, or load it with calibrant {saved_by}, which saved it."
        )
    if version > FORMAT_VERSION:
        raise ValueError(
            f"{rule} in format {FORMAT_VERSION}, got the newer format {version}. "
            f"Upgrade to calibrant {saved_by}, which saved it."
        )
