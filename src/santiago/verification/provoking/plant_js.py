"""The test that must fail, for JavaScript's runners: node's own, and those that give tests their names or are imported."""

from __future__ import annotations

import os
import re

from santiago.verification.provoking.programs import program

_ENDINGS = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
_FOLDERS = frozenset({"test", "tests", "__tests__", "spec"})
_NAMES = (".test", ".spec")
_MODULE = re.compile(r"^(?:import [\w{*\"']|export )", re.MULTILINE)
_IMPORTED = re.compile(r"[\"'](node:test|vitest|@jest/globals)[\"']")
_GIVEN = 'typeof test === "function" ? test : typeof it === "function" ? it : () => {}'


def is_test(path: str) -> bool:
    """Whether a file is a test of JavaScript by its name or its folder."""
    *folders, name = path.split("/")
    stem, ending = os.path.splitext(name)  # noqa: PTH122  # called per file
    return ending in _ENDINGS and (stem.endswith(_NAMES) or not _FOLDERS.isdisjoint(folders))


def planted_text(path: str, text: str, token: str, *, alone: bool) -> str:
    """Return a test file with a failing test at its end, or in place of its content."""
    found = _IMPORTED.search(text)
    runner = found[1] if found else ""
    begin = f'const {token} = require("{runner}").test;' if runner else f"const {token} = {_GIVEN};"
    if runner and (path.endswith((".mjs", ".mts")) or ("require(" not in text and _MODULE.search(text))):
        begin = f'import {{ test as {token} }} from "{runner}";'
    return f"{'' if alone else text}\n{begin}\n{program('failing.js', token=token)}"
