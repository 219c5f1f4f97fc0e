"""Save fitted models to files that contain no code, and load them again."""

from calibrant.persistence.loading import load, read_info
from calibrant.persistence.model_file import ModelInfo
from calibrant.persistence.saving import save
from calibrant.persistence.validation import validate_loaded_model

__all__ = ["ModelInfo", "load", "read_info", "save", "validate_loaded_model"]
