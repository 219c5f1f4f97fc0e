import numpy as np
import pytest

from calibrant import CalibratedClassifier
from calibrant.tabular import describe_table, fit_table, make_model, select_training_rows

N = 60
COLORS = ["red", "blue", "blue", None] * (N // 4)


@pytest.mark.parametrize("method", ["temperature", None])
def test_a_table_is_fitted_like_an_array(make_table, method):
    table = make_table(z=COLORS, g=[number // 2 for number in range(N)])
    schema = describe_table(table, "y", groups="g")
    fitted = fit_table(table, schema, model="naive-bayes", method=method, random_state=3)
    X, y, groups = select_training_rows(table, schema)
    expected = CalibratedClassifier(
        make_model("naive-bayes", schema, 3), method=method, random_state=3
    ).fit(X, y, groups=groups)
    np.testing.assert_array_equal(fitted.predict_proba(table), expected.predict_proba(X))
    assert fitted.settings == {"model": "naive-bayes", "method": method, "seed": 3}


def test_columns_may_be_in_any_order(make_table):
    table = make_table(z=COLORS)
    fitted = fit_table(table, describe_table(table, "y"), model="naive-bayes", method="temperature")
    shuffled = table[["z", "x"]].assign(more="1")
    np.testing.assert_array_equal(fitted.predict_proba(shuffled), fitted.predict_proba(table))


def test_categories_that_were_not_in_the_training_data_are_noticed(make_table):
    table = make_table(z=COLORS)
    fitted = fit_table(table, describe_table(table, "y"), model="naive-bayes", method=None)
    assert fitted.find_notices(table) == []
    new = table.assign(z="teal")
    [notice] = fitted.find_notices(new)
    assert notice.startswith("'z' has categories that the model was not trained on")
    assert notice.endswith("'teal'.")
    assert fitted.predict_proba(new).shape == (N, 3)


def test_a_model_without_calibration_has_no_report(make_table):
    table = make_table()
    schema = describe_table(table, "y")
    assert fit_table(table, schema, model="naive-bayes", method=None).report is None
    assert "log loss" in fit_table(table, schema, model="naive-bayes").report
