import numpy as np
from numpy.typing import NDArray

def merge(
    start: NDArray[np.intp],
    stop: NDArray[np.intp],
    weight: NDArray[np.float64],
    total: NDArray[np.float64],
    mean: NDArray[np.float64],
    slope: NDArray[np.float64],
    parts: NDArray[np.intp],
    merged_at: NDArray[np.float64],
    equal_values: float,
    equal_lambdas: float,
    /,
) -> int: ...
