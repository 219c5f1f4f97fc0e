import csv
import json
from collections import Counter
from importlib.resources import files

import numpy as np
import pytest
from scipy import stats

from calibrant.comparison import (
    Comparison,
    compare_ranks,
    corrected_interval,
    corrected_t_test,
    effect,
    holm,
    paired_t_test,
    welch_t_test,
    wilcoxon_test,
)


@pytest.fixture
def losses():
    rng = np.random.default_rng(0)
    first = rng.normal(1.0, 0.1, size=10)
    return first, first + rng.normal(0.05, 0.05, size=10)


def test_paired_test_agrees_with_scipy(losses):
    result, expected = paired_t_test(*losses), stats.ttest_rel(*losses)
    assert result.statistic == pytest.approx(expected.statistic)
    assert result.p_value == pytest.approx(expected.pvalue)
    assert result.difference == pytest.approx(np.mean(losses[0] - losses[1]))


def test_welch_test_agrees_with_scipy(losses):
    result, expected = welch_t_test(*losses), stats.ttest_ind(*losses, equal_var=False)
    assert result.p_value == pytest.approx(expected.pvalue)


def test_the_two_readings_of_the_papers_test_differ(losses):
    assert paired_t_test(*losses).p_value < welch_t_test(*losses).p_value


def test_correction_increases_the_variance_by_the_test_ratio(losses):
    plain, corrected = paired_t_test(*losses), corrected_t_test(*losses)
    # (1/10 + 1/9) / (1/10) for ten folds.
    assert plain.statistic / corrected.statistic == pytest.approx(np.sqrt(1 + 10 / 9))
    assert corrected.p_value > plain.p_value
    assert corrected_t_test(*losses, test_ratio=0.0).p_value == pytest.approx(plain.p_value)


def test_corrected_test_keeps_its_level_for_correlated_folds():
    # Losses of two equally good methods, correlated through shared training rows.
    rng = np.random.default_rng(0)
    rejected = {paired_t_test: 0, corrected_t_test: 0}
    for _ in range(2000):
        shared = rng.normal() * np.sqrt(0.1)
        difference = shared + rng.normal(size=10) * np.sqrt(0.9)
        for test in rejected:
            rejected[test] += test(difference, np.zeros(10)).is_significant()
    assert rejected[corrected_t_test] / 2000 < 0.06
    assert rejected[paired_t_test] / 2000 > 0.08


def test_wilcoxon_test_agrees_with_scipy():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=12), rng.normal(0.5, size=12)
    assert wilcoxon_test(a, b).p_value == pytest.approx(stats.wilcoxon(a, b).pvalue)


@pytest.mark.parametrize("test", [paired_t_test, welch_t_test, corrected_t_test, wilcoxon_test])
def test_equal_losses_do_not_differ(test):
    same = np.full(10, 0.3)
    result = test(same, same)
    assert (result.difference, result.p_value) == (0.0, 1.0)


@pytest.mark.parametrize("test", [paired_t_test, welch_t_test, corrected_t_test])
def test_a_constant_difference_has_p_value_0(test):
    result = test(np.full(10, 0.3), np.full(10, 0.5))
    assert result.difference == pytest.approx(-0.2)
    assert result.p_value == 0.0


@pytest.mark.parametrize("test", [paired_t_test, welch_t_test, corrected_t_test, wilcoxon_test])
@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([1.0, 2.0], [1.0], r"same length, at least 2, got shapes \(2,\) and \(1,\)"),
        ([1.0], [1.0], "at least 2"),
        ([1.0, np.nan], [1.0, 2.0], "got NaN"),
    ],
)
def test_invalid_losses_raise_a_clear_error(test, first, second, message):
    with pytest.raises(ValueError, match=message):
        test(first, second)


def test_holm_steps_down():
    np.testing.assert_allclose(holm([0.01, 0.02, 0.03, 0.5]), [0.04, 0.06, 0.06, 0.5])
    np.testing.assert_allclose(holm([0.5, 0.9]), [1.0, 1.0])


@pytest.mark.parametrize(
    ("n_methods", "quantile"),
    [(3, 2.343), (4, 2.569), (5, 2.728), (6, 2.850), (7, 2.949), (10, 3.164)],
)
def test_critical_difference_follows_from_the_published_quantiles(n_methods, quantile):
    # Demsar (2006), table 5 (a).
    losses = np.random.default_rng(0).normal(size=(14, n_methods))
    expected = quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * 14))
    assert compare_ranks(losses).critical_difference == pytest.approx(expected, abs=2e-3)


def test_mean_ranks_share_ties():
    result = compare_ranks([[0.1, 0.2, 0.3], [0.1, 0.1, 0.3], [0.5, 0.2, 0.5]])
    np.testing.assert_allclose(result.mean_rank, [(1 + 1.5 + 2.5) / 3, 1.5, (3 + 3 + 2.5) / 3])


def test_cliques_contain_methods_that_do_not_differ():
    losses = np.tile(np.arange(8.0), (30, 1))
    result = compare_ranks(losses)
    assert 1 < result.critical_difference < 2
    assert result.cliques() == [(k, k + 1) for k in range(7)]


def test_equal_methods_share_their_rank():
    result = compare_ranks(np.ones((5, 3)))
    np.testing.assert_allclose(result.mean_rank, 2.0)
    assert result.p_value == 1.0


def test_ranks_require_three_methods_and_no_missing_losses():
    with pytest.raises(ValueError, match=r"got shape \(5, 2\)\. Use wilcoxon_test"):
        compare_ranks(np.ones((5, 2)))
    with pytest.raises(ValueError, match="got NaN"):
        compare_ranks(np.full((5, 3), np.nan))


def published(name):
    text = files("experiments.paper").joinpath("data", name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def test_effects_of_the_published_values_are_the_published_effects():
    values = {
        (row["classifier"], row["data_set"], row["scenario"], row["metric"]): row
        for row in published("results.csv")
    }
    many_classes = {"abalone", "pendigits", "steel", "yeast"}
    counts = Counter()
    for classifier, data_set, scenario, metric in values:
        if metric != "mse" or not scenario.endswith("dgg_enir"):
            continue
        comparisons = []
        for name in ("mse", "log_loss"):
            new = values[classifier, data_set, scenario, name]
            old = values[classifier, data_set, "multiclass_raw", name]
            difference = float(new["value"]) - float(old["value"])
            p_value = 0.01 if new["differs_from_multiclass_raw"] == "1" else 0.5
            comparisons.append(Comparison(difference, 0.0, p_value))
        group = "high" if data_set in many_classes else "low"
        approach = scenario.removesuffix("_dgg_enir")
        counts[classifier, approach, group, effect(comparisons)] += 1
    for row in published("effects.csv"):
        for kind in ("improved", "neutral", "impaired"):
            key = (row["classifier"], row["approach"], row["class_count_group"], kind)
            assert counts[key] == int(row[kind]), key


def test_corrected_interval_excludes_0_if_and_only_if_the_test_is_significant():
    rng = np.random.RandomState(0)
    for _ in range(200):
        first, second = rng.normal(0.6, size=10), rng.normal(size=10)
        interval = corrected_interval(first, second, 0.25)
        significant = corrected_t_test(first, second, 0.25).is_significant()
        assert (interval.low > 0 or interval.high < 0) == significant
        assert interval.estimate == pytest.approx((first - second).mean())


def test_results_are_records():
    comparison = paired_t_test([0.3, 0.4, 0.3], [0.5, 0.7, 0.4])
    assert list(comparison.to_dict()) == ["difference", "statistic", "p_value"]
    assert f"p = {comparison.p_value:.3g}" in str(comparison)
    ranks = compare_ranks([[0.1, 0.2, 0.3], [0.1, 0.3, 0.2]])
    assert json.loads(json.dumps(ranks.to_dict()))["mean_rank"] == [1.0, 2.5, 2.5]
    assert "mean_rank: [1. 2.5 2.5]" in str(ranks)
    assert "<th>mean_rank</th>" in ranks._repr_html_()


@pytest.mark.parametrize("level", [95, 0, 1, np.nan])
def test_a_confidence_level_out_of_range_is_refused(losses, level):
    with pytest.raises(ValueError, match=f"level must lie .* got {level}. Use 0.95"):
        corrected_interval(*losses, level=level)


@pytest.mark.parametrize("alpha", [5, 0, 1, -0.05, np.nan])
@pytest.mark.parametrize(
    "use",
    [
        lambda alpha: Comparison(0.1, 2.0, 0.04).is_significant(alpha),
        lambda alpha: effect([], alpha),
        lambda alpha: compare_ranks(np.arange(12.0).reshape(4, 3), alpha),
    ],
    ids=["is_significant", "effect", "compare_ranks"],
)
def test_a_significance_level_out_of_range_is_refused(use, alpha):
    with pytest.raises(ValueError, match=f"alpha must lie .* got {alpha}. Use 0.05"):
        use(alpha)
