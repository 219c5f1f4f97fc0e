import pytest

from calibrant.datasets import dataset_names, downloads
from calibrant.datasets.catalog import CATALOG


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """A cache with the files that UCI has, all of them empty, and no network."""
    monkeypatch.delenv("CALIBRANT_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(downloads, "SOURCE", "http://127.0.0.1:9")
    folder = tmp_path / "calibrant" / "data"
    for info in CATALOG.values():
        (folder / info.name).mkdir(parents=True)
        if info.archive:
            for file in info.files:
                (folder / info.name / file).touch()
    return folder


def test_all_data_sets_are_listed(run):
    lines = run("datasets", "list").stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(dataset_names())


def test_a_data_set_is_described(run, paper_data):
    assert "210 rows, 7 features, 3 classes" in run("datasets", "info", "seeds").stdout


def test_an_unknown_data_set_is_refused(run, is_refused):
    message = "must be one of abalone, contraceptive"
    assert is_refused(run("datasets", "info", "iris"), message)


@pytest.mark.parametrize("command", ["info", "fetch"])
def test_without_a_network_the_error_names_the_alternative(run, is_refused, cache, command):
    (cache / "seeds" / "seeds_dataset.txt").unlink()
    message = "or set CALIBRANT_DATA to a folder that has the files"
    assert is_refused(run("datasets", command, "seeds"), message)


def test_fetch_prints_folders_and_notes_what_it_cannot_download(run, cache):
    result = run("datasets", "fetch")
    assert result.exit_code == 0
    expected = [f"{name}: {cache / name}" for name in CATALOG if name != "development"]
    assert result.stdout.splitlines() == expected
    assert result.stderr.startswith("note: Development Index cannot be downloaded")
    assert f"into {cache / 'development'}." in result.stderr
    assert result.stderr.endswith("\n11 data sets ready to load.\n")


@pytest.mark.parametrize(
    ("names", "closing"),
    [((), "11 data sets ready to load.\n"), (("seeds",), "1 data set ready to load.\n")],
)
def test_fetch_notes_nothing_that_is_there_or_was_not_asked_for(run, cache, names, closing):
    if not names:
        (cache / "development" / "Development Index.csv").touch()
    assert run("datasets", "fetch", *names).stderr == closing


def test_fetch_prints_each_folder_as_soon_as_its_files_are_there(run, cache):
    (cache / "yeast" / "yeast.data").unlink()
    result = run("datasets", "fetch", "seeds", "yeast")
    assert result.exit_code != 0
    assert result.stdout.splitlines() == [f"seeds: {cache / 'seeds'}"]
