"""Write peers.json next to this file: the results of other packages for the same scores.

Run it by hand in a separate environment. The file was made with probmetrics 1.3.0 (torch 2.13.0),
betacal 1.1.0 (scikit-learn 1.9.1), venn-abers 1.5.4 and netcal 1.4.0.

Only the path of netcal's ENIR is kept, and only if at most two groups merge at a time: if three
do, netcal loses the rows of the middle one, as the case "lost row" records. Its ensemble is not
kept, because each model shares its fitted values with the next one, which overwrites them.

Scores are rounded before they are calibrated, so that the file contains the scores actually used.
"""

import json
from pathlib import Path

import numpy as np
from betacal import BetaCalibration
from netcal.binning import HistogramBinning, NearIsotonicRegression
from probmetrics.calibrators import get_calibrator
from scipy.special import expit, softmax
from venn_abers import VennAbersCalibrator

# Overconfident, underconfident, and biased toward the first class.
MULTICLASS = {
    "overconfident": {"n_train": 200, "n_classes": 3, "factor": 2.0, "bias": 0.0},
    "underconfident": {"n_train": 300, "n_classes": 5, "factor": 0.5, "bias": 0.0},
    "biased": {"n_train": 400, "n_classes": 5, "factor": 1.0, "bias": 1.5},
}
N_TEST = 200


def multiclass_case(name, n_train, n_classes, factor, bias):
    rng = np.random.default_rng(n_train)
    logit = rng.normal(scale=1.5, size=(n_train + N_TEST, n_classes))
    y = np.array([rng.choice(n_classes, p=row) for row in softmax(logit, axis=1)])
    logit[:, 0] += bias
    logit += rng.normal(scale=0.5, size=logit.shape)
    # No score is so small that the packages' own ways to keep away from 0 come into play.
    score = (0.95 * softmax(factor * logit, axis=1) + 0.05 / n_classes).round(5)
    score[:, -1] = (1.0 - score[:, :-1].sum(axis=1)).round(5)
    case = {"name": name, "n_train": n_train, "score": score.tolist(), "y": y.tolist()}
    for method in ("sms", "svs"):
        calibrator = get_calibrator(method).fit(score[:n_train], y[:n_train])
        loss = -np.log(calibrator.predict_proba(score)[np.arange(len(y)), y])
        case[method] = {"train": loss[:n_train].mean().item(), "test": loss[n_train:].mean().item()}
    return case


def binary_scores(n, decimals, curve):
    rng = np.random.default_rng(n)
    score = rng.uniform(0.02, 0.98, size=n).round(decimals)
    y = (rng.uniform(size=n) < curve(score)).astype(int)
    return score, y


def beta_case(name, curve):
    score, y = binary_scores(300, 4, curve)
    grid = np.linspace(0.02, 0.98, 25)
    beta = BetaCalibration("abm").fit(score, y)
    fitted = beta.predict(score)
    return {
        "name": name,
        "score": score.tolist(),
        "y": y.tolist(),
        "grid": grid.tolist(),
        "proba": beta.predict(grid).tolist(),
        "log_loss": -np.log(np.where(y == 1, fitted, 1 - fitted)).mean().item(),
    }


def venn_abers_case(name, n, decimals):
    score, y = binary_scores(n, decimals, lambda s: s**2)
    new = np.r_[-0.01, np.linspace(0.0, 1.0, 41).round(3), np.unique(score)[::3]]
    proba, interval = VennAbersCalibrator().predict_proba(
        p_cal=np.column_stack([1 - score, score]),
        y_cal=y,
        p_test=np.column_stack([1 - new, new]),
        p0_p1_output=True,
    )
    return {
        "name": name,
        "score": score.tolist(),
        "y": y.tolist(),
        "new": new.tolist(),
        "interval": np.reshape(interval, (-1, 2)).tolist(),
        "proba": proba[:, 1].tolist(),
    }


def histogram_case(name, n):
    # netcal's bins are equally wide, and on this grid of scores equally full. No frequency is
    # so close to 0 or 1 that the probability floor matters.
    score = (np.arange(n) + 0.5) / n
    y = (np.random.default_rng(n).uniform(size=n) < 0.3 + 0.4 * score).astype(int)
    proba = HistogramBinning(10).fit(score, y).transform(score)
    return {"name": name, "score": score.tolist(), "y": y.tolist(), "proba": proba.tolist()}


def near_isotonic_case(name, y):
    score = (1.0 + np.arange(len(y))) / (1.0 + len(y))
    model = NearIsotonicRegression().fit(score, np.asarray(y))
    models = []
    while model is not None:
        size = [len(items) for items in model._group_items]
        # Written before the next step overwrites them.
        models.append(
            {"lambda": model._lambda, "size": size, "value": model._group_values.tolist()}
        )
        model = model.get_next_model()
    return {"name": name, "y": y, "models": models}


def main():
    peers = {
        "multiclass": [multiclass_case(name, **options) for name, options in MULTICLASS.items()],
        "beta": [
            beta_case("S-shaped", lambda s: expit(6 * s - 3)),
            beta_case("skewed", lambda s: 0.6 * s**3),
            beta_case("one-sided", lambda s: 0.5 + 0.5 * s**4),
        ],
        "histogram": [histogram_case("ten bins", 200)],
        "near_isotonic": [
            near_isotonic_case(
                "two at a time", [0, 1, 1, 0, 0, 0, 1, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1]
            ),
            near_isotonic_case(
                "unequal groups", [1, 1, 1, 0, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 1]
            ),
            near_isotonic_case("lost row", [0, 0, 1, 0, 1, 0, 0, 0, 1, 1]),
        ],
        "venn_abers": [venn_abers_case("distinct", 120, 9), venn_abers_case("tied", 150, 1)],
    }
    path = Path(__file__).with_name("peers.json")
    path.write_text(json.dumps(peers, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
