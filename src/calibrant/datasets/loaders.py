"""Loading of the raw files of the twelve data sets into arrays."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from calibrant._core.typing import FloatArray
from calibrant.datasets.catalog import DataSetInfo, find_dataset
from calibrant.datasets.storage import data_folder, provide_datasets

MISSING = "?"


def load_dataset(name: str) -> Bunch:
    """Load one of the data sets of the paper, with classes merged as in the paper.

    The raw files are read from the folder named by the environment variable ``CALIBRANT_DATA``,
    which has one subfolder per data set. If the variable is unset, they are read from the user's
    cache, and files available from UCI are downloaded to it on first use.

    Parameters
    ----------
    name : str
        A name returned by `dataset_names`.

    Returns
    -------
    Bunch
        The data set, with ``data`` (ndarray of shape (n_samples, n_features)), ``target`` (class
        indices), ``feature_names``, ``target_names``, ``categorical`` (names of unordered
        features) and ``title``. Rows are in the order of the files; rows with a missing value are
        left out.
    """
    provide_datasets([name])
    info = find_dataset(name)
    folder = data_folder() / info.name
    rows = [row for file in info.files for row in _read_rows(folder / file, info)]
    return _assemble(info, rows)


def describe_dataset(name: str) -> str:
    """Describe a data set in a few lines: its rows, features and classes.

    Parameters
    ----------
    name : str
        A name returned by `dataset_names`.

    Returns
    -------
    str
        The description.
    """
    data = load_dataset(name)
    count = np.bincount(data.target)
    classes = ", ".join(
        f"{label} ({number})" for label, number in zip(data.target_names, count, strict=True)
    )
    return "\n".join(
        [
            f"{data.title} ({find_dataset(name).source})",
            f"{len(data.target)} rows, {data.data.shape[1]} features, {len(count)} classes",
            f"features: {', '.join(data.feature_names)}",
            f"classes, with their number of rows: {classes}",
        ]
    )


def _read_rows(path: Path, info: DataSetInfo) -> list[list[str]]:
    lines = path.read_text(encoding="utf-8").splitlines()[info.header :]
    rows = [[cell.strip() for cell in line.split(info.separator)] for line in lines if line.strip()]
    return [row for row in rows if MISSING not in row]


def _assemble(info: DataSetInfo, rows: list[list[str]]) -> Bunch:
    columns = list(range(len(rows[0])))
    target_columns = [columns[position] for position in info.target]
    feature_columns = {
        feature: column
        for feature, column in zip(
            info.features, [c for c in columns if c not in target_columns], strict=True
        )
        if not feature.startswith("-")
    }
    classes = ["".join(row[column] for column in target_columns) for row in rows]
    kept = [index for index, label in enumerate(classes) if label not in info.dropped]
    labels = np.array([info.merged.get(classes[index], classes[index]) for index in kept])
    target_names = np.array(sorted(set(labels), key=_natural_order))
    position = {label: index for index, label in enumerate(target_names)}
    target = np.array([position[label] for label in labels])
    data = np.column_stack(
        [
            _encode([rows[index][column] for index in kept], feature in info.categorical)
            for feature, column in feature_columns.items()
        ]
    )
    return Bunch(
        data=data,
        target=target,
        feature_names=list(feature_columns),
        target_names=target_names,
        categorical=list(info.categorical),
        title=info.title,
    )


def _natural_order(label: str) -> tuple[float, str]:
    """Return a sort key by which "6" comes before "10"."""
    digits = re.match(r"\d+", label)
    return (float(digits.group()) if digits else 0.0, label)


def _encode(cells: list[str], categorical: bool) -> FloatArray:
    if categorical:
        return np.unique(cells, return_inverse=True)[1].astype(float)
    return np.array(cells, dtype=float)
