"""Strict tests: an edit of test files after which they refuse what only seems to be right, and still pass with honest work.

Refused are values that equal anything or others made of other values, assertions that have lost their voice, and functions
of the work or of the library that were replaced by code which has no business there.
"""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING

from santiago.verification.provoking import edits
from santiago.verification.provoking.alter import altered
from santiago.verification.provoking.programs import program

if TYPE_CHECKING:
    from collections.abc import Iterable

_ASSERTIONS: dict[str, tuple[object, ...]] = {
    "assertEqual": (1, 2), "assertAlmostEqual": (1, 2), "assertIn": (1, ()), "assertIs": (1, None), "assertTrue": (0,),
    "assertFalse": (1,), "assertIsNone": (1,), "assertListEqual": ([1], [2]), "assertDictEqual": ({1: 1}, {1: 2}), "assertNotEqual": (1, 1),
    "assertTupleEqual": ((1,), (2,)), "assertSequenceEqual": ([1], [2]), "assertCountEqual": ([1], [2]), "assertGreater": (1, 2),
    "assertLess": (2, 1),
}  # fmt: skip
"""Assertions of unittest, each with values that it must say no to."""
_ASKED: dict[type[ast.cmpop], str] = {ast.Eq: "_same", ast.NotEq: "_differs", ast.In: "_held"}


def text_of(text: str, token: str, folder: str, tests: Iterable[str]) -> str | None:
    """Return strict Python for a test in this folder, which says by the token what it refuses; None where it is no Python."""
    tree = edits.parsed(text)
    if tree is None:
        return None
    harden(tree, token, folder, tests)
    return ast.unparse(tree)


def harden(tree: ast.Module, token: str, folder: str, tests: Iterable[str]) -> int:
    """Make a program strict, and return where it goes on behind what strict Python begins with."""
    called = sorted(_called(tree))
    ast.fix_missing_locations(_Strict().visit(tree))
    at = edits.first_place(tree)
    every = [f"{folder}/{path}" for path in tests]
    first = program("strict.py", token=token, no=_ASSERTIONS, place=f"{folder}/", tests=every, called=called)
    begins = (place for place, one in enumerate(tree.body) if isinstance(one, ast.FunctionDef | ast.ClassDef))
    place = max(at, next(begins, len(tree.body)))
    tree.body[place:place] = ast.parse("_see_replaced(first=True)").body
    planted = ast.parse(first).body
    tree.body[at:at] = planted
    return at + len(planted)


def _called(tree: ast.Module) -> set[tuple[str, str]]:
    """Return the functions of the library that a program calls, each as module and name."""
    found: set[tuple[str, str]] = set()
    names: dict[str, str] = {}
    for one in ast.walk(tree):
        if isinstance(one, ast.Import):
            names |= {alias.asname or alias.name: alias.name for alias in one.names}
        elif isinstance(one, ast.ImportFrom) and one.module and not one.level:
            found |= {(one.module, alias.name) for alias in one.names}
    for one in ast.walk(tree):
        match one:
            case ast.Call(ast.Attribute(ast.Name(owner), name)) if owner in names:
                found.add((names[owner], name))
    return {(module, name) for module, name in found if module.partition(".")[0] in sys.stdlib_module_names}


class _Strict(ast.NodeTransformer):
    def visit_Compare(self, node: ast.Compare) -> ast.expr:  # the library's name
        self.generic_visit(node)
        asked = _ASKED.get(type(node.ops[0])) if len(node.ops) == 1 else None
        sides = [node.left, node.comparators[0]]
        more = altered(sides) if asked == "_same" else []
        return ast.Call(ast.Name(asked, ast.Load()), sides, more) if asked else node

    def visit_Assert(self, node: ast.Assert) -> list[ast.stmt]:
        self.generic_visit(node)
        return [node, ast.Expr(ast.Call(ast.Name("_see_replaced", ast.Load()), [], []))]

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Ask an assertion of the test's own case first whether it still says no."""
        self.generic_visit(node)
        match node:
            case ast.Call(ast.Attribute(ast.Name("self"), name)) if name in _ASSERTIONS:
                count = len(_ASSERTIONS[name])
                values = node.args[:count]
                if len(values) == count and not any(isinstance(one, ast.Starred) for one in values):
                    more = altered(values) if name == "assertEqual" else []
                    ask = ast.Call(ast.Name("_asked", ast.Load()), [ast.Constant(name), node.func, *values], more)
                    node.args[:count] = [ast.Starred(ask, ast.Load())]
            case ast.Call(ast.Name("len"), [one], []) if not isinstance(one, ast.Starred):
                return ast.Call(ast.Name("_length", ast.Load()), [one], [])
        return node
