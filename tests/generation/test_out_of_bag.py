import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.feature_selection import SelectFromModel, SelectKBest, VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, TargetEncoder

from calibrant import CalibratedClassifier
from calibrant._core.fitting import Fitter
from calibrant._core.problems import make_problems
from calibrant._core.training_data import TrainingData
from calibrant.datasets import make_waveform
from calibrant.generation import GroupedVotes, OutOfBag, RepeatedFolds, resolve_generator
from calibrant.metrics import log_loss
from calibrant.strategies import Direct, OneVsRest


@pytest.fixture(scope="module")
def waveform():
    return make_waveform(150, random_state=0)


def votes_by_hand(model, X):
    """Mean of the members' probabilities over the members that did not draw the row."""
    votes = np.zeros((len(X), len(model.classes_)))
    for member, drawn in zip(model.estimators_, model.estimators_samples_, strict=True):
        out = np.setdiff1d(np.arange(len(X)), drawn)
        votes[out] += member.predict_proba(X[out])
    total = votes.sum(axis=1, keepdims=True)
    return np.divide(votes, total, out=np.full_like(votes, np.nan), where=total > 0)


def out_of_bag_points(estimator, X, y, strategy, weight=None, fit_params=None):
    weight = np.ones(len(y)) if weight is None else weight
    data = TrainingData(X, y, np.unique(y), weight, fit_params=fit_params or {})
    problems = make_problems(strategy.code(data.n_classes, np.random.RandomState(0)), data)
    fitter = Fitter(OutOfBag().prepare(estimator), data, np.random.RandomState(0))
    models = OutOfBag().fit_models(fitter, problems)
    sets = OutOfBag().generate(fitter, problems, models).held_out
    return problems, models, sets


ENSEMBLES = [
    RandomForestClassifier(60, random_state=0),
    RandomForestClassifier(60, random_state=0, class_weight="balanced", max_samples=0.5),
    ExtraTreesClassifier(60, random_state=0, bootstrap=True),
    BaggingClassifier(GaussianNB(), 60, random_state=0),
]


@pytest.mark.parametrize("estimator", ENSEMBLES, ids=lambda own: type(own).__name__)
@pytest.mark.parametrize("strategy", [Direct(), OneVsRest()], ids=["direct", "one-vs-rest"])
def test_scores_are_the_votes_of_members_that_did_not_draw_the_row(estimator, strategy, waveform):
    X, y = waveform
    problems, models, sets = out_of_bag_points(estimator, X, y, strategy)
    for problem, model, points in zip(problems, models, sets, strict=True):
        votes = votes_by_hand(model, X[problem.rows])
        expected = votes if strategy.code(3, None) is None else votes[:, 1]
        np.testing.assert_allclose(points.score, expected, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(points.target, problem.target[problem.rows])


@pytest.mark.parametrize("n_models", [1, 3])
@pytest.mark.parametrize("kind", [RandomForestClassifier, BaggingClassifier])
def test_rows_that_every_member_drew_are_left_out(kind, n_models, waveform):
    X, y = waveform
    _, (model,), (points,) = out_of_bag_points(
        kind(n_estimators=n_models, random_state=0), X, y, Direct()
    )
    scored = ~np.isnan(votes_by_hand(model, X)[:, 0])
    assert 0 < scored.sum() < len(y)
    np.testing.assert_array_equal(points.rows, np.flatnonzero(scored))


def test_weights_reach_the_forest_and_the_points_and_rows_of_weight_zero_are_ignored(waveform):
    X, y = waveform
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    forest = RandomForestClassifier(60, random_state=0)
    _, _, (points,) = out_of_bag_points(forest, X, y, Direct(), weight, {"sample_weight": weight})
    rows = np.flatnonzero(weight)
    expected = RandomForestClassifier(60, random_state=0, oob_score=True).fit(
        X[rows], y[rows], sample_weight=weight[rows]
    )
    np.testing.assert_array_equal(points.rows, rows)
    np.testing.assert_array_equal(points.sample_weight, weight[rows])
    np.testing.assert_allclose(points.score, expected.oob_decision_function_, atol=1e-12)


def test_only_the_users_forest_is_fitted(waveform, monkeypatch):
    X, y = waveform
    fits = []
    own_fit = RandomForestClassifier.fit
    monkeypatch.setattr(
        RandomForestClassifier,
        "fit",
        lambda self, *args, **kwargs: fits.append(1) or own_fit(self, *args, **kwargs),
    )
    forest = RandomForestClassifier(60, random_state=0)
    model = CalibratedClassifier(forest, random_state=0).fit(X, y)
    assert len(fits) == 1
    assert not forest.oob_score
    np.testing.assert_array_equal(
        model.estimators_[0].predict_proba(X), own_fit(forest, X, y).predict_proba(X)
    )


@pytest.mark.slow
def test_calibration_from_votes_is_as_good_as_from_folds_for_an_underconfident_forest():
    X, y = make_waveform(200, random_state=2)
    X_new, y_new = make_waveform(2000, random_state=1)
    # Trees with large leaves give underconfident probabilities, far from 0 and 1.
    forest = RandomForestClassifier(200, min_samples_leaf=20, random_state=0)
    losses = {
        cv: log_loss(
            y_new,
            CalibratedClassifier(forest, cv=cv, random_state=0).fit(X, y).predict_proba(X_new),
        )
        for cv in ("oob", 5)
    }
    raw = log_loss(y_new, forest.fit(X, y).predict_proba(X_new))
    assert losses["oob"] < 0.8 * raw
    assert losses["oob"] < 1.03 * losses[5]


@pytest.mark.parametrize(
    ("estimator", "uses_votes"),
    [
        (None, False),
        (RandomForestClassifier(), True),
        (RandomForestClassifier(bootstrap=False), False),
        (RandomForestClassifier(10), False),
        (ExtraTreesClassifier(), False),
        (ExtraTreesClassifier(bootstrap=True), True),
        (BaggingClassifier(n_estimators=100), True),
        (BaggingClassifier(n_estimators=100, bootstrap=False), False),
        (GaussianNB(), False),
        (CalibratedClassifierCV(RandomForestClassifier()), False),
        (make_pipeline(StandardScaler(), RandomForestClassifier()), True),
        (make_pipeline("passthrough", RandomForestClassifier()), True),
        (
            make_pipeline(
                make_column_transformer((SimpleImputer(), [0])),
                VarianceThreshold(),
                RandomForestClassifier(),
            ),
            True,
        ),
        (make_pipeline(SelectKBest(), RandomForestClassifier()), False),
        (make_pipeline(SelectFromModel(GaussianNB()), RandomForestClassifier()), False),
        (
            make_pipeline(
                make_column_transformer((TargetEncoder(), [0])), RandomForestClassifier()
            ),
            False,
        ),
    ],
    ids=str,
)
def test_auto_uses_votes_if_there_are_enough_and_they_are_held_out(estimator, uses_votes):
    chosen = resolve_generator("auto", binary=False, estimator=estimator)
    assert isinstance(chosen, OutOfBag if uses_votes else RepeatedFolds)


@pytest.mark.parametrize("scaled", [False, True])
def test_grouped_rows_get_the_votes_of_small_ensembles_fitted_without_their_group(scaled):
    # Rows of a group are the same, so a tree that was fitted on one of them knows the others.
    X, y = (np.repeat(values, 3, axis=0) for values in make_waveform(40, random_state=0))
    groups = np.repeat(np.arange(40), 3)
    y = np.random.default_rng(0).integers(0, 3, size=40)[groups]  # nothing else to learn
    forest = RandomForestClassifier(63, random_state=0)
    estimator = make_pipeline(StandardScaler(), forest) if scaled else forest
    data = TrainingData(X, y, np.arange(3), np.ones(len(y)), groups)
    problems = make_problems(None, data)
    fitter = Fitter(estimator, data, np.random.RandomState(0))
    (points,) = GroupedVotes().generate(fitter, problems, ()).held_out
    np.testing.assert_array_equal(points.rows, np.arange(len(y)))
    np.testing.assert_allclose(points.sample_weight, 1)
    # 21 small forests of 3 trees, a third of which did not see the group.
    np.testing.assert_allclose(points.score * 21, np.round(points.score * 21), atol=1e-9)
    accuracy = np.mean(points.score.argmax(axis=1) == y)
    assert accuracy < 0.6


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("ensemble", [RandomForestClassifier, BaggingClassifier])
def test_small_ensembles_do_not_warn_about_their_out_of_bag_votes(ensemble):
    X, y = make_waveform(120, random_state=0)
    forest = ensemble(n_estimators=63, oob_score=True, random_state=0)
    model = CalibratedClassifier(forest, random_state=0).fit(X, y, groups=np.arange(120) // 3)
    assert hasattr(model.estimators_[0], "oob_decision_function_")


def test_votes_of_the_last_step_of_a_pipeline_are_used(waveform):
    X, y = waveform
    pipeline = make_pipeline(StandardScaler(), RandomForestClassifier(60, random_state=0))
    _, (model,), (points,) = out_of_bag_points(pipeline, X, y, Direct())
    np.testing.assert_allclose(
        points.score, votes_by_hand(model[-1], model[:-1].transform(X)), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize(
    ("estimator", "groups", "message"),
    [
        (GaussianNB(), None, "requires a bootstrap ensemble.*got GaussianNB"),
        (RandomForestClassifier(bootstrap=False), None, "bootstrap=True"),
        (make_pipeline(SelectKBest(), RandomForestClassifier()), None, "got SelectKBest"),
        (RandomForestClassifier(10), np.arange(150) // 5, "requires ungrouped rows.*got groups"),
    ],
    ids=["no ensemble", "no bootstrap", "supervised step", "groups"],
)
def test_estimators_without_out_of_bag_votes_are_refused(estimator, groups, message, waveform):
    model = CalibratedClassifier(estimator, cv="oob")
    with pytest.raises(ValueError, match=message):
        model.fit(*waveform, groups=groups)


def test_the_fast_forest_has_votes_too(waveform):
    ensemble = pytest.importorskip("sklearnex.ensemble", reason="the extra 'fast' is not installed")
    X, y = waveform
    forest = ensemble.RandomForestClassifier(200, random_state=0)
    assert isinstance(resolve_generator("auto", binary=False, estimator=forest), OutOfBag)
    _, _, (points,) = out_of_bag_points(forest, X, y, Direct())
    one, other = (
        RandomForestClassifier(200, random_state=seed, oob_score=True).fit(X, y) for seed in (0, 1)
    )
    own, votes, others = (
        array.ravel()
        for array in (points.score, one.oob_decision_function_, other.oob_decision_function_)
    )
    # As close to a forest of scikit-learn as another one of scikit-learn is, but for chance.
    assert np.corrcoef(own, votes)[0, 1] > np.corrcoef(votes, others)[0, 1] - 0.01


def test_repeated_rows_do_not_reveal_their_labels_to_the_default():
    # Twelve distinct rows, as in a table of three categorical columns.
    rng = np.random.RandomState(0)
    cell = rng.randint(12, size=600)
    y = (rng.uniform(size=600) < np.linspace(0.1, 0.9, 12)[cell]).astype(int)
    X = np.eye(12)[cell]
    forest = RandomForestClassifier(100, random_state=0)
    model = CalibratedClassifier(forest, random_state=0).fit(X[:300], y[:300])
    uncalibrated = model.predict_uncalibrated_proba(X[300:])
    loss = log_loss(y[300:], model.predict_proba(X[300:]))
    assert loss < 1.02 * log_loss(y[300:], uncalibrated)
    assert model.calibration_report_.expected_gain < 0.02
