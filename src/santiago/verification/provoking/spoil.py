"""Spoiling tests: an edit after which every test must fail when it comes to its end, if nobody keeps it from failing.

Held against the same on the base, where no agent has had a hand in it, this shows work that ends the runner, speaks for it,
or swallows what its tests find, however it does so.
"""

from __future__ import annotations

import ast
import re
import secrets
from typing import TYPE_CHECKING

from santiago.verification.counting.failures import failures
from santiago.verification.provoking import edits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from santiago.contract.outcomes import CheckResult

_TEST = re.compile(r"(?:.*::)?test\w*(?: \([^)]*\))?")
"""A test's name without the values that it ran with."""


def spoiled_text(text: str, token: str) -> str | None:
    """Return a test file whose tests raise at their ends; None where it cannot be read or has none."""
    tree = edits.parsed(text)
    tests = list(_tests(tree.body)) if tree is not None else []
    if tree is None or not tests:
        return None
    for test in tests:
        fails = ast.parse(f"raise AssertionError({token!r})").body[0]
        at = len(test.body) - isinstance(test.body[-1], ast.Return | ast.Raise)
        test.body.insert(at, fails)
    return ast.unparse(ast.fix_missing_locations(tree))


def spoil(folder: str, paths: Iterable[str]) -> bool:
    """Spoil the tests in these files of a checkout; say whether there was any."""
    token, found = f"Spoiled{secrets.token_hex(6)}", False
    for path in paths:
        if path.endswith(".py"):
            found |= edits.rewrite(folder, path, lambda text: spoiled_text(text, token))
    return found


def _tests(body: Iterable[ast.stmt]) -> Iterable[ast.FunctionDef | ast.AsyncFunctionDef]:
    for statement in body:
        if isinstance(statement, ast.ClassDef):
            yield from _tests(statement.body)
        elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef) and statement.name.startswith("test"):
            yield statement


def failing(result: CheckResult) -> frozenset[str]:
    """Return the tests that a check names as failing; none where it does not name all that failed."""
    found = failures(result)
    names = map(_TEST.match, found.names)
    return frozenset(match[0] for match in names if match) if found.complete else frozenset()
