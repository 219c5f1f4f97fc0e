"""Calibrated class probabilities for small data sets."""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.2.0.dev0"

if TYPE_CHECKING:
    from calibrant.classifier import CalibratedClassifier
    from calibrant.onnx import to_onnx
    from calibrant.persistence import load, save
else:
    # Imported on first use, so that the command line can answer without importing scikit-learn.
    _DEFINED_IN = {
        "CalibratedClassifier": "calibrant.classifier",
        "load": "calibrant.persistence",
        "save": "calibrant.persistence",
        "to_onnx": "calibrant.onnx",
    }
    _SUBMODULES = (
        "app",
        "calibrators",
        "combination",
        "comparison",
        "datasets",
        "decisions",
        "exceptions",
        "generation",
        "metrics",
        "near_isotonic",
        "onnx",
        "persistence",
        "planning",
        "plots",
        "prior_shift",
        "report",
        "strategies",
        "updating",
        "validation",
    )

    def __getattr__(name):
        if name in _DEFINED_IN:
            return getattr(import_module(_DEFINED_IN[name]), name)
        if name in _SUBMODULES:
            return import_module(f"calibrant.{name}")
        raise AttributeError(f"module 'calibrant' has no attribute {name!r}")

    def __dir__():
        return sorted([*__all__, *_SUBMODULES])


__all__ = ["CalibratedClassifier", "__version__", "load", "save", "to_onnx"]
