"""How long an evaluation will take, roughly."""

from __future__ import annotations

# Processor seconds of the fit of a calibrated classifier, as measured with 21 columns and three
# classes at 150 to 8,000 rows: a constant, and per thousand rows.
SECONDS = {
    "random-forest": (0.3, 0.6),
    "naive-bayes": (0.25, 0.02),
    "logistic": (0.3, 0.05),
    "svm": (0.3, 0.3),
    "boosting": (3.0, 3.0),
    "neighbors": (0.3, 0.05),
}
USUAL_COLUMNS = 21
# Tests and intervals of the report, per model: a constant, and per thousand rows.
ANALYSIS_SECONDS = (1.0, 0.3)
# Two processes share the work.
SPEEDUP = 1.7


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
    constant, slope = SECONDS[model]
    thousands = n_rows / 1000
    width = max(n_columns / USUAL_COLUMNS, 0.5)
    per_fit = constant + slope * width * thousands
    analysis = ANALYSIS_SECONDS[0] + ANALYSIS_SECONDS[1] * thousands
    return per_fit * (n_folds * n_repeats + 1) / SPEEDUP + analysis
