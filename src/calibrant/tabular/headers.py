"""Column names: checks that all formats of files share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from calibrant.tabular.phrases import shorten

# More columns than a small data set can support.
MOST_COLUMNS = 5000


def check_column_count(n_columns: int, source: str) -> None:
    """Raise an error if a table has too many columns.

    Parameters
    ----------
    n_columns : int
        Number of columns.
    source : str
        Name of the file, for the error message.
    """
    if n_columns > MOST_COLUMNS:
        raise ValueError(
            f"{source} must have at most {MOST_COLUMNS:,} columns, got {n_columns:,}. "
            "Keep only columns that may help to distinguish the classes."
        )


def check_distinct_names(names: Sequence[str], source: str) -> None:
    """Raise an error if two columns have the same name.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    source : str
        Name of the file, for the error message.
    """
    repeated = [name for name, n_uses in Counter(names).items() if n_uses > 1]
    if repeated:
        raise ValueError(
            f"The columns of {source} must have distinct names, but {shorten(repeated[0])} occurs "
            "more than once. Rename one of them."
        )
