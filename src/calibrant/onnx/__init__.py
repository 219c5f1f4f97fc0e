"""Fitted models as ONNX graphs, which run without Python."""

try:
    import onnx  # noqa: F401  (checked here, for all modules)
except ImportError:
    raise ImportError(
        "Exporting to ONNX requires onnx, which is not installed. "
        "Install it with: pip install 'calibrant[onnx]'"
    ) from None

from calibrant.onnx.checking import largest_difference
from calibrant.onnx.conversion import to_onnx

__all__ = ["largest_difference", "to_onnx"]
