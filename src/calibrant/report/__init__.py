"""Reports on whether class probabilities can be trusted.

Data flow: models and data -> evaluation (held-out predictions) -> analysis (records of
numbers) -> text and figures -> page.
"""

from calibrant.report.analysis import analyze
from calibrant.report.cross_validation import evaluate_models, evaluate_probabilities
from calibrant.report.evaluation import Evaluation, ModelEvaluation
from calibrant.report.page import render_report, write_report
from calibrant.report.records import Analysis
from calibrant.report.source import Commands, Source

__all__ = [
    "Analysis",
    "Commands",
    "Evaluation",
    "ModelEvaluation",
    "Source",
    "analyze",
    "evaluate_models",
    "evaluate_probabilities",
    "render_report",
    "write_report",
]
