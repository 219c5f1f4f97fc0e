"""The report in a real browser: from disk, offline, by mouse and by keyboard."""

from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from calibrant.report import Commands, Source, analyze, render_report
from calibrant.tabular import describe_table, read_table
from calibrant.validation import write_validation
from calibrant.validation.analysis import validate_candidates
from calibrant.validation.records import Candidate
from experiments.page import render_results
from experiments.store import Run, Store
from tests.integration.looking import OPEN_DETAILS, OVERFLOWS, serious_violations

pytestmark = pytest.mark.slow

# Class names, column names and cells that must stay text.
HOSTILE = (
    "<script>document.title='run'</script>",
    "\"quoted\" & 'single' <b>bold</b>",
    "=cmd()|' /C calc'!A0",
    "\N{ANATOMICAL HEART} heart \N{DNA DOUBLE HELIX}",
    "\N{ARABIC LETTER MEEM}\N{ARABIC LETTER REH}\N{ARABIC LETTER DAD} kidney",
    "a_very_long_name_without_any_space_in_it_that_must_not_push_the_page_aside_" * 2,
)
NARROW, WIDE = 400, 1400


def hostile_page(evaluation, path):
    table = pd.DataFrame(
        {name: [HOSTILE[(i + k) % 6] for i in evaluation.y] for k, name in enumerate(HOSTILE)}
        | {"target": [HOSTILE[i] for i in evaluation.y]},
        index=pd.RangeIndex(1, len(evaluation.y) + 1, name="row"),
    )
    commands = Commands(
        repeat=["calibrant", "report", HOSTILE[0], "--target", HOSTILE[1]],
        fit=lambda *_: ["calibrant", "fit", HOSTILE[0], "--ignore", HOSTILE[2]],
    )
    source = Source(f"{HOSTILE[0]}.csv", table, describe_table(table, "target"), commands)
    path.write_text(render_report(analyze(evaluation), source), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def evaluation(make_evaluation):
    return make_evaluation(HOSTILE)


@pytest.fixture(scope="module")
def page_file(evaluation, tmp_path_factory):
    return hostile_page(evaluation, tmp_path_factory.mktemp("report") / "report.html")


@pytest.fixture
def open_page(browser, page_file):
    """Open the page at a width; fail on any request but for the file, and on any error."""
    contexts, problems = [], []

    def open_at(width=WIDE, scheme="light", file=page_file):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: problems.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: problems.append(str(error)))

        def let_through(route):
            if route.request.url == file.as_uri():
                route.continue_()
            else:
                problems.append(f"request: {route.request.url}")
                route.abort()

        page.route("**/*", let_through)
        page.goto(file.as_uri())
        return page

    yield open_at
    for context in contexts:
        context.close()
    assert problems == []


def test_text_of_the_file_stays_text(open_page):
    page = open_page()
    assert page.title() == f"{HOSTILE[0]}.csv: can the probabilities be trusted?"
    assert page.locator("main script, main b:text-is('bold')").count() == 0
    choices = page.locator("input[name=view] + bdi").all_text_contents()
    assert choices == [*HOSTILE]
    names = page.locator("#data dt, #most-changed dt").all_text_contents()
    assert set(HOSTILE) <= set(names)
    cells = page.locator("#most-changed dd").all_text_contents()
    assert set(HOSTILE) <= set(cells)


def test_every_plot_draws(open_page):
    page = open_page()
    for model in range(2):
        page.locator(f"input[name=model][value='{model}']").check()
        for view in range(len(HOSTILE) + 1):
            page.locator(f"input[name=view][value='{view}']").check()
            plots = page.locator("svg.plot:not(.sketch):visible")
            assert plots.count() == 2
            for plot in plots.all():
                box = plot.bounding_box()
                assert box["width"] > 250
                assert box["height"] > 250
                assert plot.locator(".point .mark").count() >= 3
                assert plot.locator(".count").count() >= 10
    assert "NaN" not in page.content()
    bars = page.locator("#decomposition .bar:visible")
    assert bars.count() == 4
    assert all(bar.bounding_box()["width"] > 50 for bar in bars.all())
    assert page.locator("#models .span:visible").count() == 4
    sketches = page.locator("svg.sketch:visible")
    assert sketches.count() == 5  # two per model, and one beside the answers
    assert all(sketch.bounding_box()["width"] > 100 for sketch in sketches.all())


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_shared_axes_are_drawn_in_the_colors_of_the_page(open_page, scheme):
    page = open_page(scheme=scheme)
    colors = page.locator("svg.plot:not(.sketch):visible").first.screenshot()
    image = np.asarray(Image.open(BytesIO(colors)).convert("L"), dtype=float)
    # Mostly background: a frame that is filled would cover it.
    background = 255 if scheme == "light" else 32
    assert np.mean(np.abs(image - background) < 8) > 0.6


def questions_end(page):
    box = page.locator(".questions").bounding_box()
    return box["y"] + box["height"]


@pytest.mark.parametrize("n_classes", [2, 3, 12])
def test_the_first_screen_answers_all_questions(open_page, make_evaluation, tmp_path, n_classes):
    evaluation = make_evaluation([f"class {i}" for i in range(n_classes)], n_rows=120)
    labels = [f"class {i}" for i in evaluation.y]
    index = pd.RangeIndex(2, 122, name="line")
    columns = {"x": np.arange(120) % 9, "leak": labels, "patient": np.arange(120) // 2}
    table = pd.DataFrame({**columns, "y": labels}, index=index)
    commands = Commands(fit=lambda *_: ["calibrant", "fit", "patients.csv", "--target", "y"])
    source = Source("patients.csv", table, describe_table(table, "y"), commands)
    file = tmp_path / "page.html"
    file.write_text(render_report(analyze(evaluation), source), encoding="utf-8")
    wide, narrow = open_page(WIDE, file=file), open_page(NARROW, file=file)
    assert wide.locator(".banner li").count() >= 2
    assert questions_end(wide) < 900
    assert narrow.locator(".questions .verdict").bounding_box()["y"] < 450
    assert questions_end(narrow) < 1000
    assert wide.locator(".banner .remedy").first.is_visible()
    assert narrow.locator(".banner .remedy").first.is_hidden()
    narrow.emulate_media(reduced_motion="reduce")
    narrow.locator(".banner .what-to-do a").click()
    assert -1 <= narrow.locator("#data").bounding_box()["y"] < 900


def visible_panel(page):
    return page.locator("#reliability [data-panel]:visible").evaluate_all(
        "panels => panels.map(panel => [panel.dataset.model, panel.dataset.view])"
    )


def test_a_class_is_chosen_by_mouse_and_by_keyboard(open_page):
    page = open_page()
    [[first, _]] = visible_panel(page)
    page.locator("#reliability .pills label").nth(3).click()
    assert visible_panel(page) == [[first, "3"]]
    page.keyboard.press("ArrowRight")
    assert visible_panel(page) == [[first, "4"]]
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert visible_panel(page) == [[first, "2"]]
    page.locator("input[name=model]:not(:checked)").check()
    [[other, view]] = visible_panel(page)
    assert (other != first, view) == (True, "2")


def test_a_plot_shows_its_numbers_by_pointer_and_by_arrow_keys(open_page):
    page = open_page()
    plot = page.locator("svg.plot:not(.sketch):visible").first
    tip = page.locator(".tip")
    assert tip.is_hidden()
    plot.locator(".target").first.hover()
    assert tip.inner_text().startswith("Predicted ")
    page.mouse.move(0, 0)
    assert tip.is_hidden()
    plot.focus()
    page.keyboard.press("ArrowRight")
    first = tip.inner_text()
    page.keyboard.press("ArrowRight")
    assert tip.inner_text().startswith("Predicted ")
    assert tip.inner_text() != first
    page.keyboard.press("Escape")
    assert tip.is_hidden()


def expected_costs(evaluation, model, cost):
    """Mean costs by rule and the number of changed decisions, computed in Python."""
    truth = evaluation.y[evaluation.held_out_rows]
    uncalibrated, calibrated = (
        evaluation.average_by_row(proba) for proba in (model.uncalibrated, model.calibrated)
    )
    decisions = {
        "most-probable": calibrated.argmax(axis=1),
        "uncalibrated": (uncalibrated @ cost).argmin(axis=1),
        "calibrated": (calibrated @ cost).argmin(axis=1),
    }
    means = {rule: cost[truth, decided].mean() for rule, decided in decisions.items()}
    return means, int(np.sum(decisions["calibrated"] != decisions["most-probable"]))


def test_the_cost_table_works_by_mouse_and_by_keyboard(open_page, evaluation):
    page = open_page()
    chosen = int(page.locator("input[name=model]:checked").get_attribute("value"))
    model = evaluation.models[chosen]
    cost = 1.0 - np.eye(len(HOSTILE))
    assert (
        page.locator("#n-changed").inner_text()
        == "0 of 240 decisions differ from the most probable class."
    )

    def check():
        means, n_changed = expected_costs(evaluation, model, cost)
        verb = "differs" if n_changed == 1 else "differ"
        assert (
            page.locator("#n-changed").inner_text()
            == f"{n_changed} of 240 decisions {verb} from the most probable class."
        )
        for rule, mean in means.items():
            assert page.locator(f"#cost-{rule}").inner_text() == f"{mean:.3f}"
        return n_changed

    check()
    field = page.locator("input[data-truth='0'][data-decision='1']")
    field.click()
    field.fill("30")
    cost[0, 1] = 30
    check()
    page.keyboard.press("Tab")
    page.keyboard.type("0")  # Tab selects what is in a field
    cost[0, 2] = 0
    page.locator("input[data-truth='0'][data-decision='2']").press("ControlOrMeta+a")
    page.keyboard.type("2.5")
    cost[0, 2] = 2.5
    n_changed = check()
    assert n_changed > 10
    listed = page.locator("#changed li").all_text_contents()
    assert len(listed) == 11
    assert listed[-1] == f"and {n_changed - 10} more"
    page.locator("button[type=reset]").focus()
    page.keyboard.press("Enter")
    cost[:] = 1.0 - np.eye(len(HOSTILE))
    page.locator("#n-changed", has_text="0 of 240").wait_for()
    check()


def saved_costs(page, folder):
    with page.expect_download() as download:
        page.locator("#save-costs").click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def test_the_cost_table_is_saved_as_a_file_that_calibrant_reads(open_page, tmp_path):
    page = open_page()
    page.locator("input[data-truth='0'][data-decision='1']").fill("30.5")
    path = saved_costs(page, tmp_path)
    assert path.name == "costs.csv"
    assert "'=cmd()" in path.read_text(encoding="utf-8")  # no spreadsheet runs it
    table = read_table(path)
    assert list(table.columns) == ["true class", *HOSTILE]
    assert table["true class"].tolist() == list(HOSTILE)
    costs = 1.0 - np.eye(len(HOSTILE))
    costs[0, 1] = 30.5
    np.testing.assert_array_equal(table[list(HOSTILE)].astype(float), costs)


def test_invalid_costs_are_not_saved(open_page):
    page = open_page()
    page.locator("input[data-truth='0'][data-decision='1']").fill("-3")
    page.on("download", lambda _: pytest.fail("a file was saved"))
    page.locator("#save-costs").click()
    assert page.locator("input:invalid").count() == 1


def test_two_classes_have_the_threshold_that_the_costs_imply(open_page, make_evaluation, tmp_path):
    evaluation = make_evaluation(("absent", "present"), n_models=1)
    file = tmp_path / "two.html"
    file.write_text(render_report(analyze(evaluation)), encoding="utf-8")
    page = open_page(file=file)
    [model] = evaluation.models
    truth = evaluation.y[evaluation.held_out_rows]
    positive = evaluation.average_by_row(model.calibrated)[:, 1]
    for missed, threshold in ((1, 0.5), (3, 0.25)):
        page.locator("input[data-truth='1'][data-decision='0']").fill(str(missed))
        assert (
            page.locator("#threshold")
            .inner_text()
            .endswith(f"decide present if its probability is above {100 * threshold:.1f}%.")
        )
        for k, decided in enumerate((positive <= threshold, positive > threshold)):
            for label in range(2):
                n = int(np.sum(decided & (truth == label)))
                assert page.locator(f"#n-{label}-{k}").inner_text() == str(n)


def test_many_classes_have_one_cost_per_true_class(open_page, make_evaluation, tmp_path):
    classes = [f"class {i}" for i in range(12)]
    evaluation = make_evaluation(classes, n_rows=120, n_models=1)
    file = tmp_path / "many.html"
    table = pd.DataFrame({"x": range(120)}, index=pd.RangeIndex(2, 122, name="line"))
    file.write_text(render_report(analyze(evaluation), Source("many.csv", table)), encoding="utf-8")
    page = open_page(file=file)
    page.locator("input[data-truth='3']").fill("20")
    cost = 1.0 - np.eye(12)
    cost[3] *= 20
    means, n_changed = expected_costs(evaluation, evaluation.models[0], cost)
    assert n_changed > 1
    assert (
        page.locator("#n-changed").inner_text()
        == f"{n_changed} of 120 decisions differ from the most probable class."
    )
    assert page.locator("#cost-calibrated").inner_text() == f"{means['calibrated']:.3f}"
    assert page.locator("#changed li").first.inner_text().startswith("line ")
    table = read_table(saved_costs(page, tmp_path))
    np.testing.assert_array_equal(table.iloc[:, 1:].astype(float), cost)


@pytest.fixture(scope="module")
def validation_file(evaluation, tmp_path_factory):
    """The page of a validation of two models."""
    path = tmp_path_factory.mktemp("validation") / "validation.html"
    candidates = [
        Candidate(name, evaluation.average_by_row(proba))
        for name, proba in (
            (HOSTILE[0], evaluation.models[0].uncalibrated),
            (HOSTILE[5], evaluation.models[0].calibrated),
        )
    ]
    result = validate_candidates(candidates, evaluation.y, HOSTILE)
    write_validation(result, path, title=HOSTILE[1], update_command=["calibrant", *HOSTILE])
    return path


@pytest.fixture(scope="module")
def experiments_file(tmp_path_factory):
    """The page of a store with random runs of an arena."""
    folder = tmp_path_factory.mktemp("experiments")
    rng = np.random.RandomState(0)
    template = {"experiment": "arena-50", "classifier": "nb", "n_folds": 3, "seed": 0}
    template |= {"implementation": "sklearn", "versions": {}, "n_problems": 1}
    template |= {"model_seconds": 0.1, "calibration_seconds": 0.2, "y_true": np.arange(30) % 3}
    with Store(folder / "store.sqlite") as store:
        store.add(
            Run(data_set=data_set, method=method, fold=fold, proba=proba, **template)
            for data_set in ("seeds", "ecoli", "heart")
            for fold in range(2)
            for method in ("raw", "auto", "temperature", "vector scaling", "venn-abers")
            for proba in [rng.dirichlet(np.ones(3), 30)]
        )
        (folder / "page.html").write_text(render_results(store), encoding="utf-8")
    return folder / "page.html"


@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_no_text_overflows(open_page, experiments_file, validation_file, width):
    page = open_page(width)
    assert page.evaluate(OVERFLOWS) == []
    page.evaluate(OPEN_DETAILS)
    assert page.evaluate(OVERFLOWS) == []
    for file in (experiments_file, validation_file):
        page = open_page(width, file=file)
        page.evaluate(OPEN_DETAILS)
        assert page.evaluate(OVERFLOWS) == []


@pytest.mark.parametrize(("width", "scheme"), [(WIDE, "light"), (WIDE, "dark"), (NARROW, "light")])
def test_axe_finds_no_serious_violation(
    open_page, experiments_file, validation_file, width, scheme
):
    page = open_page(width, scheme)
    page.evaluate(OPEN_DETAILS)
    assert serious_violations(page) == []
    for file in (experiments_file, validation_file):
        page = open_page(width, scheme, file)
        page.evaluate(OPEN_DETAILS)
        assert serious_violations(page) == []


def test_sections_are_folded_until_a_link_opens_them(open_page):
    page = open_page()
    assert page.locator(".fold > details[open]").count() == 0
    assert page.locator(".fold svg:visible, .fold table:visible").count() == 0
    page.locator(".toc a", has_text="Calibration in detail").click()
    section = page.locator("#calibration-in-detail")
    section.locator("table:visible").first.wait_for()
    plots = section.locator("svg.plot:visible")
    assert plots.count() == len(HOSTILE)
    for plot in plots.all():
        assert plot.bounding_box()["width"] > 200
        assert plot.locator(".band").count() == 2
    labels = section.locator("figcaption:visible bdi").all_text_contents()
    assert labels == list(HOSTILE)
    plots.first.focus()
    page.keyboard.press("ArrowRight")
    assert page.locator(".tip").inner_text().startswith("uncalibrated: predicted ")
    assert page.locator(".fold > details[open]").count() == 1


def test_an_address_of_a_section_opens_it(open_page):
    page = open_page()
    page.evaluate("location.hash = 'decision-curves'")
    page.locator("#decision-curves svg:visible").first.wait_for()
    page.evaluate("location.hash = '%'")  # not the name of anything
    assert page.locator(".fold > details[open]").count() == 1


def test_the_methods_paragraph_can_be_copied(open_page):
    page = open_page()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("#write-up summary").first.click()
    page.get_by_role("button", name="Copy the paragraph").click()
    page.get_by_role("button", name="Copied").wait_for()
    paragraph = page.locator("#methods-paragraph").text_content()
    assert page.evaluate("navigator.clipboard.readText()") == paragraph
    assert page.evaluate("getSelection().toString()") == paragraph
    assert all(name in paragraph for name in HOSTILE)


def test_the_page_of_experiments_shows_the_rank_diagram(open_page, experiments_file):
    page = open_page(file=experiments_file)
    (image,) = page.locator("figure img").all()
    assert image.get_attribute("alt").startswith("Critical-difference diagram")
    assert image.evaluate("image => image.complete && image.naturalWidth > 300")


def test_the_page_prints_in_light_colors_with_its_details_open(open_page):
    page = open_page(scheme="dark")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("#reliability details:visible[open]").count() == 1
    assert len(page.pdf()) > 10_000
