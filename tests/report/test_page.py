import base64
import hashlib
import json
import re
import shlex
from dataclasses import fields, is_dataclass, replace
from html import unescape

import numpy as np
import pandas as pd
import pytest

from calibrant.report import Commands, Source, analyze, render_report, write_report

ODD = ("<script>alert(1)</script>", "\"a\" & 'b'", "=cmd()")


def make_source(evaluation, **options):
    table = pd.DataFrame(
        {ODD[0]: [ODD[1]] * len(evaluation.y)},
        index=pd.RangeIndex(2, len(evaluation.y) + 2, name="line"),
    )
    return Source("<b>file</b>.csv", table, **options)


@pytest.fixture(scope="module")
def page(make_evaluation):
    evaluation = make_evaluation(ODD, n_repeats=2)
    commands = Commands(
        repeat=["repeat", "my file.csv", "--target", ODD[1]],
        fit=lambda index, calibrated: ["fit", ODD[0], str(index), str(calibrated)],
    )
    return render_report(analyze(evaluation), make_source(evaluation, commands=commands))


def read_data(page):
    pattern = r'<script type="application/json" id="decision-data">(.*?)</script>'
    return json.loads(re.search(pattern, page).group(1))


def read_commands(page):
    blocks = re.findall(r"<pre><code>(.*?)</code></pre>", page, re.DOTALL)
    return [shlex.split(unescape(re.sub(r"</?span[^>]*>", "", block))) for block in blocks]


def test_names_and_cells_are_escaped(page):
    assert "<script>alert" not in page
    assert "<b>file" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert read_data(page)["classes"] == list(ODD)


def test_the_page_is_self_contained(page):
    assert set(re.findall(r"(?:src|href)=\"(.)", page)) == {"#", "d"}  # anchors, and data:
    assert 'href="data:,"' in page
    assert not re.search(r"url\(|@import|https?://", page)
    policy = re.search(r'content="default-src \'none\'; ([^"]*)"', page).group(1)
    script = re.search(r"<script>(.*)</script>", page, re.DOTALL).group(1)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert len(page.encode()) < 1_000_000


def test_commands_are_quoted_for_the_shell(page):
    assert read_commands(page) == [
        ["fit", ODD[0], "0", "True"],
        ["repeat", "my file.csv", "--target", ODD[1]],
    ]


@pytest.mark.parametrize("has_proba", [True, False])
def test_a_model_without_predict_proba_is_saved_with_its_calibration(make_evaluation, has_proba):
    evaluation = make_evaluation(("a", "b"), n_rows=60, n_models=1)
    [model] = evaluation.models
    truthful = replace(
        model,
        uncalibrated=model.calibrated,
        calibrated=model.uncalibrated,
        has_proba=has_proba,
    )
    commands = Commands(fit=lambda _, calibrated: [str(calibrated)])
    analysis = analyze(replace(evaluation, models=(truthful,)))
    assert not analysis.best.calibrated
    page = render_report(analysis, Source("forecasts", commands=commands))
    assert read_commands(page) == [[str(not has_proba)]]


def test_the_cost_table_gets_the_probabilities_of_all_rows(page, make_evaluation):
    data = read_data(page)
    analysis = analyze(make_evaluation(ODD, n_repeats=2))
    assert data["rows"][:3] == [2, 3, 4]
    assert data["truth"] == analysis.evaluation.y.tolist()
    for packed, model in zip(data["models"], analysis.models, strict=True):
        proba = np.frombuffer(base64.b64decode(packed["calibrated"]), "<u2").reshape(-1, 3) / 65535
        np.testing.assert_allclose(proba, model.calibrated, rtol=0, atol=1e-5)
    assert page.count("data-decision=") == 3 * 2


def test_many_rows_and_classes_do_not_make_the_page_large(make_evaluation, monkeypatch):
    monkeypatch.setattr("calibrant.report.page.MOST_STORED", 10_000)
    evaluation = make_evaluation([f"class {i}" for i in range(40)], n_rows=100)
    page = render_report(analyze(evaluation), make_source(evaluation))
    data = read_data(page)
    assert data["step"] == 2
    assert len(data["rows"]) == len(data["truth"]) == 50
    assert "Computed on one in 2 rows" in page
    assert "Only the first 30 of 40 classes" in page
    assert page.count("Cost of missing") == 40


def test_a_report_is_reproducible(make_evaluation, tmp_path):
    for name in ("first.html", "second.html"):
        evaluation = make_evaluation(("a", "b"), n_rows=60, n_models=1)
        analysis = write_report(evaluation, tmp_path / name, Source("forecasts"))
        assert analysis.best.calibrated
    first, second = (path.read_bytes() for path in sorted(tmp_path.iterdir()))
    assert first == second
    assert read_data(first.decode())["rows"] == list(range(1, 61))


def test_intervals_are_shown_with_their_level(make_evaluation):
    evaluation = make_evaluation(("a", "b"), n_rows=60, n_models=1)
    analysis = analyze(evaluation)

    def at_level(record):
        if isinstance(record, tuple):
            return tuple(map(at_level, record))
        if not is_dataclass(record):
            return record
        changes = {field.name: at_level(getattr(record, field.name)) for field in fields(record)}
        return replace(record, **changes | ({"level": 0.8} if "level" in changes else {}))

    other = replace(analysis, models=at_level(analysis.models))
    page, changed = (render_report(each, Source("given")) for each in (analysis, other))
    levels = re.compile(r"(\d+)% intervals?\b")
    assert set(levels.findall(page)) == {"95"}
    report = set(levels.findall(str(evaluation.models[0].calibration_report or "")))
    assert set(levels.findall(changed)) - report == {"80"}
