import json

import numpy as np
import pandas as pd

from calibrant.report import (
    Commands,
    Source,
    analyze,
    evaluate_probabilities,
    report_to_dict,
    text,
    write_json,
    write_report,
)
from calibrant.tabular import describe_table


def test_a_report_converts_to_the_answers_and_numbers_of_its_page(make_evaluation, tmp_path):
    analysis = analyze(make_evaluation(("a", "b"), n_rows=60))
    labels = ["a", "b"] * 30
    table = pd.DataFrame({"x": np.arange(60) % 7, "leak": labels, "id": range(60), "y": labels})
    commands = Commands(["calibrant", "report"], lambda *_: ["calibrant", "fit"])
    source = Source("my.csv", table, describe_table(table, "y"), commands)
    write_json(analysis, tmp_path / "report.json", source)
    content = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert content == report_to_dict(analysis, source)
    best = analysis.recommendation
    assert content["answers"]["trust"] == text.answer_trust(
        best.miscalibration, source.doubt(analysis)
    )
    assert content["recommendation"]["name"] == best.name
    assert [model["name"] for model in content["models"]] == [
        decision.name for decision in analysis.decisions
    ]
    for model in content["models"]:
        for state in ("uncalibrated", "calibrated"):
            assert model[state]["verdict"]
        assert model["measures"][0]["name"] == "log loss"
    assert (content["title"], content["target"], content["n_rows"]) == ("my.csv", "y", 60)
    assert content["class_count"] == {
        "a": int(sum(analysis.evaluation.y == 0)),
        "b": int(sum(analysis.evaluation.y == 1)),
    }
    assert any("'leak' alone" in warning for warning in content["warnings"])
    assert any("'id' is not used" in note for note in content["notes"])
    assert content["next_command"] == ["calibrant", "report", "--ignore=leak"]
    assert len(json.dumps(content)) < 50_000


def test_a_report_is_written_in_one_line_from_probabilities(tmp_path):
    rng = np.random.RandomState(0)
    proba = rng.dirichlet(np.ones(3), 120)
    y = [rng.choice(3, p=row) for row in proba]
    analysis = write_report(evaluate_probabilities(proba, y), tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert text.explain_verdict(analysis.recommendation.miscalibration)[1:] in page
    assert report_to_dict(analysis)["title"] == "your data"
