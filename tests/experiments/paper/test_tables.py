import pytest

from calibrant.metrics import published_log_loss
from experiments.experiment import TableOptions
from experiments.paper.tables import TABLES, make_data_sets_table


def make_table(name, losses):
    (table,) = TABLES[name].make(losses, TableOptions())
    return table


def test_times_are_per_binary_problem(make_paper_runs, paper_losses):
    table = make_table("times", paper_losses(make_paper_runs()))
    text = [[cell.text for cell in row] for row in table.rows]
    assert text[0] == ["naive Bayes", "multiclass", "0.3000", "-", "sklearn"]
    assert text[1] == ["naive Bayes", "one vs rest", "0.1000", "2.000", "sklearn"]
    assert [cell.reference for cell in table.rows[1]] == ["", "", "0.052", "4.36", ""]
    # Ten folds of 0.3 s alone, and of twice (0.3 s + 0.3 s + 6 s).
    hours = 10 * (0.3 + 2 * 6.6) / 3600
    assert table.note.endswith(f"All fits together: {hours:.2f} hours on one core.")


def test_times_of_unfinished_runs_say_so(make_paper_runs, paper_losses):
    note = make_table("times", paper_losses(make_paper_runs(folds=2))).note
    assert note.endswith("Unfinished: naive Bayes on seeds (2 of 10 folds).")


def test_every_fold_has_both_definitions_of_the_metrics(make_paper_runs, paper_losses):
    runs = make_paper_runs()
    table = make_table("folds", paper_losses(runs))
    assert len(table.rows) == len(runs)
    row = dict(zip(table.header, [cell.text for cell in table.rows[0]], strict=True))
    assert (row["experiment"], row["method"], row["fold"]) == ("paper", "multiclass_raw", "0")
    expected = published_log_loss(runs[0].y_true, runs[0].proba)
    assert float(row["published_LL"]) == pytest.approx(expected, rel=1e-5)
    assert float(row["equations_MSE"]) == pytest.approx(3 * float(row["published_MSE"]), rel=1e-4)


def test_the_data_sets_have_their_counts_and_problems(paper_data):
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in make_data_sets_table().rows}
    assert rows["Development"] == ["225", "4", "13", "89", "4", "6"]
    assert rows["Pendigits"] == ["10992", "10", "1055", "1144", "10", "45"]
    assert len(rows) == 12
