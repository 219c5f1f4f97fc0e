"""Raw files of the twelve data sets -> arrays."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from calibrant.datasets.catalog import CATALOG, DataSetInfo
from calibrant.datasets.fetching import fetch_dataset, missing_files, where_to_get

FOLDER_VARIABLE = "CALIBRANT_DATA"
MISSING = "?"


def dataset_names() -> tuple[str, ...]:
    """Names of the paper's data sets, in the paper's order."""
    return tuple(CATALOG)


def load_dataset(name: str) -> Bunch:
    """Load one of the paper's data sets, with its classes grouped as in the paper.

    The raw files are read from the folder named by the environment variable
    ``CALIBRANT_DATA``, one subfolder a data set, in the layout of their sources; without it,
    from the user's cache, into which UCI's files are downloaded when they are first asked for.

    Parameters
    ----------
    name : str
        One of `dataset_names`.

    Returns
    -------
    Bunch
        With ``data`` (ndarray of shape (n_samples, n_features)), ``target`` (class
        indices), ``feature_names``, ``target_names``, ``categorical`` (names of
        features without an order) and ``title``. Rows keep the order of the files;
        rows with a missing value are left out.
    """
    provide_datasets([name])
    info = CATALOG[name]
    folder = data_folder() / info.name
    rows = [row for file in info.files for row in _read_rows(folder / file, info)]
    return _assemble(info, rows)


def describe_dataset(name: str) -> str:
    """Describe a data set in a few lines: its rows, features and classes.

    Parameters
    ----------
    name : str
        One of `dataset_names`.

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
            f"{data.title} ({CATALOG[name].source})",
            f"{len(data.target)} rows, {data.data.shape[1]} features, {len(count)} classes",
            f"features: {', '.join(data.feature_names)}",
            f"classes: {classes}",
        ]
    )


def fetch_datasets(names: list[str] | None = None) -> Iterator[tuple[str, Path]]:
    """Download data sets from UCI into the folder that `load_dataset` reads.

    Parameters
    ----------
    names : list of str, default=None
        The data sets; None is all of UCI's.

    Yields
    ------
    name : str
        A data set that is there now.
    folder : Path
        The folder of its files.
    """
    for name in names or [name for name, info in CATALOG.items() if info.archive]:
        yield _find(name).name, fetch_dataset(name, data_folder())


def left_out() -> list[str]:
    """Say of each data set that is neither UCI's nor here how to get it."""
    folder = data_folder()
    return [
        where_to_get(info, folder)
        for info in CATALOG.values()
        if info.archive is None and missing_files(info, folder)
    ]


def provide_datasets(names: Iterable[str]) -> None:
    """Have the files of data sets at hand, or name all that are missing before any download.

    Parameters
    ----------
    names : iterable of str
        The data sets. UCI's are downloaded, unless ``CALIBRANT_DATA`` names a folder.
    """
    folder = data_folder()
    infos = [_find(name) for name in names]
    fetched = [] if named_folder() else [info for info in infos if info.archive]
    missing = [
        f"{info.name}/{file}" + ("" if info.archive else f" ({info.source})")
        for info in infos
        if info not in fetched
        for file in missing_files(info, folder)
    ]
    if missing:
        raise FileNotFoundError(
            f"The data files must be in {folder}. Missing: {', '.join(missing)}. Put them there "
            f"(UCI's with: calibrant datasets fetch), or set {FOLDER_VARIABLE} to a folder that "
            "has them."
        )
    for info in fetched:
        fetch_dataset(info.name, folder)


def data_folder() -> Path:
    """Return the folder of the raw data files: the one that is named, or the user's cache."""
    named = named_folder()
    if named:
        return named
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "calibrant" / "data"


def named_folder() -> Path | None:
    """Return the folder that ``CALIBRANT_DATA`` names; an empty name is none."""
    named = os.environ.get(FOLDER_VARIABLE)
    return Path(named) if named else None


def _find(name: str) -> DataSetInfo:
    if name not in CATALOG:
        raise ValueError(
            f"name must be one of {', '.join(CATALOG)}. Got {name!r}. "
            "For other data, read the file yourself."
        )
    return CATALOG[name]


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
    labels = np.array([info.groups.get(classes[index], classes[index]) for index in kept])
    target_names = np.array(sorted(set(labels), key=_by_number))
    position = {label: index for index, label in enumerate(target_names)}
    target = np.array([position[label] for label in labels])
    data = np.column_stack(
        [
            _numbers([rows[index][column] for index in kept], feature in info.categorical)
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


def _by_number(label: str) -> tuple[float, str]:
    """Sort labels that begin with a number by it, so that 6 comes before 10."""
    digits = re.match(r"\d+", label)
    return (float(digits.group()) if digits else 0.0, label)


def _numbers(cells: list[str], categorical: bool) -> np.ndarray:
    if categorical:
        return np.unique(cells, return_inverse=True)[1].astype(float)
    return np.array(cells, dtype=float)
