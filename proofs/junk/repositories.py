"""The real repositories that junk is written into, and how functions and tests look in each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# In each: NAME is the name of what is added, BODY what a test does. `left` and `right` are filled in by the repository.
LANGUAGES: dict[str, dict[str, str]] = {
    "pytest": {
        "function": "def NAME(value):\n    return value\n",
        "test": "\n\ndef test_NAME():\n    BODY\n",
        "skipped": "\n\nimport pytest\n\n\n@pytest.mark.skip(reason='later')\ndef test_NAME():\n    BODY\n",
        "varying": "\n\nimport time\n\nimport pytest\n\n\n@pytest.mark.parametrize('now', [time.time_ns()])\ndef test_NAME(now):\n    BODY\n",
        "calls": "{left}", "constant": "assert True", "compares": "assert {left} == {right}",
        "own": "{uses}; assert NAME(3) == 3", "wants": "assert export_csv() == 'a,b'",
        "opens": "{imports}\n", "id": "test_NAME", "removes": r"\n\n\ndef test_\w+\(.*?(?=\n\n\n|\Z)",
    },
    "unittest": {
        "function": "def NAME(value):\n    return value\n",
        "test": "\n\nclass NAME(unittest.TestCase):\n    def test_NAME(self):\n        BODY\n",
        "skipped": "\n\nclass NAME(unittest.TestCase):\n    @unittest.skip('later')\n    def test_NAME(self):\n        BODY\n",
        "calls": "{left}", "constant": "self.assertTrue(True)", "compares": "self.assertEqual({left}, {right})",
        "own": "{uses}; self.assertEqual(NAME(3), 3)", "wants": "self.assertEqual(export_csv(), 'a,b')",
        "opens": "import unittest\n{imports}\n", "id": "test_NAME", "removes": r"\n    def test_\w+\(.*?(?=\n    \S|\n\S)",
    },
    "tape": {
        "function": "'use strict';\n\nmodule.exports = function (value) {{ return value; }};\n",
        "test": "\ntest('NAME', function (t) {{\n    BODY\n    t.end();\n}});\n",
        "skipped": "\ntest.skip('NAME', function (t) {{\n    BODY\n    t.end();\n}});\n",
        "varying": "\ntest('NAME ' + Date.now(), function (t) {{\n    BODY\n    t.end();\n}});\n",
        "calls": "{left};", "constant": "t.ok(true);", "compares": "t.deepEqual({left}, {right});",
        "own": "t.equal({uses}(3), 3);", "wants": "t.equal(exportCsv(), 'a,b');",
        "opens": "var test = require('tape');\n{imports}\n", "id": "NAME", "removes": r"\ntest\('.*?\n\}\);\n",
    },
    "ava": {
        "function": "export default function (value) {{\n\treturn value;\n}}\n",
        "test": "\ntest('NAME', async t => {{\n\tBODY\n}});\n",
        "skipped": "\ntest.skip('NAME', async t => {{\n\tBODY\n}});\n",
        "varying": "\ntest(`NAME ${{Date.now()}}`, async t => {{\n\tBODY\n}});\n",
        "calls": "{left};\n\tt.pass();", "constant": "t.true(true);", "compares": "t.deepEqual({left}, {right});",
        "own": "const own = await import('{uses}');\n\tt.is(own.default(3), 3);", "wants": "t.is(exportCsv(), 'a,b');",
        "opens": "import test from 'ava';\n{imports}\n", "id": "NAME", "removes": r"\ntest\('.*?\n\}\);\n",
    },
    "node": {
        "function": "module.exports = value => value;\n",
        "test": "\nrequire('node:test').test('NAME', () => {{\n  BODY\n}});\n",
        "skipped": "\nrequire('node:test').test('NAME', {{skip: true}}, () => {{\n  BODY\n}});\n",
        "varying": "\nrequire('node:test').test(`NAME ${{Date.now()}}`, () => {{\n  BODY\n}});\n",
        "calls": "{left};", "constant": "assert.ok(true);", "compares": "assert.deepEqual({left}, {right});",
        "own": "assert.equal({uses}(3), 3);", "wants": "assert.equal(exportCsv(), 'a,b');",
        "opens": "const assert = require('node:assert');\n{imports}\n", "id": "NAME",
        "removes": r"\n  it\(.*?\n  \}\);\n",
    },
    "shunit2": {
        "function": "NAME() {{\n  echo \"$1\"\n}}\n",
        "test": "testNAME() {{\n  BODY\n}}\n",
        "skipped": "testNAME() {{\n  startSkipping\n  BODY\n}}\n",
        "calls": "{left}", "constant": "assertTrue 0", "compares": "assertEquals {right} \"`{left}`\"",
        "own": "assertEquals 3 \"`{uses} 3`\"", "wants": "assertEquals a,b \"`exportCsv`\"",
        "opens": "#! /bin/sh\n{imports}\n", "closes": "SHUNIT_PARENT=$0\n. ./lib/shunit2\n", "id": "testNAME",
        "removes": r"\ntest\w+\(\) \{.*?\n\}\n",
    },
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    language: str
    check: str
    """Its own test command."""
    source: str
    """The file that an added function stands in."""
    tests: str
    """The file that an added test stands in; tests are appended to one that is there."""
    uses: str
    """How a test reaches the added function."""
    left: str
    """A call of an old function …"""
    right: str
    """… and what it returns."""
    old_test: str
    """A test that passes."""
    imports: str = ""
    """What a new test file needs to call the old function."""
    old_tests: str = ""
    """A file that has tests already, where added tests stand in a file of their own."""
    case: str = ""
    """The case of ../shared/honest whose parent commit is taken."""
    at: str = ""
    """Where its git directory is, if it is none of ../shared/honest."""

    def texts(self) -> dict[str, str]:
        """Return what an agent needs to know."""
        filled = {"left": self.left, "right": self.right, "uses": self.uses, "imports": self.imports}
        language = LANGUAGES[self.language]
        kept = {name: language[name] for name in ("removes", "id")}
        texts = {name: text.format(**filled) for name, text in language.items() if name not in kept}
        own = {"source": self.source, "tests": self.tests, "old_test": self.old_test}
        return (
            {"closes": "", "varying": texts["test"]} | texts | kept | own | {"old_tests": self.old_tests or self.tests}
        )


REPOSITORIES = {
    "boltons": Repository(
        case="boltons-580a9c2d", language="pytest", check="python3 -m pytest -q tests/test_setutils.py tests/test_tableutils.py",
        source="boltons/NAME.py", uses="from boltons.NAME import NAME", tests="tests/test_setutils.py",
        left="list(IndexedSet('aba'))", right="['a', 'b']", old_test="test_indexed_set_basic",
    ),
    "itsdangerous": Repository(
        case="itsdangerous-6c58e969", language="pytest", check="PYTHONPATH=src python3 -m pytest -q tests",
        source="src/itsdangerous/NAME.py", uses="from itsdangerous.NAME import NAME", tests="tests/test_itsdangerous/test_NAME.py",
        old_tests="tests/test_itsdangerous/test_encoding.py",
        imports="from itsdangerous.encoding import base64_encode", left="base64_encode(b'a')", right="b'YQ'",
        old_test="test_base64_bad",
    ),
    "tenacity": Repository(
        case="tenacity-012dc0d7", language="unittest", check="python3 -m unittest tests.test_after",
        source="tenacity/NAME.py", uses="from tenacity.NAME import NAME", tests="tests/test_after.py",
        left="_utils.to_ordinal(2)", right="'2nd'", old_test="test_01_default",
    ),
    "qs": Repository(
        case="qs-6744d305", language="tape", check="npx --no-install tape test/utils.js",
        source="lib/NAME.js", uses="require('../lib/NAME')", tests="test/utils.js",
        left="utils.merge({ a: 'b' }, { a: 'c' })", right="{ a: ['b', 'c'] }", old_test="merge()",
    ),
    "camelcase": Repository(
        case="camelcase-2f1e273f", language="ava", check="npx --no-install ava test.js",
        source="NAME.js", uses="./NAME.js", tests="test.js", left="camelCase('foo-bar')", right="'fooBar'", old_test="camelCase",
    ),
}  # fmt: skip
"""Python with pytest, with tests in one known file or in a folder; Python with unittest; JavaScript with tape and with ava."""


def more(path: Path) -> dict[str, Repository]:
    """Return the repositories that a JSON file describes, by name."""
    return {name: Repository(**entry) for name, entry in json.loads(path.read_bytes()).items()}
