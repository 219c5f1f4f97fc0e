"""Draw replicated against published errors with both couplings: replication.png.

Reads results/paper/as-published-folds.csv. Run it from the root of the repository with
``python -m docs.figures.replication``.
"""

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np

from experiments.classifiers import CLASSIFIERS
from experiments.page import COUPLINGS
from experiments.paper.figures import Points, draw_agreement
from experiments.paper.methods import METHODS
from experiments.paper.published import published_value
from experiments.store import Case


def read_means(path: Path) -> dict[tuple[Case, str], float]:
    """Return the mean MSE by case and method."""
    folds = defaultdict(list)
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            case = Case(row["classifier"], row["data_set"])
            folds[case, row["method"]].append(float(row["published_MSE"]))
    return {key: float(np.mean(values)) for key, values in folds.items()}


def collect_points(means: dict[tuple[Case, str], float], names: tuple[str, ...]) -> Points:
    """Return published and replicated MSE of some methods, where the paper has a value."""
    points = defaultdict(list)
    for (case, name), mean in means.items():
        if name in names:
            published = published_value(case, METHODS[name], "MSE").value
            if published is not None:
                points[CLASSIFIERS[case.classifier].title].append((published, mean))
    return points


def main() -> None:
    """Draw the figure."""
    means = read_means(Path("results/paper/as-published-folds.csv"))
    panels = {title: collect_points(means, names) for title, names in COUPLINGS.items()}
    figure = draw_agreement(panels)
    figure.suptitle("All pairs, raw and DGG+ENIR, twelve data sets")
    figure.savefig("docs/figures/replication.png", dpi=120)


if __name__ == "__main__":
    main()
