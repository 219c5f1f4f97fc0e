"""Loading of saved models whose kind is not known beforehand."""

from __future__ import annotations

from pathlib import Path

from calibrant.persistence import read_info
from calibrant.tabular.probabilities import ProbabilityCalibrator
from calibrant.tabular.saved_model import SavedModel, WrongKindError
from calibrant.tabular.table_model import TableModel


def load_model(path: str | Path) -> SavedModel:
    """Load a saved model of any kind that takes tables.

    Parameters
    ----------
    path : str or Path
        A file that ``calibrant fit``, ``calibrate`` or ``update`` wrote.

    Returns
    -------
    SavedModel
        The model.
    """
    found = read_info(path).training.get("kind")
    for kind in (TableModel, ProbabilityCalibrator):
        if found == kind.KIND:
            return kind.load(path)
    error = WrongKindError(path, TableModel.KIND, found if isinstance(found, str) else "")
    raise ValueError(f"{error} Use it in Python, with calibrant.load.")
