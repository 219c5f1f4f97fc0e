import json

import pytest

from calibrant.planning import plan_calibration, plan_validation

# Loose margins, which take the least time to simulate.
QUICK = ["--margins", "ratio=0.5", "--jobs", 1]


@pytest.fixture(autouse=True)
def few_repeats(monkeypatch):
    """Fit and simulate as little as possible."""
    monkeypatch.setattr("calibrant.planning.calibration.SIZES", (25, 50))
    monkeypatch.setattr("calibrant.planning.validation.RAREST_COUNTS", (10, 20))
    monkeypatch.setattr("calibrant.planning.learning.N_SIZES", 3)
    monkeypatch.setattr("calibrant.planning.plan.N_REPEATS", 1)
    monkeypatch.setitem(plan_calibration.__kwdefaults__, "n_repeats", 3)
    monkeypatch.setitem(plan_validation.__kwdefaults__, "n_repeats", 5)


@pytest.mark.parametrize("shares", [["sick=0.2", "well=0.8"], ["sick=0.2,well=0.8"]])
def test_shares_and_a_guess_give_answers_and_a_table(run, tmp_path, shares):
    options = ["--shares", *shares, "--auc", 0.9, "--json", tmp_path / "plan.json"]
    result = run("plan", *options, *QUICK)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("To calibrate: ")
    assert "To show calibration: about" in result.stdout
    assert "'sick' decides" in result.stdout
    record = json.loads((tmp_path / "plan.json").read_text())
    assert record["validation"]["n_rows"] == max(
        each["n_rows"] for each in record["validation"]["requirements"]
    )
    assert {each["of"] for each in record["validation"]["requirements"]} == {"sick", "well"}


def test_a_pilot_gives_three_answers(run, data, odd, tmp_path):
    options = ["--target", odd[4], "--model", "naive-bayes", "--json", tmp_path / "plan.json"]
    result = run("plan", data, *options, *QUICK)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("To fit: ")
    assert "To calibrate: " in result.stdout
    assert "To show calibration: about" in result.stdout
    assert "fitting: 15 of 15" in result.stderr
    record = json.loads((tmp_path / "plan.json").read_text())
    assert record["fitting"]["n_rows"] == 100
    assert {each["of"] for each in record["validation"]["requirements"]} == set(odd[1:4])


def test_features_give_the_rows_to_fit(run):
    result = run("plan", "--shares", "0.2,0.8", "--features", 12, "--quiet", "--json", "-", *QUICK)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["fitting"]["n_features"] == 12


def test_unnamed_classes_are_numbered(run):
    result = run("plan", "--shares", "0.2,0.8", "--quiet", "--json", "-", *QUICK)
    assert result.exit_code == 0, result.output
    requirements = json.loads(result.stdout)["validation"]["requirements"]
    assert {each["of"] for each in requirements} == {"1", "2"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--shares", "sick=0.2"], "shares must be positive, at least two, and sum to 1"),
        (["--shares", "a=0.2", "b=much"], "--shares must have numbers after the equals signs"),
        (["--shares", "a=0.2", "a=0.8"], "--shares must name each class once, got a, a"),
        (["--shares", "0.5,0.5", "--auc", "2"], "auc must lie between 0.5 and 0.995, got 2.0"),
        (["--shares", "0.5,0.5", "--margins", "brier=1"], "margins must name some of slope"),
        (["--shares", "0.5,0.5", "--margins", "slope"], "--margins must have numbers"),
        ([], "A plan must be based on either a pilot file or --shares, got neither"),
        (["pilot.csv", "--shares", "0.5,0.5"], "--shares, got both"),
        (["pilot.csv"], "no --target was given"),
    ],
)
def test_wrong_options_are_named(run, is_refused, options, message):
    assert is_refused(run("plan", *options, "--quiet"), message)
