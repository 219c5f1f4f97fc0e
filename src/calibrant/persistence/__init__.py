"""Saving of fitted models to files that contain no code, and loading of such files."""

from calibrant.persistence.loading import load, read_info
from calibrant.persistence.model_file import ModelInfo
from calibrant.persistence.saving import save

__all__ = ["ModelInfo", "load", "read_info", "save"]
