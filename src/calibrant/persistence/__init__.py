"""Models in files that hold no code."""

from calibrant.persistence.model_files import ModelInfo, load, read_info, save

__all__ = ["ModelInfo", "load", "read_info", "save"]
