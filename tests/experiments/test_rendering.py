import csv
import io
import re

import pytest

from experiments.rendering import Cell, Table, render

TABLE = Table(
    "A & B", ["name", "x_1"], [[Cell("50 %"), Cell("0.1", bold=True, underline=True)]], "Note."
)
GROUPED = Table(
    "Losses",
    ["data set", "kind", "MSE", "LL", "MSE", "LL"],
    [
        [Cell("Seeds"), Cell("small"), Cell("0.1", reference="0.2"), *[Cell("-0.3")] * 3],
        [Cell("Ecoli"), Cell("-"), Cell("0.4", reference="-"), *[Cell("-")] * 3],
    ],
    groups=["", "", *["raw"] * 2, *["a title longer than its columns"] * 2],
)


def test_text_marks_the_best_and_the_significant():
    text = render(TABLE, "text")
    assert "0.1*_" in text
    assert text.startswith("A & B\n")
    assert "* best, _ significant\n" in text


def test_text_has_group_titles_above_their_columns():
    _, _, titles, header, _, first, *_ = render(GROUPED, "text").splitlines()
    start = titles.index("a title")
    assert titles[start:] == "a title longer than its columns"
    assert header[start:].split() == ["MSE", "LL"]
    assert len(header) == len(first) == len(titles)
    assert "0.1 (0.2)" in first


def test_markdown_marks_the_best_and_the_significant():
    assert "| 50 % | <u>**0.1**</u> |" in render(TABLE, "markdown")


def test_markdown_names_a_column_by_its_group_and_aligns_text():
    lines = render(GROUPED, "markdown").splitlines()
    assert lines[2].startswith("| data set | kind | raw MSE | raw LL | a title")
    assert lines[3] == "| --- | --- | ---: | ---: | ---: | ---: |"
    assert lines[4].startswith("| Seeds | small | 0.1 (0.2) | -0.3 |")


def test_latex_marks_the_best_and_the_significant():
    latex = render(TABLE, "latex")
    assert "50 \\% & \\textbf{\\underline{0.1}} \\\\" in latex
    assert "\\caption{A \\& B. Note.}" in latex
    assert "x\\_1" in latex
    assert latex.count("{") == latex.count("}")


def columns_of(line):
    """Count the columns of a line of LaTeX."""
    spans = [re.match(r"\\multicolumn{(\d+)}", part.strip()) for part in line.split(" & ")]
    return sum(int(span[1]) if span else 1 for span in spans)


def test_latex_has_titles_that_span_columns_and_references_below():
    latex = render(GROUPED, "latex")
    lines = [line for line in latex.splitlines() if line.endswith("\\\\")]
    assert [columns_of(line) for line in lines] == [6] * 6
    assert "\\multicolumn{2}{c}{\\parbox[b]{6em}{\\centering raw}}" in lines[0]
    assert "\\cmidrule(lr){3-4}\\cmidrule(lr){5-6}" in latex
    assert "\\begin{tabular}{llrrrr}" in latex
    assert lines[2] == "Seeds & small & 0.1 & $-$0.3 & $-$0.3 & $-$0.3 \\\\"
    assert lines[3] == " &  & (0.2) &  &  &  \\\\"


def test_latex_escapes_every_special_character_once():
    latex = render(Table("a\\b {c} ~ ^ < > |", ["x"], [[Cell("y")]]), "latex")
    assert (
        "\\caption{a\\textbackslash{}b \\{c\\} \\textasciitilde{} \\textasciicircum{} "
        "\\textless{} \\textgreater{} \\textbar{}.}"
    ) in latex


@pytest.mark.parametrize(("n_columns", "is_wide"), [(3, False), (15, True)])
def test_latex_shrinks_a_wide_table_to_the_page(n_columns, is_wide):
    row = [Cell("Contraceptive"), *[Cell("0.123")] * n_columns]
    latex = render(Table("Wide", ["data set", *["MSE"] * n_columns], [row]), "latex")
    assert ("\\resizebox{\\linewidth}{!}{%" in latex) == is_wide
    assert latex.count("{") == latex.count("}")


def test_csv_reads_back():
    assert list(csv.reader(io.StringIO(render(TABLE, "csv")))) == [["name", "x_1"], ["50 %", "0.1"]]


def test_csv_has_columns_for_references_and_no_dashes():
    header, first, second = csv.reader(io.StringIO(render(GROUPED, "csv")))
    assert header[:5] == ["data set", "kind", "raw MSE", "raw MSE published", "raw LL"]
    assert first[:5] == ["Seeds", "small", "0.1", "0.2", "-0.3"]
    assert second == ["Ecoli", "", "0.4", "", "", "", ""]
