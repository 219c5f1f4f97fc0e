"""Measure the log loss before and after calibration by number of rows: rows.csv and rows.png.

Needs the paper's data (``CALIBRANT_DATA``); run it from the root of the repository. If
rows.csv exists, only the figure is drawn.
"""

import csv
from collections import defaultdict
from pathlib import Path
from statistics import fmean

FILE = Path("docs/figures/rows.csv")
DATA_SETS = {"waveform": "Waveform, 3 classes", "pendigits": "Pen digits, 10 classes"}
DATA_SETS |= {"contraceptive": "Contraceptive method, 3 classes"}
MODELS = {"nb": "naive Bayes", "rf": "random forest", "lr": "logistic regression"}
COLORS = {"nb": "#0072b2", "rf": "#d55e00", "lr": "#009e73"}
SIZES = (25, 50, 100, 200, 400, 800)
N_DRAWS = 4
TICKS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)


def measure() -> None:
    """Fit on stratified draws of each size, and score up to 3,000 of the other rows."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from calibrant import CalibratedClassifier
    from calibrant.datasets import load_dataset
    from calibrant.metrics import log_loss

    models = {
        "nb": GaussianNB(),
        "rf": RandomForestClassifier(random_state=0),
        "lr": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    }
    with FILE.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["data_set", "model", "rows", "draw", "before", "after"])
        for name in DATA_SETS:
            data = load_dataset(name)
            for size in SIZES:
                for draw in range(N_DRAWS):
                    X, X_new, y, y_new = train_test_split(
                        data.data,
                        data.target,
                        train_size=size,
                        test_size=min(3000, len(data.target) - size),
                        stratify=data.target,
                        random_state=draw,
                    )
                    for key, model in models.items():
                        calibrated = CalibratedClassifier(model, random_state=0).fit(X, y)
                        losses = [
                            log_loss(y_new, fitted.predict_proba(X_new), labels=fitted.classes_)
                            for fitted in (model.fit(X, y), calibrated)
                        ]
                        rows.writerow([name, key, size, draw, *(f"{each:.4f}" for each in losses)])
                    file.flush()


def draw() -> None:
    """Draw the log loss before and after calibration by number of rows."""
    from matplotlib.figure import Figure

    losses = defaultdict(list)
    with FILE.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            for when in ("before", "after"):
                losses[row["data_set"], row["model"], when, int(row["rows"])].append(
                    float(row[when])
                )
    figure = Figure(figsize=(10, 3.8), layout="constrained")
    axes = figure.subplots(1, len(DATA_SETS))
    for ax, (name, title) in zip(axes, DATA_SETS.items(), strict=True):
        for key in MODELS:
            for when, line in (("before", ":"), ("after", "-")):
                means = [fmean(losses[name, key, when, size]) for size in SIZES]
                ax.plot(
                    SIZES,
                    means,
                    line,
                    color=COLORS[key],
                    marker="o",
                    markersize=3.5,
                )
        ax.set(xscale="log", yscale="log", xlabel="training rows")
        ax.set_xticks(SIZES, [str(size) for size in SIZES])
        low, high = ax.get_ylim()
        shown = [tick for tick in TICKS if low <= tick <= high]
        ax.set_yticks(shown, [f"{tick:g}" for tick in shown])
        ax.minorticks_off()
        ax.set_ylim(low, high)
        ax.set_title(title, loc="left", fontsize=10)
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(axis="y", color="0.9")
    axes[0].set_ylabel("log loss of new rows")
    styles = [axes[0].plot([], [], line, color="0.3")[0] for line in (":", "-")]
    figure.legend(
        [*axes[0].get_lines()[1::2][: len(MODELS)], *styles],
        [*MODELS.values(), "before calibration", "after"],
        loc="outside lower center",
        ncols=5,
        frameon=False,
    )
    figure.savefig("docs/figures/rows.png", dpi=150)


if __name__ == "__main__":
    if not FILE.exists():
        measure()
    draw()
