"""Who may talk to the application: only pages that it sent itself, to a user who knows its secret.

Any site that is open in the same browser can send requests to this computer. Hence every address
starts with a secret, and requests must name this computer as their host (so that a site whose name
was pointed here is refused) and, if they change anything, come from a page of the application.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Mapping
from importlib.resources import files

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HOST = "127.0.0.1"
SAFE_METHODS = frozenset({"GET", "HEAD"})
REFUSED = (
    "calibrant refused this request. Open the address that it printed when it started, including "
    "the long secret after the port.\n"
)


def make_secret() -> str:
    """Return the secret part of the addresses, of 192 random bits."""
    return secrets.token_urlsafe(24)


def make_headers() -> dict[str, str]:
    """Return the headers of every response: nothing is loaded from or sent to elsewhere."""
    script = files("calibrant").joinpath("report", "templates", "page.js").read_bytes()
    digest = base64.b64encode(hashlib.sha256(script).digest()).decode("ascii")
    policy = {
        "default-src": "'none'",
        "style-src": "'self' 'unsafe-inline'",
        "script-src": f"'self' 'sha256-{digest}'",  # that of reports
        "img-src": "data:",
        "connect-src": "'self'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
        "base-uri": "'none'",
    }
    return {
        "content-security-policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "same-origin",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "cache-control": "no-store",
    }


class Guard:
    """Refuses requests from elsewhere, and adds the headers to all responses.

    Parameters
    ----------
    app : callable
        The application to guard. Its paths do not include the secret.
    secret : str
        The first part of the path that every request must have.
    port : int
        The port of the server.
    """

    def __init__(self, app: ASGIApp, secret: str, port: int) -> None:
        self.app = app
        self.secret = secret
        self.hosts = {f"{name}:{port}" for name in (HOST, "localhost")}
        self.origins = {f"http://{host}" for host in self.hosts}
        self.headers = make_headers()
        self._invitations: dict[str, str] = {}

    def invite(self, address: str) -> str:
        """Return a path that leads to an address once, for the command line of a browser.

        All users of a computer can see the command lines of its processes.
        """
        key = make_secret()
        self._invitations[key] = address
        return key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self.headers)
            await send(message)

        # Requests such as "OPTIONS *" have no slash.
        first, _, rest = scope["path"].removeprefix("/").partition("/")
        is_known = hmac.compare_digest(first.encode(), self.secret.encode())
        is_from_here = self._is_from_here(scope["method"], Headers(scope=scope))
        if is_from_here and (address := self._invitations.pop(first, None)):
            await RedirectResponse(address, 303)(scope, receive, send_with_headers)
            return
        if not is_known or not is_from_here:
            await PlainTextResponse(REFUSED, 403)(scope, receive, send_with_headers)
            return
        root = f"{scope.get('root_path', '')}/{self.secret}"
        inner = {**scope, "root_path": root, "path": f"{root}/{rest}"}
        await self.app(inner, receive, send_with_headers)

    def _is_from_here(self, method: str, headers: Mapping[str, str]) -> bool:
        """Whether a request is for this computer, and from a page of the application."""
        if headers.get("host") not in self.hosts:
            return False
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if origin is not None and origin not in self.origins:
            return False
        if method in SAFE_METHODS:
            # Anyone may link to the application, who knows the secret; nothing may embed it.
            is_opened = headers.get("sec-fetch-dest") == "document"
            return site in (None, "same-origin", "none") or is_opened
        return origin is not None and site in (None, "same-origin")
