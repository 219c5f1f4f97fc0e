import re

import numpy as np
import pytest

from calibrant.decisions import CostTable
from calibrant.report import analyze, render_report, report_to_dict
from calibrant.report.formatting import number
from calibrant.report.section_text import describe_advantage

ODD = ("<script>alert(1)</script>", "\"a\" & 'b'", "=cmd()")


def read_section(page, name):
    found = re.search(rf'<section class="fold" id="{name}">.*?</section>', page, re.DOTALL)
    return found.group(0)


@pytest.fixture(scope="module")
def analysis(make_evaluation):
    return analyze(make_evaluation(ODD))


@pytest.fixture(scope="module")
def page(analysis):
    return render_report(analysis)


def test_sections_are_folded_and_linked(page):
    names = re.findall(r'<section class="fold" id="([^"]*)"><details>', page)
    assert names
    for name in names:
        assert page.count(f'href="#{name}"') == 1
    assert page.index('id="answer"') < page.index('class="fold"')


def test_the_page_shows_the_numbers_of_the_assessment(analysis, page):
    section = read_section(page, "calibration-in-detail")
    for model in analysis.models:
        for assessment in (model.assessment, model.calibrated_assessment):
            for each in assessment.by_class:
                for value in (each.weak_calibration.slope, each.weak_calibration.intercept):
                    shown = f"{number(value.low, 2)} to {number(value.high, 2)}"
                    assert f'{number(value.estimate, 2)}<span class="range">{shown}' in section
                assert f"{100 * each.curve.integrated_calibration_index:.1f}</td>" in section
            assert f"calibrated</bdi> {assessment.calibration_index:.1f}" in section
    assert section.count('class="band"') == 2 * 2 * 3
    assert "<script" not in section
    assert "nan" not in section


def test_discrimination_and_net_benefit_are_shown(analysis, page):
    auc, benefit = (read_section(page, name) for name in ("discrimination", "decision-curves"))
    for model in analysis.models:
        for assessment in (model.assessment, model.calibrated_assessment):
            found = assessment.discrimination
            for value in (*found.by_class, found.m_index, found.polytomous_discrimination_index):
                shown = f"{number(value.low)} to {number(value.high)}"
                assert f'{number(value.estimate)}<span class="range">{shown}' in auc
            for each in assessment.by_class:
                curve = each.decision_curve
                [at_half] = np.flatnonzero(curve.threshold == 0.5)
                assert f"{number(curve.net_benefit[at_half])}<span" in benefit
                assert describe_advantage(curve) in benefit
    assert benefit.count('class="band"') == 2 * 2 * 3
    assert "<script" not in auc + benefit
    assert "With your costs" not in benefit


def test_costs_are_shown_with_the_thresholds_that_they_imply(make_evaluation):
    evaluation = make_evaluation(("no", "yes"), n_models=1)
    costs = CostTable(("no", "yes"), ("<b>wait</b>", "treat"), np.array([[0.0, 1], [10, 0]]))
    analysis = analyze(evaluation, costs)
    section = read_section(render_report(analysis), "decision-curves")
    found = analysis.models[0].calibrated_assessment.costs.comparison
    assert f"{number(found.cheapest.estimate)}<span" in section
    assert f"{number(found.saving.estimate)}<span" in section
    assert (
        "cheapest at low probabilities of &#39;yes&#39;, &#39;treat&#39; from 9.1% on." in section
    )
    assert "<b>wait" not in section


def test_plain_values_have_the_assessment(analysis):
    for shown in report_to_dict(analysis)["models"]:
        model = analysis.models[shown["model"]]
        slopes = [
            each["weak_calibration"]["slope"]["estimate"]
            for each in shown["assessment"]["calibrated"]["by_class"]
        ]
        assert slopes == [
            each.weak_calibration.slope.estimate for each in model.calibrated_assessment.by_class
        ]


def test_what_rows_do_not_determine_is_marked(make_evaluation):
    evaluation = make_evaluation([f"class {i}" for i in range(9)], n_rows=45, n_models=1)
    section = read_section(render_report(analyze(evaluation)), "calibration-in-detail")
    assert "nan" not in section
    assert "inf" not in section


def test_many_classes_and_models_do_not_make_the_page_large(make_evaluation):
    classes = [f"class {i}" for i in range(10)]
    page = render_report(analyze(make_evaluation(classes, n_rows=120, n_models=3)))
    assert len(page.encode()) < 1_000_000
    assert "Only the 6 most frequent classes have curves." in page
    assert read_section(page, "calibration-in-detail").count('class="band"') == 3 * 2 * 6
