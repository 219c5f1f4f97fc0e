"""Reports as plain values and as JSON, for programs and model cards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from calibrant import __version__
from calibrant._core.files import write_atomically
from calibrant.report import text
from calibrant.report.methods import describe_methods
from calibrant.report.procedure import describe_procedure
from calibrant.report.records import Analysis
from calibrant.report.source import Source


def report_to_dict(analysis: Analysis, source: Source | None = None) -> dict[str, Any]:
    """Return the content of a report as plain values.

    Parameters
    ----------
    analysis : Analysis
        The numbers of the report.
    source : Source, default=None
        The data behind them. ``None`` means unknown data.

    Returns
    -------
    dict
        Numbers, strings, lists and dictionaries only. In contrast to `Analysis.to_dict`, it has
        no values of single rows, but the answers and warnings of the page in words.

    Examples
    --------
    >>> from calibrant.report import analyze, evaluate_probabilities, report_to_dict
    >>> y = ["no", "no", "no", "yes"] * 25 + ["yes", "yes", "yes", "no"] * 25
    >>> overconfident = [[0.99, 0.01]] * 100 + [[0.01, 0.99]] * 100
    >>> report = report_to_dict(analyze(evaluate_probabilities(overconfident, y)))
    >>> print(report["answers"]["model"], report["models"][0]["uncalibrated"]["verdict"])
    Your model, calibrated. miscalibrated
    """
    source = Source() if source is None else source
    evaluation, best = analysis.evaluation, analysis.recommendation
    classes = [str(name) for name in evaluation.classes]
    return {
        "calibrant": __version__,
        "title": source.title,
        "target": source.target,
        "groups": None if source.schema is None else source.schema.groups,
        "n_rows": len(evaluation.y),
        "class_count": dict(zip(classes, evaluation.class_count.tolist(), strict=True)),
        "answers": {
            "model": text.answer_model(analysis),
            "trust": text.answer_trust(best.miscalibration, source.doubt(analysis)),
            "guessing": text.answer_skill(best.skill, classes, source.target),
        },
        "warnings": source.warnings(analysis),
        "notes": source.notes,
        "next_command": list(source.next_step(analysis).command),
        "recommendation": best.to_dict(),
        "models": [
            {
                **decision.to_dict(),
                "measures": [measure.to_dict() for measure in model.measures],
                "assessment": {
                    "uncalibrated": model.assessment.to_dict(),
                    "calibrated": model.calibrated_assessment.to_dict(),
                },
            }
            for decision in analysis.decisions
            for model in [analysis.models[decision.model]]
        ],
        "ranking": [ranked.to_dict() for ranked in analysis.ranking],
        "settings": {
            "n_folds": evaluation.n_folds,
            "n_repeats": evaluation.n_repeats,
            "random_state": evaluation.random_state,
        },
        "procedure": describe_procedure(evaluation, source.schema),
        "methods": describe_methods(analysis, source).to_dict(),
    }


def write_json(analysis: Analysis, path: str | Path, source: Source | None = None) -> None:
    """Write the content of a report to a JSON file.

    Parameters
    ----------
    analysis : Analysis
        The numbers of the report.
    path : str or Path
        JSON file to write.
    source : Source, default=None
        The data behind them. ``None`` means unknown data.

    See Also
    --------
    report_to_dict : What the file contains.
    """
    content = json.dumps(report_to_dict(analysis, source), indent=2, ensure_ascii=False)
    write_atomically(path, f"{content}\n".encode())
