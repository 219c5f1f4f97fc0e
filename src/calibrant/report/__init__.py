"""Reports on whether class probabilities can be trusted.

Data flow: models and data -> evaluation (held-out predictions) -> analysis (records of
numbers) -> text and figures -> page.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from calibrant.report.analysis import analyze
from calibrant.report.assessment import Assessment, ClassAssessment, CostAssessment
from calibrant.report.cross_validation import evaluate_models
from calibrant.report.effects import Change, Doubt, Effect, Gain, Measure, Skill
from calibrant.report.evaluation import Evaluation, ModelEvaluation
from calibrant.report.export import report_to_dict, write_json
from calibrant.report.given import evaluate_fitted_models, evaluate_probabilities
from calibrant.report.methods import MethodsParagraph, describe_methods
from calibrant.report.records import (
    Analysis,
    Decision,
    ModelAnalysis,
    RankedModel,
    Reliability,
    ScoreDecomposition,
    Standing,
)
from calibrant.report.source import Commands, Source
from calibrant.report.verdicts import Miscalibration, Tendency, Verdict

if TYPE_CHECKING:
    from calibrant.report.page import render_report, write_report
else:
    # The page requires jinja2; the numbers do not.
    def __getattr__(name):
        if name in ("render_report", "write_report"):
            return getattr(import_module("calibrant.report.page"), name)
        raise AttributeError(f"module 'calibrant.report' has no attribute {name!r}")


__all__ = [
    "Analysis",
    "Assessment",
    "Change",
    "ClassAssessment",
    "Commands",
    "CostAssessment",
    "Decision",
    "Doubt",
    "Effect",
    "Evaluation",
    "Gain",
    "Measure",
    "MethodsParagraph",
    "Miscalibration",
    "ModelAnalysis",
    "ModelEvaluation",
    "RankedModel",
    "Reliability",
    "ScoreDecomposition",
    "Skill",
    "Source",
    "Standing",
    "Tendency",
    "Verdict",
    "analyze",
    "describe_methods",
    "evaluate_fitted_models",
    "evaluate_models",
    "evaluate_probabilities",
    "render_report",
    "report_to_dict",
    "write_json",
    "write_report",
]
