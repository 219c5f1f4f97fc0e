import numpy as np
import pytest

from experiments.ranks import can_rank, draw_ranks, select_complete

LOSSES = np.array([[0.3, 0.2, 0.1, np.nan], [0.3, 0.1, 0.2, 0.1]])
NAMES = ["raw", "auto", "temperature", "sometimes failing"]


def test_a_method_that_failed_once_is_left_out():
    losses, names = select_complete(LOSSES, NAMES)
    assert names == ["raw", "auto", "temperature"]
    np.testing.assert_array_equal(losses, LOSSES[:, :3])


@pytest.mark.parametrize(
    ("losses", "expected"), [(LOSSES, True), (LOSSES[:1], False), (LOSSES[:, 1:], False)]
)
def test_a_diagram_needs_two_cases_and_three_complete_methods(losses, expected):
    assert can_rank(losses, NAMES[-losses.shape[1] :]) == expected


def test_the_diagram_shows_only_complete_methods():
    import matplotlib as mpl

    with mpl.rc_context({"svg.fonttype": "none"}):
        svg = draw_ranks(LOSSES, NAMES, "svg").decode("utf-8")
    for name in NAMES[:3]:
        assert f">{name}</text>" in svg
    assert NAMES[3] not in svg
