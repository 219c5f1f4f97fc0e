"""The application as a command: it starts, is found by its address alone, and leaves nothing."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from calibrant.app import serve
from tests.app.visiting import Visitor, make_table

SECONDS_TO_CLEAN_UP = 5.0
needs_proc = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="processes are read in /proc"
)


def is_running(process, mark):
    """Whether a process runs whose environment has a mark."""
    try:
        is_zombie = process.joinpath("stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
        return not is_zombie and mark in process.joinpath("environ").read_bytes()
    except OSError:  # it has just ended
        return False


def list_processes(mark):
    return [path for path in Path("/proc").glob("[0-9]*") if is_running(path, mark)]


def start(folder, *arguments):
    """Start the command in the parent of a folder for temporary files; return its address, too."""
    environment = {**os.environ, "TMPDIR": str(folder)}
    if paths := os.environ.get("PYTHONPATH"):  # relative to this folder, not to the other one
        environment["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, paths.split(os.pathsep)))
    command = subprocess.Popen(
        [sys.executable, "-P", "-m", "calibrant", "app", "--no-browser", *map(str, arguments)],
        cwd=folder.parent,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    return command, command.stdout.readline().split()[-1]


@needs_proc
@pytest.mark.slow
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_after_five_seconds(sent, tmp_path):
    folder = tmp_path / "temporary"
    folder.mkdir()
    (tmp_path / "table.csv").write_bytes(make_table(300))
    (tmp_path / "pandas.py").write_text("raise SystemExit")  # must not be imported
    command, address = start(folder, tmp_path / "table.csv")
    with Visitor(address) as visitor:
        assert "table.csv" in visitor.get(address).text
        project = address.rpartition("/")[0]
        fields = {"target": "3", "model": "boosting", "effort": "thorough"}
        page = visitor.client.post(f"{project}/target", data=fields)
        if "Ready to predict" in page.text:  # on a busy machine
            page = visitor.client.post(f"{project}/report")
        assert "Working" in page.text
        mark = f"TMPDIR={folder}".encode()
    assert len(list_processes(mark)) >= 3  # the server, the janitor and a worker
    command.send_signal(sent)
    command.communicate(timeout=SECONDS_TO_CLEAN_UP)
    end = time.monotonic() + SECONDS_TO_CLEAN_UP
    while (list_processes(mark) or list(folder.iterdir())) and time.monotonic() < end:
        time.sleep(0.05)
    assert list_processes(mark) == []
    assert list(folder.iterdir()) == []
    assert {path.name for path in tmp_path.iterdir()} == {"temporary", "table.csv", "pandas.py"}


def test_it_listens_on_this_computer_alone(app):
    port = int(app.address.split(":")[2].split("/")[0])
    for name in {socket.gethostname(), "0.0.0.0"}:
        try:
            found = socket.gethostbyname(name)
        except OSError:
            continue
        if not found.startswith(("127.", "0.")):
            with pytest.raises(OSError, match=r"refused|reachable|timed out"):
                socket.create_connection((found, port), timeout=5).close()
    assert app.folder.stat().st_mode & 0o077 == 0


def test_a_port_that_is_taken_is_named(app):
    port = int(app.address.split(":")[2].split("/")[0])
    with pytest.raises(ValueError, match=f"must be free, but {port}"):
        serve(port=port, open_browser=False)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ValueError, match="No such file"):
        serve(tmp_path / "absent.csv", open_browser=False)


def test_the_page_can_stop_it():
    app = serve(open_browser=False)
    with Visitor(app.address) as visitor:
        page = visitor.post(f"{app.address}quit")
    assert "calibrant has stopped" in page.text
    app.wait()
    assert not app.folder.exists()
    with pytest.raises(httpx.ConnectError):
        httpx.get(app.address)


def test_it_opens_the_browser_and_links_to_itself(monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    with serve() as app:
        [address] = opened
        # The command line of the browser, which others can see, does not have the secret.
        assert app.address.split("/")[3] not in address
        assert httpx.get(address, follow_redirects=True).url == app.address
        assert httpx.get(address).status_code == 403
        assert app.address in app._repr_html_()
        assert "running" in repr(app)
    assert "stopped" in repr(app)
