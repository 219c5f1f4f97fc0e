"""Routing of ``fit`` parameters to the estimator and the splitter."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn import get_config
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import has_fit_parameter

from calibrant.exceptions import CalibrationWarning


def fit_router(owner: Any, estimator: Any, cv: Any) -> MetadataRouter:
    """Return the metadata router of ``owner.fit``."""
    router = (
        MetadataRouter(owner=owner)
        .add_self_request(owner)
        .add(
            estimator=estimator,
            method_mapping=MethodMapping().add(caller="fit", callee="fit"),
        )
    )
    if hasattr(cv, "get_metadata_routing"):
        router.add(splitter=cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
    return router


def route_fit(
    owner: Any,
    estimator: Any,
    sample_weight: Any,
    groups: Any,
    fit_params: dict[str, Any],
    *,
    refits: bool = True,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Route the parameters of ``owner.fit`` to the estimator and the splitter.

    With metadata routing enabled, each parameter goes where it is requested. Otherwise, groups
    go to the splitter, weights go to the estimator if its ``fit`` accepts them, and all other
    parameters go to the estimator.

    Parameters
    ----------
    owner : CalibratedClassifier
        The meta-estimator.
    estimator : classifier
        The estimator that it fits.
    sample_weight, groups : ndarray of shape (n_samples,) or None
        The weights and groups of the rows.
    fit_params : dict
        The other parameters of ``owner.fit``.
    refits : bool, default=True
        Whether the estimator is fitted at all.

    Returns
    -------
    fit_params : dict
        Parameters of ``estimator.fit``.
    split_params : dict
        Parameters of ``split``.
    """
    split_params = {} if groups is None else {"groups": groups}
    if get_config()["enable_metadata_routing"]:
        routed = process_routing(
            owner, "fit", sample_weight=sample_weight, groups=groups, **fit_params
        )
        requested = routed.get("splitter", Bunch(split=split_params)).split
        return dict(routed.estimator.fit), dict(requested)
    params = dict(fit_params)
    if sample_weight is not None and refits:
        if has_fit_parameter(estimator, "sample_weight"):
            params["sample_weight"] = sample_weight
        else:
            warnings.warn(
                f"{type(estimator).__name__}.fit does not accept sample_weight, so the weights "
                "affect only the calibration. To pass them to a step of a pipeline, enable "
                "metadata routing.",
                CalibrationWarning,
                stacklevel=4,
            )
    return params, split_params
