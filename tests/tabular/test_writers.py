from calibrant.tabular import read_table
from calibrant.tabular.writers import write_table


def test_a_table_is_written_to_a_file_or_to_standard_output(tmp_path, capfdbinary):
    columns = {"name": ["a", "=b"], "number": [0.5, 1e-7]}
    write_table(columns, str(tmp_path / "out.csv"))
    table = read_table(tmp_path / "out.csv")
    assert table["name"].tolist() == ["a", "=b"]
    assert [float(cell) for cell in table["number"]] == [0.5, 1e-7]
    write_table(columns, "-")
    assert capfdbinary.readouterr().out == (tmp_path / "out.csv").read_bytes()
