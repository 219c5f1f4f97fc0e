"""``calibrant plan``: how many rows it takes to fit, to calibrate and to show calibration."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated

import typer

from calibrant.cli.arguments import DEFAULT_JOBS, Jobs, Json, Quiet, Seed
from calibrant.cli.messages import Messages, one_line_errors


def plan(
    shares: Annotated[
        list[str],
        typer.Option(
            metavar="CLASS=SHARE",
            help="The expected share of each class, as in sick=0.2 well=0.8 or 0.2,0.8.",
        ),
    ],
    auc: Annotated[
        float,
        typer.Option(
            metavar="NUMBER",
            help="The expected AUC; for three classes or more, the mean AUC of all pairs.",
        ),
    ] = 0.8,
    margins: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MEASURE=NUMBER",
            help="The wanted half-width of intervals. By default, slope=0.2 ratio=0.2 auc=0.05.",
        ),
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = DEFAULT_JOBS,
    quiet: Quiet = False,
    json: Json = None,
) -> None:
    """Estimate how many rows a study needs.

    Print the numbers of rows needed to calibrate probabilities, and to show that they are
    calibrated, by simulation.
    """
    from calibrant._core.progress import track
    from calibrant.planning import DEFAULT_MARGINS, plan_from_shares

    messages = Messages(quiet, json)
    with one_line_errors():
        messages.check()
        names, values = _split_shares(shares)
        found = plan_from_shares(
            values,
            auc,
            labels=names,
            margins={**DEFAULT_MARGINS, **_split_margins(margins or ())},
            random_state=seed,
            n_jobs=jobs,
            progress=None if quiet else partial(track, title="simulating"),
        )
    messages.finish(str(found), found.to_dict())


def _split_shares(items: Sequence[str]) -> tuple[list[str], list[float]]:
    """Return the names and the shares of the classes; unnamed classes are numbered."""
    words = [word for item in items for word in item.split(",") if word.strip()]
    named = [word.rpartition("=") for word in words]
    names = [name.strip() or str(k) for k, (name, _, _) in enumerate(named, start=1)]
    if len(set(names)) < len(names):
        raise ValueError(
            f"--shares must name each class once, got {', '.join(names)}. Rename one of them."
        )
    return names, [_to_number(share, "--shares", "sick=0.2 well=0.8") for _, _, share in named]


def _split_margins(items: Sequence[str]) -> dict[str, float]:
    """Return the margin of each measure that was given."""
    words = [word for item in items for word in item.split(",") if word.strip()]
    named = [word.partition("=") for word in words]
    return {
        name.strip(): _to_number(margin, "--margins", "slope=0.2 auc=0.05")
        for name, _, margin in named
    }


def _to_number(text: str, option: str, example: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(
            f"{option} must have numbers after the equals signs, got {text!r}. Write, for example, "
            f"{option} {example}."
        ) from None
