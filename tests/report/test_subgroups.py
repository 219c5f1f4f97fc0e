from dataclasses import replace

import numpy as np
import pytest

from calibrant.metrics import subgroup_calibration
from calibrant.report import analyze, render_report, report_to_dict
from calibrant.report.formatting import p_value, signed
from calibrant.report.subgroup_text import answer_subgroups, describe_subgroups
from calibrant.report.text import summarize

SEX = np.array(["f", "m", "<b>"])[np.arange(240) % 5 // 2]


@pytest.fixture(scope="module")
def evaluation(make_evaluation):
    return make_evaluation(("a", "b", "c"), n_repeats=2).with_subgroups("sex", SEX)


@pytest.fixture(scope="module")
def analysis(evaluation):
    return analyze(evaluation)


def test_numbers_are_those_of_the_library_on_the_first_repeat(evaluation, analysis):
    first = evaluation.split < evaluation.n_folds
    rows = evaluation.row[first]
    y = np.array(evaluation.classes)[evaluation.y[rows]]
    for state in ("uncalibrated", "calibrated"):
        model = analysis.models[0]
        found = model.assessment if state == "uncalibrated" else model.calibrated_assessment
        proba = getattr(evaluation.models[0], state)[first]
        (column,) = found.subgroups
        assert column.column == "sex"
        assert column.calibration == subgroup_calibration(y, proba, SEX[rows])
        assert column.shown == (0, 1, 2, 3)


def test_groups_of_rows_are_accounted_for(evaluation):
    grouped = replace(evaluation, group=np.arange(240) // 3)
    first = evaluation.split < evaluation.n_folds
    rows = evaluation.row[first]
    found = analyze(grouped).models[0].assessment.subgroups[0].calibration
    expected = subgroup_calibration(
        np.array(evaluation.classes)[evaluation.y[rows]],
        evaluation.models[0].uncalibrated[first],
        SEX[rows],
        groups=rows // 3,
    )
    assert found == expected


def test_of_two_classes_the_second_is_shown_and_of_many_the_most_frequent(make_evaluation):
    for classes, n_shown in ((("no", "yes"), 2), ([f"class {i:02}" for i in range(12)], 11)):
        evaluation = make_evaluation(classes, n_models=1).with_subgroups("half", np.arange(240) % 2)
        (column,) = analyze(evaluation).models[0].assessment.subgroups
        assert len(column.shown) == n_shown
        assert column.shown[-1] == len(classes)


def test_values_must_be_those_of_the_rows(evaluation):
    with pytest.raises(
        ValueError, match="site must have one value for each of the 240 rows, got 2"
    ):
        evaluation.with_subgroups("site", ["x", "y"])


def test_the_page_shows_figures_tables_and_findings(analysis):
    page = render_report(analysis)
    start = page.index('<section class="fold" id="subgroups">')
    section = page[start : page.index("</section>", start)]
    assert 'href="#subgroups"' in page
    assert "observed and predicted shares by sex" in section
    assert section.count("<svg") == 2 * 4
    assert "&lt;b&gt;" in section
    assert "<b>m" not in section
    for model in analysis.models:
        for assessment in (model.assessment, model.calibrated_assessment):
            found = assessment.subgroups[0].calibration
            for row in found.subgroups:
                for interval in (*row.difference, *row.shrunken):
                    low, high = (signed(each, is_percentage=True) for each in interval)
                    assert f'<span class="range">{low} to {high}</span>' in section
                assert p_value(row.p_values[0]) in section


def test_a_page_without_subgroups_has_no_section(make_evaluation):
    page = render_report(analyze(make_evaluation(("a", "b"), n_models=1)))
    assert 'id="subgroups"' not in page


def test_plain_values_have_the_subgroups(analysis):
    (model, _) = report_to_dict(analysis)["models"]
    found = model["assessment"]["calibrated"]["subgroups"][0]
    assert found["column"] == "sex"
    assert [each["name"] for each in found["calibration"]["subgroups"]] == ["<b>", "f", "m"]


def test_findings_are_named_the_most_certain_ones_first(analysis):
    column = analysis.models[0].assessment.subgroups[0]  # overconfident in all subgroups alike
    text = describe_subgroups(column)
    assert "the probability of the most probable class is too high by" in text
    assert text.startswith("In '")
    assert summarize(analysis).splitlines()[-1] == answer_subgroups(
        analysis.models[analysis.best.model].calibrated_assessment
    )[0].replace("\n", " ")


@pytest.mark.parametrize(
    ("p_values", "difference", "expected"),
    [
        ((0.01, 0.9), 0.01, "The subgroups differ from each other beyond chance (p"),
        ((0.01, 0.9), 0.5, "one correction for all rows may be enough."),
        ((0.5, 0.9), 0.01, "it is not certain in which of them the probabilities are wrong."),
        ((0.5, 0.9), 0.5, "Nor do the subgroups differ from each other beyond chance"),
    ],
)
def test_both_tests_are_put_into_words(analysis, p_values, difference, expected):
    column = analysis.models[0].calibrated_assessment.subgroups[0]
    found = column.calibration
    subgroups = [
        replace(row, p_values=(each,) * 4)
        for row, each in zip(found.subgroups, (*p_values, 1.0), strict=True)
    ]
    changed = replace(found, subgroups=tuple(subgroups), difference_p_value=difference)
    text = describe_subgroups(replace(column, calibration=changed))
    assert expected in text
    assert ("In no subgroup" in text) == (min(p_values) >= 0.05)
    if min(p_values) < 0.05:  # four findings in the first subgroup
        assert text.startswith("In '<b>', ")
        assert "; and 1 more finding on the page." in text
