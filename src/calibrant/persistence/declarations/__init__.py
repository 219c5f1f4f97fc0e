"""What a model file may contain, declared per type; everything else is refused.

These are the only modules that name private types and attributes of scikit-learn. A type that is
added here can be saved and loaded, is listed in the documentation, and takes part in the tests of
forged files.
"""

from __future__ import annotations

from typing import Any

from calibrant.persistence.declarations import (
    bayes,
    composition,
    linear,
    neighbors,
    networks,
    own,
    preprocessing,
    selection,
    trees,
    vectors,
)
from calibrant.persistence.declarations._language import Declaration, type_path

FAMILIES = {
    "calibrant": own,
    "naive Bayes, discriminant analysis, baselines": bayes,
    "linear models": linear,
    "support vector machines": vectors,
    "nearest neighbors": neighbors,
    "trees and boosting": trees,
    "neural networks, Gaussian processes": networks,
    "pipelines, ensembles, searches": composition,
    "preprocessing": preprocessing,
    "feature selection, projections": selection,
}
DECLARATIONS: dict[str, Declaration] = {
    declaration.path: declaration
    for family in FAMILIES.values()
    for declaration in family.DECLARATIONS
}


def declaration_of(value: Any) -> Declaration | None:
    """Return the declaration of an object's type, or None if the type is not supported."""
    return DECLARATIONS.get(type_path(type(value)))
