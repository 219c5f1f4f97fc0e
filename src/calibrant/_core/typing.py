"""Array types used in signatures."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]
# One column per binary problem: 1 for classes on its positive side, -1 for classes on its negative
# side, 0 for classes left out.
CodeMatrix = NDArray[np.int8]
# Training and test rows, as row numbers.
Split = tuple[IndexArray, IndexArray]
