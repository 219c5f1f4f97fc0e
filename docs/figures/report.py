"""Take a picture of the top of a report: report.png, from a page that ``calibrant demo`` wrote.

Run ``make demo`` and then this script from the root of the repository. It needs chromium, and
playwright from the extra ``test``.
"""

import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

WIDTH, SCALE = 1080, 1
MARGIN = 12
N_COLORS = 128


def main(page_path: str = "demo.html") -> None:
    """Take a picture from the top of the page to the end of the first model."""
    picture = Path("docs/figures/report.png")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(
            viewport={"width": WIDTH, "height": 1600}, device_scale_factor=SCALE
        )
        page.goto(Path(page_path).resolve().as_uri())
        box = page.locator("#models .lines > li").first.bounding_box()
        height = box["y"] + box["height"] + MARGIN
        page.screenshot(
            path=picture, clip={"x": 0, "y": 0, "width": WIDTH, "height": height}, full_page=True
        )
        browser.close()
    Image.open(picture).convert("P", palette=Image.Palette.ADAPTIVE, colors=N_COLORS).save(
        picture, optimize=True
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
