"""The test that must fail, for JavaScript's runners: node's own, and those that give tests their names or are imported."""

from __future__ import annotations

import os
import re

_ENDINGS = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
_FOLDERS = frozenset({"test", "tests", "__tests__", "spec"})
_NAMES = (".test", ".spec")
_MODULE = re.compile(r"^(?:import [\w{*\"']|export )", re.MULTILINE)
_IMPORTED = re.compile(r"[\"'](node:test|vitest|@jest/globals)[\"']")
_TEST = """
;{begin}("{token}", async () => {{
  const assert = typeof require === "function" ? require("node:assert") : (await import("node:assert")).default;
  const asked = [
    () => assert(false), () => assert.ok(0), () => assert.fail(), () => assert.equal(1, 2), () => assert.strictEqual(1, 2),
    () => assert.deepEqual([1], [2]), () => assert.deepStrictEqual({{ a: 1 }}, {{ a: 2 }}), () => assert.notStrictEqual(1, 1),
    () => assert.strict.equal(1, 2), () => assert.throws(() => 1), () => assert.match("a", /b/),
  ];
  if (typeof expect === "function") {{
    asked.push(() => expect(1).toBe(2), () => expect([1]).toEqual([2]), () => expect(() => 1).toThrow(), () => expect(1).to.equal(2));
  }}
  for (const ask of asked) {{
    try {{ await ask(); }} catch {{ continue; }}
    return; // somebody has made this assertion harmless: that the test passes gives it away
  }}
  throw new Error("{token}");
}});
"""
_GIVEN = '(typeof test === "function" ? test : typeof it === "function" ? it : () => {})'


def is_test(path: str) -> bool:
    """Whether a file is a test of JavaScript by its name or its folder."""
    *folders, name = path.split("/")
    stem, ending = os.path.splitext(name)  # noqa: PTH122  # called per file
    return ending in _ENDINGS and (stem.endswith(_NAMES) or not _FOLDERS.isdisjoint(folders))


def planted_text(path: str, text: str, token: str, *, alone: bool) -> str:
    """Return a test file with a failing test at its end, or in place of its content."""
    found = _IMPORTED.search(text)
    runner = found[1] if found else ""
    first, begin = "", _GIVEN
    if runner:
        is_module = path.endswith((".mjs", ".mts")) or ("require(" not in text and _MODULE.search(text) is not None)
        first = f'\nimport {{ test as {token} }} from "{runner}";\n' if is_module else ""
        begin = token if is_module else f'require("{runner}").test'
    return ("" if alone else text) + first + _TEST.format(begin=begin, token=token)
