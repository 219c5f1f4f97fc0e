import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from calibrant._core import merging


@pytest.fixture(scope="module")
def compiled():
    """Skip if the compiled kernel is not built; in CI, `each_kernel` fails instead."""
    if merging.KERNEL != "compiled":
        pytest.skip("the compiled kernel is not built: python setup.py build_ext --inplace")
    return merging.merge_compiled


def make_leaves(values, weight):
    """Runs of equal values."""
    first = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    return merging.Leaves(
        first,
        np.append(first[1:], len(values)),
        np.add.reduceat(weight, first),
        np.add.reduceat(weight * values, first),
        values[first],
    )


def assert_same_forest(compiled, values, weight):
    leaves = make_leaves(values, weight)
    expected, forest = merging.merge_in_python(leaves), compiled(leaves)
    for name in forest._fields:
        np.testing.assert_array_equal(
            getattr(forest, name), getattr(expected, name), err_msg=name, strict=True
        )


values = st.one_of(
    st.floats(-1e100, 1e100),
    st.floats(0, 1),
    st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 1.0, 5e-324]),
)
weights = st.one_of(st.floats(1e-100, 1e100), st.sampled_from([0.3, 1.0, 2.0]))


@given(st.data())
def test_kernels_agree_to_the_last_bit(compiled, data):
    n = data.draw(st.integers(1, 60))
    y = data.draw(arrays(float, n, elements=values))
    weight = data.draw(arrays(float, n, elements=weights))
    assert_same_forest(compiled, y, weight)


@pytest.mark.parametrize("kind", ["binary", "quarters", "fractions", "falling", "noisy trend"])
@pytest.mark.parametrize("weighted", [False, True])
def test_kernels_agree_on_thousands_of_points(compiled, kind, weighted):
    rng = np.random.default_rng(0)
    n = 5_000
    y = {
        "binary": rng.integers(0, 2, size=n).astype(float),
        "quarters": rng.integers(0, 5, size=n) / 4,
        "fractions": rng.uniform(size=n),
        "falling": np.linspace(1, 0, n),
        "noisy trend": np.linspace(0, 1, n) + rng.normal(size=n),
    }[kind]
    assert_same_forest(compiled, y, rng.uniform(0.1, 3, size=n) if weighted else np.ones(n))


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda arrays: [array[:-1] for array in arrays], ValueError),
        (lambda arrays: [arrays[0].astype(np.int32), *arrays[1:]], ValueError),
        (lambda arrays: [*arrays[:-1], np.empty(9)], ValueError),
        (lambda arrays: [np.empty(0, dtype=np.intp), *arrays[1:]], ValueError),
        (lambda arrays: [*arrays[:-1], [0.0, 0.0]], TypeError),
    ],
    ids=["even number of nodes", "32-bit", "too long", "no nodes", "not an array"],
)
def test_the_compiled_kernel_refuses_arrays_of_the_wrong_length_or_type(compiled, change, error):
    nodes = [np.zeros(5, dtype=np.intp), np.zeros(5, dtype=np.intp), *np.ones((4, 5))]
    valid = [*nodes, np.zeros((2, 2), dtype=np.intp), np.zeros(2)]
    assert merging.merge(*valid, 0.0, 0.0) == 0
    with pytest.raises(error):
        merging.merge(*change(valid), 0.0, 0.0)


def test_the_compiled_kernel_refuses_read_only_arrays(compiled):
    nodes = [np.zeros(1, dtype=np.intp), np.zeros(1, dtype=np.intp), *np.ones((4, 1))]
    nodes[0].setflags(write=False)
    with pytest.raises((ValueError, BufferError)):
        merging.merge(*nodes, np.zeros((0, 2), dtype=np.intp), np.zeros(0), 0.0, 0.0)
