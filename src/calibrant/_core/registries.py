"""The names of calibrators and models, and where the objects they name are defined.

The command line lists these names in its help without importing scikit-learn, so an object is
imported only when it is looked up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pkgutil import resolve_name
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Registry(Mapping[str, T], Generic[T]):
    """A read-only mapping from names to objects that are imported on first use.

    Parameters
    ----------
    locations : mapping of str to str
        Where each object is defined, as "module:attribute".

    Examples
    --------
    >>> functions = Registry({"square root": "math:sqrt"})
    >>> list(functions), functions["square root"](4)
    (['square root'], 2.0)
    """

    def __init__(self, locations: Mapping[str, str]) -> None:
        self._locations = dict(locations)

    def __getitem__(self, name: str) -> T:
        return resolve_name(self._locations[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._locations)

    def __len__(self) -> int:
        return len(self._locations)


# Names of the parameter ``method`` of `CalibratedClassifier` and of the option --method.
CALIBRATORS: Registry[Any] = Registry(
    {
        "auto": "calibrant.calibrators:AutoCalibrator",
        "enir": "calibrant.calibrators:ENIR",
        "sigmoid": "calibrant.calibrators:SigmoidCalibrator",
        "beta": "calibrant.calibrators:BetaCalibrator",
        "isotonic": "calibrant.calibrators:IsotonicCalibrator",
        "venn-abers": "calibrant.calibrators:VennAbersCalibrator",
        "histogram": "calibrant.calibrators:HistogramCalibrator",
        "temperature": "calibrant.calibrators:TemperatureScaling",
        "vector": "calibrant.calibrators:VectorScaling",
        "matrix": "calibrant.calibrators:StructuredMatrixScaling",
        "dirichlet": "calibrant.calibrators:DirichletCalibrator",
    }
)

# Names of the option --model: classifiers for data files.
MODELS: Registry[Any] = Registry(
    {
        "random-forest": "calibrant.tabular.models:RANDOM_FOREST",
        "naive-bayes": "calibrant.tabular.models:NAIVE_BAYES",
        "logistic": "calibrant.tabular.models:LOGISTIC_REGRESSION",
        "svm": "calibrant.tabular.models:SUPPORT_VECTOR_MACHINE",
        "boosting": "calibrant.tabular.models:GRADIENT_BOOSTING",
        "neighbors": "calibrant.tabular.models:NEAREST_NEIGHBORS",
    }
)

# The models that a report compares unless others are chosen.
DEFAULT_MODELS = ("random-forest", "naive-bayes", "logistic")
