"""What the commands say of data sets that are not here."""

import pytest
from typer.testing import CliRunner

from calibrant.cli import app
from calibrant.datasets import downloads
from calibrant.datasets.catalog import CATALOG


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """A cache with UCI's files, or what looks like them, and no folder and no network."""
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


def run(*arguments):
    result = CliRunner().invoke(app, arguments)
    assert "Traceback" not in result.output
    return result


def test_fetch_says_what_it_leaves_out_and_where_to_put_it(cache):
    result = run("datasets", "fetch")
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == 11
    assert result.stderr.startswith("note: Development Index cannot be downloaded from UCI")
    assert "Kaggle" in result.stderr
    assert f"into {cache / 'development'}." in result.stderr


@pytest.mark.parametrize("arguments", [("fetch",), ("fetch", "seeds")])
def test_fetch_leaves_out_nothing_that_is_here_or_was_not_asked_for(cache, arguments):
    if "seeds" not in arguments:
        (cache / "development" / "Development Index.csv").touch()
    assert run("datasets", *arguments).stderr == ""
