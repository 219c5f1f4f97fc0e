"""Import times in fresh interpreters."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

from benchmarks.timing import Row, Timer, compare

SCRIPT = "import time; start = time.perf_counter(); {}; print(time.perf_counter() - start)"


def rows() -> Iterator[Row]:
    """Time imports of the package and its estimator against ``sklearn.calibration``."""
    peer_timer = make_import_timer("import sklearn.calibration")
    for statement in ("import calibrant", "from calibrant import CalibratedClassifier"):
        yield compare(
            f"{statement} / import sklearn.calibration",
            make_import_timer(statement),
            peer_timer,
            limit=1.15,
            repeats=11,
        )


def make_import_timer(statement: str) -> Timer:
    """Return a function that times a statement in a fresh interpreter."""

    def timer() -> float:
        command = [sys.executable, "-c", SCRIPT.format(statement)]
        return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    return timer
