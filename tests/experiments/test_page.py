import base64
import re

import numpy as np
import pytest

from experiments.page import make_erratum, render_results
from experiments.paper.methods import METHODS
from experiments.store import Store


@pytest.fixture
def store(tmp_path, make_run):
    """A store of random runs of the paper as published and of an arena."""
    labels = np.repeat([0, 1, 2], 10)

    def random_run(seed, **fields):
        proba = np.random.RandomState(seed).dirichlet(np.ones(3), len(labels))
        return make_run(y_true=labels, proba=proba, calibration_seconds=0.2, **fields)

    runs = [
        random_run(
            7 * fold + number,
            experiment="as-published",
            classifier=classifier,
            data_set=data_set,
            method=method,
            fold=fold,
        )
        for classifier in ("nb", "rf")
        for data_set in ("seeds", "waveform")
        for number, method in enumerate(METHODS)
        for fold in range(10)
    ]
    runs += [
        random_run(
            5 * fold + number,
            experiment="arena-50",
            data_set=data_set,
            method=method,
            fold=fold,
            n_folds=3,
        )
        for data_set in ("seeds", "ecoli")
        for number, method in enumerate(("raw", "auto", "temperature", "venn-abers"))
        for fold in range(2)
    ]
    with Store(tmp_path / "results.sqlite") as results:
        results.add(runs)
        yield results


def images(html):
    """Alternative texts and contents of the images of a page."""
    found = re.findall(r'<img src="data:image/svg\+xml;base64,([^"]*)" alt="([^"]*)">', html)
    return {alt: base64.b64decode(content).decode("utf-8") for content, alt in found}


def test_a_store_becomes_a_page_of_all_its_experiments(store):
    html = render_results(store)
    for text in (
        "Mean squared error and logarithmic loss of naive Bayes",
        "Effect of calibration",
        "One-vs-rest against all pairs",
        '<th scope="colgroup" colspan="2">all pairs DGG+ENIR as published</th>',
        "Seconds per binary problem",
        "Arena: All methods, fitted on 50 rows",
        "The default and the best peer",
    ):
        assert text in html
    assert "The same experiment with its errors corrected" not in html
    agreement, ranks = images(html)
    # Two data sets, two methods and two classifiers in each panel.
    assert "with R&#39;s coupling: 8 points; with correct coupling: 8 points" in agreement
    assert ranks.startswith("Critical-difference diagram")
    assert all("</svg>" in content for content in images(html).values())


def test_experiments_with_other_folds_have_separate_sections(store, make_paper_runs, paper_losses):
    smoke = make_paper_runs(experiment="smoke", n_folds=3, seed=1)
    store.add(smoke)
    html = render_results(store)
    assert "A first look: three small data sets, three folds" in html
    assert "The same experiment with its errors corrected" not in html
    paper = make_paper_runs(seed=2)
    store.add(paper)
    html = render_results(store)
    assert "The same experiment with its errors corrected" in html
    for runs in (smoke, paper):
        losses = paper_losses(runs, "equations")
        mean = losses.mean(runs[0].case, METHODS["multiclass_raw"], "LL")
        assert f">{mean:.3f}</span>" in html


def test_an_unfinished_store_has_a_page_without_counts(tmp_path, make_paper_runs):
    with Store(tmp_path / "half.sqlite") as half:
        half.add(make_paper_runs(folds=2))
        html = render_results(half)
    assert "Seeds, 2 of 10 folds" in html
    assert "Effect of calibration" not in html
    assert images(html) == {}


def test_an_empty_store_is_refused(tmp_path):
    with (
        Store(tmp_path / "empty.sqlite") as empty,
        pytest.raises(ValueError, match=r"it has none yet\. Run: python -m experiments run"),
    ):
        render_results(empty)


def test_the_example_of_the_erratum_is_computed():
    erratum = make_erratum([])
    np.testing.assert_allclose(erratum.correct, erratum.true_proba, atol=1e-9)
    np.testing.assert_allclose(erratum.faulty, [0.156, 0.360, 0.213, 0.272], atol=5e-4)
    assert erratum.agreement is None
