from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.naive_bayes import GaussianNB

from calibrant import CalibratedClassifier, __version__
from calibrant.datasets import make_waveform
from calibrant.decisions import CostTable
from calibrant.report import (
    Source,
    analyze,
    describe_methods,
    evaluate_fitted_models,
    evaluate_models,
    evaluate_probabilities,
    render_report,
    report_to_dict,
)
from calibrant.tabular import describe_table


@pytest.fixture(scope="module")
def rows():
    return make_waveform(60, random_state=0)


def quick_model(**parameters):
    return CalibratedClassifier(GaussianNB(**parameters), method="temperature", cv=3)


def test_models_that_are_fitted_alike_share_a_sentence(rows):
    models = {"one": quick_model(), "two": quick_model(var_smoothing=0.1)}
    evaluation = evaluate_models(*rows, models, n_folds=3, n_repeats=2, random_state=7)
    found = describe_methods(analyze(evaluation), Source()).paragraph
    counts = np.bincount(rows[1])
    expected = f"60 rows of 3 classes: 0 (n = {counts[0]}), 1 (n = {counts[1]}) and 2 (n = "
    assert expected in found
    assert (
        "One (GaussianNB) and two (GaussianNB(var_smoothing=0.1)) were calibrated by the method "
        "'temperature', using held-out scores of the training rows (cross-validation)." in found
    )
    assert (
        "3-fold cross-validation of rows, stratified by class, repeated 2 times (random seed 7)"
        in found
    )
    assert "computed on the first repeat" in found
    assert f"calibrant {__version__} with Python" in found
    assert f"scikit-learn {sklearn.__version__}" in found


def test_groups_are_kept_together_and_their_intervals_qualified(rows):
    groups = np.arange(60) // 2
    evaluation = evaluate_models(
        *rows, {"one": quick_model()}, groups=groups, n_folds=3, n_repeats=1
    )
    found = describe_methods(analyze(evaluation), Source()).paragraph
    assert "60 rows in 30 groups of 3 classes" in found
    assert "3-fold cross-validation of whole groups of rows, stratified by class (random" in found
    assert "bootstrap intervals over groups" in found
    assert (
        "These intervals treat rows as independent, although some belong to the same group" in found
    )
    assert "first repeat" not in found


def test_given_probabilities_are_not_said_to_have_been_fitted(rows):
    X, y = rows
    proba = GaussianNB().fit(*make_waveform(60, random_state=1)).predict_proba(X)
    evaluation = evaluate_probabilities(proba, y, calibrator="temperature", n_repeats=1)
    found = describe_methods(analyze(evaluation), Source()).paragraph
    assert "given and are assumed to be predictions for rows that the model was not fitted" in found
    assert "The probabilities of your model were recalibrated by the method 'temperature'." in found
    assert "Recalibration was evaluated by 5-fold cross-validation" in found
    assert "All steps" not in found


def test_calibrated_models_that_were_fitted_before_are_not_said_to_be_cross_validated(rows):
    fitted = quick_model().fit(*make_waveform(60, random_state=1))
    evaluation = evaluate_fitted_models(*rows, {"mine": fitted})
    found = describe_methods(analyze(evaluation), Source()).paragraph
    assert "The calibration of mine was fitted before and left unchanged." in found
    assert "cross-validation" not in found


def test_a_table_adds_predictors_missing_values_and_preprocessing(make_evaluation):
    evaluation = make_evaluation(("a", "b"), n_rows=60, n_models=1)
    table = pd.DataFrame(
        {
            "x": [None, *(np.arange(59) * 7 % 23)],
            "z": np.arange(60) % 7,
            "y": np.array(["a", "b"])[evaluation.y],
        },
        index=pd.RangeIndex(2, 62, name="line"),
    )
    source = Source("t.csv", table, describe_table(table, "y"))
    found = describe_methods(analyze(evaluation), source).paragraph
    assert found.startswith("The outcome 'y' had 2 classes: a (n = ")
    assert "2 predictors. Values were missing in 1 of them." in found
    assert "Missing numbers were replaced by the median" in found


def test_references_are_those_that_the_text_cites(make_evaluation):
    for classes in (("a", "b"), ("a", "b", "c"), [f"class {i:02}" for i in range(12)]):
        analysis = analyze(make_evaluation(classes, n_rows=120, n_models=1))
        found = describe_methods(analysis, Source())
        for reference in found.references:
            author, year = reference.split()[0], reference.rsplit(";")[0].split()[-1].strip(".")
            assert author in found.paragraph, reference
            assert year in found.paragraph, reference
        has_several = len(classes) > 2
        assert ("M-index" in found.paragraph) == has_several
        assert ("Van Hoorde" in found.paragraph) == (len(classes) == 3)
        assert any("Hand DJ" in reference for reference in found.references) == has_several
        assert ("(n = " in found.paragraph) == (len(classes) < 12)


def test_subgroups_are_mentioned_where_they_are_asked_for(make_evaluation):
    evaluation = make_evaluation(("a", "b"), n_models=1)
    by_sex = evaluation.with_subgroups("sex", np.arange(240) % 2)
    assert "by subgroup ('sex')" in describe_methods(analyze(by_sex), Source()).paragraph
    assert "subgroup" not in describe_methods(analyze(evaluation), Source()).paragraph


def test_costs_are_mentioned_where_they_are_given(make_evaluation):
    evaluation = make_evaluation(("a", "b"), n_models=1)
    costs = CostTable(("a", "b"), ("a", "b"), 1.0 - np.eye(2))
    assert "mean costs" in describe_methods(analyze(evaluation, costs), Source()).paragraph
    assert "mean costs" not in describe_methods(analyze(evaluation), Source()).paragraph


def test_the_page_and_plain_values_have_the_paragraph(make_evaluation):
    evaluation = make_evaluation(("<b>a</b>", "b"), n_models=1)
    analysis = analyze(evaluation)
    page = render_report(analysis)
    assert report_to_dict(analysis)["methods"]["paragraph"].startswith("The data had 240 rows")
    assert (
        '<blockquote id="methods-paragraph">The data had 240 rows of 2 classes: &lt;b&gt;a' in page
    )
    assert "Cross-validated or corrected for optimism?" in page
    given = analyze(replace(evaluation, is_given=True))
    assert "corrected for optimism" not in render_report(given)
