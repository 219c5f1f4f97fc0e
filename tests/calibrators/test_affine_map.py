import numpy as np
import pytest

from calibrant.calibrators._affine_map import fit_inverse_temperature


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("gap", [0.01, 0.3, 1.0, 2.0, 7.0])
@pytest.mark.parametrize("share_of_errors", [1e-3, 0.1, 0.25, 0.4, 0.49])
def test_two_kinds_of_points_determine_the_temperature_at_any_scale_of_weights(
    scale, gap, share_of_errors
):
    log_score = np.array([[gap, 0.0], [gap, 0.0]])
    weight = scale * np.array([1.0 - share_of_errors, share_of_errors])
    found = fit_inverse_temperature(log_score, np.array([0, 1]), weight, penalty=0.0)
    expected = np.log((1.0 - share_of_errors) / share_of_errors) / gap
    assert found == pytest.approx(expected, rel=1e-12)
