"""Downloads from a server on this machine, whole, cut short and damaged."""

import hashlib
import io
import threading
import zipfile
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from calibrant.datasets import catalog, fetch_datasets, fetching, load_dataset
from calibrant.datasets.fetching import fetch_dataset

CONTENT = b"".join(b"%d,%d\r\n" % (row, row % 3) for row in range(20_000))


def make_zip(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


class Server:
    """Serves one archive, in one of several moods."""

    def __init__(self):
        self.archive = make_zip({"folder/seeds_dataset.txt": CONTENT})
        self.mood = "whole"
        self.requests = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                outer.requests += 1
                if outer.mood == "missing":
                    self.send_error(404)
                    return
                self.send_response(200)
                if outer.mood != "no length":
                    self.send_header("Content-Length", str(len(outer.archive)))
                self.end_headers()
                end = len(outer.archive) // 2 if outer.mood == "cut" else None
                self.wfile.write(outer.archive[:end])

            def log_message(self, *args):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.http.server_address[1]}"


@pytest.fixture
def server(monkeypatch):
    server = Server()
    thread = threading.Thread(target=server.http.serve_forever, daemon=True)
    thread.start()
    known = replace(
        catalog.CATALOG["seeds"],
        files={"seeds_dataset.txt": hashlib.sha256(CONTENT).hexdigest()},
    )
    monkeypatch.setitem(catalog.CATALOG, "seeds", known)
    yield server
    server.http.shutdown()
    server.http.server_close()
    thread.join()


@pytest.mark.parametrize("mood", ["whole", "no length"])
def test_a_data_set_is_fetched_once(server, mood, tmp_path, capsys):
    server.mood = mood
    folder = fetch_dataset("seeds", tmp_path, source=server.address)
    assert (folder / "seeds_dataset.txt").read_bytes() == CONTENT
    assert [path.name for path in folder.iterdir()] == ["seeds_dataset.txt"]
    fetch_dataset("seeds", tmp_path, source=server.address)
    assert server.requests == 1
    assert "seeds" in capsys.readouterr().err


def test_a_cut_connection_leaves_nothing(server, tmp_path):
    server.mood = "cut"
    with pytest.raises(ConnectionError, match="seeds"):
        fetch_dataset("seeds", tmp_path, source=server.address)
    assert list(tmp_path.rglob("*.txt")) == []
    server.mood = "whole"
    fetch_dataset("seeds", tmp_path, source=server.address)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"seeds_dataset.txt": CONTENT[:-1]}, "must have the SHA-256 .* Got"),
        ({"other.txt": CONTENT}, r"must hold seeds_dataset\.txt\. It does not"),
    ],
)
def test_a_wrong_archive_leaves_nothing(server, files, message, tmp_path):
    server.archive = make_zip(files)
    with pytest.raises(ValueError, match=message):
        fetch_dataset("seeds", tmp_path, source=server.address)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_page_that_is_no_archive_leaves_nothing(server, tmp_path):
    server.archive = b"<html>Sorry</html>"
    with pytest.raises(ValueError, match="must hold"):
        fetch_dataset("seeds", tmp_path, source=server.address)


def test_archives_within_archives_are_looked_into(server, tmp_path):
    server.archive = make_zip({"inner.zip": make_zip({"seeds_dataset.txt": CONTENT})})
    folder = fetch_dataset("seeds", tmp_path, source=server.address)
    assert (folder / "seeds_dataset.txt").read_bytes() == CONTENT


def test_no_network_gets_one_clear_error(server, tmp_path):
    server.mood = "missing"
    with pytest.raises(ConnectionError, match=r"404.*or set CALIBRANT_DATA"):
        fetch_dataset("seeds", tmp_path, source=server.address)
    with pytest.raises(ConnectionError, match="Check the connection"):
        fetch_dataset("seeds", tmp_path, source="http://127.0.0.1:9")


def test_development_is_not_to_be_fetched(tmp_path):
    with pytest.raises(ValueError, match=r"Development Index is not UCI's .* Kaggle"):
        fetch_dataset("development", tmp_path)


def test_loading_fetches_into_the_cache_when_no_folder_is_named(server, tmp_path, monkeypatch):
    monkeypatch.delenv("CALIBRANT_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(fetching, "SOURCE", server.address)
    ((name, folder),) = fetch_datasets(["seeds"])
    assert name == "seeds"
    assert folder == tmp_path / "calibrant" / "data" / "seeds"
    with pytest.raises(ValueError, match="name must be one of"):
        load_dataset("iris")
