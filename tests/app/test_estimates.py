from calibrant.app.estimates import SECONDS, estimate_seconds
from calibrant.tabular import MODELS


def test_every_model_has_an_estimate_that_grows_with_the_work():
    assert set(SECONDS) == set(MODELS)
    for name in MODELS:
        usual = estimate_seconds(name, 300, 20, 5, 3)
        assert 0 < usual < estimate_seconds(name, 3000, 20, 5, 3)
        assert usual < estimate_seconds(name, 300, 20, 10, 5)
