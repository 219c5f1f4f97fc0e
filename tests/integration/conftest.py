import os
import shutil

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    "--disable-dev-shm-usage",
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


def without_browser(reason):
    """Skip on a machine without a browser; in CI there must be one."""
    if os.environ.get("CI"):
        pytest.fail(f"CI must test the page in a browser: {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="module")
def browser():
    executable = next(filter(None, map(shutil.which, BROWSERS)), None)
    if executable is None:
        without_browser("there is no chromium: run make browser as root")
    try:
        from playwright import sync_api as playwright
    except ImportError:
        without_browser("there is no playwright: pip install 'calibrant[test]'")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=executable, args=list(OPTIONS))
        yield browser
        browser.close()
