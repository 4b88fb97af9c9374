"""What is there for the judges is sealed whatever it is called (b.101); what the work knows, or is itself, is not."""

from __future__ import annotations

import pytest

from tests.verification.test_seal import broken

NODE = b"const test = require('node:test')\nconst { slug } = require('../slug.js')\ntest('words', () => {})\n"
PYTHON = (
    b"import unittest\nfrom slug import slug\n\nCASES = []\n\nclass T(unittest.TestCase):\n    def test_a(self): pass\n"
)
BASE = {
    "slug.js": b"exports.slug = (text) => text\n", "slug.py": b"def slug(text): return text\n", "qa/slugs.js": NODE, "qa/slugs.py": PYTHON,
    "package.json": b'{"scripts": {"test": "node --test qa/slugs.js"}}', "Makefile": b"test:\n\tpytest qa/slugs.py\n",
    "alone.py": b"def slug(text): return text\n\ndef test_slug(): assert slug('a')\n", "qa/app.js": b"require('../slug.js')\n",
    "parts.py": b"from slug import slug\n\ndef test_of(parts): return slug(parts)\n", "main.py": b"from parts import test_of\n",
}  # fmt: skip


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("node --test qa/slugs.js", "qa/slugs.js"), ("node --test qa/", "qa/slugs.js"), ("npm test", "qa/slugs.js"), ("npx mocha 'qa/*.js'", "qa/slugs.js"),
        ("cd qa && node --test slugs.js", "qa/slugs.js"), ("pytest qa/slugs.py::T", "qa/slugs.py"), ("make test", "qa/slugs.py"),
        ("python3 -m unittest qa.slugs.T.test_a", "qa/slugs.py"), ("python3 -m unittest discover -s qa -p '*.py' -t .", "qa/slugs.py"),
        ("python3 -m unittest discover qa 'sl*.py'", "qa/slugs.py"), ("python3 -m unittest discover --start-directory=qa --pattern=*.py", "qa/slugs.py"),
    ],
)  # fmt: skip
def test_a_test_that_a_command_names_is_sealed(command: str, path: str) -> None:
    changed = (BASE[path] + b"\n").replace(b"CASES = []", b"CASES = [1]")
    assert broken({path: changed}, [command], base=BASE) == (path,)
    assert broken({path: changed}, [command], (path,), base=BASE) == ()


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("node --test", "slug.js"), ("node --test qa/", "qa/app.js"), ("pytest --doctest-modules slug.py", "slug.py"), ("pytest alone.py", "alone.py"),
        ("pytest parts.py", "parts.py"), ("python3 -m unittest discover -s . -p '*.py'", "slug.py"), ("pytest other", "qa/slugs.py"),
    ],
)  # fmt: skip
def test_work_that_a_command_names_is_not_sealed(command: str, path: str) -> None:
    assert broken({path: BASE[path] + b"\n\n"}, [command], base=BASE) == ()


CHECK = b'while read -r text want; do\n  [ "$(sh slug.sh "$text")" = "$want" ] || exit 1\ndone < samples.txt\n'
TESTS = b"import unittest, json\nfrom slug import slug\nfrom cases import CASES\n\nPAIRS = json.load(open('data/pairs.json'))\n"
JUDGED = {
    "slug.sh": b"echo todo\n", "slug.py": b"def slug(text): return text\n", "check.sh": CHECK, "samples.txt": b"A a\n", "requirements.txt": b"x\n",
    "tests/test_slug.py": TESTS, "data/pairs.json": b"[[1, 2]]", "cases.py": b'"""Cases."""\nCASES = [("A", "a")]\n',
    "run-checks": b"#!/usr/bin/env python3\nimport configparser\nc = configparser.ConfigParser(); c.read(['checks.ini'])\n",
    "checks.ini": b"[checks]\nunit = python3 -m unittest\n",
    "lint.js": b"const fs = require('fs')\ntry { skip = fs.readFileSync('.lintignore') } catch (e) {}\nprocess.exit(1)\n",
}  # fmt: skip


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("sh check.sh", "samples.txt"), ("python3 run-checks", "checks.ini"), ("python3 -m unittest", "data/pairs.json"), ("python3 -m unittest", "cases.py"),
        ("node lint.js", ".lintignore"),
    ],
)  # fmt: skip
def test_what_only_judges_read_is_sealed(command: str, path: str) -> None:
    assert broken({path: b"CASES = []\n"}, [command], base=JUDGED) == (path,)
    assert broken({path: b"CASES = []\n"}, [command], (path,), base=JUDGED) == ()


@pytest.mark.parametrize(
    ("path", "more"),
    [
        ("samples.txt", {"app.sh": b"grep x samples.txt\n"}), ("data/pairs.json", {"app.py": b"for path in DATA.glob('*.json'): pass\n"}),
        ("data/pairs.json", {"app.py": b"import os\nos.listdir('data')\n"}), ("cases.py", {"app.py": b"import cases\n"}),
        ("cases.py", {"app.py": b"APPS = ['web.cases']\n"}), ("cases.py", {"cases.py": b"def cases(): return []\n"}),
        ("requirements.txt", {"check.sh": b"cat requirements.txt; sh slug.sh\n"}), (".gitignore", {}), ("notes.txt", {}),
        # A judge that looks at nothing but data judges the data.
        ("samples.txt", {"check.sh": b"while read -r x; do [ -n $x ] || exit 1; done < samples.txt\n"}),
        ("data/all.json", {"data/all.json": b"{}", "ci/check.py": b"import rules\nrules.see(open('data/all.json'))\n", "ci/rules.py": b"def see(x): pass\n"}),
    ],
)  # fmt: skip
def test_what_the_work_knows_too_is_not_sealed(path: str, more: dict[str, bytes]) -> None:
    commands = ["sh check.sh", "python3 -m unittest", "python3 ci/check.py"]
    assert broken({path: b"CASES = []\n"}, commands, base=JUDGED | more) == ()
