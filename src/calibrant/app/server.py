"""The server of the application, on this computer alone."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import webbrowser
from pathlib import Path
from types import TracebackType
from typing import Self

import uvicorn

from calibrant.app.application import make_application
from calibrant.app.pages.start import first_step
from calibrant.app.projects import Entrance, Projects
from calibrant.app.security import HOST, make_secret

# The server does not wait longer than this for requests to end.
SECONDS_TO_END = 1
# The main thread wakes up this often to see whether Ctrl-C was pressed.
SECONDS_BETWEEN_LOOKS = 0.5


class RunningApp:
    """The application, running in a thread until it is stopped.

    Attributes
    ----------
    address : str
        The address of its first page, which is secret.
    folder : Path
        The private folder of its files, which is removed in the end.
    """

    def __init__(self, file: str | Path | None = None, *, port: int = 0) -> None:
        self._socket = _bind(port)
        self.folder = Path(tempfile.mkdtemp(prefix="calibrant-"))  # for this user only
        self._janitor = subprocess.Popen(
            [sys.executable, "-P", "-m", "calibrant.app.janitor", str(self.folder)],
            stdin=subprocess.PIPE,
            start_new_session=True,  # it outlives the application
        )
        secret, port = make_secret(), self._socket.getsockname()[1]
        self._guard, projects = make_application(self.folder, secret, port, self.leave)
        self._origin = f"http://{HOST}:{port}"
        self.address = f"{self._origin}/{secret}/"
        try:
            self.address += "" if file is None else _add_file(projects, Path(file))
        except BaseException:
            self._clean_up()
            raise
        config = uvicorn.Config(
            self._guard,
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=SECONDS_TO_END,
            ws="none",
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._serve, name="calibrant-app", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._clean_up()

    def _clean_up(self) -> None:
        """Close the port, let the janitor remove the folder, and wait until it has."""
        self._socket.close()
        self._janitor.communicate()

    def open_browser(self) -> None:
        """Open the first page in a browser, by an address that can be used once."""
        webbrowser.open(f"{self._origin}/{self._guard.invite(self.address)}")

    def leave(self) -> None:
        """Ask the server to end."""
        self._server.should_exit = True

    def wait(self) -> None:
        """Wait until the application is stopped, from its page or by Ctrl-C."""
        while self._thread.is_alive():
            self._thread.join(SECONDS_BETWEEN_LOOKS)

    def stop(self) -> None:
        """Stop the application, and remove its files."""
        self.leave()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _repr_html_(self) -> str:
        return f'<a href="{self.address}" target="_blank" rel="noopener">Open calibrant</a>'

    def __repr__(self) -> str:
        state = "running" if self._thread.is_alive() else "stopped"
        return f"<calibrant app, {state}: {self.address}>"


def serve(
    file: str | Path | None = None, *, port: int = 0, open_browser: bool = True
) -> RunningApp:
    """Start the application, which runs until it is stopped.

    Parameters
    ----------
    file : str or Path, default=None
        A data file or a saved model to start with. ``None`` means that the user chooses one.
    port : int, default=0
        The port. 0 means a free one.
    open_browser : bool, default=True
        Whether to open the first page in a browser.

    Returns
    -------
    RunningApp
        The application. It has the ``address`` of its first page, and a method ``stop``.

    Notes
    -----
    The server listens on the loopback interface only. Its address contains a secret, and every
    request without it is refused. Files are kept in a private temporary folder, which is removed
    when the application stops, even if it is killed.
    """
    app = RunningApp(file, port=port)
    if open_browser:
        app.open_browser()
    return app


def _bind(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":  # elsewhere, it would let other programs take over the port
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen()  # requests wait until the server has started
    except OSError as error:
        listener.close()
        raise ValueError(
            f"The port must be free, but {port} cannot be used: {error.strerror}. Choose another "
            "one, or leave it out."
        ) from None
    return listener


def _add_file(projects: Projects, file: Path) -> str:
    """Create a project on a copy of a file, and return its address."""
    project = projects.create(Entrance.table, file.name, str(file))
    try:
        shutil.copyfile(file, project.file)
    except OSError as error:
        raise ValueError(
            f"{file} must be a file that you can read, got: {error.strerror}. Check the spelling."
        ) from None
    projects.add(project)
    return f"p/{project.key}/{first_step(project)}"
