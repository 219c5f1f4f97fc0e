"""The folder of the raw data files, and downloads to it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from calibrant.datasets.catalog import CATALOG, find_dataset
from calibrant.datasets.downloads import download_dataset, missing_files, where_to_get

FOLDER_VARIABLE = "CALIBRANT_DATA"


def data_folder() -> Path:
    """Return the folder of the raw data files: the configured folder or the user's cache."""
    configured = configured_folder()
    if configured:
        return configured
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "calibrant" / "data"


def configured_folder() -> Path | None:
    """Return the folder named by ``CALIBRANT_DATA``, or None if it is unset or empty."""
    folder = os.environ.get(FOLDER_VARIABLE)
    return Path(folder) if folder else None


def fetch_datasets(names: Iterable[str] | None = None) -> dict[str, Path]:
    """Download data sets from UCI to the folder that `load_dataset` reads.

    Files that are already there are not downloaded again.

    Parameters
    ----------
    names : iterable of str, default=None
        Names of the data sets. ``None`` means all data sets available from UCI.

    Returns
    -------
    dict of str to Path
        The folder of each data set, by name.
    """
    return dict(download_datasets(names))


def download_datasets(names: Iterable[str] | None = None) -> Iterator[tuple[str, Path]]:
    """Iterate over the data sets of `fetch_datasets`, downloading each when it is reached.

    All names are checked before the first download.
    """
    if names is None:
        names = [name for name, info in CATALOG.items() if info.archive]
    for info in [find_dataset(name) for name in names]:
        yield info.name, download_dataset(info, data_folder())


def explain_missing() -> list[str]:
    """Explain how to get each missing data set that cannot be downloaded."""
    folder = data_folder()
    return [
        where_to_get(info, folder)
        for info in CATALOG.values()
        if info.archive is None and missing_files(info, folder)
    ]


def provide_datasets(names: Iterable[str]) -> None:
    """Make data sets available, or report all missing files before downloading anything.

    Parameters
    ----------
    names : iterable of str
        Names of the data sets. Those available from UCI are downloaded, unless
        ``CALIBRANT_DATA`` names a folder.
    """
    folder = data_folder()
    infos = [find_dataset(name) for name in names]
    to_download = [] if configured_folder() else [info for info in infos if info.archive]
    missing = [
        f"{info.name}/{file}" + ("" if info.archive else f" ({info.source})")
        for info in infos
        if info not in to_download
        for file in missing_files(info, folder)
    ]
    if missing:
        raise FileNotFoundError(
            f"The data files must be in {folder}, which lacks {', '.join(missing)}. Put them "
            f"there, fetch them from UCI if possible, or set {FOLDER_VARIABLE} to a folder that "
            "has them."
        )
    for info in to_download:
        download_dataset(info, folder)
