r"""Formulas as MathML, which browsers draw by themselves: no script, no network, no LaTeX.

Sphinx's own renderers load MathJax from the network or call LaTeX. The converter that comes with
docutils needs neither. It expects braces around arguments: ``\frac{1}{2}``, not ``\frac12``.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

logger = logging.getLogger(__name__)

# The converter takes what follows an accented letter for a second accent, below it.
ACCENTED = re.compile(
    r"(\\(?:bar|hat|tilde|widehat|widetilde)(?:\s*\{[^{}]*\}|\s+[A-Za-z]))(?=[_^])"
)
# It puts no space around the names of functions, which is missed where there are no brackets.
LOGARITHM, SPACED_LOGARITHM = "<mi>log</mi>", '<mo lspace="0.17em" rspace="0.17em">log</mo>'


def visit_math(translator: Any, node: nodes.math) -> None:
    """Write a formula that is part of a sentence."""
    translator.body.append(_to_mathml(node, as_block=False))
    raise nodes.SkipNode


def visit_math_block(translator: Any, node: nodes.math_block) -> None:
    """Write a displayed formula, with its number if it has one."""
    translator.body.append(translator.starttag(node, "div", CLASS="math"))
    if node["number"]:
        number = get_node_equation_number(translator, node)
        translator.body.append(f'<span class="eqno">({number})')
        translator.add_permalink_ref(node, "Link to this equation")
        translator.body.append("</span>")
    translator.body.append(_to_mathml(node, as_block=True))
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def _to_mathml(node: nodes.Element, *, as_block: bool) -> str:
    formula = ACCENTED.sub(r"\1{}", node.astext()).replace(r"\dots", r"\ldots")
    try:
        return tex2mathml(formula, as_block=as_block).replace(LOGARITHM, SPACED_LOGARITHM)
    except MathError as error:
        logger.warning("cannot convert %r to MathML: %s", formula, error, location=node)
        return f"<code>{formula}</code>"


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer under the name ``mathml``."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
