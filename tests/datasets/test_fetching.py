"""Downloads from a server on this machine, whole, cut short and damaged."""

import hashlib
import io
import os
import pty
import re
import sys
import threading
import zipfile
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from calibrant.datasets import catalog, fetch_datasets, fetching
from calibrant.datasets.fetching import fetch_dataset
from calibrant.datasets.loading import provide_datasets

CONTENT = b"".join(b"%d,%d\n" % (row, row % 3) for row in range(20_000))


def make_zip(files, compression=zipfile.ZIP_STORED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def damage(archive, name):
    """Change the first byte after the header of an archive's first file."""
    start = archive.index(name.encode()) + len(name)
    return archive[:start] + b"\xff" + archive[start + 1 :]


class Server:
    """Serves one archive, with its length, in chunks or until it hangs up; whole or cut."""

    def __init__(self):
        self.archive = make_zip({"folder/seeds_dataset.txt": CONTENT})
        self.mood = "length"
        self.requests = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                outer.requests += 1
                self.close_connection = True
                if outer.mood == "missing":
                    self.send_error(404)
                    return
                self.send_response(200)
                framing, _, cut = outer.mood.partition(", ")
                if framing == "length":
                    self.send_header("Content-Length", str(len(outer.archive)))
                if framing == "chunks":
                    self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                content = outer.archive[: len(outer.archive) // 2] if cut else outer.archive
                if framing == "chunks":
                    for start in range(0, len(content), 10_000):
                        chunk = content[start : start + 10_000]
                        self.wfile.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
                    content = b"" if cut else b"0\r\n\r\n"
                self.wfile.write(content)

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


def files_in(folder):
    return [path.name for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize("mood", ["length", "chunks", "no length"])
def test_a_data_set_is_fetched_once(server, mood, tmp_path, capsys):
    server.mood = mood
    folder = fetch_dataset("seeds", tmp_path, source=server.address)
    assert (folder / "seeds_dataset.txt").read_bytes() == CONTENT
    assert files_in(tmp_path) == ["seeds_dataset.txt"]
    fetch_dataset("seeds", tmp_path, source=server.address)
    assert server.requests == 1
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("mood", "total"), [("length", r"\d+\.\d"), ("chunks", r"\?")])
def test_a_terminal_shows_the_bytes_as_they_come(server, mood, total, tmp_path, monkeypatch):
    server.mood = mood
    terminal, end = pty.openpty()
    with os.fdopen(end, "w") as stream, os.fdopen(terminal, "rb") as screen:
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setenv("TERM", "xterm")
        shown = bytearray()
        reader = threading.Thread(target=lambda: shown.extend(read_all(screen)))
        reader.start()
        fetch_dataset("seeds", tmp_path, source=server.address)
        monkeypatch.undo()
        stream.close()
        reader.join()
    counts = re.findall(rf"([\d.]+)/{total} kB".encode(), shown)
    assert b"seeds" in shown
    assert len(set(counts)) > 2
    assert float(counts[-1]) == pytest.approx(len(server.archive) / 1000, abs=0.1)


def read_all(screen):
    """Read a terminal until its other end is closed, which Linux reports as an error."""
    try:
        while block := os.read(screen.fileno(), 1024):
            yield from block
    except OSError:
        return


@pytest.mark.parametrize("mood", ["length, cut", "chunks, cut"])
def test_a_cut_connection_leaves_nothing(server, mood, tmp_path):
    server.mood = mood
    with pytest.raises(ConnectionError, match=r"seeds\.zip\. .*connection was cut\. .*try again"):
        fetch_dataset("seeds", tmp_path, source=server.address)
    assert files_in(tmp_path) == []
    server.mood = "length"
    fetch_dataset("seeds", tmp_path, source=server.address)


def test_an_archive_cut_short_without_a_length_is_told_from_one_that_lacks_the_file(
    server, tmp_path
):
    server.mood = "no length, cut"
    size = len(server.archive) // 2
    with pytest.raises(ValueError, match=rf"must be a whole zip file\. Got {size} .* try again"):
        fetch_dataset("seeds", tmp_path, source=server.address)
    assert files_in(tmp_path) == []


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("nested", [False, True])
def test_a_damaged_archive_leaves_nothing(server, compression, nested, tmp_path):
    name = "seeds_dataset.txt"
    damaged = damage(make_zip({name: CONTENT}, compression), name)
    server.archive = make_zip({"inner.zip": damaged}) if nested else damaged
    with pytest.raises(ValueError, match=r"must be a whole zip file\. .* was cut or damaged"):
        fetch_dataset("seeds", tmp_path, source=server.address)
    assert files_in(tmp_path) == []


def test_a_damaged_compressed_file_leaves_nothing(server, tmp_path):
    server.archive = make_zip({"seeds_dataset.txt.Z": b"\x1f\x9d\x90" + b"\xff" * 20})
    with pytest.raises(ValueError, match=r"archive of seeds must .*\.Z file is damaged"):
        fetch_dataset("seeds", tmp_path, source=server.address)
    assert files_in(tmp_path) == []


@pytest.mark.parametrize(
    "content", [CONTENT, CONTENT.replace(b"\n", b"\r\n"), CONTENT.removesuffix(b"\n")]
)
def test_one_checksum_serves_all_line_ends(server, content, tmp_path):
    server.archive = make_zip({"seeds_dataset.txt": content})
    folder = fetch_dataset("seeds", tmp_path, source=server.address)
    assert (folder / "seeds_dataset.txt").read_bytes() == content


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"seeds_dataset.txt": CONTENT[:-2]}, "must have the SHA-256 .* Got"),
        ({"seeds_dataset.txt": CONTENT + b"\n"}, "must have the SHA-256 .* Got"),
        ({"other.txt": CONTENT}, r"must hold seeds_dataset\.txt\. It does not"),
    ],
)
def test_a_wrong_archive_leaves_nothing(server, files, message, tmp_path):
    server.archive = make_zip(files)
    with pytest.raises(ValueError, match=message):
        fetch_dataset("seeds", tmp_path, source=server.address)
    assert files_in(tmp_path) == []


def test_a_page_that_is_no_archive_leaves_nothing(server, tmp_path):
    server.archive = b"<html>Sorry</html>"
    with pytest.raises(ValueError, match="must be a whole zip file"):
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


@pytest.mark.parametrize("named", [None, ""])
def test_loading_fetches_into_the_cache_when_no_folder_is_named(
    server, named, tmp_path, monkeypatch
):
    monkeypatch.delenv("CALIBRANT_DATA", raising=False)
    if named is not None:
        monkeypatch.setenv("CALIBRANT_DATA", named)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(fetching, "SOURCE", server.address)
    provide_datasets(["seeds"])
    ((name, folder),) = fetch_datasets(["seeds"])
    assert name == "seeds"
    assert folder == tmp_path / "calibrant" / "data" / "seeds"
    assert files_in(folder) == ["seeds_dataset.txt"]
    assert server.requests == 1
