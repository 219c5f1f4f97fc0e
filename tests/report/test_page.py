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
from sklearn.metrics import brier_score_loss

from calibrant.report import (
    Commands,
    Source,
    Verdict,
    analyze,
    render_report,
    text,
    write_report,
)
from calibrant.tabular import describe_table

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
    evaluation = make_evaluation(("a", "b"), n_rows=400, n_models=1)
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
    assert data["rows"][:3] == ["line 2", "line 3", "line 4"]
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
    assert "Only the 10 most frequent of 40 classes" in page
    assert page.count("Cost of missing") == 40


def test_a_report_is_reproducible(make_evaluation, tmp_path):
    for name in ("first.html", "second.html"):
        evaluation = make_evaluation(("a", "b"), n_rows=60, n_models=1)
        analysis = write_report(evaluation, tmp_path / name, Source("forecasts"))
        assert analysis.best.calibrated
    first, second = (path.read_bytes() for path in sorted(tmp_path.iterdir()))
    assert first == second
    assert read_data(first.decode())["rows"] == [f"row {number}" for number in range(1, 61)]


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


def test_changed_rows_show_how_sure_their_probability_is(make_evaluation):
    evaluation = make_evaluation(("a", "b"), n_rows=60, n_models=1)
    known = replace(evaluation.models[0], relative_variance=0.1)
    analysis = analyze(replace(evaluation, models=(known,)))
    page = render_report(analysis, Source("given"))
    low, high = analysis.models[0].intervals[0, 1]
    assert f"may be anywhere from {low:.0%} to {high:.0%}." in page
    assert "may be anywhere from" not in render_report(analyze(evaluation), Source("given"))


def test_strips_show_changes_relative_to_the_scores(make_evaluation):
    # However bad one model is, the change of another is not drawn as none, and a negligible one is.
    evaluation = make_evaluation(("a", "b", "c"), n_models=2)
    first, second = evaluation.models
    wrong = np.full_like(second.uncalibrated, 1e-9)
    wrong[:, 0] = 1 - 2e-9
    same = replace(first, name="same", calibrated=0.999 * first.uncalibrated + 0.001 / 3)
    models = (first, replace(second, uncalibrated=wrong), same)
    analysis = analyze(replace(evaluation, models=models))
    page = render_report(analysis, make_source(evaluation))
    marks = [float(left) for left in re.findall(r'<b style="left:([\d.]+)%">', page)]
    scores = [
        score
        for each in analysis.decisions
        for score in (each.gain.log_loss, each.gain.brier_score)
    ]
    assert len(marks) == len(scores) == 6
    for mark, score in zip(marks, scores, strict=True):
        old, new = score.uncalibrated.estimate, score.calibrated.estimate
        assert mark == pytest.approx(50 * (2 - old / new if new > old else new / old), abs=0.01)
        if abs(new - old) < 0.005:
            assert abs(mark - 50) <= 5


def answers(page):
    """Read the questions and answers of the first card."""
    card = re.search(r'<dl class="questions">(.*?)</dl>', page, re.DOTALL).group(1)
    pairs = re.findall(r"<dt>(.*?)</dt>\s*<dd>(.*?)</dd>", card, re.DOTALL)
    return {
        question: " ".join(unescape(re.sub(r"<[^>]*>", "", answer)).split())
        for question, answer in pairs
    }


def test_the_first_card_answers_from_the_recommended_probabilities(make_evaluation):
    evaluation = make_evaluation(("a", "b", "c"))
    commands = Commands(fit=lambda index, calibrated: ["fit", str(index), str(calibrated)])
    analysis = analyze(evaluation)
    page = render_report(analysis, make_source(evaluation, commands=commands))
    best = analysis.recommendation
    found = answers(page)
    assert list(found) == [
        "Which model?",
        "Can I trust its probabilities?",
        "Compared with guessing?",
        "What may be wrong with my data?",
        "What do I type?",
    ]
    assert found["Which model?"].startswith("Model 3, calibrated")
    trust = text.answer_trust(best.calibrated).split(": ", 1)
    assert found["Can I trust its probabilities?"].lower() == " ".join(trust).lower()
    assert found["Compared with guessing?"] == text.answer_skill(best.skill, evaluation.classes)
    assert found["What do I type?"] == "To fit this model and save it:fit 0 True"
    assert page.index('id="answer"') < page.index('id="models"') < page.index('id="reliability"')


def test_warnings_stand_above_the_answers_and_notes_do_not(make_evaluation):
    evaluation = make_evaluation(("a", "b"))
    labels = [("a", "b")[i] for i in evaluation.y]
    table = pd.DataFrame({"x": np.arange(240) % 7, "leak": labels, "id": range(240), "y": labels})
    source = Source("my.csv", table, describe_table(table, "y"))
    page = render_report(analyze(evaluation), source)
    banner, rest = page.split('id="answer"')
    assert "1 warning before you rely on this" in banner
    assert "&#39;leak&#39; alone tells the class of every row." in banner
    assert "&#39;id&#39; is not used" not in banner
    assert "&#39;id&#39; is not used" in rest
    assert 'class="banner"' not in render_report(analyze(evaluation))


def make_reported(evaluation, **columns):
    labels = [("a", "b")[i] for i in evaluation.y]
    n_rows = len(labels)
    table = pd.DataFrame({"x": np.random.RandomState(0).normal(size=n_rows), **columns})
    table["y"] = labels
    commands = Commands(["calibrant", "report"], lambda *_: ["calibrant", "fit"])
    return Source("my.csv", table, describe_table(table, "y"), commands)


def test_a_column_that_gives_the_class_away_rules_out_a_yes(make_evaluation):
    evaluation = make_evaluation(("a", "b"), n_rows=2000)
    analysis = analyze(evaluation)
    assert analysis.recommendation.miscalibration.verdict is not Verdict.MISCALIBRATED
    source = make_reported(evaluation, leak=[f"{i} days" for i in evaluation.y])
    page = render_report(analysis, source)
    found = answers(page)
    trust = found["Can I trust its probabilities?"]
    assert trust.startswith("Not yet First check whether 'leak' is known")
    assert "badge calibrated" not in page
    assert (
        'leave it out (<code class="option">--ignore=leak</code>).' in page
    )  # not broken across lines
    assert found["What do I type?"] == (
        "First, create the report again without 'leak':calibrant report --ignore=leak If "
        "'leak' is known when predicting: calibrant fit"
    )


def test_the_answer_on_the_data_names_the_checks(make_evaluation):
    evaluation = make_evaluation(("a", "b"))
    analysis = analyze(evaluation)
    question = "What may be wrong with my data?"
    clean = answers(render_report(analysis, make_reported(evaluation)))[question]
    assert clean.startswith("None of the checks found anything: they look for columns that give")
    repeating = make_reported(evaluation, x=np.r_[0.5, 0.5, 0.5, np.arange(1.0, 238.0)])
    assert any("looks better than it is" in note for note in repeating.notes)
    answer = answers(render_report(analysis, repeating))[question]
    assert answer.startswith("A few rows are repeated")


def test_the_subtitle_says_which_rows_the_models_were_tested_on(make_evaluation):
    evaluation = make_evaluation(("a", "b"))
    analysis = analyze(evaluation)
    start = "Each was tested on rows held back from its training"
    assert f"{start}." in render_report(analysis, make_reported(evaluation))
    # The second 100 rows repeat the first ones.
    twice = replace(evaluation, y=np.r_[evaluation.y[:100], evaluation.y[:100], evaluation.y[:40]])
    repeating = make_reported(twice, x=np.r_[0:100, 0:100, 0:40] / 7)
    assert f"{start}, except for copies: see the warning." in render_report(analysis, repeating)
    related = make_reported(evaluation, patient=np.arange(240) // 4)
    assert f"{start}, except for related ones: see the warning." in render_report(analysis, related)


def test_says_and_is_right_are_compared_by_the_decision(make_evaluation):
    evaluation = make_evaluation(("a", "b", "c"), n_models=1)
    analysis = analyze(evaluation)
    [model] = analysis.models
    labels = re.findall(r'class="tendency small">(.*?)<', render_report(analysis))
    found = [model.calibrated_miscalibration, model.miscalibration, model.calibrated_miscalibration]
    tendencies = [text.TENDENCY_LABELS.get(each.tendency) for each in found]
    assert labels == [label for label in tendencies if label]
    assert "too confident" in labels


def test_a_model_no_better_than_guessing_is_not_fitted(make_evaluation):
    evaluation = make_evaluation(("a", "b"), n_models=1)
    half = np.full((len(evaluation.y), 2), 0.5)
    [model] = evaluation.models
    useless = replace(evaluation, models=(replace(model, uncalibrated=half, calibrated=half),))
    found = answers(render_report(analyze(useless), make_reported(useless)))
    assert found["Which model?"].startswith("None yet The closest is model 3, ")
    assert "is not clearly better than guessing." in found["Can I trust its probabilities?"]
    assert found["What do I type?"].startswith("Nothing yet: look for columns")


@pytest.mark.parametrize(("n_classes", "has_both"), [(2, True), (3, False)])
def test_both_conventions_of_the_brier_score_are_shown_for_two_classes(
    make_evaluation, n_classes, has_both
):
    analysis = analyze(make_evaluation("abc"[:n_classes], n_models=1))
    page = render_report(analysis)
    assert ("Brier score of one class" in page) == has_both
    assert ("brier_score_loss" in page) == has_both
    if has_both:
        evaluation = analysis.evaluation
        [model] = evaluation.models
        expected = brier_score_loss(evaluation.y_true, model.calibrated[:, 1])
        value = analysis.models[0].measures[3].calibrated
        assert value.estimate == pytest.approx(expected)
        assert value.low < value.estimate < value.high


def test_two_classes_are_shown_by_the_second_one(make_evaluation):
    page = render_report(analyze(make_evaluation(("no", "yes"), n_models=1)))
    views = re.findall(r'name="view"[^>]*>(.*?)</label>', page)
    assert views == ["<bdi>yes</bdi>", "the most probable class"]
    assert 'id="threshold"' in page
    assert page.count("Probability of <bdi>yes</bdi>") == 12


def test_many_classes_have_a_list_of_mistakes_instead_of_a_grid(make_evaluation):
    evaluation = make_evaluation([f"class {i}" for i in range(30)], n_rows=300, n_models=1)
    analysis = analyze(evaluation)
    page = render_report(analysis)
    section = re.search(r'<section id="confusion">.*?</section>', page, re.DOTALL).group()
    assert 'class="heat' not in section
    rows = re.findall(
        r"<bdi>class (\d+)</bdi></th>.*?<bdi>class (\d+)</bdi></td>.*?>(\d+)</td>", section
    )
    counts = analysis.models[0].calibrated_counts.copy()
    np.fill_diagonal(counts, 0)
    listed = [int(n) for _, _, n in rows]
    assert listed == np.sort(counts, axis=None)[::-1][: len(listed)].tolist()
    assert all(counts[int(truth), int(taken)] == int(n) for truth, taken, n in rows)
    assert len(page.encode()) < 700_000
