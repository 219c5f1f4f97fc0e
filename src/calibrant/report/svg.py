"""Building blocks of inline SVG. The stylesheet sets colors and text sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape


def element(name: str, *children: Any, **attributes: Any) -> Markup:
    """Return an XML element.

    Parameters
    ----------
    name : str
        Name of the element.
    *children : Markup or str
        Content; text is escaped.
    **attributes : str or number
        Attributes, with underscores for hyphens: ``class_`` and ``data_tip`` become ``class``
        and ``data-tip``. Those that are None are left out.

    Returns
    -------
    Markup
        The element.

    Examples
    --------
    >>> from calibrant.report.svg import element
    >>> print(element("text", "a < b", x=1.25, class_="tick"))
    <text x="1.25" class="tick">a &lt; b</text>
    """
    spelled = Markup("").join(
        Markup(' {}="{}"').format(key.strip("_").replace("_", "-"), _short(value))
        for key, value in attributes.items()
        if value is not None
    )
    body = Markup("").join(escape(child) for child in children)
    return Markup("<{0}{1}>{2}</{0}>").format(name, spelled, body)


def _short(value: Any) -> Any:
    """Round a coordinate to a hundredth of a pixel, without trailing zeros."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else value


@dataclass(frozen=True)
class Scale:
    """A linear map from numbers to pixels.

    Attributes
    ----------
    domain : tuple of float
        Two numbers.
    pixels : tuple of float
        The pixels that they map to.
    """

    domain: tuple[float, float]
    pixels: tuple[float, float]

    def __call__(self, value: float) -> float:
        """Return the pixel of a number."""
        fraction = (float(value) - self.domain[0]) / (self.domain[1] - self.domain[0])
        return self.pixels[0] + fraction * (self.pixels[1] - self.pixels[0])


def picture(width: float, height: float, label: str, kind: str, parts: list[Markup]) -> Markup:
    """Return an SVG image that screen readers announce by its label."""
    return element(
        "svg",
        *parts,
        viewBox=f"0 0 {width} {height}",
        role="img",
        aria_label=label,
        tabindex=0,
        class_=kind,
    )


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    """Return a line from (x1, y1) to (x2, y2)."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=kind)


def text(x: float, y: float, content: str, kind: str) -> Markup:
    """Return text at (x, y)."""
    return element("text", content, x=x, y=y, class_=kind)


def vertical_text(x: float, y: float, content: str) -> Markup:
    """Return an axis label that reads upward, centered at (x, y)."""
    rotation = f"rotate(-90 {x} {y})"
    return element("text", content, x=x, y=y, transform=rotation, class_="label middle")
