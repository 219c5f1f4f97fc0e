"""Draw published against replicated MSE, faulty and correct coupling: replication.png.

Reads results/paper/as-published-folds.csv; run it from the root of the repository.
"""

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np

from calibrant.plots._panels import COLORS
from experiments.paper.losses import published_value

NAMES = {"nb": "naive Bayes", "rf": "random forest"}


def read_means(path: Path) -> dict[tuple[str, str, str], float]:
    """Mean MSE by classifier, data set and scenario."""
    folds = defaultdict(list)
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            key = (row["classifier"], row["data_set"], row["scenario"])
            folds[key].append(float(row["published_MSE"]))
    return {key: float(np.mean(values)) for key, values in folds.items()}


def main() -> None:
    """Draw the figure."""
    from matplotlib.figure import Figure

    means = read_means(Path("results/paper/as-published-folds.csv"))
    figure = Figure(figsize=(9, 4.6), layout="constrained")
    panels = {"as in R's kernlab": "_as_published", "correct": ""}
    for ax, (title, suffix) in zip(figure.subplots(1, 2, sharey=True), panels.items(), strict=True):
        for classifier, marker, color in (("nb", "o", COLORS[0]), ("rf", "^", COLORS[1])):
            points = [
                (published_value(classifier, data_set, scenario, "MSE").value, mean)
                for (own, data_set, scenario), mean in means.items()
                if own == classifier
                and scenario in (f"all_pairs_raw{suffix}", f"all_pairs_dgg_enir{suffix}")
            ]
            x, y = zip(*[pair for pair in points if None not in pair], strict=True)
            ax.scatter(x, y, marker=marker, color=color, label=NAMES[classifier], alpha=0.7)
        ends = [0.0015, 0.4]
        ax.plot(ends, ends, color="black", linewidth=0.8)
        ax.set(xscale="log", yscale="log", xlim=ends, ylim=ends, title=f"coupling: {title}")
        ax.set_xlabel("MSE, published")
    figure.axes[0].set_ylabel("MSE, replicated")
    figure.axes[0].legend(loc="upper left")
    figure.suptitle("All pairs, raw and DGG+ENIR, twelve data sets")
    figure.savefig("docs/figures/replication.png", dpi=120)


if __name__ == "__main__":
    main()
