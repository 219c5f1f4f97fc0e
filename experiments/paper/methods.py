"""The paper's calibration scenarios as data: name -> estimator."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from calibrant.classifier import CalibratedClassifier


@dataclass(frozen=True)
class Scenario:
    """One column of the paper's tables.

    Attributes
    ----------
    name : str
        The name in stores and files.
    title : str
        The name for readers.
    approach : str
        "multi-class", "one-vs-rest" or "all-pairs".
    parameters : dict
        Parameters of `CalibratedClassifier`; empty for the bare classifier.
    maker : type
        `CalibratedClassifier` or a variant of it.
    """

    name: str
    title: str
    approach: str
    parameters: dict[str, Any] = field(default_factory=dict)
    maker: type[CalibratedClassifier] = CalibratedClassifier

    @property
    def calibrates(self) -> bool:
        """Whether scores are calibrated."""
        return self.parameters.get("method") is not None

    def estimator(self, classifier: Any, **options: Any) -> Any:
        """Return the estimator of this scenario.

        Parameters
        ----------
        classifier : classifier
            The classifier to calibrate.
        **options : dict
            Further parameters of `CalibratedClassifier`: ``n_jobs``, ``random_state``.

        Returns
        -------
        classifier
            The classifier itself for "multiclass_raw", else a `CalibratedClassifier`.
        """
        if not self.parameters:
            return classifier
        return self.maker(classifier, **self.parameters, **options)


def _scenario(name: str, title: str, approach: str, method: str | None) -> Scenario:
    return Scenario(
        name, title, approach, {"strategy": approach, "method": method, "cv": "monte-carlo"}
    )


SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario("multiclass_raw", "multi-class raw", "multi-class"),
        _scenario("one_vs_rest_raw", "one-vs-rest raw", "one-vs-rest", None),
        _scenario("one_vs_rest_dgg_enir", "one-vs-rest DGG+ENIR", "one-vs-rest", "enir"),
        _scenario("all_pairs_raw", "all pairs raw", "all-pairs", None),
        _scenario("all_pairs_dgg_enir", "all pairs DGG+ENIR", "all-pairs", "enir"),
    )
}
