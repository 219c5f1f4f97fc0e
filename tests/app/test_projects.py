import pytest

from calibrant.app.projects import LONGEST_NAME, Entrance, Projects, clean_name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("patients 2024.csv", "patients 2024.csv"),
        ("data.csv.gz", "data.csv.gz"),
        ("C:\\folder\\table.xlsx", "table.xlsx"),
        ("../../etc/passwd", "passwd"),
        ("-", "file"),
        ("--target.csv", "target.csv"),
        (".hidden", "file.hidden"),
        ("..", "file."),
        ("caf\u00e9<b>.csv", "caf__b_.csv"),
    ],
)
def test_names_are_harmless(name, expected):
    assert clean_name(name) == expected


def test_long_names_are_cut_before_their_suffix():
    assert clean_name("x" * 500 + ".csv") == "x" * LONGEST_NAME + ".csv"


def test_projects_are_found_once_their_file_is_complete(tmp_path):
    projects = Projects(tmp_path)
    project = projects.create(Entrance.table, "table.csv")
    assert projects.get(project.key) is None
    project.file.write_bytes(b"a,b\n1,2\n")
    projects.add(project)
    assert projects.get(project.key) is project
    assert project.folder.stat().st_mode & 0o077 == 0
    assert projects.get("..") is None
