"""Types that a model file may contain, in addition to those that skops allows by default.

By default, skops allows scikit-learn's estimators, numpy's arrays and plain values.
"""

from __future__ import annotations

import inspect

from sklearn import model_selection
from sklearn.gaussian_process import kernels

from calibrant import calibrators
from calibrant._core.problems import ModelPerProblem, SharedModel
from calibrant._core.records import Interval
from calibrant._core.voting import VotingEnsemble
from calibrant.classifier import CalibratedClassifier
from calibrant.generation import (
    CrossFit,
    FrozenModel,
    GroupedVotes,
    MonteCarloCV,
    OutOfBag,
    RepeatedFolds,
    ResampledFolds,
)
from calibrant.metrics import Mean, Performance
from calibrant.strategies import AllPairs, Direct, OneVsRest, OutputCode
from calibrant.updating import UpdatedClassifier

CALIBRANT_TYPES = (
    CalibratedClassifier,
    UpdatedClassifier,
    *filter(inspect.isclass, map(calibrators.__dict__.get, calibrators.__all__)),
    Interval,
    Mean,
    ModelPerProblem,
    Performance,
    SharedModel,
    VotingEnsemble,
    CrossFit,
    FrozenModel,
    GroupedVotes,
    MonteCarloCV,
    OutOfBag,
    RepeatedFolds,
    ResampledFolds,
    AllPairs,
    Direct,
    OneVsRest,
    OutputCode,
)
SPLITTERS = tuple(
    getattr(model_selection, name)
    for name in (
        "GroupKFold",
        "GroupShuffleSplit",
        "KFold",
        "LeaveOneGroupOut",
        "LeaveOneOut",
        "RepeatedKFold",
        "RepeatedStratifiedKFold",
        "ShuffleSplit",
        "StratifiedGroupKFold",
        "StratifiedKFold",
        "StratifiedShuffleSplit",
    )
)
KERNELS = tuple(
    getattr(kernels, name)
    for name in (
        "ConstantKernel",
        "DotProduct",
        "Matern",
        "Product",
        "RBF",
        "RationalQuadratic",
        "Sum",
        "WhiteKernel",
    )
)
# Attributes of fitted models. Compiled code uses numbers in some of them as indices without
# checking bounds, so `validate_loaded_model` checks them.
FITTED_PARTS = (
    "numpy.dtype",
    "scipy.sparse._csr.csr_array",
    "scipy.sparse._csr.csr_matrix",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.gaussian_process._gpc._BinaryGaussianProcessClassifierLaplace",
    "sklearn.metrics._dist_metrics.EuclideanDistance64",
    "sklearn.neighbors._ball_tree.BallTree",
    "sklearn.neighbors._kd_tree.KDTree",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
    "sklearn.tree._tree.Tree",
    "sklearn.utils._metadata_requests.MetadataRequest",
    "sklearn.utils._metadata_requests.MethodMetadataRequest",
)


def type_path(kind: type) -> str:
    """Return the name of a type as it appears in model files."""
    return f"{kind.__module__}.{kind.__qualname__}"


ALLOWED_TYPES = frozenset(map(type_path, (*CALIBRANT_TYPES, *SPLITTERS, *KERNELS))).union(
    FITTED_PARTS
)
