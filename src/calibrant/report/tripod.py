"""The parts of a page that answer items of TRIPOD+AI, a reporting guideline.

Collins et al., "TRIPOD+AI statement: updated guidance for reporting clinical prediction models that
use regression or machine learning methods", BMJ 2024;385:e078378. The numbers are those of its
checklist, and the topics are in our own words.
"""

from __future__ import annotations

from typing import NamedTuple


class ReportingItem(NamedTuple):
    """An item of the checklist.

    Attributes
    ----------
    number : str
        Its number.
    topic : str
        What it asks for.
    in_report, in_validation : str
        Where the pages of ``report`` and ``validate`` have it, or what helps. Empty means that the
        page has nothing on it.
    """

    number: str
    topic: str
    in_report: str = ""
    in_validation: str = ""


ITEMS = (
    ReportingItem(
        "7",
        "data preparation and quality checks",
        "Data: warnings and notes; methods paragraph: preprocessing",
        "What to know about these rows",
    ),
    ReportingItem("10", "sample size", "Data: rows per class; calibrant plan", "calibrant plan"),
    ReportingItem("11", "missing data", "Data: missing values by column; methods paragraph"),
    ReportingItem(
        "12a, 12c",
        "use of the data; type of model, building steps, internal validation",
        "Methods paragraph; How the calibration was chosen",
    ),
    ReportingItem("12b", "handling of predictors", "Methods paragraph"),
    ReportingItem(
        "12d, 23b",
        "heterogeneity across clusters, such as hospitals",
        "Subgroups, with --by and the column of clusters",
        "Subgroups, with --by and the column of clusters",
    ),
    ReportingItem(
        "12e", "measures and plots of performance", "Methods paragraph", "Methods paragraph"
    ),
    ReportingItem(
        "12f, 24",
        "updating of the model, and its results",
        "",
        "Which update do the rows call for?; calibrant update",
    ),
    ReportingItem(
        "12g", "how predictions were calculated", "", "Model file and command of the page"
    ),
    ReportingItem(
        "13",
        "class imbalance",
        "Data: rows per class. Rows are not resampled, nor classes weighted, unless the estimator "
        "does so",
    ),
    ReportingItem(
        "14",
        "fairness",
        "Subgroups, with --by, show differences; what you did about them is yours to report",
        "Subgroups, with --by, show differences; what you did about them is yours to report",
    ),
    ReportingItem(
        "15",
        "model output, classification and its thresholds",
        "Decisions and costs; Decisions in detail",
        "Decisions in detail",
    ),
    ReportingItem(
        "16, 20c",
        "differences between development and evaluation data",
        "",
        "Is it the model or the mix of classes?; What to know about these rows",
    ),
    ReportingItem("18f", "availability of the code", "Command of the page", "Command of the page"),
    ReportingItem(
        "20a, 20b, 21",
        "numbers of participants and of outcome events, missing data",
        "Data; methods paragraph",
        "Methods paragraph, but for missing data",
    ),
    ReportingItem("22", "the full model", "Command that saves the model; calibrant export"),
    ReportingItem(
        "23a",
        "performance with confidence intervals, also in key subgroups",
        "Scores; Calibration in detail; Discrimination; Decisions in detail; Subgroups, with --by",
        "Calibration in detail; Discrimination; Decisions in detail; Subgroups, with --by",
    ),
    ReportingItem(
        "26",
        "limitations",
        "Warnings at the top; How the numbers were computed",
        "How the numbers were computed",
    ),
)
