import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from calibrant.datasets import make_waveform

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture
def waveform():
    """200 rows of features and their labels."""
    return make_waveform(200, random_state=0)


@pytest.fixture
def series():
    """A function that returns the lines of a panel other than the dashed diagonal."""
    return lambda ax: [line for line in ax.lines if line.get_linestyle() != "--"]


@pytest.fixture
def check_layout():
    """A function that checks that texts neither overlap nor leave the figure."""

    def check(figure):
        figure.canvas.draw()
        renderer = figure.canvas.get_renderer()
        boxes = []
        for ax in figure.axes:
            texts = [ax.title, ax.xaxis.label, ax.yaxis.label, *ax.texts]
            texts += [inset.yaxis.label for inset in ax.child_axes]
            boxes += [
                text.get_window_extent(renderer).padded(-0.5) for text in texts if text.get_text()
            ]
        for number, box in enumerate(boxes):
            assert box.x0 >= 0
            assert box.y0 >= 0
            assert box.x1 <= figure.bbox.x1
            assert box.y1 <= figure.bbox.y1
            assert not any(box.overlaps(other) for other in boxes[:number])

    return check
