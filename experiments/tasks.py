"""The least that is worth resuming at, and what is noted with it."""

from __future__ import annotations

import platform
import zlib
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version

from experiments.store import Identity

PACKAGES = (
    "calibrant",
    "numpy",
    "scipy",
    "scikit-learn",
    "scikit-learn-intelex",
    "probmetrics",
    "torch",
    "venn-abers",
    "netcal",
)


@dataclass(frozen=True)
class Unit:
    """One approach on one fold; it yields several runs, which share fitted models."""

    protocol: str
    data_set: str
    classifier: str
    approach: str
    fold: int
    n_folds: int

    @property
    def seed(self) -> int:
        """Seed of the fold, the same for all approaches on it."""
        return zlib.crc32(f"{self.data_set}/{self.fold}".encode()) % 2**31

    def identity(self, scenario: str) -> Identity:
        """Return the identity of the run of one of its scenarios."""
        return (
            self.protocol,
            self.data_set,
            self.classifier,
            scenario,
            self.fold,
            self.n_folds,
        )


@lru_cache
def versions() -> dict[str, str]:
    """Versions of Python and of the packages that the results depend on."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
