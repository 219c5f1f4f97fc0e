import pytest

from calibrant.metrics import published_log_loss
from experiments.paper.tables import data_sets_table, folds_table, times_table


def test_times_are_per_binary_problem(make_runs):
    table = times_table(make_runs())
    text = [[cell.text for cell in row] for row in table.rows]
    assert text[0] == ["naive Bayes", "multiclass", "0.3000", "-", "sklearn"]
    assert text[1] == ["naive Bayes", "one vs rest", "0.1000", "2.000", "sklearn"]
    assert [cell.beside for cell in table.rows[1]] == ["", "", "0.052", "4.36", ""]
    # Ten folds of 0.3 s alone, and of twice (0.3 s + 0.3 s + 6 s).
    assert table.note.endswith(
        f"All fits together: {10 * (0.3 + 2 * 6.6) / 3600:.2f} hours of one core."
    )


def test_times_of_unfinished_runs_say_so(make_runs):
    note = times_table(make_runs(folds=2)).note
    assert note.endswith("Not finished: naive Bayes on seeds (2 of 10 folds).")


def test_folds_hold_both_forms_of_the_metrics(make_runs):
    run = make_runs()[0]
    table = folds_table([run])
    row = dict(zip(table.header, [cell.text for cell in table.rows[0]], strict=True))
    assert float(row["published_LL"]) == pytest.approx(
        published_log_loss(run.true, run.proba), rel=1e-5
    )
    assert float(row["equations_MSE"]) == pytest.approx(3 * float(row["published_MSE"]), rel=1e-4)


def test_data_sets_table_has_the_counts_and_the_problems(paper_data):
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in data_sets_table().rows}
    assert rows["Development"] == ["225", "4", "13", "89", "4", "6"]
    assert rows["Pendigits"] == ["10992", "10", "1055", "1144", "10", "45"]
    assert len(rows) == 12
