"""What an import costs, in fresh interpreters."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator

from benchmarks.timing import Row, compare

TIMER = "import time; began = time.perf_counter(); {}; print(time.perf_counter() - began)"


def rows() -> Iterator[Row]:
    """Time the package, and its estimator, beside scikit-learn's own calibration."""
    peer = import_seconds("import sklearn.calibration")
    for statement in ("import calibrant", "from calibrant import CalibratedClassifier"):
        yield compare(
            f"{statement} / import sklearn.calibration",
            import_seconds(statement),
            peer,
            limit=1.15,
            repeats=11,
        )


def import_seconds(statement: str) -> Callable[[], float]:
    """Return what runs a statement in a fresh interpreter, and times it there."""

    def seconds() -> float:
        command = [sys.executable, "-c", TIMER.format(statement)]
        return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    return seconds
