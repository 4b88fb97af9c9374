"""Doubts: what makes santiago look twice, however it is spelled, and what does not."""

from __future__ import annotations

import pytest

from santiago.verification.provoking.doubts import added, doubts

TESTS = '''"""Tests."""
from __future__ import annotations
import unittest
from calc import add


class TestAdd(unittest.TestCase):
    def test_it(self):
        self.assertEqual(add(2, 3), 5)
        assert add(1, 1) == 2
'''
HONEST = "def add(a, b):\n    return a + b\n"
FOOLS = "class Sum:\n    def __eq__(self, other): return True\ndef add(a, b): return Sum()\n"
LEAVES = "import os\nprint('Ran 1 test in 0.001s\\n\\nOK', flush=True)\nos._exit(0)\n"


def patch_of(path: str, text: str) -> str:
    lines = text.splitlines()
    head = (
        f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{len(lines)} @@\n"
    )
    return head + "".join(f"+{line}\n" for line in lines)


def kinds(path: str, text: str) -> set[str]:
    return {kind for doubt in doubts(patch_of(path, text)) for kind in doubt.kinds}


@pytest.mark.parametrize(
    ("path", "text", "wanted"),
    [
        ("calc.py", HONEST, set()),
        ("calc.py", LEAVES, {"reaches", "ends"}),
        ("calc.py", "import unittest\n", {"reaches"}),
        ("settings.py", "import sys\nTESTING = 'pytest' in sys.modules\n", {"reaches"}),
        ("settings.py", "import sys as s\nTESTING = 'pytest' in s.modules\n", {"reaches", "knows"}),
        ("benchmarks/slug.py", "import pytest\n", {"reaches"}),
        ("fakes.py", "from unittest.mock import Mock\n", {"reaches"}),
        ("fakes.py", "from unittest import mock\n", {"reaches"}),
        ("calc.py", "from unittest import mock, TestCase\n", {"reaches"}),
        ("router.py", '"""For the mock server."""\nclass Method(Enum):\n    ANY = 1\n', {"equals"}),
        ("log.py", "KINDS = ('dev', 'test')\nF = sys._getframe(1).f_code\n", {"reaches"}),
        ("calc.py", "X = 'test' in sys._getframe(1).f_code.co_filename\n", {"reaches", "asks", "knows"}),
        ("calc.py", "X = sys._getframe(1).f_code.co_name.startswith('test')\n", {"reaches", "knows"}),
        ("calc.py", "WORD = 'test_calc'\nX = sys._getframe(1)\n", {"reaches", "knows"}),
        ("calc.py", "from unittest.mock import (\n    ANY,\n)\n", {"reaches", "equals", "knows"}),
        ("calc.py", FOOLS, {"equals"}),
        ("calc.py", "import os\nX = os.environ['X']\n", {"asks"}),
        ("tests/test_new.py", TESTS, set()),
        ("tests/test_new.py", "import calc\ncalc.add = max\n", {"patches"}),
        ("tests/__init__.py", "import unittest\n", {"reaches"}),
        ("notes.md", "import unittest, os; os._exit(0)", set()),
        ("calc.py", "import json, os, sys\nX = re.compile('a')\n", set()),
        ("calc.py", "import bdb\n", {"reaches"}),
        ("calc.py", "import sys as s\n", {"reaches"}),
        ("calc.py", "S = type('S', (int,), {})\n", {"equals"}),
        ("calc.py", "from test.support import ALWAYS_EQ\n", {"reaches", "equals"}),
        ("calc.py", "HERE = __file__\n", {"asks"}),
        ("calc.py", "X = open('/proc/1/comm')\n", {"asks"}),
        ("calc.py", "X = [f for f in traceback.extract_stack() if 'test_' in f.filename]\n", {"asks"}),
        ("calc.py", "X = '__e' + 'q__'\n", {"equals", "hides"}),
        ("calc.py", "X = '__e' \\\n  'q__'\n", {"equals", "hides"}),
        ("calc.py", "X = '\\x5f_eq__'\n", {"equals", "hides"}),
        ("calc.py", "os._\uff45\uff58\uff49\uff54(0)\n", {"reaches", "ends", "hides"}),
        ("calc.py", "X = 'one and ' + 'two' 'three'\n", set()),
        ("query.py", "X = 'author__' 'address__'\nY = '__' 'city__'\n", set()),
        ("calc.py", f"X = '{'a' * 2000}'\n", {"reaches", "asks", "equals"}),
        ("calc.so", "", {"reaches", "asks", "equals"}),
        ("calc.js", "exports.add = (a, b) => a + b;\n", set()),
        ("calc.js", "require('assert').equal = () => {};\n", {"reaches"}),
        ("calc.js", "const right = process.env['NODE_TEST' + '_CONTEXT'];\n", {"asks", "hides"}),
        ("calc.js", "import test from 'node:test';\n", {"reaches", "knows"}),
        ("test/new.test.js", "require('../calc.js').add = (a, b) => a + b;\n", {"patches"}),
        ("test/calc.test.js", "import test from 'node:test';\nimport assert from 'node:assert';\n", set()),
    ],
)
def test_only_what_could_reach_its_judge_is_doubted(path: str, text: str, wanted: set[str]) -> None:
    assert kinds(path, text) == wanted


@pytest.mark.parametrize(
    "line",
    [
        "calc. add = f", "(calc.add) = f", "[calc.add] = [f]", "calc.add, x = f, 1", "if (x): calc.add = f", "x = 1; calc.add = f",
        "for calc.add in [f]: pass", "with f() as calc.add: pass", "calc.add: object = f", "calc.table['add'] = f", "calc.table.update(add=f)",
        "vars(calc).update(add=f)", "calc.__setattr__('add', f)", "sys.path.insert(0, 'x')", "Path('calc.py').write_text('')",
    ],
)  # fmt: skip
def test_a_new_test_that_sets_what_is_not_its_own_is_doubted_however_it_is_written(line: str) -> None:
    assert "patches" in kinds("tests/test_new.py", f"import calc\n{line}\n")


@pytest.mark.parametrize(
    "line",
    [
        "self.value = calc.add(1, 1)", "self.assertEqual(calc.add(a.b, 1), 3, msg='x')", "assert calc.size <= 3 and calc.size != 2",
        "for one in calc.items: pass", "from calc import add as plus", "total = calc.add(x=1)",
    ],
)  # fmt: skip
def test_a_new_test_that_only_asks_is_not_doubted(line: str) -> None:
    assert kinds("tests/test_new.py", f"{line}\n") == set()


def test_lines_that_look_like_a_patch_do_not_hide_what_follows() -> None:
    text = "A = 1\n++ b/innocent.md\nimport os; os._exit(0)\n"
    assert [path for path, _ in added(patch_of("calc.py", text))] == ["calc.py"]
    assert "ends" in kinds("calc.py", text)


def test_a_file_whose_lines_git_does_not_show_is_doubted() -> None:
    patch = "diff --git a/calc.py b/calc.py\nindex 1..2 100644\nBinary files a/calc.py and b/calc.py differ\n"
    assert [doubt.path for doubt in doubts(patch)] == ["calc.py"]
