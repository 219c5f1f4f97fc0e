import re

import pytest

from calibrant.report import analyze, render_report, report_to_dict
from calibrant.report.formatting import number

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
            assert f"calibrated {assessment.calibration_index:.1f}" in section
    assert section.count("<polygon") == 2 * 2 * 3
    assert "<script" not in section
    assert "nan" not in section


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
