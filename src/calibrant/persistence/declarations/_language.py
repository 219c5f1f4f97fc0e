"""Declarations of types, and shorthand for those of estimators."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sklearn.base import BaseEstimator

from calibrant.persistence.specifications import (
    NOTHING,
    Array,
    Constant,
    DictOf,
    Distribution,
    Integer,
    Labels,
    ListOf,
    OneOf,
    Part,
    Plain,
    Specification,
    Text,
)

Specifications = Mapping[str, Specification]

PARAMETER = Plain(objects=True)
# Notes on the training, which predictions do not use.
NOTE = Plain()
FEATURES: Specifications = {"n_features_in_": Integer(1, size="n_features")}
CLASSES: Specifications = {"classes_": Labels()}
CLASSIFIER: Specifications = {**FEATURES, **CLASSES}
# One row per class, but one row in total for two classes.
LINEAR: Specifications = {
    **FEATURES,
    "classes_": Labels(fewest=2),
    "coef_": Array(("n_scores", "n_features")),
    "intercept_": Array(("n_scores",)),
}
PROBABILITIES = Distribution(("n_classes",), low=0, high=1)
PER_FEATURE = Array(("n_features",))
ANY_ESTIMATOR = Part()
PREDICTOR = Part(methods=("predict",))
SAME_FEATURES = Part(shares=("n_features",), methods=("predict",))
SCORER = Part(methods=("predict_proba", "decision_function"))
# What any estimator can have, fitted or not.
COMMON: Specifications = {
    "_metadata_request": PARAMETER,
    "_sklearn_output_config": DictOf(Constant(("default", "pandas", "polars"))),
    "_sklearn_version": Text(),
    "feature_names_in_": OneOf((Labels("n_features"), ListOf(Text(), "n_features"))),
    "n_features_in_": Integer(1, size="n_features"),
}
# Parameters that must not have all the values that scikit-learn allows: a cache is a folder of
# pickles, and generators of random numbers are called when they are built. An estimator is asked
# for its properties, even as a template for fits.
RESTRICTED: Specifications = {
    "estimator": OneOf((NOTHING, Part(fitted=False))),
    "memory": NOTHING,
    "n_jobs": OneOf((NOTHING, Integer(-(2**31), 2**31))),
    "random_state": OneOf((NOTHING, Constant(("deprecated",)), Integer(0, 2**64 - 1))),
    "max_iter_predict": Integer(1, 10**6),
}


@dataclass(frozen=True)
class Declaration:
    """What a model file may contain of one type.

    Attributes
    ----------
    path : str
        The name of the type in model files.
    kind : type
        The type.
    fitted : mapping of str to Specification
        The attributes of every fitted object of the type.
    optional : mapping of str to Specification
        Attributes that depend on parameters or on the version of scikit-learn.
    parameters : mapping of str to Specification
        Attributes that unfitted objects have too.
    not_stored : frozenset of str
        Attributes that are left out of files: state of the training, and what ``rebuild`` makes.
    check : callable or None
        Checks what shapes and ranges cannot express, given the object and its part.
    rebuild : callable or None
        Makes what was not stored, given the object.
    steps : callable or None
        Given a checked object, returns the parts by name that must be fitted if it is. This is for
        types whose parameters are fitted in place, such as pipelines.
    """

    path: str
    kind: type
    fitted: Mapping[str, Specification] = field(default_factory=dict)
    optional: Mapping[str, Specification] = field(default_factory=dict)
    parameters: Mapping[str, Specification] = field(default_factory=dict)
    not_stored: frozenset[str] = frozenset()
    check: Any = None
    rebuild: Any = None
    steps: Any = None

    def specification(self, name: str) -> Specification | None:
        """Return the specification of an attribute, or None if it is not declared."""
        for group in (self.fitted, self.optional, self.parameters):
            if name in group:
                return group[name]
        return None


def type_path(kind: type) -> str:
    """Return the name of a type as it appears in model files."""
    return f"{kind.__module__}.{kind.__qualname__}"


def declare(
    kind: type,
    fitted: Specifications | None = None,
    *,
    optional: Specifications | None = None,
    parameters: Specifications | None = None,
    former: Iterable[str] = (),
    not_stored: Iterable[str] = (),
    check: Callable[[Any, str], object] | None = None,
    rebuild: Callable[[Any], None] | None = None,
    steps: Callable[[Any], dict[str, Any]] | None = None,
) -> Declaration:
    """Declare a type.

    Parameters
    ----------
    kind : type
        The type. The parameters of its constructor are declared as plain values.
    fitted, optional, parameters, not_stored, check, rebuild, steps
        As in `Declaration`.
    former : iterable of str
        Names that other supported versions of scikit-learn store as parameters.

    Returns
    -------
    Declaration
        The declaration.
    """
    names = [*inspect.signature(kind).parameters, *former]
    known = {name: RESTRICTED.get(name, PARAMETER) for name in names}
    is_estimator = issubclass(kind, BaseEstimator)
    return Declaration(
        type_path(kind),
        kind,
        fitted=fitted or {},
        optional={**(COMMON if is_estimator else {}), **(optional or {})},
        parameters={**known, **(parameters or {})},
        not_stored=frozenset(not_stored),
        check=check,
        rebuild=rebuild,
        steps=steps,
    )


def choice(*values: Any) -> Constant:
    """Return the specification of one of several plain values."""
    return Constant(values)


def maybe(specification: Specification) -> OneOf:
    """Return the specification of a value that can also be None."""
    return OneOf((NOTHING, specification))
