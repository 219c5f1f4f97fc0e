"""Model files among the arguments of commands."""

from __future__ import annotations

from pathlib import Path


def check_order(model: str | Path, data: str | None) -> None:
    """Raise an error if the model and the data file have been swapped.

    Parameters
    ----------
    model : str or Path
        The first file of a command, the model.
    data : str or None
        The second, the data file. ``None`` means that it was not given.
    """
    from calibrant.persistence.model_file import is_model_file

    if data is not None and is_model_file(data) and not is_model_file(model):
        raise ValueError(
            f"The model must come before the data file, but {data} is a model, and {model} is not. "
            "Swap them."
        )
