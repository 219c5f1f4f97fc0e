"""The meta-estimator that calibrates the class probabilities of any classifier."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import Tags, check_random_state, get_tags
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.validation import check_is_fitted, validate_data

from calibrant._core.fitting import Fitter, check_classifier, has_class_weights, set_seeds
from calibrant._core.probability_floor import (
    MODEL_PSEUDO_COUNT,
    PSEUDO_COUNT,
    apply_probability_floor,
)
from calibrant._core.problems import PredictionScores, Scorer, make_problems, row_chunks
from calibrant._core.routing import fit_router, route_fit
from calibrant._core.rowwise import repeat_frequencies
from calibrant._core.training_data import TrainingData
from calibrant._core.typing import CodeMatrix, FloatArray
from calibrant._core.validation import Rows, check_rows, make_training_data, warn_about_rare_classes
from calibrant._core.voting import Voting, VotingEnsemble, resolve_voting
from calibrant._uncertainty import UncertaintyMixin
from calibrant.calibrators._fitting import fit_calibrators
from calibrant.calibrators._protocol import apply_calibrator
from calibrant.calibrators._resolution import name_calibrator, resolve_calibrator
from calibrant.calibrators.auto import AutoCalibrator
from calibrant.calibrators.report import CalibrationReport
from calibrant.exceptions import CalibrationWarning
from calibrant.generation import Generator, resolve_generator
from calibrant.strategies import Strategy, resolve_strategy

# The number of rows to predict at a time: scores and their logarithms take memory.
MAX_ROWS = 2**16


class CalibratedClassifier(UncertaintyMixin, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Classifier with calibrated class probabilities for small data sets.

    The estimator is calibrated on held-out scores of its own training rows, so no separate
    calibration set is needed. By default, the calibration is a weighted average of several
    calibrators, chosen by held-out log loss and shrunk toward no calibration where the gain may
    be due to chance. A binary strategy implements the method of [1]_: it splits the classes
    into binary problems, calibrates each of them, and combines the calibrated probabilities.

    Parameters
    ----------
    estimator : classifier, default=None
        A classifier with ``predict_proba`` or ``decision_function``. ``None`` means a random
        forest. A classifier wrapped in `sklearn.frozen.FrozenEstimator` is not refitted: all
        rows given to ``fit`` are used to calibrate it, and ``cv`` is ignored.
    method : str, calibrator or None, default="auto"
        The calibrator.

        - Multi-class calibrators, which take one score per class: "auto", "temperature",
          "vector", "matrix", "dirichlet", or an object with ``fit(scores, y, sample_weight)``
          and ``predict_proba(scores)``.
        - Binary calibrators, which take the score of the positive side: "enir", "sigmoid",
          "beta", "isotonic", "venn-abers", "histogram", or an object with
          ``fit(score, target, sample_weight)`` and ``predict(score)``. With the direct
          strategy, a binary calibrator is applied to pairs of classes.
        - ``None`` means no calibration.

        With a binary strategy, "auto" means "enir".
    strategy : str or Strategy, default="auto"
        How to split the classes into scoring problems. "direct" (the same as "auto") fits one
        multi-class model; "one-vs-rest", "all-pairs" and "output-code" fit one model per
        binary problem. Instances of the classes in `calibrant.strategies` are accepted too.
    cv : str, int, splitter, iterable, Generator or None, default="auto"
        The source of held-out scores: "monte-carlo"; "oob" for the out-of-bag votes of a
        forest or bagging ensemble, without refitting; a number of stratified folds; a
        scikit-learn splitter; (train, test) pairs of row numbers; or an instance of a class in
        `calibrant.generation`. "auto" or ``None`` means "monte-carlo" for binary problems. For
        a multi-class problem, it means "oob" (or `calibrant.generation.GroupedVotes`, if rows are
        grouped or many of them repeated) if the estimator is a bootstrap ensemble of at least 50
        models and ``ensemble`` does not require refitted models. Otherwise it means five folds
        or, with fewer than 1,000 rows, `calibrant.generation.ResampledFolds` if models may vote
        and `calibrant.generation.RepeatedFolds` if not.
    ensemble : "auto", bool or int, default="auto"
        Whether the models that are refitted for calibration also predict.

        - ``False``: the model fitted on all rows predicts.
        - ``True``: up to 20 of the refitted models, the voters, predict, and no model is fitted
          on all rows. The scores of the voters are averaged. The calibrator is fitted to
          held-out scores averaged over the voters that were not fitted on the row. A number
          sets the largest number of voters.
        - "auto": the model fitted on all rows and the voters both predict. Their calibrated
          probabilities are averaged with weights chosen by held-out log loss, and the voters
          are dropped if their weight is negligible. This requires ``method="auto"``, the direct
          strategy, and rows that were scored by several refitted models each. Otherwise "auto"
          means ``False``.

        Each voter adds the prediction time of one model.
    n_jobs : int, default=None
        The number of fits to run in parallel. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seeds the splits, except those of a splitter passed as ``cv``, and every part of the
        estimator that has no seed.
    verbose : int, default=0
        If positive, show a progress bar on standard error.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    class_count_ : ndarray of shape (n_classes,)
        The weighted number of rows in each class.
    code_ : ndarray of shape (n_classes, n_problems) or None
        The code matrix of the binary problems; None for one multi-class problem.
    estimators_ : list of classifier
        The fitted models, one per problem, or just the frozen estimator. With
        ``ensemble=True``, ensembles of voters: ``estimators_[0].estimators_`` are the models.
    ensembles_ : list or None
        With ``ensemble="auto"``, the ensembles of voters that predict together with
        ``estimators_``, one per problem. None if there are none.
    calibrators_ : list or None
        The fitted calibrators, one per problem; None if ``method=None``.
    calibration_report_ : CalibrationReport
        The chosen calibration and its expected gain over no calibration on new rows.
        ``print(calibration_report_)`` summarizes it. Not set if ``method=None``.
    strategy_ : Strategy
        The strategy in use.
    n_features_in_ : int
        The number of features seen during ``fit``.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        The names of the features seen during ``fit``. Set only if all names are strings.

    See Also
    --------
    sklearn.calibration.CalibratedClassifierCV : Calibration by a single method.

    Notes
    -----
    No finite number of rows can show that a class is impossible. Calibrated probabilities are
    therefore raised to a small probability floor, which depends on the number of rows in each
    class. This is a departure from [1]_. No floor is applied if ``method=None``.

    Sample weights are interpreted as numbers of rows. They weight the calibration and are
    passed to the estimator if its ``fit`` accepts them.

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
    >>> f"{log_loss(y_new, model.predict_uncalibrated_proba(X_new)):.2f} uncalibrated"
    '0.72 uncalibrated'
    >>> f"{log_loss(y_new, model.predict_proba(X_new)):.2f} calibrated"
    '0.33 calibrated'
    """

    classes_: NDArray[Any]
    class_count_: FloatArray
    code_: CodeMatrix | None
    estimators_: list[Any]
    ensembles_: list[VotingEnsemble] | None
    calibrators_: list[Any] | None
    calibration_report_: CalibrationReport
    strategy_: Strategy
    _scorer: Scorer

    def __init__(
        self,
        estimator: Any = None,
        *,
        method: Any = "auto",
        strategy: str | Strategy = "auto",
        cv: Any = "auto",
        ensemble: Any = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ):
        self.estimator = estimator
        self.method = method
        self.strategy = strategy
        self.cv = cv
        self.ensemble = ensemble
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
            Training rows: an array, a sparse matrix, a data frame, or anything else that the
            estimator accepts.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, interpreted as numbers of rows: in every fit, a row of weight 2 counts as
            two rows, and a row of weight 0 is ignored. A weighted row is held out as a whole,
            while rows given twice may be held out separately, so these two are not quite the
            same. For calibration, weights that sum to less than the number of rows are scaled
            up to it; the estimator gets them unchanged.
        groups : array-like of shape (n_samples,), default=None
            The group that each row belongs to, such as the patient it comes from. No model
            scores rows of a group that it was fitted on.
        **fit_params : dict
            Passed to ``estimator.fit``.

        Returns
        -------
        CalibratedClassifier
            The fitted classifier.
        """
        estimator, strategy, calibrator = self._check_parameters()
        rows = check_rows(X, y, sample_weight, groups)
        voting, generator = self._choose_generator(rows)
        n_voters = voting.n_voters(resamples=generator.resamples and calibrator is not None)
        data = self._make_data(rows, fit_params, generator)
        rng = check_random_state(self.random_state)
        self.classes_, self.class_count_ = data.classes, data.class_count

        # K classes -> scoring problems
        self.strategy_ = strategy
        self.code_ = strategy.code(data.n_classes, rng)
        problems = make_problems(
            self.code_, data, keep_labels=generator.refits and has_class_weights(estimator)
        )

        # problems -> models fitted on all rows
        if calibrator is not None:
            estimator = generator.prepare(estimator)
        fitter = Fitter(estimator, data, rng, self.n_jobs, self.verbose)
        models = [] if voting.required else generator.fit_models(fitter, problems)
        self._scorer, self.ensembles_ = generator.scorer, None
        if calibrator is None:
            fitter.issue_warnings()
            return self._leave_uncalibrated(models)

        # problems -> held-out scores, and models that vote
        generated = generator.generate(fitter, problems, models, n_voters)
        scores = generated
        if voting.required:
            scores = generated.votes().complete(fitter, problems)
            models = scores.ensembles()
        self.estimators_ = models
        fitter.issue_warnings(generator.handled_warnings)

        # held-out scores -> calibrators
        calibrator = set_seeds(calibrator, rng)
        name = name_calibrator(self.method, calibrator)
        calibration = fit_calibrators(calibrator, name, scores.held_out, problems, data)
        self.calibrators_ = calibration.calibrators
        self.calibration_report_ = calibration.report
        if calibration.report.ensemble_weight > 0:
            self.ensembles_ = generated.ensembles()

        # held-out scores -> the uncertainty of probabilities
        self._record_uncertainty(generated, scores.held_out[0])
        warn_about_rare_classes(
            data, calibration.n_substitutes, len(problems), keeps_scores=not strategy.binary
        )
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Predict calibrated class probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column per class, in the order of ``classes_``; each row sums to 1.
        """
        return self._class_proba(X, calibrated=True)

    def predict_uncalibrated_proba(self, X: Any) -> FloatArray:
        """Predict class probabilities before calibration.

        They come from the models in ``estimators_`` and are combined by the same strategy as
        those of `predict_proba`, but without the calibrators, the voters of ``ensemble="auto"``
        and the probability floor.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column per class, in the order of ``classes_``; each row sums to 1.
        """
        return self._class_proba(X, calibrated=False)

    def predict_problem_proba(self, X: Any, *, calibrated: bool = True) -> list[FloatArray]:
        """Predict the probabilities of the scoring problems.

        They have the form that ``strategy_.combine`` expects.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to classify.
        calibrated : bool, default=True
            Whether to apply the calibrators.

        Returns
        -------
        list of ndarray
            For each binary problem (a column of ``code_``), the probability of its positive
            side, of shape (n_samples,); for the multi-class problem of the direct strategy, one
            array of shape (n_samples, n_classes). Rows for which the estimator returns NaN are
            NaN.
        """
        scores = self._scores(X, with_votes=calibrated)
        if not calibrated:
            return scores.probas()
        scored = scores.is_scored()
        probas = [np.full(score.shape, np.nan) for score in scores.of_models]
        if scored.any():
            for proba, values in zip(probas, self._calibrate(scores.take(scored)), strict=True):
                proba[scored] = values
        return probas

    def _class_proba(self, X: Any, *, calibrated: bool) -> FloatArray:
        """Return class probabilities, computed for some rows at a time, which bounds memory."""
        check_is_fitted(self)
        chunks = []
        for rows in row_chunks(X, MAX_ROWS):
            chunks.append(self._chunk_proba(rows, calibrated=calibrated))
        return chunks[0] if len(chunks) == 1 else np.concatenate(chunks)

    def _chunk_proba(self, X: Any, *, calibrated: bool) -> FloatArray:
        """Return class probabilities; the class frequencies for rows without a score."""
        calibrated = calibrated and self._is_calibrated()
        scores = self._scores(X, with_votes=calibrated)
        scored = scores.is_scored()
        if scored.all():
            return self._combine(scores, calibrated)
        warnings.warn(
            f"The estimator returned NaN for {np.sum(~scored)} of {len(scored)} rows, so these "
            "rows get the class frequencies. Scale or impute the features before the classifier.",
            CalibrationWarning,
            stacklevel=4,
        )
        proba = repeat_frequencies(self.class_count_, len(scored))
        if calibrated:
            proba = self._apply_floor(proba)
        if scored.any():
            proba[scored] = self._combine(scores.take(scored), calibrated)
        return proba

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most probable class of each row.

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
        """Return the metadata routing of the estimator and the splitter.

        Returns
        -------
        MetadataRouter
            The routing of ``fit``.
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
        from sklearn.ensemble import RandomForestClassifier  # slow to import

        return RandomForestClassifier()

    def _check_parameters(self) -> tuple[Any, Strategy, Any | None]:
        """Resolve names to objects before any work is done."""
        estimator = self._estimator()
        check_classifier(estimator)
        strategy = resolve_strategy(self.strategy)
        if self.method is None:
            return estimator, strategy, None
        return estimator, strategy, resolve_calibrator(self.method, binary=strategy.binary)

    def _choose_generator(self, rows: Rows) -> tuple[Voting, Generator]:
        """Return whether models vote, and where the held-out scores come from."""
        estimator, strategy, calibrator = self._check_parameters()
        voting = resolve_voting(self.ensemble, chooses=isinstance(calibrator, AutoCalibrator))
        generator = resolve_generator(
            self.cv, binary=strategy.binary, estimator=estimator, rows=rows, voting=voting
        )
        return voting, generator

    def _make_data(
        self, rows: Rows, fit_params: dict[str, Any], generator: Generator
    ) -> TrainingData:
        """Record the features of the rows, route their metadata and check their classes."""
        validate_data(self, rows.X, skip_check_array=True)
        estimator = self._estimator()
        routed = route_fit(
            self, estimator, rows.sample_weight, rows.groups, fit_params, refits=generator.refits
        )
        return make_training_data(rows, *routed, generator.known_classes(estimator))

    def _leave_uncalibrated(self, models: list[Any]) -> Self:
        """Keep the probabilities of the models, which they must have."""
        self.estimators_, self.calibrators_ = models, None
        self._record_uncertainty()
        self.__dict__.pop("calibration_report_", None)  # of an earlier fit
        if not hasattr(models[0], "predict_proba"):
            raise ValueError(
                "method=None requires an estimator with predict_proba. "
                f"{type(models[0]).__name__} has none. "
                "Use method='auto', which maps its decision_function to probabilities."
            )
        return self

    def _check_columns(self, X: Any) -> None:
        if getattr(X, "ndim", 2) != 2:
            return  # Not a table. Whether that is valid is up to the estimator.
        try:
            validate_data(self, X, reset=False, skip_check_array=True)
        except ValueError as error:
            rule = str(error).rstrip(".\n")
            raise ValueError(f"{rule}. Pass the same columns as in fit.") from None

    def _is_calibrated(self) -> bool:
        check_is_fitted(self)
        return self.calibrators_ is not None

    def _scores(self, X: Any, *, with_votes: bool = True) -> PredictionScores:
        """Return the scores of each problem."""
        check_is_fitted(self)
        self._check_columns(X)
        scores, are_proba = self._scorer.scores(self.estimators_, self.code_, X)
        if self.ensembles_ is None or not with_votes:
            return PredictionScores(scores, are_proba)
        votes, _ = self._scorer.scores(self.ensembles_, self.code_, X)
        return PredictionScores(scores, are_proba, votes)

    def _calibrate(self, scores: PredictionScores) -> list[FloatArray]:
        """Map the scores of the problems to calibrated probabilities."""
        if self.calibrators_ is None:
            return scores.of_models
        return [
            apply_calibrator(calibrator, *inputs, n_classes=len(self.classes_))
            for calibrator, *inputs in zip(self.calibrators_, *scores.inputs(), strict=True)
        ]

    def _combine(self, scores: PredictionScores, calibrated: bool) -> FloatArray:
        """Combine the scores of the problems into class probabilities."""
        if not calibrated:
            return self.strategy_.combine(scores.probas(), self.code_, self.class_count_)
        combined = self.strategy_.combine(
            self._calibrate(scores),
            self.code_,
            self.class_count_,
            fallback=scores.of_models if scores.are_proba else None,
        )
        return self._apply_floor(combined)

    def _apply_floor(self, proba: FloatArray) -> FloatArray:
        """Raise calibrated probabilities to the probability floor."""
        # Binary calibrators estimate frequencies; a multi-class calibrator adjusts a model.
        pseudo_count = PSEUDO_COUNT if self.strategy_.binary else MODEL_PSEUDO_COUNT
        return apply_probability_floor(proba, self.class_count_, pseudo_count)
