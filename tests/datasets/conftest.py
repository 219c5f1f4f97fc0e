"""A server on this machine that serves one archive: complete, cut short or damaged."""

import hashlib
import io
import threading
import zipfile
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from calibrant.datasets.catalog import CATALOG

CONTENT = b"".join(b"%d,%d\n" % (row, row % 3) for row in range(20_000))


@pytest.fixture
def seeds():
    """A data set of one file with the content that the server's archive holds."""
    checksum = hashlib.sha256(CONTENT).hexdigest()
    return replace(CATALOG["seeds"], files={"seeds_dataset.txt": checksum})


@pytest.fixture
def make_zip():
    def make(files, compression=zipfile.ZIP_STORED):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", compression) as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        return buffer.getvalue()

    return make


class Server:
    """Serves an archive with its length, in chunks, or until the connection closes.

    ``mood`` is "length", "chunks" or "no length", followed by ", cut" to send only half.
    """

    def __init__(self, archive):
        self.archive = archive
        self.content = CONTENT
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
def server(make_zip):
    server = Server(make_zip({"folder/seeds_dataset.txt": CONTENT}))
    thread = threading.Thread(target=server.http.serve_forever, daemon=True)
    thread.start()
    yield server
    server.http.shutdown()
    server.http.server_close()
    thread.join()
