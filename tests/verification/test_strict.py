"""Strict tests refuse what only seems to be right, in so many words, and pass with honest work (promise 2)."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from santiago.verification.provoking import provoke

if TYPE_CHECKING:
    from pathlib import Path

HONEST = {
    "infinity": (
        "def f(): return float('inf')",
        "self.assertEqual(work.f(), float('inf')); assert work.f() == float('inf')",
    ),
    "large floats": ("def f(): return 1e23", "self.assertEqual(work.f(), 1e23)"),
    "fractions": (
        "from fractions import Fraction as F\ndef f(): return F(10**23)",
        "self.assertEqual(work.f(), 10**23)",
    ),
    "expressions": (
        "class X:\n    def __eq__(self, o): return [self]\n    __hash__ = None\ndef f(): return X()",
        "self.assertTrue(work.f() == 1)",
    ),
    "unequal": (
        "class V:\n    def __init__(self, v): self.v = v\n    def __eq__(self, o): return self.v == o.v\ndef f(): return V(1)",
        "assert work.f() != work.V(2); assert not work.f() != work.V(1); assert float('nan') != float('nan')",
    ),
    "mocks within": (
        "def f(): return {'a': [1, 'x']}",
        "from unittest import mock; self.assertEqual(work.f(), {'a': [mock.ANY, 'x']})",
    ),
    "an assertion of the test's own": (
        "def f(): return 3",
        "own = self.assertEqual; type(self).assertEqual = lambda s, *a: own(*a); self.assertEqual(work.f(), 3)",
    ),
    "mocks": ("def f(): return 1", "from unittest import mock; self.assertEqual(work.f(), mock.ANY)"),
    "replaced by the test": (
        "def f(): return g()\ndef g(): return 1",
        "seen = []; work.g = lambda: 2; self.assertEqual(work.f(), 2); work.g = seen.copy; self.assertEqual(work.f(), [])",
    ),
    "objects made of values": (
        "from dataclasses import dataclass, field\n@dataclass\nclass M:\n    a: int\n    b: str = field(default='', compare=False)\ndef f(): return M(1)",
        "self.assertEqual(work.f(), work.M(1, 'x')); assert [work.M(1, 'y')] == [work.f()]",
    ),
    "lists with a length": (
        "class L(list):\n    def __len__(self): return super().__len__()\ndef f(): return L([1])",
        "self.assertEqual(len(work.f()), 1)",
    ),
    "another function of the library": (
        "import json, warnings\ndef shown(*values): pass\nwarnings.showwarning = shown\ndef f(): return json.loads('1')",
        "import json, warnings; warnings.warn('x'); self.assertEqual(json.loads('1'), work.f())",
    ),
    "faster by another module": (
        "def f(): return 1\ntry:\n    from fast import f\nexcept ImportError:\n    pass",
        "self.assertIn(work.f(), (1, 2))",
    ),
}
LYING = {
    "is neither equal nor unequal": (
        "class X(str):\n    def __ne__(self, o): return False\n    __eq__, __hash__ = str.__eq__, str.__hash__\ndef f(): return X('a')",
        "if work.f() != 'b': self.fail()",
    ),
    "equals anything ": (
        "class X:\n    def __eq__(self, o): return True\ndef f(): return {'a': [X()]}", "self.assertEqual(work.f(), {'a': [1]})",
    ),
    "assertEqual was replaced by another": (
        "from unittest import TestCase as T\nwas = T.assertEqual\ndef tame(s, a, b): return a == 3 or was(s, a, b)\nT.assertEqual = tame\ndef f(): return 3",
        "self.assertEqual(work.f(), 1)",
    ),
    "equals anything": ("class X:\n    def __eq__(self, o): return True\ndef f(): return X()", "self.assertEqual(work.f(), 1)"),
    "equals other values, too": (
        "class X(int):\n    def __eq__(self, o): return isinstance(o, int)\ndef f(): return X()",
        "assert work.f() == 1",
    ),
    "is near to anything": (
        "class X:\n    def __sub__(self, o): return 0.0\ndef f(): return X()",
        "self.assertAlmostEqual(work.f(), 1)",
    ),
    "equals whatever it is made of": (
        "class M:\n    def __new__(cls, *more): return vars(cls).get('one') or object.__new__(cls)\nM.one = M()\ndef f(): return M()",
        "self.assertEqual(work.f(), work.M(1, 'x'))",
    ),
    "has another length than it holds": (
        "class L(list):\n    def __len__(self): return 2\ndef f(): return L()",
        "self.assertEqual(len(work.f()), 2)",
    ),
    "loads was replaced by another": (
        "import json\njson.loads = lambda text: []\ndef f(): return []",
        "import json; self.assertEqual(work.f(), json.loads('[1]'))",
    ),
    "holds anything": (
        "class X:\n    def __contains__(self, o): return True\ndef f(): return X()",
        "assert 1 in work.f()",
    ),
    "isclose was replaced by another": (
        "import math\ndef near(*values): return True\nmath.isclose = near\ndef f(): return 2",
        "import math; assert math.isclose(work.f(), 1)",
    ),
    "abs was replaced by another": (
        "import builtins\nbuiltins.abs = lambda one: 1\ndef f(): return 7",
        "self.assertEqual(abs(work.f()), 1)",
    ),
}  # fmt: skip


def _run(folder: Path, work: str, line: str) -> tuple[str, subprocess.CompletedProcess[str]]:
    (folder / "work.py").write_text(work + "\n")
    (folder / "fast.py").write_text("def f(): return 2\n")
    (folder / "test_it.py").write_text(
        f"import unittest\nimport work\nclass T(unittest.TestCase):\n    def test_it(self):\n        {line}\n"
    )
    command = [sys.executable, "-m", "unittest", "-q", "test_it"]
    assert subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0, "it passes as it is"
    word, _ = provoke.harden(str(folder), ["test_it.py"], (), (), ["work.py"])
    return word, subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", HONEST)
def test_honest_work_passes_under_strict_tests(name: str, tmp_path: Path) -> None:
    word, ran = _run(tmp_path, *HONEST[name])
    assert word
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("words", LYING)
def test_work_that_only_seems_right_is_refused_in_so_many_words(words: str, tmp_path: Path) -> None:
    word, ran = _run(tmp_path, *LYING[words])
    assert ran.returncode != 0
    assert f"AssertionError: {word}: {words.strip()}" in ran.stderr
