"""Altering what a test expects: a value that equals it as well as what is expected says nothing."""

from __future__ import annotations

import ast
import copy
import secrets

_PLAIN = (
    ast.Call,
    ast.Constant,
    ast.keyword,
    ast.Name,
    ast.Attribute,
    ast.List,
    ast.Tuple,
    ast.UnaryOp,
    ast.USub,
    ast.Load,
)


def altered(sides: list[ast.expr]) -> list[ast.keyword]:
    """Return what a comparison is asked besides, where one side makes an object of plain values: one of other values."""
    for place in (1, 0):
        if _makes(sides[place]):
            other = _Other().visit(copy.deepcopy(sides[place]))
            nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
            return [ast.keyword("kept", ast.Constant(1 - place)), ast.keyword("other", ast.Lambda(nothing, other))]
    return []


def _makes(side: ast.expr) -> bool:
    calls = [one for one in ast.walk(side) if isinstance(one, ast.Call)]
    made = [ast.unparse(call.func).rpartition(".")[2].lstrip("_")[:1].isupper() for call in calls]
    parts = list(ast.walk(side))
    return bool(calls) and all(made) and all(isinstance(one, _PLAIN) for one in parts) and any(map(_is_plain, parts))


def _is_plain(one: ast.AST) -> bool:
    return isinstance(one, ast.Constant) and type(one.value) in (int, float, str)


class _Other(ast.NodeTransformer):
    """Other values in the place of those that are written."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:  # the library's name
        match node.value:
            case str(value):
                return ast.Constant(value + "".join(secrets.choice("abcdefgh") for _ in range(6)))
            case int(value) | float(value) if _is_plain(node):
                return ast.Constant(value + secrets.randbelow(50) + 50)
        return node
