"""Validation of built models against the declarations of their types.

Allowing only known types does not make a file safe. For example, scikit-learn follows the node
numbers of a fitted tree without checking bounds, so a forged tree could make it read arbitrary
memory. `schema` checks what would be unsafe to build; this module checks what was built.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from os import cpu_count
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from calibrant.persistence.declarations import declaration_of
from calibrant.persistence.declarations._language import Declaration
from calibrant.persistence.refusals import RefusedPartError
from calibrant.persistence.specifications import Checker

# Sizes that depend on others, by name.
DERIVED_SIZES: dict[str, Callable[[int], int]] = {
    "n_pairs": lambda n_classes: n_classes * (n_classes - 1) // 2,
    "n_scores": lambda n_classes: 1 if n_classes <= 2 else n_classes,
}


def validate_loaded_model(model: Any) -> None:
    """Check a model against the declarations, then make what is not stored in files.

    Parameters
    ----------
    model : estimator
        A model built from a file.

    Raises
    ------
    ValueError
        If a part is not as declared.
    """
    checker = _ObjectChecker({}, {})
    if declaration_of(model) is None or not isinstance(model, BaseEstimator):
        raise RefusedPartError("", f"is of the type {type(model).__name__}, which is not supported")
    checker.check_part(model, "", fitted=True)
    for part in iterate_objects(model):
        declaration = declaration_of(part)
        if declaration is not None and declaration.rebuild and is_fitted(part, declaration):
            declaration.rebuild(part)
        _limit_workers(part)


class _ObjectChecker:
    """The sizes of one object; objects that occur several times are checked once."""

    def __init__(self, sizes: dict[str, int], checked: dict[int, _ObjectChecker]) -> None:
        self.sizes = sizes
        self._checked = checked

    def is_declared(self, value: Any) -> bool:
        return declaration_of(value) is not None

    def check_part(self, value: Any, part: str, *, fitted: bool) -> Checker:
        declaration = declaration_of(value)
        if declaration is None:
            raise RefusedPartError(
                part, f"is of the type {type(value).__name__}, which is not supported"
            )
        if fitted and declaration.fitted and not is_fitted(value, declaration):
            raise RefusedPartError(part, "is not fitted")
        if id(value) not in self._checked:
            self._checked[id(value)] = inner = _ObjectChecker({}, self._checked)
            inner._check_attributes(value, declaration, part)
        if fitted and declaration.steps is not None:
            for name, step in declaration.steps(value).items():
                self.check_part(step, f"{part}[{name!r}]", fitted=True)
        return self._checked[id(value)]

    def _check_attributes(self, value: Any, declaration: Declaration, part: str) -> None:
        attributes = _attributes(value)
        if is_fitted(value, declaration):
            for name in declaration.fitted.keys() - attributes.keys():
                raise RefusedPartError(f"{part}.{name}".lstrip("."), "is missing")
        # Those that state sizes come first.
        first = [name for name in ("n_features_in_", "classes_") if name in attributes]
        for name in [*first, *attributes]:
            specification = declaration.specification(name)
            if name in declaration.not_stored:
                continue
            if specification is None:
                raise RefusedPartError(f"{part}.{name}".lstrip("."), "is not declared")
            specification.check(attributes[name], f"{part}.{name}".lstrip("."), self)
            if name == "classes_":
                self._derive_sizes()
        if isinstance(value, BaseEstimator):
            _check_parameters(value, part)
        if declaration.check is not None and is_fitted(value, declaration):
            try:
                declaration.check(value, part or "The model")
            except (AttributeError, IndexError, KeyError, TypeError) as error:
                raise RefusedPartError(
                    part, f"has parts that do not fit together ({error})"
                ) from None

    def _derive_sizes(self) -> None:
        n_classes = self.sizes.get("n_classes")
        if n_classes is not None:
            for name, derive in DERIVED_SIZES.items():
                self.sizes[name] = derive(n_classes)


def is_fitted(value: Any, declaration: Declaration) -> bool:
    """Return whether an object has fitted attributes, or is of a type without any."""
    own = declaration.fitted.keys() - declaration.parameters.keys()
    return not own or not own.isdisjoint(_attributes(value))


def iterate_objects(value: Any) -> Iterator[Any]:
    """Iterate over the objects in a model at any depth, including the model itself.

    Parameters
    ----------
    value : object
        The model.

    Yields
    ------
    object
        Each object once, except plain values, containers, arrays and types.
    """
    return _iterate_objects(value, set())


def _iterate_objects(value: Any, seen: set[int]) -> Iterator[Any]:
    if id(value) in seen or isinstance(value, str | bytes | int | float | type | None):
        return
    seen.add(id(value))
    if isinstance(value, Mapping):
        items: Any = value.values()
    elif isinstance(value, list | tuple):
        items = value
    elif isinstance(value, np.ndarray):
        items = value.ravel() if value.dtype == object else ()
    else:
        yield value
        items = list(_attributes(value).values())
    for item in items:
        yield from _iterate_objects(item, seen)


def _attributes(value: Any) -> dict[str, Any]:
    return vars(value) if hasattr(value, "__dict__") else {}


def _check_parameters(estimator: BaseEstimator, part: str) -> None:
    """Check parameters as ``fit`` of scikit-learn's estimators does."""
    names = estimator.get_params(deep=False).keys()
    for name in names - _attributes(estimator).keys():
        raise RefusedPartError(f"{part}.{name}".lstrip("."), "is missing")
    if hasattr(estimator, "_parameter_constraints"):
        try:
            estimator._validate_params()
        except ValueError as error:
            raise RefusedPartError(part, f"has an invalid parameter: {error}") from None


def _limit_workers(part: Any) -> None:
    """Lower a number of parallel jobs to that of the processors of this computer."""
    n_jobs = _attributes(part).get("n_jobs")
    n_processors = cpu_count() or 1
    if isinstance(n_jobs, int) and n_jobs > n_processors:
        part.n_jobs = n_processors
