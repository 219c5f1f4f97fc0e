import pytest

pytest.importorskip("starlette")

from calibrant.app import serve
from tests.app.visiting import Visitor


@pytest.fixture(scope="session")
def app():
    """The application on a port of this computer, with its worker processes."""
    with serve(open_browser=False) as running:
        yield running


@pytest.fixture(scope="session")
def visitor(app):
    """Someone who uses the application."""
    with Visitor(app.address) as someone:
        yield someone
