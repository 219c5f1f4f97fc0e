import base64
import hashlib
import json
import re
import shlex
from html import unescape

import numpy as np
import pytest

from calibrant.report import Source, find, render_report, write_report
from calibrant.report.figures import Scale, draw_reliability, element

ODD = ("<script>alert(1)</script>", "\"a\" & 'b'", "=cmd()")


def source_of(evaluation, **options):
    rows = [str(row + 2) for row in range(len(evaluation.y))]
    return Source("<b>file</b>.csv", "line", rows, **options)


@pytest.fixture(scope="module")
def page(make_evaluation):
    evaluation = make_evaluation(ODD, n_repeats=2)
    source = source_of(
        evaluation,
        cells=lambda row: [(ODD[0], ODD[1])],
        command=["calibrant", "report", "my file.csv", "--target", ODD[1]],
        next_command=lambda *_: ["calibrant", "fit", ODD[0]],
    )
    return render_report(find(evaluation), source)


def data_of(page):
    text = re.search(r'<script type="application/json" id="rows">(.*?)</script>', page).group(1)
    return json.loads(text)


def test_names_and_cells_are_escaped(page):
    assert "<script>alert" not in page
    assert "<b>file" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert data_of(page)["classes"] == list(ODD)


def test_the_page_needs_nothing_else(page):
    assert set(re.findall(r"(?:src|href)=\"(.)", page)) == {"#", "d"}  # anchors, and data:
    assert 'href="data:,"' in page
    assert not re.search(r"url\(|@import|https?://", page)
    policy = re.search(r'content="default-src \'none\'; ([^"]*)"', page).group(1)
    script = re.search(r"<script>(.*)</script>", page, re.DOTALL).group(1)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert len(page.encode()) < 1_000_000


def test_commands_are_quoted_for_the_shell(page):
    blocks = re.findall(r"<pre><code>(.*?)</code></pre>", page, re.DOTALL)
    typed = [shlex.split(unescape(re.sub(r"</?span[^>]*>", "", block))) for block in blocks]
    assert typed == [
        ["calibrant", "fit", ODD[0]],
        ["calibrant", "report", "my file.csv", "--target", ODD[1]],
    ]


def test_the_cost_table_gets_the_probabilities_of_all_rows(page, make_evaluation):
    data = data_of(page)
    findings = find(make_evaluation(ODD, n_repeats=2))
    assert data["rows"][:3] == ["2", "3", "4"]
    assert data["truth"] == findings.evaluation.y.tolist()
    for packed, model in zip(data["models"], findings.models, strict=True):
        proba = np.frombuffer(base64.b64decode(packed["after"]), "<u2").reshape(-1, 3) / 65535
        np.testing.assert_allclose(proba, model.after, rtol=0, atol=1e-5)
    assert page.count("data-decision=") == 3 * 2


def test_many_rows_and_classes_make_no_large_page(make_evaluation, monkeypatch):
    monkeypatch.setattr("calibrant.report.page.MOST_NUMBERS", 10_000)
    evaluation = make_evaluation([f"class {i}" for i in range(40)], n_rows=100)
    page = render_report(find(evaluation), source_of(evaluation))
    data = data_of(page)
    assert data["step"] == 2
    assert len(data["rows"]) == len(data["truth"]) == 50
    assert "Computed on one row of 2, to keep the page small" in page
    assert "Only the first 30 of 40 classes have a diagram" in page
    assert page.count("Cost of missing") == 40


def test_a_report_is_the_same_every_time(make_evaluation, tmp_path):
    for name in ("first.html", "second.html"):
        evaluation = make_evaluation(("a", "b"), n_rows=60, n_models=1)
        findings = write_report(evaluation, tmp_path / name, Source("forecasts"))
        assert findings.best.calibrated
    first, second = (path.read_bytes() for path in sorted(tmp_path.iterdir()))
    assert first == second
    assert data_of(first.decode())["rows"] == list(range(1, 61))


def test_elements_are_escaped_and_short():
    assert element("text", "a < b", x=1.50, class_="tick", data_tip='"') == (
        '<text x="1.5" class="tick" data-tip="&#34;">a &lt; b</text>'
    )
    assert Scale((0.0, 2.0), (10.0, 20.0))(0.5) == 12.5


def test_a_diagram_has_a_mark_for_each_point_at_its_place(make_evaluation):
    reliability = find(make_evaluation(("a", "b"))).models[0].reliability[0]
    drawn = draw_reliability(reliability.after, reliability.after_count, "after", "a label")
    marks = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="5" class="mark">', drawn)
    x, y = np.array(marks, dtype=float).T
    curve = reliability.after
    np.testing.assert_allclose(np.diff(x), 284 * np.diff(curve.predicted), atol=0.02)
    np.testing.assert_allclose(np.diff(y), -284 * np.diff(curve.observed), atol=0.02)
    assert f"{curve.count[0]} rows" in drawn
