"""The way through the application, from a file to predictions and back with outcomes."""

import csv
import io
import json
import re

import pandas as pd
import pytest

from calibrant._core.phrases import percent
from calibrant.tabular import TableModel, read_table
from calibrant.tabular.variations import make_row
from tests.app.visiting import make_table, project_of, text_of

QUICK = {"target": "3", "model": "logistic", "effort": "quick"}


@pytest.fixture(scope="module")
def fitted(visitor):
    """A project with a report and a model."""
    page = visitor.put(f"{visitor.home}/upload/table", make_table(), "patients.csv")
    project = project_of(page)
    assert "Ready" not in visitor.post(f"{project}/target", **QUICK).text
    page = visitor.post(f"{project}/model", model="logistic", calibrated="yes")
    assert "Use the model" in text_of(page)
    return project


@pytest.fixture(scope="module")
def model(visitor, fitted, tmp_path_factory):
    """The saved model."""
    path = tmp_path_factory.mktemp("saved") / "model.skops"
    path.write_bytes(visitor.get(f"{fitted}/model.skops").content)
    return path


def test_the_columns_are_described(visitor):
    page = visitor.put(f"{visitor.home}/upload/table", make_table(), "patients.csv")
    text = text_of(page)
    assert "patients.csv : 90 rows, 4 columns" in text
    assert re.search(r"age number, 2\d to 7\d", text)
    assert "sex category with 2 values" in text


def test_values_can_be_declared_missing(visitor):
    table = make_table().replace(b",f,", b",not asked,")
    project = project_of(visitor.put(f"{visitor.home}/upload/table", table))
    page = visitor.post(f"{project}/columns", missing="not asked")
    assert "Read as missing values: 'not asked'" in page.text.replace("&#39;", "'")


def test_a_measurement_cannot_be_predicted(visitor, fitted):
    page = visitor.get(f"{fitted}/target")
    assert "'dose' has" in page.text.replace("&#39;", "'")
    assert "like a measurement" in page.text
    assert page.text.count('name="target"') == 2


def test_the_report_is_that_of_the_command_line(visitor, fitted):
    page = visitor.get(f"{fitted}/report")
    assert "Can these probabilities be trusted?" in page.text
    saved = visitor.get(f"{fitted}/report/report.html")
    assert "attachment" in saved.headers["content-disposition"]
    assert "app-bar" not in saved.text
    assert visitor.secret not in saved.text
    assert "calibrant report patients.csv --target outcome --model logistic" in re.sub(
        r"<[^>]*>", "", saved.text
    )
    numbers = json.loads(visitor.get(f"{fitted}/report/report.json").text)
    assert numbers["n_rows"] == 90
    assert numbers["schema"]["target"] == "outcome"


def test_the_private_folder_is_not_named(visitor, tmp_path, app):
    path = tmp_path / "two.xlsx"
    with pd.ExcelWriter(path) as workbook:
        for name in ("first", "second"):
            pd.read_csv(io.BytesIO(make_table())).to_excel(workbook, sheet_name=name, index=False)
    page = visitor.put(f"{visitor.home}/upload/table", path.read_bytes(), "two.xlsx")
    assert "two.xlsx has 2 sheets" in text_of(page)
    page = visitor.post(f"{project_of(page)}/target", **QUICK)
    assert "two.xlsx has 2 sheets" in page.text
    assert str(app.folder) not in page.text


def test_the_same_choices_do_not_start_the_work_again(visitor, fitted, app):
    folder = app.folder / fitted[-16:]
    before = sorted(folder.iterdir())
    visitor.post(f"{fitted}/target", **QUICK)
    visitor.post(f"{fitted}/report")
    visitor.post(f"{fitted}/model", model="logistic", calibrated="yes")
    visitor.get(f"{fitted}/report")
    assert sorted(folder.iterdir()) == before


def test_warnings_come_before_the_work_with_a_remedy(visitor):
    lines = make_table(60).decode().splitlines()
    table = [f"patient,{lines[0]}", *(f"p{k // 3},{line}" for k, line in enumerate(lines[1:]))]
    page = visitor.put(f"{visitor.home}/upload/table", "\n".join(table).encode())
    project = project_of(page)
    page = visitor.post(f"{project}/target", **{**QUICK, "target": "4"})
    assert "1 warning before you start" in text_of(page)
    assert "--" not in text_of(page)
    page = visitor.post(f"{project}/check", option="--groups=patient")
    assert "warning" not in text_of(page)
    refused = visitor.post(f"{project}/check", option="--ignore=age")
    assert refused.status_code == 400
    columns = visitor.get(f"{project}/columns").text
    assert '<option value="groups" selected>' in columns


def test_predictions_are_those_of_the_model(visitor, fitted, model, tmp_path):
    (tmp_path / "new.csv").write_bytes(make_table(25, seed=1))
    expected = TableModel.load(model).predict_proba(read_table(tmp_path / "new.csv"))
    page = visitor.put(f"{fitted}/rows", make_table(25, seed=1), "new.csv")
    assert "new.csv : 25 rows" in text_of(page)
    rows = list(csv.DictReader(io.StringIO(visitor.get(f"{page.url}/csv").text)))
    assert [float(row["yes"]) for row in rows] == pytest.approx(expected[:, 1].tolist(), abs=1e-6)
    assert [row["age"] for row in rows] == read_table(tmp_path / "new.csv")["age"].tolist()
    workbook = tmp_path / "new.xlsx"
    workbook.write_bytes(visitor.get(f"{page.url}/excel").content)
    assert read_table(workbook)["yes"].tolist() == [float(row["yes"]) for row in rows]
    n_sure = sum(
        row["predicted_class"] == "yes" and float(row["probability"]) >= 0.8 for row in rows
    )
    filtered = visitor.get(f"{page.url}?class=yes&least=80")
    assert f"{n_sure} of 25 rows" in text_of(filtered)


def test_new_rows_without_a_column_say_which(visitor, fitted):
    page = visitor.put(f"{fitted}/rows", b"age,dose\n40,2\n50,3\n", "short.csv")
    assert page.status_code == 400
    assert "'sex'" in text_of(page).replace("&#39;", "'")
    assert f'href="{fitted.removeprefix(visitor.origin)}/use"' in page.text


def test_a_case_is_predicted_and_decided_by_its_costs(visitor, fitted, model):
    loaded = TableModel.load(model)
    [proba] = loaded.predict_proba(make_row(loaded, {"age": "35", "dose": "4.5", "sex": "f"}))
    page = visitor.post(f"{fitted}/case", f0="35", f1="4.5", f2="f")
    assert f"no {100 * proba[0]:.1f}%" in text_of(page)
    assert "Most probable: no" in text_of(page)
    # Browsers remember addresses, and the values of a patient are nobody's business.
    assert "4.5" not in str(page.url)
    row = make_row(loaded, {"age": "35", "dose": "4.5", "sex": "f"})
    low, high = loaded.predict_interval(loaded.select_inputs(row))[0, 0]
    assert f"{percent(low)} to {percent(high)}" in page.text
    # Missing "yes" is so expensive that "no" is never decided.
    visitor.post(f"{fitted}/costs", **{"cost-0-1": "1", "cost-1-0": "1000000"})
    page = visitor.post(f"{fitted}/case", f0="35", f1="4.5", f2="f")
    assert text_of(page).startswith("Decide yes")
    assert f"lowest expected cost, {proba[0]:.3g}" in text_of(page)
    wrong = visitor.post(f"{fitted}/costs", **{"cost-0-1": "-1", "cost-1-0": "1"})
    assert "not negative" in text_of(wrong)
    visitor.post(f"{fitted}/costs", forget="yes")


def test_a_case_with_text_for_a_number_says_what_to_do(visitor, fitted):
    page = visitor.post(f"{fitted}/case", f0="old")
    assert page.status_code == 400
    assert "must hold numbers" in text_of(page)
    assert "Correct it, or leave the field empty." in text_of(page)


def test_work_that_was_begun_is_found_from_the_start_page(visitor, fitted):
    path = fitted.removeprefix(visitor.origin)
    assert f'href="{path}"' in visitor.get(f"{visitor.home}/").text
    assert visitor.get(fitted).url.path.endswith("/use")


def test_outcomes_lead_to_a_validation_and_an_update(visitor, model):
    # With the outcomes swapped, the probabilities are wrong.
    swapped = make_table(150, seed=2, classes=("yes", "no"))
    page = visitor.put(f"{visitor.home}/upload/model", model.read_bytes(), "model.skops")
    project = project_of(page)
    page = visitor.put(f"{project}/outcomes", swapped, "outcomes.csv")
    assert "Are the probabilities right?" in text_of(page)
    saved = visitor.get(f"{page.url}/page").text
    assert "app-bar" not in saved
    page = visitor.post(str(page.url))
    assert "Updates so far" in text_of(page)
    page = visitor.post(f"{project}/case", f0="35", f1="4", f2="f")
    [proba] = re.findall(r"no ([\d.]+)%", text_of(page))
    assert float(proba) < 50


def test_probabilities_from_elsewhere_are_judged_and_corrected(visitor):
    lines = ["score,truth", *(f"{0.005 * k:.3f},{'yes' if k % 3 else 'no'}" for k in range(1, 151))]
    table = "\n".join(lines).encode()
    page = visitor.put(f"{visitor.home}/upload/probabilities", table, "scores.csv")
    project = project_of(page)
    page = visitor.post(f"{project}/outcomes", target="1")
    assert "Probability of yes" in text_of(page)
    nothing = visitor.post(f"{project}/outcomes", **{"column-0": "", "column-1": ""})
    assert "Choose a column of probabilities" in text_of(nothing)
    page = visitor.post(f"{project}/outcomes", **{"column-0": "", "column-1": "0"})
    assert "Can I trust its probabilities?" in page.text
    page = visitor.put(f"{project}/rows", b"score\n0.1\n0.9\n", "new.csv")
    assert "2 of 2 rows" in text_of(page)


def test_an_example_is_ready(visitor):
    page = visitor.post(f"{visitor.home}/example")
    assert "waveform.csv : 300 rows, 22 columns" in text_of(page)


def test_forms_that_no_longer_fit_lead_back(visitor):
    page = visitor.put(f"{visitor.home}/upload/table", make_table(60, seed=21))
    project = project_of(page)
    visitor.post(f"{project}/target", target="3", model="naive-bayes", effort="quick")
    page = visitor.post(f"{project}/check")
    assert page.status_code == 400
    assert "no longer applies" in page.text


def test_steps_that_were_not_reached_lead_to_those_that_were(visitor):
    page = visitor.put(f"{visitor.home}/upload/table", make_table())
    project = project_of(page)
    for step in ("report", "model", "use", "case", "check", "report/report.html"):
        answer = visitor.get(f"{project}/{step}")
        assert answer.status_code == 200
        assert str(answer.url).endswith(("/columns", "/target"))


def test_a_class_with_one_row_leads_back_to_the_choices(visitor):
    table = make_table() + b"\n40,5,f,maybe"
    project = project_of(visitor.put(f"{visitor.home}/upload/table", table))
    page = visitor.post(f"{project}/target", **QUICK)
    assert page.status_code == 400
    assert "have only one" in text_of(page) or "has only one" in text_of(page)
    assert "Add rows, or drop rare classes." in text_of(page)
    assert "Go back and change it" in text_of(page)
    page = visitor.post(f"{project}/target", **QUICK, rare="drop")
    assert "Can these probabilities be trusted?" in page.text
