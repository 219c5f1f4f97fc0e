"""The changes to make: operators of cosmic-ray, and others that numeric code needs."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator
from dataclasses import dataclass

from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator
from parso.python.tree import ExprStmt, Keyword, Name, PythonNode
from parso.python.tree import Operator as Symbol
from parso.tree import NodeOrLeaf

# One or two replacements for each operator: others fail on arrays at once.
FROM_COSMIC_RAY = [
    *(
        f"ReplaceBinaryOperator_{pair}"
        for pair in (
            *("Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul", "FloorDiv_Mul", "Mod_Mul", "Pow_Mul"),
            *("BitOr_BitAnd", "BitAnd_BitOr"),
        )
    ),
    *(
        f"ReplaceComparisonOperator_{pair}"
        for pair in (
            *("Eq_NotEq", "NotEq_Eq", "Is_IsNot", "IsNot_Is"),
            *("Lt_LtE", "LtE_Lt", "Gt_GtE", "GtE_Gt", "Lt_GtE", "LtE_Gt", "Gt_LtE", "GtE_Lt"),
        )
    ),
    *(f"ReplaceUnaryOperator_Delete_{operator}" for operator in ("USub", "Invert", "Not")),
    *("AddNot", "ReplaceAndWithOr", "ReplaceOrWithAnd"),
    *("ReplaceTrueWithFalse", "ReplaceFalseWithTrue"),
    *("ReplaceBreakWithContinue", "ReplaceContinueWithBreak", "ZeroIterationForLoop"),
    "NumberReplacer",
]
OTHER_SYMBOL = {"+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "@": "*"}
OTHER_FUNCTION = {
    **{"max": "min", "min": "max", "maximum": "minimum", "minimum": "maximum"},
    **{"any": "all", "all": "any", "ones": "zeros", "zeros": "ones"},
    **{"left": "right", "right": "left"},
}


class _Replacement(Operator):
    """Replaces one name or symbol by another."""

    kind: type[NodeOrLeaf]
    other: dict[str, str]

    def mutation_positions(self, node: NodeOrLeaf) -> Iterator[tuple]:
        """Yield the position of the node if it is one to replace."""
        if isinstance(node, self.kind) and node.value in self.other:
            yield node.start_pos, node.end_pos

    def mutate(self, node: NodeOrLeaf, index: int) -> NodeOrLeaf:
        """Replace the node."""
        node.value = self.other[node.value]
        return node

    @classmethod
    def examples(cls) -> tuple:
        """Return no examples."""
        return ()


class ReplaceSymbol(_Replacement):
    """Replaces augmented assignments by their inverses, and matrix products by products."""

    kind, other = Symbol, OTHER_SYMBOL


class ReplaceFunction(_Replacement):
    """Replaces functions by their opposites."""

    kind, other = Name, OTHER_FUNCTION


class DeleteStatement(Operator):
    """Deletes statements that change an array or an object, and calls without a result."""

    def mutation_positions(self, node: NodeOrLeaf) -> Iterator[tuple]:
        """Yield the position of the statement."""
        if isinstance(node, ExprStmt):
            target, operator = node.children[0], node.children[1]
            is_update = getattr(operator, "value", "") not in ("=", "")
            if is_update or (isinstance(target, PythonNode) and target.type == "atom_expr"):
                yield node.start_pos, node.end_pos
        elif node.type == "atom_expr" and node.parent.type == "simple_stmt":
            yield node.start_pos, node.end_pos

    def mutate(self, node: NodeOrLeaf, index: int) -> NodeOrLeaf:
        """Replace the statement by ``pass``."""
        return Keyword("pass", node.start_pos, prefix=node.get_first_leaf().prefix)

    @classmethod
    def examples(cls) -> tuple:
        """Return no examples."""
        return ()


@dataclass(frozen=True)
class Mutant:
    """A module with one change.

    Attributes
    ----------
    module : str
        The name of the module.
    line : int
        The number of the first line that differs.
    before, after : str
        The lines that differ.
    source : str
        The source code of the module with the change.
    """

    module: str
    line: int
    before: str
    after: str
    source: str

    @property
    def definition(self) -> str:
        """The function, the class or the statement with the change."""
        for node in ast.parse(self.source).body:
            if node.lineno <= self.line <= node.end_lineno:
                return ast.get_source_segment(self.source, node)
        raise ValueError(f"Line {self.line} of {self.module} must be part of a statement.")


def make_mutants(module: str, source: str) -> list[Mutant]:
    """Return all mutants of a module, except those of annotations and decorators."""
    operators = [get_operator(f"core/{name}")() for name in FROM_COSMIC_RAY]
    operators += [ReplaceSymbol(), ReplaceFunction(), DeleteStatement()]
    seen = {_meaning(source)}
    mutants = []
    for operator in operators:
        occurrence = 0
        while (mutated := mutate_code(source, operator, occurrence)) is not None:
            occurrence += 1
            meaning = _meaning(mutated)
            if meaning not in seen:
                seen.add(meaning)
                mutants.append(Mutant(module, *_difference(source, mutated), mutated))
    return sorted(mutants, key=lambda mutant: (mutant.line, mutant.after))


def _meaning(source: str) -> str:
    """Return the syntax tree without annotations and decorators."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return ""  # no mutant
    for node in ast.walk(tree):
        for name in ("annotation", "returns"):
            if getattr(node, name, None) is not None:
                setattr(node, name, ast.Constant(None))
        if hasattr(node, "decorator_list"):
            node.decorator_list.clear()
    return ast.dump(tree)


def _difference(source: str, mutated: str) -> tuple[int, str, str]:
    """Return the number of the first line that differs, and the lines before and after."""
    old, new = source.splitlines(), mutated.splitlines()
    changes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    _, begin, end, new_begin, new_end = next(code for code in changes if code[0] != "equal")
    before, after = old[begin:end], new[new_begin:new_end]
    return begin + 1, " ".join(map(str.strip, before)), " ".join(map(str.strip, after))
