import numpy as np
import pytest
from typer.testing import CliRunner

from experiments import page
from experiments.commands import app
from experiments.paper.losses import Measures
from experiments.store import Run, Store

LABELS = np.repeat([0, 1, 2], 10)


def made_up_run(protocol, classifier, data_set, scenario, fold, seed, n_folds=10):
    rng = np.random.RandomState(seed)
    proba = rng.dirichlet(np.ones(3), len(LABELS))
    return Run(
        protocol=protocol,
        data_set=data_set,
        classifier=classifier,
        scenario=scenario,
        fold=fold,
        n_folds=n_folds,
        seed=0,
        implementation="sklearn",
        versions={},
        n_problems=3,
        model_seconds=0.1,
        calibration_seconds=0.2,
        true=LABELS,
        proba=proba,
    )


@pytest.fixture
def store(tmp_path):
    """A store of made-up runs of the paper and of an arena."""
    scenarios = (
        "multiclass_raw",
        "one_vs_rest_raw",
        "one_vs_rest_dgg_enir",
        "all_pairs_raw",
        "all_pairs_raw_as_published",
        "all_pairs_dgg_enir",
        "all_pairs_dgg_enir_as_published",
    )
    runs = [
        made_up_run("as-published", classifier, data_set, scenario, fold, 7 * fold + number)
        for classifier in ("nb", "rf")
        for data_set in ("seeds", "waveform")
        for number, scenario in enumerate(scenarios)
        for fold in range(10)
    ]
    runs += [
        made_up_run("arena-50", "nb", data_set, method, fold, 5 * fold + number, n_folds=3)
        for data_set in ("seeds", "ecoli")
        for number, method in enumerate(("raw", "auto", "temperature", "venn-abers"))
        for fold in range(2)
    ]
    with Store(tmp_path / "results.sqlite") as results:
        results.add(runs)
        yield results


def test_a_store_becomes_a_page_of_all_it_holds(store):
    html = page.render_bench(store)
    for text in (
        "Mean squared error and logarithmic loss of naive Bayes",
        "Effect of calibration",
        "One-vs-rest against all pairs",
        '<th scope="colgroup" colspan="2">all pairs DGG+ENIR as published</th>',
        "Seconds for each binary problem",
        "Arena: Fitted on 50 rows",
        "The default beside the best peer",
        "Mean ranks by log loss; critical difference",
    ):
        assert text in html
    assert "The same experiment, done properly" not in html
    assert html.count('class="plot"') == 2
    assert html.count('class="plot ranks"') == 1


def test_suites_of_one_protocol_have_sections_of_their_own(store, make_runs):
    store.add(make_runs(data_set="seeds", n_folds=3, seed=1))
    html = page.render_bench(store)
    assert "A first look: three small sets, three folds" in html
    assert "The same experiment, done properly" not in html
    store.add(make_runs(data_set="seeds", seed=2))
    html = page.render_bench(store)
    assert "The same experiment, done properly" in html
    for n_folds in (3, 10):
        measures = Measures(store.runs("proper", n_folds), "equations")
        mean = measures.mean("nb", "seeds", "multiclass_raw", "LL")
        assert f">{mean:.3f}</span>" in html


def test_a_store_that_is_not_finished_has_a_page_without_counts(tmp_path, make_runs):
    with Store(tmp_path / "half.sqlite") as half:
        half.add(make_runs(folds=2))
        html = page.render_bench(half)
    assert "Seeds, 2 of 10 folds" in html
    assert "Effect of calibration" not in html


def test_the_erratum_is_computed(store):
    erratum = page._erratum(store.runs("as-published", 10))
    np.testing.assert_allclose(erratum.correct, erratum.truth, atol=1e-9)
    np.testing.assert_allclose(erratum.faulty, [0.156, 0.360, 0.213, 0.272], atol=5e-4)
    assert erratum.classifiers == ("naive Bayes", "random forest")
    # Two data sets, two scenarios of all pairs, two classifiers.
    assert [figure.picture.count('class="point"') for figure in erratum.figures] == [8, 8]


def test_the_page_is_written_by_a_command(store, tmp_path):
    output = tmp_path / "bench.html"
    arguments = ["report", "--store", str(store.path), "-o", str(output)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert output.read_text(encoding="utf-8") == page.render_bench(store)


def test_an_empty_store_is_said_in_one_line(tmp_path):
    with Store(tmp_path / "empty.sqlite"):
        pass
    arguments = ["report", "--store", str(tmp_path / "empty.sqlite")]
    result = CliRunner().invoke(app, [*arguments, "-o", str(tmp_path / "bench.html")])
    assert result.exit_code == 2
    assert "It has none yet" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not (tmp_path / "bench.html").exists()
