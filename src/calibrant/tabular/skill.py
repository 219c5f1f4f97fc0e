"""The skill of a fitted model: its held-out predictions compared with guessing."""

from __future__ import annotations

import numpy as np

from calibrant.metrics import Performance

# A model is hardly better than guessing if its log loss is lower by less than this proportion.
LEAST_SKILL = 0.01


def warn_of_guessing(performance: Performance | None, target: str) -> str:
    """Say that a model predicts hardly better than guessing by the class frequencies.

    Parameters
    ----------
    performance : Performance or None
        Its performance on held-out rows. ``None`` means that it is not known.
    target : str
        Name of the column with the classes.

    Returns
    -------
    str
        Two sentences; empty if the log loss on held-out rows is lower than that of guessing by at
        least 1%, or if it is not known.
    """
    if performance is None:
        return ""
    counts = np.array([n_rows for n_rows in performance.class_count if n_rows > 0])
    frequencies = counts / counts.sum()
    guessing = -float(frequencies @ np.log(frequencies))
    found = performance.log_loss.estimate
    if not found > (1 - LEAST_SKILL) * guessing:
        return ""
    better = "no better" if found >= guessing else "hardly better"
    return (
        f"On held-out rows, the model is {better} at predicting {target!r} than guessing by the "
        f"class frequencies (log loss {found:.3f}, guessing {guessing:.3f}). Look for columns that "
        "say more about it, or add rows."
    )
