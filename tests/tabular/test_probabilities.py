import numpy as np
import pandas as pd
import pytest
from scipy.special import logit

from calibrant.calibrators import AutoCalibrator, TemperatureScaling
from calibrant.tabular import ProbabilityCalibrator, fit_probabilities
from calibrant.tabular.cells import as_cells
from calibrant.tabular.probabilities import select_probabilities

N = 120
CLASSES = ("=cmd()", "<b>", "🌲")
rng = np.random.RandomState(0)
SCORES = rng.dirichlet([0.3] * 3, size=N)
TRUTH = [CLASSES[rng.choice(3, p=0.5 * row + 0.5 / 3)] for row in SCORES]


def table(scores=SCORES, truth=TRUTH, names=CLASSES):
    columns = {
        name: as_cells(map(repr, column))
        for name, column in zip(names, scores.T.tolist(), strict=True)
    }
    frame = pd.DataFrame({"truth": as_cells(truth), **columns}, dtype=object)
    frame.index = pd.RangeIndex(2, len(frame) + 2, name="line")
    return frame


def test_a_table_is_calibrated_like_an_array():
    order = np.argsort(CLASSES)
    names = tuple(np.array(CLASSES)[order])
    index = [names.index(label) for label in TRUTH]
    for method, kind in (("auto", AutoCalibrator), ("temperature", TemperatureScaling)):
        fitted = fit_probabilities(table(), "truth", method=method)
        assert fitted.classes == names
        expected = kind().fit(SCORES[:, order], index).predict_proba(SCORES[:, order])
        np.testing.assert_array_equal(fitted.predict_proba(table()), expected)


def test_columns_are_matched_by_name_in_any_order():
    fitted = fit_probabilities(table(), "truth", method="matrix")
    shuffled = table()[["🌲", "<b>", "truth", "=cmd()"]].assign(more="1")
    np.testing.assert_array_equal(fitted.predict_proba(shuffled), fitted.predict_proba(table()))
    again = fit_probabilities(shuffled, "truth", method="matrix")
    np.testing.assert_array_equal(again.predict_proba(table()), fitted.predict_proba(table()))


def test_logits_are_accepted_when_declared():
    logits = np.log(SCORES) + 3.0
    from_logits = fit_probabilities(table(logits), "truth", logits=True, method="matrix")
    from_scores = fit_probabilities(table(), "truth", method="matrix")
    np.testing.assert_allclose(
        from_logits.predict_proba(table(logits)), from_scores.predict_proba(table()), rtol=1e-6
    )
    with pytest.raises(ValueError, match="use calibrant calibrate --logits"):
        fit_probabilities(table(logits), "truth")


@pytest.mark.parametrize("method", ["auto", "enir"])
def test_a_class_without_rows_keeps_its_column_also_in_a_file(tmp_path, method):
    names = ("a", "b", "never")
    truth = ["a" if label == CLASSES[0] else "b" for label in TRUTH]
    fitted = fit_probabilities(table(truth=truth, names=names), "truth", method=method)
    assert fitted.classes == names
    proba = fitted.predict_proba(table(names=names))
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert (proba > 0).all()
    fitted.save(tmp_path / "c.skops")
    again = ProbabilityCalibrator.load(tmp_path / "c.skops")
    np.testing.assert_array_equal(again.predict_proba(table(names=names)), proba)


@pytest.mark.parametrize("method", ["auto", "temperature"])
def test_every_method_has_a_report_that_a_file_keeps(tmp_path, method):
    fitted = fit_probabilities(table(), "truth", method=method)
    assert "The log loss is expected to fall by" in fitted.report
    assert f"from {N} observations" in fitted.report
    fitted.save(tmp_path / "c.skops")
    assert ProbabilityCalibrator.load(tmp_path / "c.skops").report == fitted.report


def test_the_report_names_rare_classes():
    truth = [*TRUTH[:-2], "rare", "rare"]
    scores = np.hstack([0.9 * SCORES, np.full((N, 1), 0.1)])
    fitted = fit_probabilities(table(scores, truth, (*CLASSES, "rare")), "truth")
    assert fitted.report.endswith("Too rare to be calibrated individually: rare.")


def changed(row, column, cell):
    frame = table()
    frame.iloc[row, column] = cell
    return frame


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (changed(3, 1, "0.9999"), "line 5 sums to"),
        (changed(3, 1, "-0.1"), "line 5 has -0.1 for '=cmd\\(\\)'"),
        (changed(3, 1, "high"), "line 5 has 'high' for '=cmd\\(\\)'"),
        (changed(3, 1, np.nan), "line 5 has no value for"),
        (changed(3, 1, "inf"), "line 5 has 'inf'"),
        (changed(3, 0, np.nan), "empty in 1 row, first in line 5"),
        (table(50 * SCORES), "line 2 sums to 50"),
        (table().drop(columns="🌲"), "It lacks '🌲'"),
        (table(truth=["<b>"] * N), "'truth' is '<b>' in every row"),
    ],
)
def test_invalid_probabilities_are_refused_with_the_row(frame, message):
    with pytest.raises(ValueError, match=message) as raised:
        fit_probabilities(frame, "truth")
    assert "\n" not in str(raised.value)


def test_new_probabilities_are_checked_too():
    fitted = fit_probabilities(table(), "truth", method="temperature")
    with pytest.raises(ValueError, match="line 5 sums to"):
        fitted.predict_proba(changed(3, 1, "0.9999").drop(columns="truth"))


def test_a_missing_class_is_named_with_the_options_that_help():
    positive = rng.rand(N)
    frame = pd.DataFrame({"truth": as_cells(["no", "yes"] * (N // 2)), "yes": positive})
    with pytest.raises(ValueError, match=r"It lacks 'no'\..* with --positive"):
        fit_probabilities(frame, "truth")
    np.testing.assert_allclose(
        select_probabilities(frame.assign(no=0.0, yes=logit(positive)), ("no", "yes"), logits=True)[
            :, 1
        ],
        positive,
    )


@pytest.mark.parametrize(("logits", "scale"), [(False, 1), (False, 100), (True, 1)])
def test_a_single_column_is_calibrated_like_two(tmp_path, logits, scale):
    positive = rng.beta(0.5, 0.5, size=N).round(4)
    values = logit(positive.clip(0.001, 0.999)) if logits else positive
    truth = as_cells(np.where(rng.rand(N) < 0.5 * positive + 0.25, "yes", "no"))
    frame = pd.DataFrame({"truth": truth, "score": scale * values, "age": 200.0 + np.arange(N)})
    frame.index = pd.RangeIndex(1, N + 1, name="row")
    both = pd.DataFrame({"truth": truth, "yes": values, "no": 0 * values if logits else 1 - values})
    options = {"logits": logits, "method": "temperature"}
    expected = fit_probabilities(both, "truth", **options).predict_proba(both)
    fitted = fit_probabilities(frame, "truth", columns={"score": "yes"}, **options)
    np.testing.assert_allclose(fitted.predict_proba(frame), expected, rtol=1e-9)
    fitted.save(tmp_path / "c.skops")
    loaded = ProbabilityCalibrator.load(tmp_path / "c.skops")
    assert loaded.given == fitted.given
    assert loaded.input_columns == ("score",)
    assert loaded.calibration_report == fitted.calibration_report
    # A new table may have percentages of at most 1, so what they are is stored.
    one = frame.iloc[[int(np.argmin(positive))]]
    np.testing.assert_array_equal(loaded.predict_proba(one), fitted.predict_proba(one))
    np.testing.assert_allclose(
        loaded.predict_proba(one), fitted.predict_proba(frame)[[int(np.argmin(positive))]]
    )


def test_columns_of_any_name_are_calibrated_like_those_of_the_classes():
    renamed = table(names=("p1", "p2", "p3"))
    columns = dict(zip(("p1", "p2", "p3"), CLASSES, strict=True))
    fitted = fit_probabilities(renamed, "truth", columns=columns, method="matrix")
    expected = fit_probabilities(table(), "truth", method="matrix")
    np.testing.assert_array_equal(fitted.predict_proba(renamed), expected.predict_proba(table()))
    assert set(fitted.input_columns) == {"p1", "p2", "p3"}
    assert fitted.output_columns == expected.output_columns


def test_an_unknown_method_is_refused_before_anything_is_read():
    with pytest.raises(ValueError, match="method must be one of"):
        fit_probabilities(table(), "none", method="platt")
