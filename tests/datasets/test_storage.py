from pathlib import Path

import pytest

from calibrant.datasets import catalog, downloads, fetch_datasets
from calibrant.datasets.storage import data_folder, explain_missing, provide_datasets


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """An empty cache of the user, without a configured folder and without a network."""
    monkeypatch.delenv("CALIBRANT_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(downloads, "SOURCE", "http://127.0.0.1:9")
    return tmp_path / "calibrant" / "data"


def test_the_folder_is_the_configured_one_or_the_cache(cache, monkeypatch, tmp_path):
    assert data_folder() == cache
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert data_folder() == Path.home() / ".cache" / "calibrant" / "data"
    monkeypatch.setenv("CALIBRANT_DATA", str(tmp_path))
    assert data_folder() == tmp_path


@pytest.mark.parametrize("configured", [None, ""])
def test_data_sets_are_downloaded_into_the_cache_when_no_folder_is_configured(
    server, seeds, cache, configured, monkeypatch
):
    if configured is not None:
        monkeypatch.setenv("CALIBRANT_DATA", configured)
    monkeypatch.setitem(catalog.CATALOG, "seeds", seeds)
    monkeypatch.setattr(downloads, "SOURCE", server.address)
    provide_datasets(["seeds"])
    assert [path.name for path in (cache / "seeds").iterdir()] == ["seeds_dataset.txt"]
    assert server.requests == 1


def test_fetching_downloads_at_once_and_returns_the_folders(server, seeds, cache, monkeypatch):
    monkeypatch.setitem(catalog.CATALOG, "seeds", seeds)
    monkeypatch.setattr(downloads, "SOURCE", server.address)
    fetch_datasets(["seeds"])
    assert (cache / "seeds" / "seeds_dataset.txt").exists()
    assert fetch_datasets(["seeds"]) == {"seeds": cache / "seeds"}
    assert server.requests == 1


def test_an_unknown_name_is_refused_before_anything_is_fetched(server, cache, monkeypatch):
    monkeypatch.setattr(downloads, "SOURCE", server.address)
    with pytest.raises(ValueError, match="got 'iris'"):
        fetch_datasets(["seeds", "iris"])
    assert server.requests == 0


def test_nothing_is_fetched_for_no_names(cache):
    assert fetch_datasets([]) == {}


def test_all_missing_files_are_named_before_anything_is_downloaded(cache):
    with pytest.raises(FileNotFoundError, match=r"lacks development/Development Index\.csv \(Kagg"):
        provide_datasets(["seeds", "development"])


def test_a_configured_folder_is_never_downloaded_into(server, monkeypatch, tmp_path):
    monkeypatch.setenv("CALIBRANT_DATA", str(tmp_path))
    monkeypatch.setattr(downloads, "SOURCE", server.address)
    with pytest.raises(FileNotFoundError, match=r"lacks seeds/seeds_dataset\.txt\. Put"):
        provide_datasets(["seeds"])
    assert server.requests == 0


def test_only_missing_data_sets_that_uci_does_not_have_are_explained(cache):
    [text] = explain_missing()
    assert "Kaggle" in text
    assert str(cache / "development") in text
    (cache / "development").mkdir(parents=True)
    (cache / "development" / "Development Index.csv").touch()
    assert explain_missing() == []
