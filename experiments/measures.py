"""Coverage of intervals and bands of the measures, and the choice of a smoother, by simulation.

Run with ``python -m experiments.measures``: it writes ``results/measures/README.md``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from scipy.special import expit, logit, softmax
from sklearn.linear_model import LogisticRegression

from calibrant._core.multinomial import MultinomialModel
from calibrant._core.records import Interval
from calibrant._core.typing import FloatArray, IndexArray
from calibrant.decisions import compare_costs, decision_curve
from calibrant.metrics import (
    measure_discrimination,
    multinomial_calibration,
    smooth_calibration_curve,
    weak_calibration,
)
from calibrant.prior_shift import estimate_prior
from experiments.rendering import Table, plain_rows, render
from experiments.subgroups import subgroup_table

SIZES = (100, 300, 1000)
CLASSES = (2, 3, 5)
CURVE_SIZES = (50, 100, 300, 1000)
THRESHOLDS = (0.1, 0.3, 0.5)
# Local regression takes too long for more repeats.
LOCAL_REPEATS = 50
# The rows from which true values are computed.
N_LARGE = 200_000
N_TRUTH_BINS = 100

# Smoothers return the curve and its limits at the rows.
Curve = tuple[FloatArray, FloatArray, FloatArray]
NORMAL = 1.959964


def draw_classes(proba: FloatArray, rng: np.random.RandomState) -> IndexArray:
    """Draw one class per row."""
    uniform = rng.uniform(size=(len(proba), 1))
    return np.asarray((uniform > proba.cumsum(axis=1)[:, :-1]).sum(axis=1))


@dataclass(frozen=True)
class World:
    """Predictions whose calibration is known.

    With predicted log ratios l to the first class, the true ones are intercept + slope * l.
    """

    intercept: float
    slope: float

    def draw(
        self, n_rows: int, n_classes: int, rng: np.random.RandomState
    ) -> tuple[IndexArray, FloatArray]:
        """Draw classes and predictions."""
        ratio = 1.3 * rng.standard_normal((n_rows, n_classes - 1)) - 0.5
        zero = np.zeros((n_rows, 1))
        true = softmax(np.hstack([zero, self.intercept + self.slope * ratio]), axis=1)
        return draw_classes(true, rng), np.asarray(softmax(np.hstack([zero, ratio]), axis=1))


WORLDS = {"calibrated": World(0.0, 1.0), "overconfident": World(0.3, 0.6)}


@dataclass(frozen=True)
class Estimates:
    """The intervals of all measures, by name, and the bands of the classes."""

    intervals: dict[str, list[Interval]]
    curves: list[tuple[FloatArray, FloatArray, FloatArray]]


def costs_of(n_classes: int) -> FloatArray:
    """Return costs in which missing a later class is worse."""
    return (1.0 + np.arange(n_classes))[:, None] * (1.0 - np.eye(n_classes))


def estimate(y: IndexArray, proba: FloatArray, *, with_curves: bool = True) -> Estimates:
    """Estimate everything that has an interval."""
    labels = np.arange(proba.shape[1])
    joint = multinomial_calibration(y, proba, labels=labels)
    found = measure_discrimination(y, proba, labels=labels)
    ratios = [weak_calibration(y, proba, of=k, labels=labels) for k in labels.tolist()]
    benefits = []
    for k in labels.tolist():
        curve = decision_curve(y, proba, of=k, thresholds=THRESHOLDS, labels=labels)
        columns = zip(curve.net_benefit, curve.low, curve.high, strict=True)
        benefits += [Interval(*map(float, each)) for each in columns]
    costs = compare_costs(y, proba, costs_of(len(labels)), labels=labels)
    intervals = {
        "calibration in the large": list(joint.calibration_in_the_large),
        "intercept": list(joint.intercept),
        "slope": list(joint.slope),
        "observed/expected": [each.observed_expected_ratio for each in ratios],
        "AUC": list(found.by_class),
        "M-index": [found.m_index],
        "PDI": [found.polytomous_discrimination_index],
        "net benefit": benefits,
        "cost": [costs.cheapest, costs.saving],
    }
    curves = []
    if with_curves:
        for k in labels.tolist():
            band = smooth_calibration_curve(y, proba, of=k, labels=labels)
            curves.append((band.predicted, band.low, band.high))
    return Estimates(intervals, curves)


@dataclass(frozen=True)
class Truth:
    """True values: those of many rows, except intercepts and slopes, which are known."""

    values: dict[str, list[float]]
    # For each class, predicted probabilities and the true frequencies at them.
    curves: list[tuple[FloatArray, FloatArray]]


def true_values(world: World, n_classes: int, n_rows: int = N_LARGE) -> Truth:
    """Compute the true values of a world."""
    y, proba = world.draw(n_rows, n_classes, np.random.RandomState(2**31 - 1))
    found = estimate(y, proba, with_curves=False).intervals
    values = {name: [each.estimate for each in intervals] for name, intervals in found.items()}
    values["intercept"] = [world.intercept] * (n_classes - 1)
    values["slope"] = [world.slope] * (n_classes - 1)
    curves = []
    for k in range(n_classes):
        order = np.argsort(proba[:, k])
        parts = np.array_split(order, N_TRUTH_BINS)
        predicted = np.array([proba[part, k].mean() for part in parts])
        curves.append((predicted, np.array([np.mean(y[part] == k) for part in parts])))
    return Truth(values, curves)


def is_covered(interval: Interval, value: float) -> bool:
    """Return whether an interval contains a value; intervals of undetermined estimates do."""
    return interval.low - 1e-12 <= value <= interval.high + 1e-12


def cover_once(world: World, n_classes: int, n_rows: int, seed: int, truth: Truth) -> list[float]:
    """Return the fraction of true values that the intervals of one data set contain."""
    y, proba = world.draw(n_rows, n_classes, np.random.RandomState(seed))
    found = estimate(y, proba)
    covered = [
        np.mean([is_covered(*each) for each in zip(found.intervals[name], values, strict=True)])
        for name, values in truth.values.items()
    ]
    bands = []
    for k, ((points, low, high), (predicted, observed)) in enumerate(
        zip(found.curves, truth.curves, strict=True)
    ):
        rows = proba[:, k]
        true = np.interp(rows, predicted, observed)
        below, above = (np.interp(rows, points, each) for each in (low, high))
        bands.append(np.mean((below <= true) & (true <= above)))
    return [*map(float, covered), float(np.mean(bands))]


def coverage_table(repeats: int, jobs: int) -> Table:
    """Return the coverage of all intervals by number of classes and rows."""
    rows: list[list[str]] = []
    names: list[str] = []
    for n_classes in CLASSES:
        truths = {name: true_values(world, n_classes) for name, world in WORLDS.items()}
        names = [*next(iter(truths.values())).values, "band"]
        for n_rows in SIZES:
            found = Parallel(n_jobs=jobs)(
                delayed(cover_once)(world, n_classes, n_rows, seed, truths[name])
                for name, world in WORLDS.items()
                for seed in range(repeats)
            )
            means = np.mean(found, axis=0)
            rows.append([str(n_classes), str(n_rows), *(f"{each:.1%}" for each in means)])
    error = 100.0 * np.sqrt(0.05 * 0.95 / (2 * repeats))
    return Table(
        "Coverage of 95% intervals and bands",
        ["classes", "rows", *names],
        plain_rows(rows),
        f"{repeats} data sets of calibrated and as many of overconfident probabilities (true slope "
        "0.6) per row of the table; averages over classes, thresholds (0.1, 0.3 and 0.5) and, for "
        f"the band, over rows. True values are known or those of {N_LARGE:,} rows. At a coverage "
        f"of 95%, the standard error of a cell is at most {error:.1f} percentage points.",
    )


def slope_once(world: World, n_rows: int, seed: int) -> list[float]:
    """Return whether Wald and profile-likelihood intervals of one data set cover the slope."""
    y, proba = world.draw(n_rows, 2, np.random.RandomState(seed))
    slope = weak_calibration(y, proba, labels=[0, 1]).slope
    log_odds = np.log(proba[:, 1] / proba[:, 0])[:, None]
    one, logit_of = np.ones((n_rows, 1)), np.ones(2, dtype=np.intp)
    target, nothing = np.eye(2)[y], np.zeros((n_rows, 2))
    full = MultinomialModel(np.hstack([one, log_odds]), logit_of, nothing, target, np.zeros(2))
    offset = np.hstack([np.zeros((n_rows, 1)), world.slope * log_odds])
    null = MultinomialModel(one, logit_of[:1], offset, target, np.zeros(1))
    largest, at_truth = (each.log_likelihood(each.fit()) for each in (full, null))
    return [
        float(slope.low <= world.slope <= slope.high),
        float(2.0 * (largest - at_truth) <= NORMAL**2),
    ]


def slope_table(repeats: int, jobs: int) -> Table:
    """Compare two kinds of intervals for the calibration slope of two classes."""
    repeats *= 5  # these are fast
    rows = []
    for n_rows in CURVE_SIZES:
        found = [
            Parallel(n_jobs=jobs)(
                delayed(slope_once)(world, n_rows, seed) for seed in range(repeats)
            )
            for world in WORLDS.values()
        ]
        covered = np.mean(found, axis=1).ravel()
        rows.append([str(n_rows), *(f"{each:.1%}" for each in covered)])
    columns = [f"{kind}, {world}" for world in WORLDS for kind in ("Wald", "profile likelihood")]
    return Table(
        "Coverage of 95% intervals for the calibration slope of two classes",
        ["rows", *columns],
        plain_rows(rows),
        f"{repeats} data sets per cell.",
    )


def fast_once(world: World, n_rows: int, seed: int, truth: Truth) -> list[float]:
    """Return whether the intervals of one data set of two classes contain the true values."""
    y, proba = world.draw(n_rows, 2, np.random.RandomState(seed))
    weak = weak_calibration(y, proba, labels=[0, 1])
    costs = compare_costs(y, proba, costs_of(2), labels=[0, 1])
    (in_the_large,), (_, ratio) = (
        truth.values[name] for name in ("calibration in the large", "observed/expected")
    )
    cheapest, saving = truth.values["cost"]
    return [
        float(is_covered(interval, value))
        for interval, value in (
            (weak.calibration_in_the_large, in_the_large),
            (weak.observed_expected_ratio, ratio),
            (costs.cheapest, cheapest),
            (costs.saving, saving),
        )
    ]


def fast_table(repeats: int, jobs: int) -> Table:
    """Return the coverage of intervals that are fast enough for many data sets."""
    repeats *= 10
    rows = []
    for name, world in WORLDS.items():
        truth = true_values(world, 2)
        for n_rows in SIZES:
            found = Parallel(n_jobs=jobs)(
                delayed(fast_once)(world, n_rows, seed, truth) for seed in range(repeats)
            )
            rows.append([name, str(n_rows), *(f"{each:.1%}" for each in np.mean(found, axis=0))])
    return Table(
        "Coverage of 95% intervals for two classes, with more data sets",
        [
            *("probabilities", "rows", "calibration in the large", "observed/expected"),
            *("cost", "saving"),
        ],
        plain_rows(rows),
        f"{repeats} data sets per row, for measures whose coverage seems to differ from 95% in the "
        "first table, where they are fewer.",
    )


def prior_once(n_classes: int, n_rows: int, seed: int) -> list[float]:
    """Return coverage of a changed share, and rejections without a change, of one data set."""
    rng = np.random.RandomState(seed)
    means = 1.5 * np.eye(n_classes)
    old = np.full(n_classes, 1.0 / n_classes)
    new = (1.0 + np.arange(n_classes)) / (1.0 + np.arange(n_classes)).sum()

    def draw_rows(shares: FloatArray) -> tuple[FloatArray, IndexArray]:
        y = rng.choice(n_classes, p=shares, size=n_rows)
        return rng.standard_normal((n_rows, n_classes)) + means[y], y

    def draw(shares: FloatArray, prior: FloatArray) -> FloatArray:
        X, _ = draw_rows(shares)
        return np.asarray(softmax(X @ means.T + np.log(prior), axis=1))

    changed = estimate_prior(draw(new, old), old=old)
    covered = [each.low <= true <= each.high for each, true in zip(changed.share, new, strict=True)]
    count = np.maximum(rng.multinomial(n_rows, old), 1).astype(np.float64)
    drawn = draw(old, count / count.sum())
    model = LogisticRegression(max_iter=1000)
    X, y = draw_rows(old)
    fitted = model.fit(X, y).predict_proba(draw_rows(old)[0])
    return [
        float(np.mean(covered)),
        float(estimate_prior(draw(old, old), old=old).p_value < 0.05),
        float(estimate_prior(drawn, old=count).p_value < 0.05),
        float(estimate_prior(drawn, old=count / count.sum()).p_value < 0.05),
        float(estimate_prior(fitted, old=np.bincount(y)).p_value < 0.05),
    ]


def prior_table(repeats: int, jobs: int) -> Table:
    """Return coverage of estimated class shares, and the level of the test of a change."""
    rows = []
    for n_classes in CLASSES:
        for n_rows in SIZES:
            found = Parallel(n_jobs=jobs)(
                delayed(prior_once)(n_classes, n_rows, seed) for seed in range(repeats)
            )
            means = np.mean(found, axis=0)
            rows.append([str(n_classes), str(n_rows), *(f"{each:.1%}" for each in means)])
    return Table(
        "Class shares of rows without labels",
        [
            "classes",
            "rows",
            "coverage of shares",
            "rejections, known shares",
            "rejections, training counts",
            "rejections, counts taken as shares",
            "rejections, fitted model",
        ],
        plain_rows(rows),
        f"{repeats} data sets per row, Gaussian classes. Coverage is that of 95% intervals after "
        "a change of shares; rejections are those of the test at the 5% level without one. In the "
        "last three columns, there are as many training rows as new rows. The last one has "
        "training counts and the probabilities of logistic regression, the others exact ones.",
    )


def fit_logistic(columns: FloatArray, y: IndexArray) -> Curve:
    """Fit a logistic regression without a penalty, with Wald limits."""
    n_parameters = columns.shape[1]
    model = MultinomialModel(
        columns,
        np.ones(n_parameters, dtype=np.intp),
        np.zeros((len(y), 2)),
        np.eye(2)[y],
        np.full(n_parameters, 1e-3),
    )
    parameters = model.fit()
    solved = np.linalg.solve(model.information(parameters), columns.T)
    error = np.sqrt(np.einsum("ij,ji->i", columns, solved))
    center = columns @ parameters
    return expit(center), expit(center - NORMAL * error), expit(center + NORMAL * error)


def fit_line(predicted: FloatArray, y: IndexArray) -> Curve:
    """Fit the logistic calibration line."""
    return fit_logistic(np.column_stack([np.ones(len(y)), logit(predicted)]), y)


def fit_restricted(predicted: FloatArray, y: IndexArray) -> Curve:
    """Fit restricted cubic splines of the log odds with five knots at the usual quantiles."""
    x = logit(predicted)
    knots = np.quantile(x, [0.05, 0.275, 0.5, 0.725, 0.95])
    cube = np.maximum(x[:, None] - knots, 0.0) ** 3
    width = knots[-1] - knots[-2]
    first = cube[:, :3] - cube[:, 3:4] * (knots[4] - knots[:3]) / width
    splines = (first + cube[:, 4:] * (knots[3] - knots[:3]) / width) / (knots[4] - knots[0]) ** 2
    return fit_logistic(np.column_stack([np.ones(len(y)), x, splines]), y)


def fit_local(predicted: FloatArray, y: IndexArray) -> Curve:
    """Fit a local quadratic regression with a span of 0.75, as loess does by default."""
    n_rows = len(y)
    n_near = int(np.ceil(0.75 * n_rows))
    smoother = np.empty((n_rows, n_rows))
    for i in range(n_rows):
        distance = np.abs(predicted - predicted[i])
        width = max(np.partition(distance, n_near - 1)[n_near - 1], 1e-9)
        weight = np.clip(1.0 - (distance / width) ** 3, 0.0, None) ** 3
        powers = np.vander(predicted - predicted[i], 3, increasing=True)
        weighted = (powers * weight[:, None]).T
        smoother[i] = np.linalg.lstsq(weighted @ powers, weighted, rcond=1e-10)[0][0]
    fitted = smoother @ y
    freedom = n_rows - 2.0 * np.trace(smoother) + np.sum(smoother**2)
    half = NORMAL * np.sqrt(np.sum((y - fitted) ** 2) / freedom * np.sum(smoother**2, axis=1))
    return np.clip(fitted, 0.0, 1.0), fitted - half, fitted + half


def fit_smooth(predicted: FloatArray, y: IndexArray) -> Curve:
    """Fit `smooth_calibration_curve`."""
    curve = smooth_calibration_curve(y, predicted, labels=[0, 1])
    limits = (curve.observed, curve.low, curve.high)
    observed, low, high = (np.interp(predicted, curve.predicted, each) for each in limits)
    return observed, low, high


SMOOTHERS: dict[str, Callable[[FloatArray, IndexArray], Curve]] = {
    "logistic line": fit_line,
    "restricted cubic splines": fit_restricted,
    "local regression": fit_local,
    "calibrant": fit_smooth,
}
SHAPES: dict[str, Callable[[FloatArray], FloatArray]] = {
    "calibrated": lambda x: x,
    "overconfident": lambda x: 0.6 * x + 0.3,
    "plateau": lambda x: np.minimum(x, 0.0) + 0.2 * np.maximum(x, 0.0),
    "wave": lambda x: x + 0.9 * np.sin(1.5 * x),
}


def smooth_once(shape: str, smoother: str, n_rows: int, seed: int) -> tuple[float, float]:
    """Return the mean squared error of a curve and the coverage of its band."""
    rng = np.random.RandomState(seed)
    log_odds = 1.5 * rng.standard_normal(n_rows) - 0.7
    true = expit(SHAPES[shape](log_odds))
    y = (rng.uniform(size=n_rows) < true).astype(np.intp)
    observed, low, high = SMOOTHERS[smoother](expit(log_odds), y)
    return float(np.mean((observed - true) ** 2)), float(np.mean((low <= true) & (true <= high)))


def smoother_table(repeats: int, jobs: int) -> Table:
    """Compare smoothers by the error of their curves and the coverage of their bands."""
    rows = []
    for n_rows in CURVE_SIZES:
        for shape in SHAPES:
            cells = []
            for smoother in SMOOTHERS:
                times = min(repeats, LOCAL_REPEATS) if smoother == "local regression" else repeats
                found = Parallel(n_jobs=jobs)(
                    delayed(smooth_once)(shape, smoother, n_rows, seed) for seed in range(times)
                )
                error, covered = np.mean(found, axis=0)
                cells.append(f"{error**0.5:.3f} ({covered:.0%})")
            rows.append([str(n_rows), shape, *cells])
    return Table(
        "Error of calibration curves, and coverage of their 95% bands",
        ["rows", "true curve", *SMOOTHERS],
        plain_rows(rows),
        f"Root mean squared error and coverage over the rows of {repeats} data sets per cell "
        f"({min(repeats, LOCAL_REPEATS)} for local regression).",
    )


def page(tables: Iterable[Table], command: str) -> str:
    """Return the page of all tables."""
    text = f"""# Intervals and bands of the measures

How often the intervals and bands of `calibrant.metrics`, `calibrant.decisions` and
`calibrant.prior_shift` contain the true value, in simulations, how often the tests of subgroups
reject, and how the smoother of calibration curves compares with others. Rebuild this page with

```
{command}
```

"""
    return text + "\n".join(render(table, "markdown") for table in tables)


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(prog="python -m experiments.measures", description=__doc__)
    parser.add_argument("--repeats", type=int, default=100, help="data sets per case")
    parser.add_argument("--jobs", type=int, default=2, help="parallel processes")
    parser.add_argument("--output", type=Path, default=Path("results/measures/README.md"))
    arguments = parser.parse_args()
    command = f".venv/bin/python -m experiments.measures --repeats {arguments.repeats}"
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    tables = []
    makers = (coverage_table, fast_table, slope_table, prior_table, subgroup_table, smoother_table)
    for make in makers:
        tables.append(make(arguments.repeats, arguments.jobs))
        # An interrupted run leaves the tables that are complete.
        arguments.output.write_text(page(tables, command), encoding="utf-8")


if __name__ == "__main__":
    main()
