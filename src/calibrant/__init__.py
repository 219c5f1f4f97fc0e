"""Class probabilities that can be trusted, from tens to a few thousand rows."""

from calibrant._version import __version__
from calibrant.classifier import CalibratedClassifier

__all__ = ["CalibratedClassifier", "__version__"]
