"""How long an evaluation will take, roughly."""

from __future__ import annotations

# Seconds per fit of a calibrated classifier at 300 rows and 20 columns on a core of 2020, and by
# which power of the rows they grow.
SECONDS = {
    "random-forest": (1.0, 1.0),
    "naive-bayes": (0.15, 0.8),
    "logistic": (0.3, 1.0),
    "svm": (0.5, 1.6),
    "boosting": (3.0, 1.0),
    "neighbors": (0.3, 1.3),
}
USUAL_ROWS, USUAL_COLUMNS = 300, 20


def estimate_seconds(
    model: str, n_rows: int, n_columns: int, n_folds: int, n_repeats: int
) -> float:
    """Estimate how long the evaluation of a model takes.

    Parameters
    ----------
    model : str
        Name of the model.
    n_rows, n_columns : int
        Size of the table.
    n_folds, n_repeats : int
        Settings of the cross-validation.
    """
    seconds, power = SECONDS.get(model, (1.0, 1.0))
    size = max(n_rows / USUAL_ROWS, 0.3) ** power * max(n_columns / USUAL_COLUMNS, 0.5) ** 0.5
    return seconds * size * (n_folds * n_repeats + 1)
