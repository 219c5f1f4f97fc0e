"""The methods of the paper: three multi-class approaches, with and without calibration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from calibrant import CalibratedClassifier

MULTICLASS, ONE_VS_REST, ALL_PAIRS = "multi-class", "one-vs-rest", "all-pairs"


@dataclass(frozen=True)
class PaperMethod:
    """One column of the paper's tables.

    Attributes
    ----------
    name : str
        Name in stores and CSV files.
    title : str
        Name in tables.
    approach : {"multi-class", "one-vs-rest", "all-pairs"}
        How the classes are split into scoring problems.
    is_calibrated : bool
        Whether scores are calibrated by DGG+ENIR. Uncalibrated methods are "raw" in the paper.
    faulty_version_of : str or None
        Name of the method that this one repeats with the faulty coupling behind the published
        numbers; None means correct coupling.
    """

    name: str
    title: str
    approach: str
    is_calibrated: bool = False
    faulty_version_of: str | None = None

    @property
    def has_faulty_coupling(self) -> bool:
        """Whether pairs are coupled with the fault behind the published numbers."""
        return self.faulty_version_of is not None

    @property
    def published_name(self) -> str:
        """Name in the files of published numbers."""
        return self.faulty_version_of or self.name

    def make_estimator(self, classifier: Any, **parameters: Any) -> Any:
        """Return the estimator to fit.

        Parameters
        ----------
        classifier : classifier
            The classifier to calibrate.
        **parameters : dict
            Further parameters of `CalibratedClassifier`, such as ``random_state``.

        Returns
        -------
        classifier
            The classifier itself for the multi-class approach, otherwise a
            `CalibratedClassifier`.
        """
        if self.approach == MULTICLASS:
            return classifier
        return CalibratedClassifier(
            classifier,
            strategy=self.approach,
            method="enir" if self.is_calibrated else None,
            cv="monte-carlo",
            **parameters,
        )


METHODS = {
    method.name: method
    for method in (
        PaperMethod("multiclass_raw", "multi-class raw", MULTICLASS),
        PaperMethod("one_vs_rest_raw", "one-vs-rest raw", ONE_VS_REST),
        PaperMethod("one_vs_rest_dgg_enir", "one-vs-rest DGG+ENIR", ONE_VS_REST, True),
        PaperMethod("all_pairs_raw", "all pairs raw", ALL_PAIRS),
        PaperMethod(
            "all_pairs_raw_as_published",
            "all pairs raw as published",
            ALL_PAIRS,
            faulty_version_of="all_pairs_raw",
        ),
        PaperMethod("all_pairs_dgg_enir", "all pairs DGG+ENIR", ALL_PAIRS, True),
        PaperMethod(
            "all_pairs_dgg_enir_as_published",
            "all pairs DGG+ENIR as published",
            ALL_PAIRS,
            True,
            faulty_version_of="all_pairs_dgg_enir",
        ),
    )
}
CORRECT_METHODS = {
    name: method for name, method in METHODS.items() if not method.has_faulty_coupling
}
# The method that all others are compared with.
BASELINE = METHODS["multiclass_raw"]
