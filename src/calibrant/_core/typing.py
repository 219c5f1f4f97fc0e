"""The array types that signatures name."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]
# 1 for classes on the positive side of a binary problem, -1 for the negative side, 0 for classes
# that are left out; one column per problem.
CodeMatrix = NDArray[np.int8]
# Training and test rows, as row numbers.
Split = tuple[IndexArray, IndexArray]
