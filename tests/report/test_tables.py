import numpy as np
import pandas as pd
import pytest

from calibrant.datasets import make_waveform
from calibrant.report.cross_validation import EvaluationSettings
from calibrant.report.tables import report_on_probabilities, report_on_table
from calibrant.tabular import describe_table
from calibrant.tabular.probabilities import fit_probabilities

QUICK = EvaluationSettings(n_folds=2, n_repeats=1)


@pytest.fixture(scope="module")
def table():
    X, y = make_waveform(60, random_state=0)
    columns = {f"x{i}": X[:, i] for i in range(3)}
    labels = [None if i == 7 else f"wave {label}" for i, label in enumerate(y)]
    index = pd.RangeIndex(2, 62, name="line")
    return pd.DataFrame({**columns, "wave": labels}, index=index)


def test_models_of_a_table_are_evaluated_by_name_on_rows_with_a_class(table, tmp_path):
    analysis = report_on_table(
        table,
        describe_table(table, "wave"),
        tmp_path / "page.html",
        title="waves.csv",
        models=["naive-bayes", "logistic"],
        settings=QUICK,
    )
    evaluation = analysis.evaluation
    assert [model.name for model in evaluation.models] == ["naive Bayes", "logistic regression"]
    assert evaluation.classes == ("wave 0", "wave 1", "wave 2")
    assert len(evaluation.y) == 59
    assert (evaluation.n_folds, evaluation.n_repeats) == (2, 1)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "waves.csv" in page
    assert "calibrant fit" not in page  # no commands were given


def test_given_probabilities_are_calibrated_by_clones_of_the_calibrator(tmp_path):
    rng = np.random.RandomState(0)
    truth = rng.dirichlet(np.ones(3), 90)
    sharpened = truth**3 / np.sum(truth**3, axis=1, keepdims=True)
    table = pd.DataFrame(sharpened, columns=list("abc"), index=pd.RangeIndex(90, name="row"))
    table["truth"] = [rng.choice(list("abc"), p=row) for row in truth]
    fitted = fit_probabilities(table, "truth", method="temperature")
    analysis = report_on_probabilities(table, fitted, tmp_path / "page.html", title="given")
    [model] = analysis.evaluation.models
    np.testing.assert_allclose(model.uncalibrated, sharpened[analysis.evaluation.row])
    on_all_rows = fitted.predict_proba(table)[analysis.evaluation.row]
    assert str(model.calibration_report) == fitted.report
    assert 0 < np.abs(model.calibrated - on_all_rows).max() < 0.1
