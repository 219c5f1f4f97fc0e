import pytest

pytest.importorskip("skl2onnx", reason="the extra 'onnx' is not installed")

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

from calibrant import CalibratedClassifier
from calibrant.onnx import largest_difference, to_onnx

CLOSE = 1e-9


def draw(n_rows, seed):
    rng = np.random.default_rng(seed)
    colors = np.array(["red", "green", "blue", "rare", "äöü"], dtype=object)
    color = rng.choice(colors, n_rows, p=[0.3, 0.3, 0.2, 0.02, 0.18])
    size = rng.normal(size=n_rows)
    y = (size + (color == "red") + rng.normal(size=n_rows) > 0.5).astype(int)
    table = pd.DataFrame({"size": size, "color": color, "weight": rng.normal(50.0, 9.0, n_rows)})
    table.loc[rng.uniform(size=n_rows) < 0.2, "size"] = np.nan
    table.loc[rng.uniform(size=n_rows) < 0.2, "color"] = np.nan
    return table, y


def fit(*transformers):
    table, y = draw(200, 0)
    columns = ColumnTransformer(list(transformers), sparse_threshold=0)
    model = make_pipeline(columns, LogisticRegression()).fit(table, y)
    return CalibratedClassifier(FrozenEstimator(model), method="temperature").fit(table, y)


TEXT = SimpleImputer(strategy="constant", fill_value="(missing)")
MODE = SimpleImputer(strategy="most_frequent")
MARKED = SimpleImputer(strategy="median", add_indicator=True)


@pytest.mark.parametrize(
    ("imputer", "encoder"),
    [
        (TEXT, OneHotEncoder(handle_unknown="ignore", sparse_output=False)),
        (MODE, OneHotEncoder(handle_unknown="ignore", sparse_output=False)),
        (
            TEXT,
            OneHotEncoder(
                handle_unknown="infrequent_if_exist", min_frequency=10, sparse_output=False
            ),
        ),
    ],
)
def test_columns_of_numbers_and_texts_are_inputs_by_name(imputer, encoder):
    model = fit(
        ("number", make_pipeline(MARKED, StandardScaler()), ["weight", "size"]),
        ("text", make_pipeline(imputer, encoder), ["color"]),
    )
    converted = to_onnx(model)
    assert [each.name for each in converted.graph.input] == ["size", "color", "weight"]
    new, _ = draw(300, 1)
    new.loc[:20, "color"] = "never seen"
    assert largest_difference(converted, model, new) < CLOSE


@pytest.mark.parametrize("handle_unknown", ["ignore", "infrequent_if_exist"])
@pytest.mark.parametrize("min_frequency", [None, 10])
@pytest.mark.parametrize("column", ["color", "size"])
def test_every_kind_of_category_is_encoded(column, min_frequency, handle_unknown):
    table, y = draw(200, 0)
    table["size"] = table["size"].fillna(0.0).round()
    encoder = OneHotEncoder(
        handle_unknown=handle_unknown, min_frequency=min_frequency, sparse_output=False
    )
    base = make_pipeline(ColumnTransformer([("a", encoder, [column])]), LogisticRegression())
    model = CalibratedClassifier(FrozenEstimator(base.fit(table, y)), method=None).fit(table, y)
    new = pd.concat([table, draw(100, 1)[0].assign(size=np.arange(100.0) / 2)])
    new.iloc[-50:, new.columns.get_loc("color")] = "never seen"
    assert largest_difference(to_onnx(model), model, new) < CLOSE


@pytest.mark.parametrize(
    ("encoder", "message"),
    [
        (OneHotEncoder(drop="first"), "drop=None .* got drop='first'. Omit"),
        (OneHotEncoder(), "must not be missing .* got NaN .* Impute"),
    ],
)
def test_categories_that_a_graph_cannot_tell_apart_are_refused(encoder, message):
    table, y = draw(200, 0)
    table["size"] = table["size"].round()
    base = make_pipeline(ColumnTransformer([("a", encoder, ["size"])]), LogisticRegression())
    model = CalibratedClassifier(FrozenEstimator(base.fit(table, y)), method=None).fit(table, y)
    with pytest.raises(ValueError, match=message):
        to_onnx(model)


@pytest.mark.parametrize("columns", [["weight"], [2], slice(2, 3), [False, False, True]])
def test_columns_may_be_selected_by_position_and_weighted(columns):
    table, y = draw(100, 0)
    chosen = ColumnTransformer(
        [("a", StandardScaler(), columns), ("b", MARKED, lambda table: ["size"])],
        transformer_weights={"a": 3.0},
    )
    base = make_pipeline(chosen, LogisticRegression()).fit(table, y)
    model = CalibratedClassifier(FrozenEstimator(base), method="temperature").fit(table, y)
    assert largest_difference(to_onnx(model), model, table) < CLOSE


def test_texts_to_analyze_are_refused():
    texts = pd.DataFrame({"note": ["good day", "bad day"] * 10})
    columns = ColumnTransformer([("words", CountVectorizer(), "note")])
    for words, X, message in [
        (columns, texts, "must be lists .* got 'note'"),
        (CountVectorizer(), texts["note"].tolist(), "must take tables"),
    ]:
        base = make_pipeline(words, LogisticRegression()).fit(X, np.arange(20) % 2)
        model = CalibratedClassifier(FrozenEstimator(base), method=None).fit(X, np.arange(20) % 2)
        with pytest.raises(ValueError, match=f"{message}.* calibrator alone"):
            to_onnx(model)


def test_dropped_and_passed_columns_are_handled():
    model = fit(("kept", "passthrough", ["weight"]), ("gone", "drop", ["size", "color"]))
    converted = to_onnx(model)
    assert [each.name for each in converted.graph.input] == ["weight"]
    assert largest_difference(converted, model, draw(50, 1)[0]) < CLOSE


@pytest.mark.filterwarnings("ignore:Skipping features without any observed values")
def test_empty_columns_are_left_out_as_by_the_imputer():
    table, y = draw(100, 0)
    X = table[["size", "weight"]].assign(size=np.nan).to_numpy()
    X[::7, 1] = np.nan
    base = make_pipeline(SimpleImputer(), MinMaxScaler(), LogisticRegression())
    base.fit(X, y)
    model = CalibratedClassifier(FrozenEstimator(base), method="temperature").fit(X, y)
    assert largest_difference(to_onnx(model), model, X) < CLOSE


def test_columns_with_the_names_of_outputs_are_refused():
    table, y = draw(50, 0)
    table = table.rename(columns={"weight": "label"})
    base = make_pipeline(ColumnTransformer([("all", "passthrough", ["label"])]), GaussianNB())
    model = CalibratedClassifier(FrozenEstimator(base.fit(table, y)), method=None).fit(table, y)
    with pytest.raises(ValueError, match=r"not be named label or .* got 'label'. Rename"):
        to_onnx(model)


def test_other_marks_of_missing_values_are_refused():
    X = np.arange(40.0).reshape(20, 2)
    base = make_pipeline(SimpleImputer(missing_values=-1), LogisticRegression())
    base.fit(X, np.arange(20) % 2)
    model = CalibratedClassifier(FrozenEstimator(base), method=None).fit(X, np.arange(20) % 2)
    with pytest.raises(ValueError, match=r"missing_values=nan .* got -1. Replace"):
        to_onnx(model)
