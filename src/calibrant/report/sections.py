"""Foldable sections below the first screen, which the report and the validation share.

A section consists of numbers in a record, a template in ``templates/sections``, and an entry that
`choose_sections` returns if there is something to show. Its template finds the numbers of each
model in ``panels``, and whatever else the page passes to `render_page`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from calibrant._core.phrases import join_phrases
from calibrant.report.assessment import Assessment
from calibrant.report.forest import ForestLine

# The largest number of classes with curves, so that pages on many classes stay small. The tables
# have the numbers of more classes.
MOST_DRAWN = 6


@dataclass(frozen=True, eq=False)
class Variant:
    """Probabilities that a section compares with others.

    Attributes
    ----------
    label : str
        Their name in tables and legends.
    state : {"uncalibrated", "calibrated"}
        Determines the color and the line style.
    assessment : Assessment
        The numbers.
    """

    label: str
    state: str
    assessment: Assessment


@dataclass(frozen=True, eq=False)
class Panel:
    """What a section shows at once: one model of a report, or all models of a validation.

    Attributes
    ----------
    name : str
        Its title. Empty means none.
    model : int or None
        Index of the model whose choice shows the panel. ``None`` means that it always shows.
    variants : tuple of Variant
        The probabilities to compare, of the same classes.
    """

    name: str
    model: int | None
    variants: tuple[Variant, ...]

    @property
    def drawn(self) -> list[int]:
        """Indices of the assessed classes that have figures: the most frequent ones, in order."""
        by_class = self.variants[0].assessment.by_class
        order = sorted(range(len(by_class)), key=lambda k: -by_class[k].weak_calibration.n_events)
        return sorted(order[:MOST_DRAWN])


@dataclass(frozen=True)
class Section:
    """A foldable section of a page.

    Attributes
    ----------
    name : str
        Its identifier, which is also the name of its template.
    title : str
        Its heading.
    lead : str
        What it contains, in a few words beside the heading.
    """

    name: str
    title: str
    lead: str


def choose_sections(panels: Sequence[Panel]) -> list[Section]:
    """Return the sections that have something to show, in order.

    Parameters
    ----------
    panels : sequence of Panel
        What the sections show.

    Returns
    -------
    list of Section
        The sections.
    """
    assessment = panels[0].variants[0].assessment
    has_several = len(assessment.discrimination.classes) > 2
    index = "" if assessment.multinomial is None else ", ECI"
    costs = "" if assessment.costs is None else ", mean costs, thresholds"
    sections = [
        Section(
            "calibration-in-detail",
            "Calibration in detail",
            f"intercepts, slopes, smooth curves, ICI{index}",
        ),
        Section("discrimination", "Discrimination", "AUC, M-index, PDI" if has_several else "AUC"),
        Section("decision-curves", "Decisions in detail", f"net benefit by threshold{costs}"),
    ]
    if columns := [each.column for each in assessment.subgroups]:
        lead = f"observed and predicted shares by {join_phrases(columns)}"
        sections.append(Section("subgroups", "Subgroups", lead))
    return [*sections, Section("write-up", "Write it up", "methods paragraph, TRIPOD+AI")]


def collect_lines(variants: Sequence[Variant], column: int, event: int) -> list[ForestLine]:
    """Return the intervals of one event, for a figure of all rows and of each subgroup.

    Parameters
    ----------
    variants : sequence of Variant
        The probabilities to compare.
    column, event : int
        Positions of the column and of the event.

    Returns
    -------
    list of ForestLine
        For all rows and each subgroup, the difference of each variant; shrunken, if it is that of
        a subgroup.
    """
    found = [each.assessment.subgroups[column].calibration for each in variants]
    rows = [(each.whole, *each.subgroups) for each in found]
    labels = [each.label for each in variants] if len(variants) > 1 else [""]
    return [
        ForestLine(row.title, label, variant.state, row.shrunken[event])
        for same in zip(*rows, strict=True)
        for row, label, variant in zip(same, labels, variants, strict=True)
    ]
