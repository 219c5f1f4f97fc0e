"""Take pictures of the application: app-target.png, app-case.png and app-predictions.png.

Run this script from the root of the repository. It needs chromium, and the extras ``app`` and
``test``.
"""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import Page, sync_playwright
from sklearn.datasets import load_breast_cancer

from calibrant.app import serve

WIDTH = 1000
N_COLORS = 64
COLUMNS = ["mean radius", "mean texture", "mean smoothness", "mean concavity", "mean symmetry"]
PATIENCE = 300_000


def take(page: Page, name: str, height: int) -> None:
    """Save the top of a page as a picture with few colors."""
    picture = Path(f"docs/figures/app-{name}.png")
    clip = {"x": 0, "y": 0, "width": WIDTH, "height": height}
    page.screenshot(path=picture, clip=clip, full_page=True)
    Image.open(picture).convert("P", palette=Image.Palette.ADAPTIVE, colors=N_COLORS).save(
        picture, optimize=True
    )


def main() -> None:
    """Walk through the application with a table of patients."""
    data = load_breast_cancer(as_frame=True)
    table = data.frame[COLUMNS].assign(diagnosis=data.target_names[data.target])
    table = table.sample(frac=1, random_state=0)
    with TemporaryDirectory() as folder, serve(open_browser=False) as app:
        patients, new = Path(folder) / "patients.csv", Path(folder) / "new.csv"
        table[:300].to_csv(patients, index=False)
        table[300:340].drop(columns="diagnosis").to_csv(new, index=False)
        with sync_playwright() as driver:
            browser = driver.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            page = browser.new_page(viewport={"width": WIDTH, "height": 900})
            page.set_default_timeout(PATIENCE)
            page.goto(app.address)
            page.set_input_files("#file-table", patients)
            page.get_by_role("button", name="Continue").click()
            page.get_by_label("diagnosis").check()
            take(page, "target", 900)
            page.get_by_label("Quick").check()
            page.get_by_role("button", name="Continue").click()
            page.get_by_role("link", name="Fit and use a model").click()
            page.get_by_label("Calibrated corrected").check()
            page.get_by_role("button", name="Fit the model").click()
            for name, value in zip(COLUMNS, ("14.5", "20", "0.1", "0.09", "0.18"), strict=True):
                page.get_by_label(name).fill(value)
            page.get_by_role("button", name="Predict this case").click()
            page.get_by_role("heading", name="What would change it?").wait_for()
            take(page, "case", 900)
            page.go_back()
            page.set_input_files("#file-rows", new)
            page.get_by_role("heading", name="Predictions").wait_for()
            take(page, "predictions", 900)
            browser.close()


if __name__ == "__main__":
    main()
