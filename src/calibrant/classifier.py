"""CalibratedClassifier: any classifier, with probabilities that can be trusted."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.frozen import FrozenEstimator
from sklearn.utils import Tags, check_random_state, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.validation import check_is_fitted, validate_data

from calibrant._core.fitting import Fitter, check_classifier, has_class_weights
from calibrant._core.probability_floor import (
    MODEL_PSEUDO_COUNT,
    PSEUDO_COUNT,
    apply_probability_floor,
)
from calibrant._core.problems import (
    check_has_proba,
    class_scores,
    is_scored,
    problem_score,
    reduce_scores,
    scoring_problems,
)
from calibrant._core.routing import fit_router, route_fit
from calibrant._core.typing import CodeMatrix, FloatArray
from calibrant._core.validation import (
    as_row_counts,
    check_classes,
    check_groups,
    check_labels,
    class_index,
    warn_about_rare_classes,
)
from calibrant.calibrators._protocol import (
    apply_calibrator,
    calibrator_without_points,
    fit_calibrator,
    resolve_calibrator,
)
from calibrant.calibrators._validation import check_weight
from calibrant.calibrators.auto import AutoCalibrator, CalibrationReport, report_of
from calibrant.exceptions import CalibrationWarning
from calibrant.generation import resolve_generator, scores_of_fitted
from calibrant.strategies import Strategy, resolve_strategy


class CalibratedClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A classifier whose class probabilities are calibrated on few rows.

    Calibrates the estimator on out-of-sample scores of its own training rows. By default
    several calibrators, among them none at all, are pooled by what they do on rows they
    have not seen, and shrunk toward no calibration where that may be chance. With a binary
    strategy it is the method of [1]_: classes become binary problems, each is calibrated,
    and the calibrated probabilities are combined.

    Parameters
    ----------
    estimator : classifier, default=None
        Any classifier with ``predict_proba`` or ``decision_function``; None is a random
        forest. One wrapped in `sklearn.frozen.FrozenEstimator` is not refitted: all rows
        given to ``fit`` then serve to calibrate it, and ``cv`` is not used.
    method : str, calibrator or None, default="auto"
        How scores become probabilities. Of whole rows: "auto", "temperature", "vector",
        "matrix", "dirichlet", or any object with ``fit(scores, y, sample_weight)`` and
        ``predict_proba(scores)``. Of one side of a problem: "enir", "sigmoid", "beta",
        "isotonic", "venn-abers", "histogram", or any object with
        ``fit(score, target, sample_weight)`` and ``predict(score)``; such a method is
        applied to pairs of classes where the strategy is direct. "auto" is "enir" for
        binary problems. None leaves the estimator's own probabilities as they are.
    strategy : str or Strategy, default="auto"
        How classes become scoring problems: "direct" (the same as "auto"), one model of all
        classes; "one-vs-rest", "all-pairs", "output-code", each with a model for every
        binary problem; or an object of `calibrant.strategies`.
    cv : str, int, splitter, iterable, Generator or None, default="auto"
        Where out-of-sample scores come from: "monte-carlo", "oob" (the out-of-bag votes of
        a forest or of bagging, without refits), a number of stratified folds, a
        scikit-learn splitter, (train, test) pairs, or an object of `calibrant.generation`.
        "auto", or None, is "oob" where the estimator has such votes of 50 models or more and rows
        stand alone, and ten folds otherwise, dealt anew up to five times while rows are few;
        for binary problems it is "monte-carlo".
    n_jobs : int, default=None
        The number of parallel fits. The result is the same for every number.
    random_state : int, RandomState or None, default=None
        Seeds the splits, unless they are yours, and every part of the estimator that has no
        seed of its own.
    verbose : int, default=0
        Whether to show a progress bar on standard error.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    class_count_ : ndarray of shape (n_classes,)
        The weighted number of rows of each class.
    code_ : ndarray of shape (n_classes, n_problems) or None
        The code matrix of the problems; None is one multi-class problem.
    estimators_ : list of classifier
        The fitted models, one a problem; the frozen estimator alone if it is one.
    calibrators_ : list or None
        The fitted calibrators, one a problem; None without calibration.
    calibration_report_ : CalibrationReport
        With ``method="auto"`` and a direct strategy: the candidates, their weights, the
        expected gain with an interval, and all of it in a sentence as
        ``str(calibration_report_)``.
    strategy_ : Strategy
        The strategy in use.
    n_features_in_ : int
        The number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if they have names.

    See Also
    --------
    sklearn.calibration.CalibratedClassifierCV : Calibration for larger data.

    Notes
    -----
    n rows cannot show that a class is impossible: no class gets a probability below what a
    part of a row more, divided by the class shares, would give it (`calibrant._core.probability_floor`). This
    departs from [1]_; ``method=None`` is left as it is.

    Sample weights are numbers of rows. They weight the calibration, and reach the
    estimator if it takes them.

    References
    ----------
    .. [1] T. Alasalmi, J. Suutala, H. Koskimaki and J. Roning, "Better multi-class
           probability estimates for small data sets", 2020.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from calibrant import CalibratedClassifier
    >>> from calibrant.datasets import make_waveform
    >>> from calibrant.metrics import log_loss
    >>> X, y = make_waveform(300, random_state=0)
    >>> X_new, y_new = make_waveform(1000, random_state=1)
    >>> model = CalibratedClassifier(GaussianNB(), random_state=0).fit(X, y)
    >>> raw = GaussianNB().fit(X, y)
    >>> f"{log_loss(y_new, raw.predict_proba(X_new)):.2f} before"
    '0.72 before'
    >>> f"{log_loss(y_new, model.predict_proba(X_new)):.2f} after"
    '0.33 after'
    """

    classes_: NDArray[Any]
    class_count_: FloatArray
    code_: CodeMatrix | None
    estimators_: list[Any]
    calibrators_: list[Any] | None
    calibration_report_: CalibrationReport
    strategy_: Strategy

    def __init__(
        self,
        estimator: Any = None,
        *,
        method: Any = "auto",
        strategy: str | Strategy = "auto",
        cv: Any = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ):
        self.estimator = estimator
        self.method = method
        self.strategy = strategy
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        **fit_params: Any,
    ) -> Self:
        """Fit the estimator and calibrate it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: an array, a sparse matrix, a data frame, or whatever the
            estimator takes.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, as numbers of rows: 2 is the row given twice, 0 leaves it out. For
            calibration, weights that sum to less than the number of rows are scaled up to it;
            the estimator gets them as they are.
        groups : array-like of shape (n_samples,), default=None
            Groups of rows that belong together, such as those of one patient: no group
            is both trained on and scored.
        **fit_params : dict
            Passed to ``estimator.fit``.

        Returns
        -------
        CalibratedClassifier
            The fitted classifier.
        """
        estimator, strategy, calibrator = self._check_parameters()
        self.__dict__.pop("calibration_report_", None)  # of an earlier fit
        frozen = isinstance(estimator, FrozenEstimator)
        X, labels, sample_weight, groups = self._check_rows(X, y, sample_weight, groups)
        weight = as_row_counts(sample_weight, len(labels))
        self.classes_ = check_classes(labels[weight > 0], estimator.classes_ if frozen else None)
        generator = resolve_generator(
            self.cv, binary=strategy.binary, estimator=estimator, grouped=groups is not None
        )
        model_params, split_params = route_fit(self, estimator, sample_weight, groups, fit_params)
        rng = check_random_state(self.random_state)

        # K classes -> scoring problems
        index = class_index(labels, self.classes_)
        self.class_count_ = np.bincount(index, weight, len(self.classes_)).astype(np.float64)
        self.strategy_ = strategy
        self.code_ = strategy.code(len(self.classes_), rng)
        problems = scoring_problems(
            self.code_,
            index,
            self.classes_,
            weight > 0,
            keep_labels=not frozen and has_class_weights(estimator),
        )

        # problems -> models
        if calibrator is not None and not frozen:
            estimator = generator.prepare(estimator)
        fitter = Fitter(
            estimator,
            X,
            model_params,
            rng,
            self.n_jobs,
            self.verbose,
            handled_warnings=generator.handled_warnings,
        )
        self.estimators_ = [estimator] if frozen else fitter.models(problems)
        self.calibrators_ = None
        if calibrator is None:
            check_has_proba(self.estimators_[0])
            return self

        # problems -> out-of-sample scores
        if frozen:
            points = scores_of_fitted(estimator, X, problems, weight)
        else:
            points = generator.generate(
                fitter, problems, index, weight, groups, split_params, self.estimators_
            )

        # scores, targets -> maps from score to probability
        fitted = [
            fit_calibrator(
                calibrator, own.score, own.target, own.sample_weight, own.belonging(groups)
            )
            for own in points
        ]
        self.calibrators_ = [
            calibrator_without_points(
                calibrator,
                problem.target[problem.rows],
                weight[problem.rows],
                len(self.classes_),
            )
            if own is None
            else own
            for own, problem in zip(fitted, problems, strict=True)
        ]
        row_count = np.bincount(index[weight > 0], minlength=len(self.classes_))
        if isinstance(calibrator, AutoCalibrator):
            self.calibration_report_ = report_of(fitted[0], self.classes_, row_count)
        warn_about_rare_classes(
            self.classes_,
            row_count,
            fitted.count(None),
            len(problems),
            keeps_scores=not strategy.binary,
        )
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Calibrated class probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column for each of ``classes_``; each row sums to 1.
        """
        return self._class_proba(X, calibrated=True)

    def predict_uncalibrated_proba(self, X: Any) -> FloatArray:
        """Class probabilities before calibration.

        They come from the same fitted models as those of `predict_proba`, combined by the
        same strategy, without calibrators and without the probability floor.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column for each of ``classes_``; each row sums to 1.
        """
        return self._class_proba(X, calibrated=False)

    def predict_problem_proba(self, X: Any, *, calibrated: bool = True) -> list[FloatArray]:
        """Probabilities of the scoring problems, which ``strategy_.combine`` takes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to classify.
        calibrated : bool, default=True
            Whether to apply the calibrators.

        Returns
        -------
        list of ndarray
            For each binary problem (a column of ``code_``) the probability of its positive
            side, of shape (n_samples,); for the multi-class problem of a direct strategy one
            array of shape (n_samples, n_classes). Rows that the estimator returns NaN for
            are NaN.
        """
        scores, are_proba = self._scores(X)
        if not calibrated:
            self._check_proba(are_proba)
            return scores
        scored = np.all([is_scored(score) for score in scores], axis=0)
        probas = [np.full(score.shape, np.nan) for score in scores]
        if scored.any():
            kept = self._calibrate([score[scored] for score in scores])
            for proba, values in zip(probas, kept, strict=True):
                proba[scored] = values
        return probas

    def _class_proba(self, X: Any, *, calibrated: bool) -> FloatArray:
        """Class probabilities; the class frequencies for rows without a score."""
        scores, are_proba = self._scores(X)
        if not calibrated:
            self._check_proba(are_proba)
        calibrated = calibrated and self.calibrators_ is not None
        scored = np.all([is_scored(score) for score in scores], axis=0)
        if scored.all():
            return self._combine(scores, are_proba, calibrated)
        warnings.warn(
            f"The estimator returned NaN for {np.sum(~scored)} of {len(scored)} rows; they get "
            "the shares of the classes. Scale or impute the features before the classifier.",
            CalibrationWarning,
            stacklevel=3,
        )
        proba = np.tile(self.class_count_ / self.class_count_.sum(), (len(scored), 1))
        if calibrated:
            proba = self._limit(proba)
        if scored.any():
            kept = [score[scored] for score in scores]
            proba[scored] = self._combine(kept, are_proba, calibrated)
        return proba

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.
        """
        proba = self._class_proba(X, calibrated=True)
        return self.classes_[proba.argmax(axis=1)]

    def get_metadata_routing(self) -> MetadataRouter:
        """Routing of metadata to the estimator and the splitter.

        Returns
        -------
        MetadataRouter
            The routing of this object's ``fit``.
        """
        return fit_router(self, self._estimator(), self.cv)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._estimator())
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.input_tags.string = inner.input_tags.string
        tags.input_tags.categorical = inner.input_tags.categorical
        return tags

    def _estimator(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        from sklearn.ensemble import RandomForestClassifier  # on use: it imports far more

        return RandomForestClassifier()

    def _check_parameters(self) -> tuple[Any, Strategy, Any | None]:
        """Resolve names to objects, before any work is done."""
        estimator = self._estimator()
        check_classifier(estimator)
        if isinstance(estimator, FrozenEstimator):
            check_is_fitted(estimator)
        strategy = resolve_strategy(self.strategy)
        calibrator = (
            None if self.method is None else resolve_calibrator(self.method, strategy.binary)
        )
        return estimator, strategy, calibrator

    def _check_rows(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, groups: ArrayLike | None
    ) -> tuple[Any, NDArray[Any], FloatArray | None, NDArray[Any] | None]:
        """Check that there is one of each for every row, and note the features."""
        labels = check_labels(y)
        if X is None:
            raise ValueError("X must hold one row for each label. Got None. Pass the features.")
        X, labels, sample_weight, groups = indexable(X, labels, sample_weight, groups)
        validate_data(self, X, skip_check_array=True)
        weight = None if sample_weight is None else check_weight(sample_weight, labels)
        return X, labels, weight, None if groups is None else check_groups(groups)

    def _check_columns(self, X: Any) -> None:
        if getattr(X, "ndim", 2) != 2:
            return  # The estimator knows whether it takes anything but a table.
        try:
            validate_data(self, X, reset=False, skip_check_array=True)
        except ValueError as error:
            rule = str(error).rstrip(".\n")
            raise ValueError(f"{rule}. Pass the columns that fit was given.") from None

    def _scores(self, X: Any) -> tuple[list[FloatArray], bool]:
        """Scores of each problem, and whether they are probabilities."""
        check_is_fitted(self)
        self._check_columns(X)
        sides = [None] if self.code_ is None else self.code_.T
        if isinstance(self.estimators_[0], FrozenEstimator):
            score, is_proba = class_scores(self.estimators_[0], X)
            scores = [reduce_scores(side, score, is_proba) for side in sides]
            return scores, self.code_ is None or is_proba
        scored = [class_scores(model, X) for model in self.estimators_]
        scores = [
            problem_score(score, is_proba, binary=side is not None)
            for (score, is_proba), side in zip(scored, sides, strict=True)
        ]
        return scores, self.code_ is None or scored[0][1]

    def _check_proba(self, are_proba: bool) -> None:
        if not are_proba:
            raise ValueError(
                "The estimator of binary problems must have probabilities before calibration. "
                f"{type(self.estimators_[0]).__name__} has no predict_proba. "
                "Use strategy='direct', or an estimator with predict_proba."
            )

    def _calibrate(self, scores: list[FloatArray]) -> list[FloatArray]:
        """Scores of the problems -> probabilities of the problems."""
        if self.calibrators_ is None:
            return scores
        return [
            apply_calibrator(calibrator, score, len(self.classes_))
            for calibrator, score in zip(self.calibrators_, scores, strict=True)
        ]

    def _combine(self, scores: list[FloatArray], are_proba: bool, calibrated: bool) -> FloatArray:
        """Scores of the problems -> probabilities of the classes."""
        if not calibrated:
            return self.strategy_.combine(scores, self.code_, self.class_count_)
        combined = self.strategy_.combine(
            self._calibrate(scores),
            self.code_,
            self.class_count_,
            fallback=scores if are_proba else None,
        )
        return self._limit(combined)

    def _limit(self, proba: FloatArray) -> FloatArray:
        """Keep calibrated probabilities from certainty that the rows cannot support."""
        # Binary problems end in shares of rows, the others in what a model says.
        unseen_rows = PSEUDO_COUNT if self.strategy_.binary else MODEL_PSEUDO_COUNT
        return apply_probability_floor(proba, self.class_count_, unseen_rows)
