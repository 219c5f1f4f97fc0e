"""Models saved together with the columns that they take."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

import pandas as pd

from calibrant._core.typing import FloatArray
from calibrant.persistence import load, read_info, save


class WrongKindError(ValueError):
    """A file holds another kind of model than expected.

    Parameters
    ----------
    path : str or Path
        The file.
    expected, found : str
        The kinds; ``found`` is empty for a model that was saved without its columns.
    """

    def __init__(self, path: str | Path, expected: str, found: str) -> None:
        other = found or "model of another kind"
        super().__init__(f"{path} must hold a {expected}, but it holds a {other}.")
        self.found = found


class SavedModel(ABC):
    """An estimator that takes tables, and its description.

    Attributes
    ----------
    KIND : str
        Name of the kind, which is part of the file format.
    """

    KIND: ClassVar[str]

    @property
    @abstractmethod
    def input_columns(self) -> tuple[str, ...]:
        """Names of the columns that a table must have."""

    @property
    @abstractmethod
    def output_columns(self) -> tuple[str, ...]:
        """Classes, in the order of the columns of `predict_proba`."""

    @abstractmethod
    def predict_proba(self, table: pd.DataFrame) -> FloatArray:
        """Return class probabilities for the rows of a table."""

    def find_notices(self, table: pd.DataFrame) -> list[str]:  # noqa: ARG002
        """Return sentences on what in a table differs from the training data."""
        return []

    def save(self, path: str | Path) -> None:
        """Save to a file that contains no code.

        Parameters
        ----------
        path : str or Path
            The file to write.
        """
        save(self._estimator, path, training={"kind": self.KIND, **self._description()})

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Load what `save` wrote.

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        SavedModel
            The model, an instance of this class.

        Raises
        ------
        WrongKindError
            If the file holds another kind of model.
        ValueError
            If the estimator and its description do not match.
        """
        description = read_info(path).training
        kind = description.get("kind")
        if kind != cls.KIND:
            raise WrongKindError(path, cls.KIND, kind if isinstance(kind, str) else "")
        mismatch = ValueError(
            f"{path} must hold a {cls.KIND} that matches its description. One of them was changed. "
            "Fit and save it again."
        )
        estimator = load(path)
        try:
            model = cls._from_parts(estimator, description)
        except (KeyError, TypeError, ValueError):
            raise mismatch from None
        if not model._is_consistent():
            raise mismatch
        return model

    @property
    @abstractmethod
    def _estimator(self) -> Any:
        """The fitted estimator."""

    @abstractmethod
    def _description(self) -> dict[str, Any]:
        """Return everything but the estimator as values that JSON can hold."""

    @classmethod
    @abstractmethod
    def _from_parts(cls, estimator: Any, description: Mapping[str, Any]) -> Self:
        """Return the model with an estimator and a description."""

    @abstractmethod
    def _is_consistent(self) -> bool:
        """Whether the estimator is of the right type and has the described classes and columns."""
