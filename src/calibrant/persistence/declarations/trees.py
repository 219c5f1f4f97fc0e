"""Trees and their ensembles, whose compiled code follows node numbers without checking them."""

from __future__ import annotations

from functools import partial
from pkgutil import resolve_name
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.preprocessing import FunctionTransformer, LabelEncoder, OrdinalEncoder
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)
from sklearn.utils import check_array

from calibrant.persistence.declarations._language import (
    CLASSIFIER,
    FEATURES,
    NOTE,
    PARAMETER,
    Declaration,
    choice,
    declare,
    maybe,
    type_path,
)
from calibrant.persistence.declarations.values import Nodes
from calibrant.persistence.refusals import RefusedPartError
from calibrant.persistence.specifications import (
    LARGEST,
    Array,
    Integer,
    Labels,
    ListOf,
    Number,
    OneOf,
    Part,
)

# The child number of a leaf in scikit-learn's trees.
LEAF = -1
# Histogram gradient boosting stores a set of up to 256 categories in words of 32 bits.
WORDS_PER_BITSET = 8
TREE = resolve_name("sklearn.tree._tree:Tree")
HISTOGRAM = "sklearn.ensemble._hist_gradient_boosting"
TREE_PREDICTOR = resolve_name(f"{HISTOGRAM}.predictor:TreePredictor")
BIN_MAPPER = resolve_name(f"{HISTOGRAM}.binning:_BinMapper")


def check_nodes(
    left: Any, right: Any, feature: Any, *, is_leaf: Any, n_features: int, part: str
) -> None:
    """Check that nodes form a tree, and that their features exist."""
    node = np.flatnonzero(~is_leaf)
    children = np.concatenate([left[node], right[node]]).astype(np.int64)
    # Children have higher numbers than their parent, so that every path ends in a leaf, and each
    # is the child of one node.
    if (
        len(is_leaf) == 0
        or np.any(children <= np.tile(node, 2))
        or not np.array_equal(np.sort(children), np.arange(1, len(is_leaf)))
    ):
        raise RefusedPartError(part, "has a tree node that points outside the tree")
    if np.any(feature[node] < 0) or np.any(feature[node] >= n_features):
        raise RefusedPartError(part, "has a tree node that points outside the features")


def check_tree(model: Any, part: str) -> None:
    """Check the tree of a classifier or regressor."""
    tree, path = model.tree_, f"{part}.tree_"
    is_classifier = isinstance(model, DecisionTreeClassifier)
    n_columns = len(model.classes_) if is_classifier else 1
    if tree.n_features != model.n_features_in_ or tree.value.shape[1:] != (1, n_columns):
        raise RefusedPartError(path, "does not match the features or classes")
    check_nodes(
        tree.children_left,
        tree.children_right,
        tree.feature,
        is_leaf=(tree.children_left == LEAF) & (tree.children_right == LEAF),
        n_features=model.n_features_in_,
        part=path,
    )
    low, high = (0, 1) if is_classifier else (-LARGEST, LARGEST)
    slack = 1e-9  # of class frequencies, which are sums of weights
    if not np.all((tree.value >= low - slack) & (tree.value <= high + slack)):
        raise RefusedPartError(path, f"must have values from {low} to {high}")


def check_gradient_boosting(model: Any, part: str) -> None:
    """Check the shapes of the trees, which compiled code adds to the initial prediction."""
    shape: tuple[int, ...]
    if isinstance(model, GradientBoostingClassifier):
        n_classes = len(model.classes_)
        n_trees = 1 if n_classes == 2 else n_classes
        initial_type, predict, shape = DummyClassifier, "predict_proba", (1, n_classes)
    else:
        n_trees, initial_type, predict, shape = 1, DummyRegressor, "predict", (1,)
    trees = model.estimators_
    if trees.shape[1:] != (n_trees,) or model.n_trees_per_iteration_ != n_trees:
        raise RefusedPartError(part, "has trees that do not match the classes")
    if isinstance(model.init_, str):
        return  # "zero"
    # The shape of another estimator's prediction is unknown until it has run.
    if type(model.init_) is not initial_type:
        raise RefusedPartError(f"{part}.init_", "must be the default or 'zero' in a model file")
    if getattr(model.init_, predict)(np.zeros((1, model.n_features_in_))).shape != shape:
        raise RefusedPartError(f"{part}.init_", "does not match the classes")


def check_histogram_boosting(model: Any, part: str) -> None:
    """Check the nodes, the categories and the columns that compiled code reads."""
    n_features = model.n_features_in_
    is_categorical = np.asarray(model._bin_mapper.is_categorical_)
    for number, trees in enumerate(model._predictors):
        for tree in trees:
            nodes, path = tree.nodes, f"{part}._predictors[{number}]"
            is_leaf = nodes["is_leaf"] != 0
            check_nodes(
                nodes["left"],
                nodes["right"],
                nodes["feature_idx"],
                is_leaf=is_leaf,
                n_features=n_features,
                part=path,
            )
            split = nodes[~is_leaf & (nodes["is_categorical"] != 0)]
            if np.any(split["bitset_idx"] >= len(tree.raw_left_cat_bitsets)) or not np.all(
                is_categorical[split["feature_idx"]]
            ):
                raise RefusedPartError(path, "has a tree node that points outside the categories")
    if model._preprocessor is not None:
        _check_preprocessor(model, f"{part}._preprocessor")
    n_classes = len(model.classes_)
    if model.n_trees_per_iteration_ != (1 if n_classes == 2 else n_classes):
        raise RefusedPartError(part, "has trees that do not match the classes")
    for feature in np.flatnonzero(is_categorical):
        categories = model._bin_mapper.bin_thresholds_[feature]
        if np.any(categories < 0) or np.any(categories > 255):
            raise RefusedPartError(f"{part}._bin_mapper", "must have categories from 0 to 255")


def _check_preprocessor(model: Any, part: str) -> None:
    """Check that it returns as many columns as it takes: categories first, then numbers."""
    preprocessor, is_categorical = model._preprocessor, model.is_categorical_
    if is_categorical is None or preprocessor.n_features_in_ != model.n_features_in_:
        raise RefusedPartError(part, "does not match the features")
    columns = {"encoder": is_categorical, "numerical": ~is_categorical}
    kinds = {"encoder": OrdinalEncoder, "numerical": FunctionTransformer}
    names = [name for name, *_ in preprocessor.transformers_]
    if names != [*kinds, "remainder"] or preprocessor.transformers_[2][1] != "drop":
        raise RefusedPartError(part, "must encode categories and leave numbers unchanged")
    for name, transformer, mask in preprocessor.transformers_[:2]:
        # Without numeric columns, the transformer of numbers is not fitted.
        if (
            type(transformer) is not kinds[name]
            or not isinstance(mask, np.ndarray)
            or mask.dtype != bool
            or not np.array_equal(mask, columns[name])
            or (name == "encoder" and len(transformer.categories_) != mask.sum())
            or (name == "numerical" and transformer.inverse_func is not None)
        ):
            raise RefusedPartError(part, "must encode categories and leave numbers unchanged")


def rebuild_loss(model: Any) -> None:
    """Make the loss anew, which turns the sums of the trees into probabilities."""
    model._loss = model._get_loss(sample_weight=None)


def rebuild_histogram_boosting(model: Any) -> None:
    """Make the loss anew, and the conversion of numeric columns, which is a function."""
    rebuild_loss(model)
    if model._preprocessor is not None:
        convert = partial(check_array, dtype=[np.float64], ensure_all_finite=False)
        for name, transformer, _ in (
            *model._preprocessor.transformers,
            *model._preprocessor.transformers_,
        ):
            if name == "numerical":
                transformer.func = convert


TREE_CLASSIFIERS = (DecisionTreeClassifier, ExtraTreeClassifier)
TREE_REGRESSORS = (DecisionTreeRegressor, ExtraTreeRegressor)
NODE_FIELDS = (
    "value",
    "left",
    "right",
    "feature_idx",
    "is_leaf",
    "is_categorical",
    "bitset_idx",
    "num_threshold",
    "missing_go_to_left",
)
ONE_OUTPUT = {"n_outputs_": Integer(1, 1), "tree_": Part((TREE,))}
FOREST_NOTES = dict.fromkeys(
    (
        "_n_samples",
        "_n_samples_bootstrap",
        "_sample_weight",
        "class_weight",
        "estimator_params",
        "oob_decision_function_",
        "oob_prediction_",
        "oob_score_",
    ),
    NOTE,
) | {
    # The trees have all parameters of a forest; the prototype is not fitted.
    "base_estimator_": PARAMETER,
    "estimator_": PARAMETER,
}
BITSETS = Array(("*", WORDS_PER_BITSET), "u", low=0)


def _forest(kind: type, tree: type, **fitted: Any) -> Any:
    shares = ("n_features", "n_classes")
    return declare(
        kind,
        {
            **FEATURES,
            "estimator": Part((tree,), fitted=False),
            "estimators_": ListOf(Part((tree,), shares=shares), "n_estimators"),
            "n_outputs_": Integer(1, 1),
            **fitted,
        },
        optional=FOREST_NOTES,
        parameters={"estimator": Part((tree,), fitted=False), "monotonic_cst": PARAMETER},
    )


def _boosting(kind: type, fitted: Any) -> Any:
    trees = Part((DecisionTreeRegressor,), shares=("n_features",))
    return declare(
        kind,
        {
            **fitted,
            "estimators_": _TreeTable(trees),
            "init_": OneOf((choice("zero"), Part((DummyClassifier, DummyRegressor)))),
            "learning_rate": Number(),
            "n_estimators_": Integer(1),
            "n_trees_per_iteration_": Integer(1),
        },
        optional=dict.fromkeys(
            (
                "alpha",
                "max_features_",
                "oob_improvement_",
                "oob_score_",
                "oob_scores_",
                "train_score_",
                "n_classes_",
            ),
            NOTE,
        ),
        parameters={"learning_rate": Number()},
        not_stored=["_loss", "_rng", "_raw_predict_init", "_init_state"],
        check=check_gradient_boosting,
        rebuild=rebuild_loss,
    )


class _TreeTable(ListOf):
    """A two-dimensional array of trees."""

    def _check(self, value: Any, part: str, checker: Any) -> None:
        if not isinstance(value, np.ndarray) or value.ndim != 2 or value.dtype != object:
            raise RefusedPartError(part, "must be a table of trees")
        super()._check(value.ravel(), part, checker)
        if value.size == 0:
            raise RefusedPartError(part, "must have at least one tree")


CLASS_COUNT = {"classes_": Labels(), "n_classes_": Integer(size="n_classes")}

DECLARATIONS = (
    *(
        declare(
            kind,
            {**CLASSIFIER, **ONE_OUTPUT, "n_classes_": Integer(size="n_classes")},
            optional={"max_features_": NOTE},
            check=check_tree,
        )
        for kind in TREE_CLASSIFIERS
    ),
    *(
        declare(
            kind,
            {**FEATURES, **ONE_OUTPUT},
            optional={"class_weight": NOTE, "max_features_": NOTE},
            check=check_tree,
        )
        for kind in TREE_REGRESSORS
    ),
    _forest(RandomForestClassifier, DecisionTreeClassifier, **CLASS_COUNT),
    _forest(ExtraTreesClassifier, ExtraTreeClassifier, **CLASS_COUNT),
    _forest(RandomForestRegressor, DecisionTreeRegressor),
    _forest(ExtraTreesRegressor, ExtraTreeRegressor),
    _boosting(
        GradientBoostingClassifier,
        {
            **FEATURES,
            "classes_": Labels(fewest=2),
            "n_classes_": Integer(size="n_classes"),
        },
    ),
    _boosting(GradientBoostingRegressor, FEATURES),
    declare(
        HistGradientBoostingClassifier,
        {
            **FEATURES,
            "_baseline_prediction": Array((1, "n_scores")),
            "_bin_mapper": Part((BIN_MAPPER,), shares=("n_features",)),
            "_label_encoder": Part((LabelEncoder,), shares=("n_classes",)),
            "_n_features": Integer(size="n_features"),
            "_predictors": ListOf(ListOf(Part((TREE_PREDICTOR,)), "n_scores")),
            "_preprocessor": maybe(Part((ColumnTransformer,), shares=("n_features",))),
            "classes_": Labels(fewest=2),
            "is_categorical_": maybe(Array(("n_features",), "b")),
            "n_trees_per_iteration_": Integer(size="n_scores"),
        },
        optional={
            "_is_categorical_remapped": maybe(Array(("n_features",), "b")),
            **dict.fromkeys(
                (
                    "_random_seed",
                    "_use_validation_data",
                    "do_early_stopping_",
                    "train_score_",
                    "validation_score_",
                ),
                NOTE,
            ),
        },
        parameters={"scoring": NOTE},
        not_stored=["_feature_subsample_rng", "_loss", "_scorer"],
        check=check_histogram_boosting,
        rebuild=rebuild_histogram_boosting,
    ),
    declare(
        TREE_PREDICTOR,
        {
            "binned_left_cat_bitsets": BITSETS,
            "nodes": Nodes(NODE_FIELDS),
            "raw_left_cat_bitsets": BITSETS,
        },
    ),
    declare(
        BIN_MAPPER,
        {
            "bin_thresholds_": ListOf(Array(("*",), finite=False), "n_features"),
            "is_categorical_": Array(("n_features",), "u", low=0, high=1),
            "missing_values_bin_idx_": Integer(0, 255),
            "n_bins_non_missing_": Array(("n_features",), "u", low=0),
        },
        parameters={
            "is_categorical": maybe(Array(("n_features",), "bu", low=0)),
            "known_categories": NOTE,
            "n_threads": NOTE,
        },
    ),
    # Its numbers are checked before it is built, and its nodes with the model it belongs to.
    Declaration(type_path(TREE), TREE),
)
