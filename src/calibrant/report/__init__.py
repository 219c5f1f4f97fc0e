"""Data and models -> one page that says whether probabilities can be trusted."""

from calibrant.report.analysis import find
from calibrant.report.evaluation import (
    Evaluation,
    ModelEvaluation,
    evaluate_models,
    evaluate_probabilities,
)
from calibrant.report.page import Source, render_report, write_report
from calibrant.report.records import Findings

__all__ = [
    "Evaluation",
    "Findings",
    "ModelEvaluation",
    "Source",
    "evaluate_models",
    "evaluate_probabilities",
    "find",
    "render_report",
    "write_report",
]
