"""The choice of a calibrator by the value of ``method``."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from calibrant._core.registries import CALIBRATORS
from calibrant.calibrators._protocol import is_multiclass
from calibrant.calibrators.enir import ENIR
from calibrant.calibrators.multiclass import PairwiseCalibrator


def resolve_calibrator(method: Any, *, binary: bool) -> Any:
    """Return the unfitted calibrator selected by ``method``.

    Parameters
    ----------
    method : str or calibrator
        A name or a calibrator to clone.
    binary : bool
        Whether to calibrate binary problems rather than one multi-class problem.

    Returns
    -------
    calibrator
        The calibrator. For binary problems, "auto" means ENIR. For a multi-class problem, a
        binary calibrator is applied to pairs of classes.
    """
    if not binary and method == "enir":
        calibrator = ENIR(floored=True)  # the published ENIR, for binary problems, has no floor
    elif isinstance(method, str) and method in CALIBRATORS:
        calibrator = CALIBRATORS["enir" if binary and method == "auto" else method]()
    elif (
        hasattr(method, "fit")
        and (hasattr(method, "predict") or is_multiclass(method))
        and not isinstance(method, type)
    ):
        calibrator = clone(method)
    else:
        raise ValueError(
            f"method must be one of {sorted(CALIBRATORS)}, a calibrator with fit and predict, "
            f"or None for no calibration, got {method!r}. Pass an instance, such as ENIR()."
        )
    if binary and is_multiclass(calibrator):
        raise ValueError(
            "A strategy with binary problems requires a binary calibrator, which has predict but "
            f"no predict_proba, got {calibrator!r}. "
            "Use method='enir', or strategy='direct' for this calibrator."
        )
    return calibrator if binary or is_multiclass(calibrator) else PairwiseCalibrator(calibrator)


def name_calibrator(method: Any, calibrator: Any) -> str:
    """Return the name of a calibrator in a report.

    Parameters
    ----------
    method : str or calibrator
        The method passed by the user.
    calibrator : calibrator
        The calibrator that `resolve_calibrator` returned for it.

    Returns
    -------
    str
        The name passed by the user, or else the name of the type.
    """
    named = isinstance(method, str) and method != "auto"
    return method if named else type(calibrator).__name__
