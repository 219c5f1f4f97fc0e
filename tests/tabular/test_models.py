import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict

from calibrant.tabular import MODELS, describe_table, make_model, select_training_rows
from calibrant.tabular.cells import as_cells


@pytest.mark.parametrize("name", MODELS)
def test_every_model_learns_and_is_reproducible(mixed_rows, name):
    (X, y, _), schema = mixed_rows
    model = make_model(name, schema, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        predicted = cross_val_predict(model, X, y, cv=3)
        assert np.mean(predicted == y) > 0.5  # one third by chance
        response = "predict_proba" if hasattr(model, "predict_proba") else "decision_function"
        first, second = (getattr(item.fit(X, y), response)(X) for item in (model, clone(model)))
    np.testing.assert_array_equal(first, second)


def test_an_unknown_model_is_refused(mixed_rows):
    with pytest.raises(
        ValueError, match=r"one of random-forest, naive-bayes.*, got 'forest'\. Use"
    ):
        make_model("forest", mixed_rows[1])


def test_tables_of_one_kind_of_column_work(mixed_rows):
    (X, y, _), _ = mixed_rows
    for name in ("size", "color"):
        table = X[[name]].assign(y=as_cells(y))
        schema = describe_table(table, "y")
        model = make_model("naive-bayes", schema).fit(*select_training_rows(table, schema)[:2])
        assert model.predict_proba(select_training_rows(table, schema).X).shape == (len(X), 3)


def test_a_few_missing_numbers_do_not_dominate_naive_bayes():
    rng = np.random.RandomState(1)
    y = np.repeat(["a", "b"], 100)
    size = rng.normal(size=200) + 2 * (y == "a")
    accuracy = []
    for gaps in ((), (0, 1)):  # two rows of class a
        table = pd.DataFrame({"size": size, "more": rng.normal(size=200), "y": as_cells(y)})
        table.loc[list(gaps), "more"] = np.nan
        schema = describe_table(table, "y")
        X, labels, _ = select_training_rows(table, schema)
        predicted = cross_val_predict(make_model("naive-bayes", schema), X, labels, cv=5)
        accuracy.append(np.mean(predicted == labels))
    assert accuracy[0] > 0.75
    assert accuracy[1] > accuracy[0] - 0.05
