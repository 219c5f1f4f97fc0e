"""Pages of the application: its templates with the report's style, and the script."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import jinja2

from calibrant import __version__
from calibrant._core.phrases import capitalize, count, percent
from calibrant.app.wording import describe_seconds, without_options


def read_asset(package: str, name: str) -> str:
    """Return a file of the templates of a package, without importing the package."""
    return files("calibrant").joinpath(package, "templates", name).read_text(encoding="utf-8")


@cache
def read_style() -> str:
    """Return the style sheet: that of the report, and what the application adds."""
    return read_asset("report", "style.css") + read_asset("app", "app.css")


@cache
def _environment() -> jinja2.Environment:
    def load(name: str) -> str:
        return read_asset("app", name)

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(load),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"count": count, "version": __version__}
    environment.filters |= {
        "capitalized": capitalize,
        "duration": describe_seconds,
        "percent": percent,
        "plain": without_options,
    }
    return environment


def render(template: str, **context: Any) -> str:
    """Return a page.

    Parameters
    ----------
    template : str
        Name of the template.
    **context : dict
        Variables of the template.
    """
    return _environment().get_template(template).render(**context)


def add_bar(page: str, bar: str) -> str:
    """Return a page of calibrant with a bar above its header.

    Parameters
    ----------
    page : str
        A page that a command of calibrant would write, such as a report.
    bar : str
        The bar, as HTML.
    """
    style = f"<style>\n{read_asset('app', 'app.css')}</style>\n</head>"
    return page.replace("</head>", style, 1).replace("<header>", f"{bar}\n<header>", 1)
