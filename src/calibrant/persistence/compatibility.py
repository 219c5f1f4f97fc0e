"""Upgrades of files saved by earlier versions to the current types.

A file contains the name of each type and attribute. Whenever a type that a model can contain is
moved or renamed, or one of its attributes is renamed, add the former name to a table below. New
parameters of estimators need no entry, but their default must preserve the former behavior.
"""

from __future__ import annotations

import inspect
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator

from calibrant._core.problems import ModelPerProblem, SharedModel
from calibrant._core.records import Interval
from calibrant.calibrators.auto import AutoCalibrator
from calibrant.calibrators.report import CalibrationReport
from calibrant.classifier import CalibratedClassifier
from calibrant.persistence.nodes import attribute_nodes, iterate_nodes, type_name
from calibrant.persistence.refusals import brief
from calibrant.persistence.validation import iterate_objects

# Former name of a type -> current name.
RENAMED_TYPES: dict[str, str] = {
    "calibrant.calibrators.auto.CalibrationReport": (
        "calibrant.calibrators.report.CalibrationReport"
    ),
    "calibrant.calibrators.auto.ClassShares": "calibrant.calibrators.baselines.ClassFrequencies",
    "calibrant.calibrators.auto.Unchanged": "calibrant.calibrators.baselines.NoCalibration",
    "calibrant.calibrators.multiclass.OverallShare": (
        "calibrant.calibrators.baselines.ConstantCalibrator"
    ),
}
# Current name of a type -> former name of an attribute -> current name.
RENAMED_ATTRIBUTES: dict[str, dict[str, str]] = {
    "calibrant.calibrators.baselines.ConstantCalibrator": {"share": "frequency_"},
    "calibrant.calibrators.enir.ENIR": {"limited": "floored"},
}

# Defaults by which scikit-learn knows that a parameter was not set.
PLACEHOLDERS = frozenset({"deprecated", "warn"})


def apply_renames(schema: Any) -> None:
    """Replace former names of types and attributes in a schema.

    Parameters
    ----------
    schema : dict
        The schema of a skops archive, which is changed in place.
    """
    for node in iterate_nodes(schema):
        path = RENAMED_TYPES.get(type_name(node))
        if path is not None:
            node["__module__"], _, node["__class__"] = path.rpartition(".")
        attributes = attribute_nodes(node)
        for former, present in RENAMED_ATTRIBUTES.get(type_name(node), {}).items():
            if former in attributes and present not in attributes:
                # The types of names are in the order of the names.
                renamed = {
                    present if name == former else name: item for name, item in attributes.items()
                }
                attributes.clear()
                attributes.update(renamed)


def upgrade_model(model: Any) -> list[str]:
    """Add the attributes introduced after a model was saved to its parts.

    Parameters
    ----------
    model : estimator
        A loaded model, which is changed in place.

    Returns
    -------
    list of str
        The parameters that were set to their defaults because the installed scikit-learn does not
        accept their values.
    """
    replaced = []
    for part in iterate_objects(model):
        if isinstance(part, BaseEstimator):
            _add_missing_parameters(part)
            replaced += _replace_invalid_parameters(part)
        if isinstance(part, CalibratedClassifier) and not hasattr(part, "_scorer"):
            is_frozen = isinstance(part.estimators_[0], FrozenEstimator)
            part._scorer = SharedModel() if is_frozen else ModelPerProblem()
        if isinstance(part, CalibratedClassifier) and not hasattr(part, "ensembles_"):
            part.ensemble, part.ensembles_ = False, None
        if isinstance(part, AutoCalibrator) and not hasattr(part, "ensemble_weights_"):
            part.ensemble_calibrators_, part.ensemble_weights_ = {}, {}
        if isinstance(part, CalibrationReport):
            _unite_gain_and_interval(vars(part))
            vars(part).setdefault("n_ensemble", 0)
            vars(part).setdefault("ensemble_gain", 0.0)
            vars(part).setdefault("performance", None)
    return list(dict.fromkeys(replaced))


def _add_missing_parameters(estimator: BaseEstimator) -> None:
    """Set parameters that a later version introduced, or that an earlier one still has."""
    for name, parameter in inspect.signature(type(estimator)).parameters.items():
        if name not in vars(estimator) and parameter.default is not parameter.empty:
            setattr(estimator, name, parameter.default)


def _replace_invalid_parameters(estimator: BaseEstimator) -> list[str]:
    """Set parameters that the installed scikit-learn does not accept to its defaults, and say so.

    Placeholders such as "deprecated" differ between versions and are not mentioned. Parameters
    that predictions depend on are among the declared ones, which are checked as well.
    """
    if not hasattr(estimator, "_parameter_constraints") or _is_valid(estimator):
        return []
    replaced = []
    parameters = inspect.signature(type(estimator)).parameters
    required = {
        name: getattr(estimator, name)
        for name, parameter in parameters.items()
        if parameter.default is parameter.empty
    }
    for name in [name for name in parameters if name not in required]:
        probe, value = type(estimator)(**required), getattr(estimator, name)
        setattr(probe, name, value)
        if not _is_valid(probe):
            setattr(estimator, name, parameters[name].default)
            if not (isinstance(value, str) and value in PLACEHOLDERS):
                replaced.append(f"{name}={brief(value)} of {type(estimator).__name__}")
    return replaced


def _is_valid(estimator: BaseEstimator) -> bool:
    try:
        estimator._validate_params()
    except ValueError:
        return False
    return True


def _unite_gain_and_interval(report: dict[str, Any]) -> None:
    """Replace the fields ``expected_gain`` and ``interval`` of a report with ``gain``."""
    if "expected_gain" in report:
        low, high = report.pop("interval")
        report["gain"] = Interval(report.pop("expected_gain"), low, high, level=0.95)
