import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict

from calibrant.tabular import MODELS, describe_table, make_model, make_preprocessor, training_rows
from calibrant.tabular.cells import as_cells

rng = np.random.RandomState(0)
N = 90
CLASS = np.array(["a", "b", "c"])[rng.randint(3, size=N)]


@pytest.fixture(scope="module")
def rows():
    """Numbers with gaps, categories with gaps and rare ones."""
    size = rng.normal(size=N) + (CLASS == "a")
    gaps = np.where(rng.rand(N) < 0.2, np.nan, rng.normal(size=N) + (CLASS == "b"))
    color = as_cells(np.where(CLASS == "c", "red", "blue"))
    color[rng.rand(N) < 0.3] = np.nan
    color[:10] = "green"
    color[0] = "only once"
    table = pd.DataFrame({"size": size, "gaps": gaps, "color": color, "y": as_cells(CLASS)})
    schema = describe_table(table, "y")
    return training_rows(table, schema), schema


def test_numbers_are_imputed_scaled_and_marked(rows):
    (X, _, _), schema = rows
    features = make_preprocessor(schema).fit(X)
    values = pd.DataFrame(features.transform(X), columns=features.get_feature_names_out())
    assert list(values.columns[:3]) == ["size", "gaps", "missingindicator_gaps"]
    np.testing.assert_allclose(values["size"].mean(), 0, atol=1e-12)
    np.testing.assert_allclose(values["size"].std(ddof=0), 1)
    filled = X["gaps"].fillna(X["gaps"].median())
    np.testing.assert_allclose(values["gaps"], (filled - filled.mean()) / filled.std(ddof=0))
    assert values["missingindicator_gaps"].nunique() == 2


def test_categories_are_indicators_and_unknown_ones_are_rare(rows):
    (X, _, _), schema = rows
    features = make_preprocessor(schema).fit(X)
    values = pd.DataFrame(features.transform(X), columns=features.get_feature_names_out())
    colors = values.filter(like="color")
    assert list(colors.columns) == [
        "color_(missing)",
        "color_blue",
        "color_green",
        "color_red",
        "color_infrequent_sklearn",
    ]
    assert (colors.sum(axis=1) == 1).all()
    new = X.iloc[:1].assign(color="never seen")
    np.testing.assert_array_equal(features.transform(new), features.transform(X.iloc[:1]))


def test_preprocessing_knows_only_the_rows_it_was_fitted_on(rows):
    (X, _, _), schema = rows
    changed = X.copy()
    changed.iloc[50:, 0] = 1e6
    first, second = (make_preprocessor(schema).fit(part.iloc[:50]) for part in (X, changed))
    np.testing.assert_array_equal(first.transform(X.iloc[:50]), second.transform(X.iloc[:50]))


def test_columns_without_values_in_a_fold_do_no_harm(rows):
    (X, _, _), schema = rows
    empty = X.iloc[:20].assign(gaps=np.nan, color=as_cells([np.nan] * 20))
    features = make_preprocessor(schema).fit(empty)
    assert np.isfinite(features.transform(X)).all()


@pytest.mark.parametrize("name", MODELS)
def test_every_model_learns_and_repeats_itself(rows, name):
    (X, y, _), schema = rows
    model = make_model(name, schema, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        predicted = cross_val_predict(model, X, y, cv=3)
        assert np.mean(predicted == y) > 0.5  # one third by chance
        scores = [
            getattr(own, "predict_proba" if hasattr(own, "predict_proba") else "decision_function")(
                X
            )
            for own in (model.fit(X, y), clone(model).fit(X, y))
        ]
    np.testing.assert_array_equal(*scores)


def test_an_unknown_model_is_refused(rows):
    with pytest.raises(ValueError, match=r"one of random-forest, naive-bayes.*, got 'forest'"):
        make_model("forest", rows[1])


def test_tables_of_one_kind_of_column_work(rows):
    (X, y, _), _ = rows
    for name in ("size", "color"):
        table = X[[name]].assign(y=as_cells(y))
        schema = describe_table(table, "y")
        model = make_model("naive-bayes", schema).fit(*training_rows(table, schema)[:2])
        assert model.predict_proba(training_rows(table, schema).X).shape == (N, 3)


def test_a_few_missing_numbers_do_not_have_the_last_word_in_naive_bayes():
    rng = np.random.RandomState(1)
    y = np.repeat(["a", "b"], 100)
    size = rng.normal(size=200) + 2 * (y == "a")
    accuracy = []
    for gaps in ((), (0, 1)):  # two rows of class a
        table = pd.DataFrame({"size": size, "more": rng.normal(size=200), "y": as_cells(y)})
        table.loc[list(gaps), "more"] = np.nan
        schema = describe_table(table, "y")
        X, labels, _ = training_rows(table, schema)
        predicted = cross_val_predict(make_model("naive-bayes", schema), X, labels, cv=5)
        accuracy.append(np.mean(predicted == labels))
    assert accuracy[0] > 0.75
    assert accuracy[1] > accuracy[0] - 0.05
