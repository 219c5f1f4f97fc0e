"""``calibrant plan``: how many rows it takes to fit, to calibrate and to show calibration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from calibrant.cli.arguments import (
    DEFAULT_JOBS,
    Categories,
    Groups,
    Ignore,
    Jobs,
    Json,
    MergeCase,
    Missing,
    Model,
    Numbers,
    Quiet,
    RareClasses,
    Seed,
    Sheet,
    data_file,
)
from calibrant.cli.completion import complete_columns
from calibrant.cli.messages import Messages, one_line_errors, warnings_as_notes

if TYPE_CHECKING:
    from calibrant._core.workers import Progress

DEFAULT_AUC = 0.8


def plan(
    data: Annotated[str | None, data_file("PILOT")] = None,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column of PILOT with the classes.",
            autocompletion=complete_columns,
        ),
    ] = None,
    groups: Groups = None,
    ignore: Ignore = None,
    categories: Categories = None,
    numbers: Numbers = None,
    sheet: Sheet = None,
    missing: Missing = None,
    merge_case: MergeCase = False,
    rare_classes: RareClasses = "keep",
    model: Model = "random-forest",
    shares: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CLASS=SHARE",
            help="Without PILOT, the expected share of each class, as in sick=0.2 well=0.8 or "
            "0.2,0.8.",
        ),
    ] = None,
    auc: Annotated[
        float,
        typer.Option(
            metavar="NUMBER",
            help="Without PILOT, the expected AUC; for three classes or more, the mean AUC of all "
            "pairs.",
        ),
    ] = DEFAULT_AUC,
    features: Annotated[
        int | None,
        typer.Option(
            metavar="INTEGER", min=1, help="Without PILOT, the number of features of the model."
        ),
    ] = None,
    margins: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MEASURE=NUMBER",
            help="The wanted precision, half the width of intervals. By default, slope=0.2 "
            "ratio=0.2 auc=0.05.",
        ),
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = DEFAULT_JOBS,
    quiet: Quiet = False,
    json: Json = None,
) -> None:
    """Estimate how many rows a study needs.

    Print the numbers of rows needed to fit a model, to calibrate its probabilities and to show
    that they are calibrated: from the rows of a pilot study, or from class shares and a guess at
    the AUC.
    """
    from calibrant.planning import DEFAULT_MARGINS, plan_from_shares
    from calibrant.planning.tables import plan_from_table
    from calibrant.tabular.requests import TableRequest
    from calibrant.tabular.schema import Severity

    messages = Messages(quiet, json)
    with one_line_errors(), warnings_as_notes(messages.note):
        messages.check(inputs=[data])
        _check_source(data, target, shares)
        wanted = {**DEFAULT_MARGINS, **_split_margins(margins or ())}
        options: dict[str, Any] = {"margins": wanted, "random_state": seed, "n_jobs": jobs}
        if data is None or target is None:
            names, values = _split_shares(shares or ())
            progress = None if quiet else _track("calibrating", "validating")
            found = plan_from_shares(
                values, auc, n_features=features, labels=names, progress=progress, **options
            )
        else:
            request = TableRequest(
                data,
                target,
                groups=groups,
                ignore=ignore or (),
                categories=categories or (),
                numbers=numbers or (),
                sheet=sheet,
                missing=missing or (),
                merge_case=merge_case,
                rare_classes=rare_classes,
            )
            table = request.read()
            schema = request.describe(table)
            for notice in schema.notices:
                is_warning = notice.severity is Severity.warning
                (messages.warn if is_warning else messages.note)(notice.text)
            progress = None if quiet else _track("fitting", "calibrating", "validating")
            found = plan_from_table(table, schema, model, progress=progress, **options)
    messages.finish(str(found), found.to_dict())


def _track(*titles: str) -> Progress:
    """Return what shows the progress of steps with these titles, one after the other."""
    from calibrant._core.progress import track

    steps = iter(titles)
    return lambda items, total: track(items, total, next(steps))


def _check_source(data: str | None, target: str | None, shares: Sequence[str] | None) -> None:
    """Raise an error unless there is either a pilot or a guess."""
    if bool(shares) == (data is not None):
        got = "both" if shares else "neither"
        raise ValueError(
            f"A plan must be based on either a pilot file or --shares, got {got}. Name a file and "
            "its --target, or give --shares and --auc."
        )
    if data is not None and target is None:
        raise ValueError(
            "A pilot file must have a column with the classes, and no --target was given. Add "
            "--target and the name of the column."
        )


def _split_shares(items: Sequence[str]) -> tuple[list[str], list[float]]:
    """Return the names and the shares of the classes; unnamed classes are numbered."""
    named = [word.rpartition("=") for word in _split(items)]
    names = [name.strip() or str(k) for k, (name, _, _) in enumerate(named, start=1)]
    if len(set(names)) < len(names):
        raise ValueError(
            f"--shares must name each class once, got {', '.join(names)}. Rename one of them."
        )
    return names, [_to_number(share, "--shares", "sick=0.2 well=0.8") for _, _, share in named]


def _split_margins(items: Sequence[str]) -> dict[str, float]:
    """Return the margin of each measure that was given."""
    return {
        name.strip(): _to_number(margin, "--margins", "slope=0.2 auc=0.05")
        for name, _, margin in (word.partition("=") for word in _split(items))
    }


def _split(items: Sequence[str]) -> list[str]:
    return [word for item in items for word in item.split(",") if word.strip()]


def _to_number(text: str, option: str, example: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(
            f"{option} must have numbers after the equals signs, got {text!r}. Write, for example, "
            f"{option} {example}."
        ) from None
