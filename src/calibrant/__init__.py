"""Class probabilities that can be trusted, from tens to a few thousand rows."""

from importlib import import_module
from typing import TYPE_CHECKING

from calibrant._version import __version__

if TYPE_CHECKING:
    from calibrant.classifier import CalibratedClassifier
    from calibrant.persistence import load, save
else:
    # Names and modules are imported on use: the command line answers without scikit-learn.
    _HOME = {
        "CalibratedClassifier": "calibrant.classifier",
        "load": "calibrant.persistence",
        "save": "calibrant.persistence",
    }
    _MODULES = (
        "calibrators",
        "combination",
        "comparison",
        "datasets",
        "generation",
        "metrics",
        "near_isotonic",
        "persistence",
        "plots",
        "strategies",
    )

    def __getattr__(name):
        if name in _HOME:
            return getattr(import_module(_HOME[name]), name)
        if name in _MODULES:
            return import_module(f"calibrant.{name}")
        raise AttributeError(f"module 'calibrant' has no attribute {name!r}")

    def __dir__():
        return sorted([*__all__, *_MODULES])


__all__ = ["CalibratedClassifier", "__version__", "load", "save"]
