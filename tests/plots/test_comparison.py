from itertools import pairwise

import numpy as np
import pytest

from calibrant.comparison import compare_ranks
from calibrant.plots import ComparisonDisplay

NAMES = ["a", "b", "c", "$d$"]


@pytest.fixture
def losses():
    return np.tile(np.arange(4.0), (30, 1)) + np.random.default_rng(0).normal(size=(30, 4))


def test_bars_overlap_if_and_only_if_methods_share_a_clique(losses):
    display = ComparisonDisplay.from_losses(losses, NAMES)
    ax, ranks = display.ax_, display.comparison.mean_rank
    order = np.argsort(ranks)
    assert [text.get_text() for text in ax.get_yticklabels()] == [NAMES[k] for k in order]
    dots = [line for line in ax.lines if line.get_marker() == "o"]
    np.testing.assert_allclose([dot.get_xdata()[0] for dot in dots], ranks[order])
    bars = np.array([line.get_xdata() for line in ax.lines if line.get_marker() != "o"])
    np.testing.assert_allclose(np.ptp(bars, axis=1), display.comparison.critical_difference)
    cliques = display.comparison.cliques()
    for first in range(4):
        for second in range(first):
            together = any({order[first], order[second]} <= set(clique) for clique in cliques)
            assert (bars[first][0] <= bars[second][1]) == together
    filled = [dot.get_markerfacecolor() != "white" for dot in dots]
    assert filled == [bar[0] <= bars[0][1] for bar in bars]


def test_drawing_a_comparison_equals_drawing_its_losses(losses):
    comparison = compare_ranks(losses, alpha=0.01)
    drawn = ComparisonDisplay(comparison, NAMES).plot().ax_
    expected = ComparisonDisplay.from_losses(losses, NAMES, alpha=0.01).ax_
    for line, other in zip(drawn.lines, expected.lines, strict=True):
        np.testing.assert_array_equal(line.get_xydata(), other.get_xydata())
    np.testing.assert_array_equal(drawn.get_xticks(), [1, 2, 3, 4])
    assert f"{comparison.critical_difference:.2f}" in drawn.get_xlabel()


def test_one_name_per_method_is_required(losses):
    with pytest.raises(ValueError, match=r"one name for each of the 4 methods, got 2"):
        ComparisonDisplay.from_losses(losses, ["a", "b"])


def test_many_methods_with_long_names_fit_in_the_figure(check_layout):
    losses = np.random.default_rng(0).normal(size=(20, 30)) + np.arange(30) / 10
    names = [f"a method with a long name, {k}" for k in range(30)]
    figure = ComparisonDisplay.from_losses(losses, names).ax_.figure
    check_layout(figure)
    boxes = [label.get_window_extent() for label in figure.axes[0].get_yticklabels()]
    assert min(box.x0 for box in boxes) >= 0
    assert not any(a.overlaps(b) for a, b in pairwise(boxes))
