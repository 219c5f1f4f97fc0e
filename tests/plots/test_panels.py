import sys

import numpy as np
import pytest

from calibrant.plots import CalibrationMapDisplay, ReliabilityDisplay


def test_displays_share_panels_with_one_diagonal(series):
    y, proba = [0, 1, 0, 1], np.array([0.2, 0.7, 0.4, 0.9])
    first = ReliabilityDisplay.from_predictions(y, proba, name="one")
    second = ReliabilityDisplay.from_predictions(y, 1 - proba, name="other", ax=first.axes_)
    (ax,) = second.axes_
    assert ax is first.axes_[0]
    lines = series(ax)
    assert [line.get_label() for line in lines] == ["one", "other"]
    assert len(ax.lines) == len(lines) + 1
    assert len(ax.child_axes) == 1
    assert len({line.get_color() for line in lines}) == 2
    assert len({line.get_marker() for line in lines}) == 2


def test_line_options_override_the_style(series):
    display = ReliabilityDisplay.from_predictions([0, 1, 0, 1], [0.2, 0.7, 0.4, 0.9])
    display.plot(color="black", label="mine")
    (line,) = series(display.axes_[0])
    assert (line.get_color(), line.get_label()) == ("black", "mine")


def test_one_axes_per_panel_is_required():
    proba = np.full((6, 3), 1 / 3)
    display = CalibrationMapDisplay.from_predictions(proba, proba)
    with pytest.raises(ValueError, match=r"one Axes for each of the 3 panels, got 1"):
        display.plot(display.axes_[0])


def test_names_are_not_parsed_as_formulas():
    y = np.tile([0, 1, 2], 20)
    labels = np.array(["$x^2$", "<b>&amp;</b>", "_private"])
    display = ReliabilityDisplay.from_predictions(
        labels[y], np.full((len(y), 3), 1 / 3), of="each-class", name="$a_1$"
    )
    ax = display.axes_[0]
    assert ax.get_title() == "class $x^2$"
    assert not ax.title.get_parse_math()
    assert not any(text.get_parse_math() for text in ax.get_legend().get_texts())


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_labels_of_many_panels_do_not_overlap(n_classes, check_layout):
    rng = np.random.default_rng(0)
    names = np.array([f"a class whose name is rather long, number {k}" for k in range(n_classes)])
    y = names[rng.integers(n_classes, size=300)]
    proba = rng.dirichlet(np.ones(n_classes), size=300)
    for display in (
        ReliabilityDisplay.from_predictions(y, proba, name="one"),
        ReliabilityDisplay.from_predictions(y, proba, of="each-class"),
        CalibrationMapDisplay.from_predictions(proba, proba, labels=names),
    ):
        check_layout(display.axes_[0].figure)


def test_missing_matplotlib_raises_a_clear_error(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'calibrant\[plots\]'"):
        ReliabilityDisplay.from_predictions([0, 1], [0.2, 0.7])
