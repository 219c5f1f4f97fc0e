"""All experiments by name."""

from __future__ import annotations

import math
from dataclasses import replace

from calibrant.datasets import dataset_names
from experiments.arena.experiment import ArenaExperiment
from experiments.arena.methods import OUT_OF_BAG_METHODS, SPLITS_METHODS
from experiments.experiment import Experiment
from experiments.paper.experiment import CorrectExperiment, PublishedExperiment

TRAINING_SIZES = (25, 50, 100, 200, 500)
# A data set is left out if fewer rows than this would remain to test on.
MIN_TEST_ROWS = 50
# Rows of the data sets that are not large enough for every training size.
N_ROWS = {
    "seeds": 210,
    "development": 225,
    "heart": 297,
    "ecoli": 336,
    "wholesale": 440,
    "forest": 523,
}

PAPER = CorrectExperiment(name="paper", title="The paper's experiment, with its errors corrected")
AS_PUBLISHED = PublishedExperiment(
    name="as-published",
    title="The paper's experiment as published, with its errors",
)
SMOKE = CorrectExperiment(
    name="smoke",
    title="The experiment paper on three small data sets and three folds, for a first look",
    data_sets=("seeds", "development", "ecoli"),
    classifiers=("nb",),
    n_folds=3,
)
ARENAS = (
    *(
        ArenaExperiment(
            name=f"arena-{n_train}",
            title=f"All methods, fitted on {n_train} rows",
            data_sets=tuple(
                name
                for name in dataset_names()
                if N_ROWS.get(name, math.inf) - n_train >= MIN_TEST_ROWS
            ),
            n_folds=3,
            n_train=n_train,
        )
        for n_train in TRAINING_SIZES
    ),
    ArenaExperiment(
        name="arena",
        title="All methods, on ten folds of at most 1,000 rows of each data set",
    ),
)
OUT_OF_BAG = ArenaExperiment(
    name="out-of-bag",
    title="Forests: out-of-bag votes against refits, by strategy",
    classifiers=("rf",),
    methods=tuple(OUT_OF_BAG_METHODS),
)
# Other classifiers need no refits (forests) or take too long for so many (perceptrons).
SPLITS_EXPERIMENTS = tuple(
    replace(
        arena,
        name=f"splits-{arena.n_train}",
        title=f"Kinds and numbers of splits for the default, with {arena.n_train} rows",
        classifiers=("nb", "lr", "svm", "hgb", "knn"),
        methods=tuple(SPLITS_METHODS),
        n_folds=2,
    )
    for arena in ARENAS
    if arena.n_train in (50, 100, 200)
)
EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (PAPER, AS_PUBLISHED, SMOKE, *ARENAS, OUT_OF_BAG, *SPLITS_EXPERIMENTS)
}
