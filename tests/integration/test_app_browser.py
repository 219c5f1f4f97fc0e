"""The application in a real browser: the whole way, by mouse and by keyboard."""

import pytest

pytest.importorskip("starlette")

from calibrant.app import serve
from tests.app.visiting import HOSTILE, make_table
from tests.integration.looking import OPEN_DETAILS, OVERFLOWS, serious_violations

pytestmark = pytest.mark.slow

NARROW, WIDE = 400, 1400
# How long work may take on a busy machine, in milliseconds.
PATIENCE = 120_000
CLASSES = ("<i>healthy</i>", "=1+1")


@pytest.fixture(scope="module")
def app():
    with serve(open_browser=False) as running:
        yield running


@pytest.fixture
def open_app(browser, app):
    """Open the application; fail on any request elsewhere, and on any message of the browser."""
    contexts, problems = [], []

    def open_at(width, scheme="light"):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: problems.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: problems.append(str(error)))

        def note(request):
            if not request.url.startswith((app.address, "data:", "blob:")):
                problems.append(f"request: {request.url}")

        page.on("request", note)
        page.goto(app.address)
        return page

    yield open_at
    for context in contexts:
        context.close()
    assert problems == []


def check(page, heading, *, is_report=False):
    """Wait for a page, and check that it is accessible, fits the screen and keeps text text.

    The sections of reports have tests of their own, and stay folded.
    """
    page.get_by_role("heading", name=heading).first.wait_for()
    if not is_report:
        page.evaluate(OPEN_DETAILS)
    assert serious_violations(page) == []
    assert page.evaluate(OVERFLOWS) == []
    assert page.locator("main script, bdi > *, option > *").count() == 0
    assert page.title() != "run"


def choose_file(page, name, content, file="table.csv"):
    page.set_input_files(f"#file-{name}", {"name": file, "mimeType": "", "buffer": content})


@pytest.mark.parametrize(("width", "scheme"), [(WIDE, "light"), (NARROW, "dark")])
def test_the_whole_way_by_mouse(open_app, tmp_path, width, scheme):
    page = open_app(width, scheme)
    check(page, "Drop a table")
    table = make_table(names=HOSTILE, classes=CLASSES)
    choose_file(page, "table", table, "<b>table</b>.csv")
    check(page, "What is in each column?")
    page.get_by_role("button", name="Continue").click()
    check(page, "What do you want to predict?")
    page.get_by_label("outcome").check()
    page.get_by_label("Random forest").uncheck()
    page.get_by_label("Quick").check()
    page.get_by_role("button", name="Continue").click()
    check(page, "Can these probabilities be trusted?", is_report=True)
    with page.expect_download() as saved:
        page.get_by_role("link", name="Save this page").click()
    assert b"Can these probabilities be trusted?" in saved.value.path().read_bytes()
    page.get_by_role("link", name="Fit and use a model").click()
    check(page, "Which model do you want to use?")
    page.get_by_role("button", name="Fit the model").click()
    check(page, "Use the model")
    page.get_by_label(HOSTILE[0], exact=True).fill("40")
    page.get_by_role("button", name="Predict this case").click()
    check(page, "Most probable")
    page.go_back()
    choose_file(page, "rows", make_table(20, seed=1, names=HOSTILE, classes=CLASSES))
    check(page, "Predictions")
    with page.expect_download() as saved:
        page.get_by_role("link", name="Save as CSV").click()
    assert saved.value.path().read_text().count("\n") == 21
    page.go_back()
    choose_file(page, "outcomes", make_table(60, seed=2, names=HOSTILE, classes=CLASSES))
    check(page, "Are the probabilities still right?", is_report=True)
    page.get_by_role("button", name="Update the model").click()
    check(page, "Use the model")


def tab_to(page, name):
    """Press the tab key until the element with a name has the focus."""
    for _ in range(80):
        page.keyboard.press("Tab")
        found = page.evaluate(
            "(document.activeElement.labels?.[0] || document.activeElement).textContent.trim()"
        )
        if found.startswith(name):
            outline = page.evaluate(
                "getComputedStyle(document.activeElement.closest('.choice') "
                "|| document.activeElement).outlineStyle"
            )
            inner = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert "none" not in (outline, inner) or outline != inner
            return
    raise AssertionError(f"{name} cannot be reached by the tab key")


def test_the_way_to_the_report_by_keyboard(open_app):
    page = open_app(WIDE)
    tab_to(page, "Choose a table")
    choose_file(page, "table", make_table(60))  # the window of the system is no part of the page
    page.get_by_role("heading", name="What is in each column?").wait_for()
    tab_to(page, "Continue")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="What do you want to predict?").wait_for()
    tab_to(page, "sex")  # the first of the radio buttons
    page.keyboard.press("ArrowDown")
    assert page.get_by_label("outcome").is_checked()
    tab_to(page, "Random forest")
    page.keyboard.press("Space")
    tab_to(page, "Standard")
    page.keyboard.press("ArrowUp")
    assert page.get_by_label("Quick").is_checked()
    tab_to(page, "Continue")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Can these probabilities be trusted?").wait_for()


def test_a_stop_and_a_return_lose_nothing(open_app):
    page = open_app(WIDE)
    choose_file(page, "table", make_table(300))
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("outcome").check()
    page.get_by_label("Gradient boosting").check()
    page.get_by_label("Thorough").check()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("heading", name="Stopped").wait_for()
    page.reload()
    page.get_by_role("heading", name="Stopped").wait_for()
    page.get_by_role("link", name="Change the choices").click()
    assert page.get_by_label("outcome").is_checked()
    assert page.get_by_label("Gradient boosting").is_checked()
    assert page.get_by_label("Thorough").is_checked()
