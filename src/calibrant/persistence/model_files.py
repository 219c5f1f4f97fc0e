"""Fitted models in files that hold no code, with what is needed to use them again.

A file is a zip archive: skops' description of the model, and ``calibrant.json``, which can be
read without building anything.
"""

from __future__ import annotations

import io
import json
import sys
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import scipy
import sklearn
from sklearn import model_selection
from sklearn.base import BaseEstimator
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.gaussian_process import kernels
from sklearn.utils.validation import check_is_fitted

from calibrant import __version__, calibrators
from calibrant._core.files import write_atomically
from calibrant.calibrators.auto import ClassShares, Unchanged
from calibrant.calibrators.multiclass import OverallShare
from calibrant.classifier import CalibratedClassifier
from calibrant.exceptions import CalibrationWarning
from calibrant.generation import CrossFit, MonteCarloCV, OutOfBag, RepeatedFolds
from calibrant.persistence.validation import validate_loaded_model
from calibrant.strategies import AllPairs, Direct, OneVsRest, OutputCode

# Raised when files of the version before could no longer be read as they are.
FORMAT = 1
INFO = "calibrant.json"

OWN_TYPES = (
    CalibratedClassifier,
    *(getattr(calibrators, name) for name in calibrators.__all__),
    ClassShares,
    OverallShare,
    Unchanged,
    CrossFit,
    MonteCarloCV,
    OutOfBag,
    RepeatedFolds,
    AllPairs,
    Direct,
    OneVsRest,
    OutputCode,
)
# skops knows scikit-learn's estimators, numpy's arrays and plain values. These are what else
# a model may hold: splitters and kernels, which are parameters, and parts of fitted models.
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
# Compiled code follows numbers in some of these without a look: see `calibrant.persistence.validation`.
PARTS = (
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
TRUSTED = frozenset(
    [f"{own.__module__}.{own.__qualname__}" for own in (*OWN_TYPES, *SPLITTERS, *KERNELS)]
    + list(PARTS)
)


@dataclass(frozen=True)
class ModelInfo:
    """What a file says of its model.

    Attributes
    ----------
    model : str
        The type of the model.
    classes : tuple
        The class labels, of a classifier.
    features : tuple of str
        The names of the features, if they have names.
    training : dict
        What the one who saved it noted down: plain values, lists and dictionaries.
    versions : dict
        The versions of calibrant and the libraries that it was saved with.
    format : int
        The version of the file format.
    """

    model: str
    classes: tuple[Any, ...] = ()
    features: tuple[str, ...] = ()
    training: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    format: int = FORMAT


def save(model: Any, path: str | Path, *, training: Mapping[str, Any] | None = None) -> None:
    """Save a fitted model to a file that holds no code.

    Parameters
    ----------
    model : estimator
        A fitted `CalibratedClassifier`, calibrator, or scikit-learn estimator, of types
        that `load` trusts: those of calibrant and scikit-learn.
    path : str or Path
        The file to write, by custom with the suffix ".skops".
    training : mapping, default=None
        Notes to keep with it: plain values, lists and dictionaries.

    See Also
    --------
    load : Load it again.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from calibrant import CalibratedClassifier, load, save
    >>> from calibrant.datasets import make_waveform
    >>> X, y = make_waveform(100, random_state=0)
    >>> model = CalibratedClassifier(GaussianNB(), random_state=0).fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     save(model, Path(folder) / "model.skops")
    ...     again = load(Path(folder) / "model.skops")
    >>> bool((again.predict_proba(X) == model.predict_proba(X)).all())
    True
    """
    skops = _skops()
    check_is_fitted(model)
    try:
        validate_loaded_model(model)
    except ValueError as error:
        raise ValueError(
            f"A model must be made of parts that load takes. Here, {error}. "
            "Leave that part out, or keep the model in another way."
        ) from None
    try:
        content = skops.dumps(model, compression=ZIP_DEFLATED)
    except TypeError as error:
        raise ValueError(
            f"A model must be made of parts that can be saved. {_one_line(error)} "
            "Leave that part out, or keep the model in another way."
        ) from None
    _check_types(skops, content, "The model", "Leave that part out: it could not be loaded again.")
    info = ModelInfo(
        model=type(model).__name__,
        classes=labels_in(model, "classes_"),
        features=tuple(map(str, labels_in(model, "feature_names_in_"))),
        training=dict(training or {}),
        versions=_versions(skops),
    )
    buffer = io.BytesIO(content)
    with ZipFile(buffer, "a", ZIP_DEFLATED) as archive:
        archive.writestr(INFO, json.dumps(asdict(info), indent=1))
    write_atomically(path, buffer.getvalue())


def load(path: str | Path) -> Any:
    """Load a model that `save` wrote.

    Nothing in the file is run. One that holds other types than those of calibrant,
    scikit-learn and numpy is refused before anything is built from it.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    estimator
        The fitted model.

    Raises
    ------
    ValueError
        If the file is damaged, holds anything else, or has a format of another version.

    Warns
    -----
    CalibrationWarning
        If another version of scikit-learn saved it: its probabilities may differ.
    """
    skops = _skops()
    content, info = _read(Path(path))
    _check_types(skops, content, str(path), "Ask whoever made the file: it is no plain model.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InconsistentVersionWarning)  # said once, below
        try:
            model = skops.loads(content, trusted=sorted(TRUSTED))
            validate_loaded_model(model)
        except Exception as error:  # a forged file can fail in any way, but only fail
            raise ValueError(
                f"{path} must hold a model. It is damaged or was changed: {_one_line(error)} "
                f"It was saved with {_told(info)}. Save the model again."
            ) from None
    if not isinstance(model, BaseEstimator):
        raise ValueError(f"{path} must hold a model. It holds something else. Save one with save.")
    if _minor(info.versions.get("scikit-learn", "")) != _minor(sklearn.__version__):
        warnings.warn(
            f"{path} was saved with {_told(info)}, and this is scikit-learn {sklearn.__version__}: "
            "probabilities may differ. Fit it again, or use the version that it was saved with.",
            CalibrationWarning,
            stacklevel=2,
        )
    return model


def read_info(path: str | Path) -> ModelInfo:
    """Read what a file says of its model, without building it.

    Parameters
    ----------
    path : str or Path
        A file that `save` wrote.

    Returns
    -------
    ModelInfo
        Classes, features, versions and notes.
    """
    return _read(Path(path))[1]


def labels_in(model: Any, attribute: str) -> tuple[Any, ...]:
    """Return labels that a model was fitted with, as plain values; none if it has none."""
    return tuple(np.asarray(getattr(model, attribute, ())).ravel().tolist())


def _read(path: Path) -> tuple[bytes, ModelInfo]:
    refusal = f"{path} must be a file that calibrant saved."
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise ValueError(f"{refusal} There is no such file. Check the spelling.") from None
    except OSError as error:
        raise ValueError(f"{refusal} It cannot be read: {error.strerror}. Check it.") from None
    try:
        with ZipFile(io.BytesIO(content)) as archive:
            told = json.loads(archive.read(INFO))
    except Exception:  # a forged file can fail in any way, but only fail
        raise ValueError(
            f"{refusal} It is something else, or damaged. Save the model with calibrant.save or "
            "calibrant fit; pickles are not read."
        ) from None
    told = told if isinstance(told, dict) else {}
    versions = told.get("versions")
    saved_by = versions.get("calibrant", "?") if isinstance(versions, dict) else "?"
    version = told.get("format")
    if not isinstance(version, int) or version < FORMAT:
        raise ValueError(
            f"{refusal} Its format is older than this calibrant reads ({FORMAT}). Got {version!r}. "
            f"Fit the model again, or use calibrant {saved_by}, which saved it."
        )
    if version > FORMAT:
        raise ValueError(
            f"{refusal} Its format is newer than this calibrant reads ({FORMAT}). Got {version}. "
            f"Upgrade to calibrant {saved_by}, which saved it."
        )
    try:
        lists = {name: tuple(told[name]) for name in ("classes", "features")}
        notes = {name: dict(told[name]) for name in ("training", "versions")}
        return content, ModelInfo(**{**told, **lists, **notes})
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"{refusal} {INFO} in it was changed. Save the model again.") from None


def _check_types(skops: ModuleType, content: bytes, holder: str, remedy: str) -> None:
    """Refuse whatever is not known, by name, before anything is built."""
    try:
        unknown = sorted(set(skops.get_untrusted_types(data=content)) - TRUSTED)
    except Exception as error:  # a forged file can fail in any way, but only fail
        raise ValueError(
            f"{holder} must hold a model. It is damaged or was changed: {_one_line(error)} "
            "Save the model again."
        ) from None
    if unknown:
        shown = ", ".join(repr(name)[1:-1] for name in unknown[:3])
        more = f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
        raise ValueError(
            f"{holder} must be made of types of calibrant, scikit-learn and numpy. "
            f"Got {shown}{more}. {remedy}"
        )


def _skops() -> ModuleType:
    try:
        from skops import io as skops_io
    except ImportError:
        raise ImportError("Saved models need skops: pip install 'calibrant[cli]'.") from None
    return skops_io


def _versions(skops: ModuleType) -> dict[str, str]:
    return {
        "calibrant": __version__,
        "scikit-learn": sklearn.__version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "skops": sys.modules[skops.__name__.partition(".")[0]].__version__,
        "python": ".".join(map(str, sys.version_info[:3])),
    }


def _told(info: ModelInfo) -> str:
    known = {name: info.versions.get(name, "?") for name in ("calibrant", "scikit-learn")}
    return " and ".join(f"{name} {str(version)[:20]}" for name, version in known.items())


def _minor(version: Any) -> list[str]:
    return str(version).split(".")[:2]


def _one_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].rstrip(".") + "."
