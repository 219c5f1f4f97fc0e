"""Saved models as ONNX models, and random rows to check them on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from onnx import ModelProto, TensorProto

from calibrant._core.typing import FloatArray
from calibrant.onnx import to_onnx
from calibrant.onnx.checking import run_model
from calibrant.onnx.conversion import takes_scores
from calibrant.persistence import load, read_info
from calibrant.tabular.loading import load_model
from calibrant.tabular.probabilities import ProbabilityCalibrator
from calibrant.tabular.schema import Column, Kind
from calibrant.tabular.table_model import TableModel

# Enough rows for every branch of most models, and a fraction of a second.
N_PROBES = 500
# The largest difference between the probabilities of a model and its export.
TOLERANCE = 1e-6
# A category that no model has seen.
UNSEEN = "(unseen)"


@dataclass(frozen=True, eq=False)
class ExportedModel:
    """A saved model and its export.

    Attributes
    ----------
    converted : onnx.ModelProto
        The export.
    estimator : estimator
        The saved model.
    probes : array-like or DataFrame or None
        Random rows that the model can predict. ``None`` means that they are not known.
    logits : bool
        Whether the export takes logits where the model takes probabilities.
    """

    converted: ModelProto
    estimator: Any
    probes: Any
    logits: bool = False

    @property
    def inputs(self) -> list[str]:
        """Names of the inputs, with what they hold if there are several."""
        inputs = self.converted.graph.input
        if len(inputs) == 1:
            return [inputs[0].name]
        return [f"{each.name} ({_describe(each)})" for each in inputs]

    def check(self) -> float | None:
        """Compare the export with the model on the random rows.

        Returns
        -------
        float or None
            The largest difference between their probabilities. ``None`` if there are no rows.

        Raises
        ------
        ValueError
            If the difference exceeds 1e-6.
        """
        if self.probes is None:
            return None
        given = np.log(self.probes) if self.logits else self.probes
        proba = run_model(self.converted, given)[1]
        difference = float(np.abs(proba - self.estimator.predict_proba(self.probes)).max())
        if not difference <= TOLERANCE:
            raise ValueError(
                f"The export must give the probabilities of the model within {TOLERANCE:.0e}, but "
                f"those of {N_PROBES} random rows differ by up to {difference:.1e}, so it was not "
                "saved. Another estimator may help; please report this one."
            )
        return difference


def export_model(path: str | Path) -> ExportedModel:
    """Load a saved model of any kind and convert it to ONNX.

    Parameters
    ----------
    path : str or Path
        A file that ``calibrant fit``, ``calibrate`` or ``update`` or `calibrant.save` wrote.

    Returns
    -------
    ExportedModel
        The model and its export.
    """
    if "kind" not in read_info(path).training:
        estimator = load(path)
        converted = to_onnx(estimator)
        return ExportedModel(converted, estimator, _draw_inputs(converted, estimator))
    saved = load_model(path)
    rng = np.random.default_rng(0)
    if isinstance(saved, TableModel):
        columns = {each.name: _draw_cells(each, rng) for each in saved.schema.features}
        converted = to_onnx(saved.classifier)
        return ExportedModel(converted, saved.classifier, pd.DataFrame(columns))
    if not isinstance(saved, ProbabilityCalibrator):
        raise TypeError(f"Unknown kind of model: {type(saved).__name__}.")
    converted = to_onnx(saved.calibrator, classes=saved.classes, logits=saved.logits)
    scores = _draw_scores(len(saved.classes), rng)
    return ExportedModel(converted, saved.calibrator, scores, saved.logits)


def _draw_cells(column: Column, rng: np.random.Generator) -> Any:
    """Draw values of a feature: usual, unusual and missing ones."""
    if column.kind is Kind.category:
        values = np.array([*column.categories, UNSEEN, np.nan], dtype=object)
        return rng.choice(values, N_PROBES)
    low, high = (
        default if end is None else end for end, default in ((column.low, -1.0), (column.high, 1.0))
    )
    margin = 0.1 * (high - low) + 1e-3
    numbers = rng.uniform(low - margin, high + margin, N_PROBES)
    return np.where(rng.uniform(size=N_PROBES) < 0.1, np.nan, numbers)


def _draw_scores(n_classes: int, rng: np.random.Generator) -> FloatArray:
    return rng.dirichlet(np.full(n_classes, 0.3), N_PROBES).clip(1e-15)


def _draw_inputs(converted: ModelProto, estimator: Any) -> Any:
    """Draw rows for a model without a description of its features; None if it takes texts."""
    kinds = {each.type.tensor_type.elem_type for each in converted.graph.input}
    if kinds != {TensorProto.DOUBLE} or len(converted.graph.input) == 2:
        return None
    rng = np.random.default_rng(0)
    if takes_scores(estimator):
        return _draw_scores(estimator.n_features_in_, rng)
    scale = 10.0 ** rng.uniform(-1.0, 2.0, size=(N_PROBES, 1))
    X = scale * rng.normal(size=(N_PROBES, estimator.n_features_in_))
    names = getattr(estimator, "feature_names_in_", None)
    return X if names is None else pd.DataFrame(X, columns=names)


def _describe(described: Any) -> str:
    is_text = described.type.tensor_type.elem_type == TensorProto.STRING
    return "text" if is_text else "number"
