"""The claims of docs/replication.md, checked against results/paper."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest

from calibrant.comparison import effect, paired_t_test, welch_t_test
from calibrant.datasets import dataset_names
from experiments.paper.methods import METHODS
from experiments.paper.published import published_value
from experiments.store import Case

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results" / "paper"
RAW, ONE_VS_REST, ALL_PAIRS = "multiclass_raw", "one_vs_rest_dgg_enir", "all_pairs_dgg_enir"
FAULTY = "_as_published"
PUBLISHED_METHODS = (
    "one_vs_rest_raw",
    ONE_VS_REST,
    f"all_pairs_raw{FAULTY}",
    f"{ALL_PAIRS}{FAULTY}",
)


@pytest.fixture(scope="module")
def folds():
    """Metrics of the ten folds, by experiment, classifier, data set, method and metric."""
    found = {}
    for path in RESULTS.glob("*-folds.csv"):
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                place = (row["experiment"], row["classifier"], row["data_set"], row["method"])
                for metric in ("published_MSE", "published_LL", "equations_MSE", "equations_LL"):
                    found.setdefault((*place, metric), []).append(float(row[metric]))
    assert {len(values) for values in found.values()} == {10}
    return {place: np.array(values) for place, values in found.items()}


def n_near(folds, classifier, method, metric, atol=0.0, rtol=0.0):
    """Number of data sets whose mean is near the published one, by either tolerance."""
    near = 0
    for name in dataset_names():
        published = published_value(Case(classifier, name), METHODS[method], metric).value
        own = folds["as-published", classifier, name, method, f"published_{metric}"].mean()
        near += published is not None and abs(own - published) <= max(atol, rtol * published)
    return near


@pytest.mark.parametrize("name", ["abalone", "ecoli", "forest", "seeds", "wholesale"])
@pytest.mark.parametrize("method", [RAW, "one_vs_rest_raw"])
@pytest.mark.parametrize("metric", ["MSE", "LL"])
def test_raw_naive_bayes_equals_the_paper_in_every_printed_digit(folds, name, method, metric):
    own = folds["as-published", "nb", name, method, f"published_{metric}"].mean()
    assert round(own, 3) == published_value(Case("nb", name), METHODS[method], metric).value


@pytest.mark.parametrize(
    ("method", "metric", "tolerance", "least"),
    [
        (RAW, "MSE", {"atol": 0.002}, 11),
        ("one_vs_rest_raw", "MSE", {"atol": 0.002}, 11),
        (ONE_VS_REST, "MSE", {"atol": 0.002}, 12),
        (ONE_VS_REST, "LL", {"rtol": 0.09}, 12),
        (f"all_pairs_raw{FAULTY}", "MSE", {"rtol": 0.05}, 10),
        (f"{ALL_PAIRS}{FAULTY}", "MSE", {"rtol": 0.05}, 10),
    ],
)
def test_naive_bayes_is_near_the_paper(folds, method, metric, tolerance, least):
    assert n_near(folds, "nb", method, metric, **tolerance) >= least


@pytest.mark.parametrize(
    ("method", "least"),
    [
        (RAW, 12),
        ("one_vs_rest_raw", 11),
        (ONE_VS_REST, 12),
        (f"all_pairs_raw{FAULTY}", 10),
        (f"{ALL_PAIRS}{FAULTY}", 11),
    ],
)
def test_the_forest_is_near_the_paper(folds, method, least):
    assert n_near(folds, "rf", method, "MSE", atol=0.003, rtol=0.1) >= least


@pytest.mark.parametrize("name", dataset_names())
def test_correctly_coupled_raw_naive_bayes_equals_multiclass_naive_bayes(folds, name):
    one, other = (
        folds["as-published", "nb", name, method, "published_MSE"]
        for method in ("all_pairs_raw", RAW)
    )
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("classifier", "test", "expected"),
    [
        ("nb", paired_t_test, 89),
        ("nb", welch_t_test, 81),
        ("rf", paired_t_test, 74),
        ("rf", welch_t_test, 74),
    ],
)
def test_significant_differences_agree_with_the_paper(folds, classifier, test, expected):
    agree = compared = 0
    for name in dataset_names():
        for method in PUBLISHED_METHODS:
            for metric in ("MSE", "LL"):
                published = published_value(Case(classifier, name), METHODS[method], metric)
                if published.value is None:
                    continue
                compared += 1
                own, raw = (
                    folds["as-published", classifier, name, key, f"published_{metric}"]
                    for key in (method, RAW)
                )
                # A test would find a difference by rounding error significant.
                differs = not np.isnan(own).any() and not np.allclose(own, raw, rtol=1e-6, atol=0)
                is_significant = differs and test(own, raw).is_significant()
                agree += is_significant == published.is_significant
    assert compared == 94
    assert agree == expected


@pytest.mark.parametrize(
    ("experiment", "classifier", "all_pairs", "expected"),
    [
        ("as-published", "nb", f"{ALL_PAIRS}{FAULTY}", (6, 6, 0)),
        ("as-published", "nb", ALL_PAIRS, (1, 5, 6)),
        ("as-published", "rf", f"{ALL_PAIRS}{FAULTY}", (6, 5, 1)),
        ("as-published", "rf", ALL_PAIRS, (3, 6, 3)),
    ],
)
def test_the_number_of_wins_of_each_approach(folds, experiment, classifier, all_pairs, expected):
    """As the paper counts: better by one metric, and not worse by the other."""
    effects = [
        effect(
            [
                paired_t_test(
                    folds[experiment, classifier, name, all_pairs, f"published_{metric}"],
                    folds[experiment, classifier, name, ONE_VS_REST, f"published_{metric}"],
                )
                for metric in ("MSE", "LL")
            ]
        )
        for name in dataset_names()
    ]
    assert tuple(map(effects.count, ("impaired", "neutral", "improved"))) == expected


def rows_of(heading):
    """Rows of the table that follows a line of the page, without bold."""
    page = (ROOT / "docs" / "replication.md").read_text(encoding="utf-8")
    after = page[page.index(heading) :]
    table = re.search(r"(?:^\|.*\n)+", after, re.MULTILINE)[0]
    lines = [line.replace("*", "").strip("| ").split(" | ") for line in table.splitlines()]
    return {line[0].lower(): [float(cell) for cell in line[2:]] for line in lines[2:]}


@pytest.mark.parametrize(
    ("heading", "experiment", "classifier", "metrics"),
    [
        ("For naive Bayes, the table gives the log loss", "paper", "nb", ["LL"]),
        ("For the random forest, the table gives", "as-published", "rf", ["LL", "MSE"]),
    ],
)
def test_the_page_has_the_numbers_of_the_results(folds, heading, experiment, classifier, metrics):
    rows = rows_of(heading)
    assert sorted(rows) == sorted(dataset_names())
    for name, expected in rows.items():
        own = [
            folds[experiment, classifier, name, method, f"equations_{metric}"].mean()
            for metric in metrics
            for method in (RAW, ONE_VS_REST, ALL_PAIRS)
        ]
        np.testing.assert_allclose(own, expected, rtol=0, atol=0.00051)
