"""The application: pages in the user's own browser, from a file to an answer.

Data flow: requests -> pages -> tasks in separate processes, which call `calibrant.tabular`,
`calibrant.report` and `calibrant.validation` -> pages.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from calibrant.app.server import RunningApp, serve
else:
    # The processes that the server starts do not need a server.
    def __getattr__(name):
        if name in __all__:
            return getattr(import_module("calibrant.app.server"), name)
        raise AttributeError(f"module 'calibrant.app' has no attribute {name!r}")


__all__ = ["RunningApp", "serve"]
