"""Repositories with nothing to go by: no commit at all, a bare README, and a document without any check."""

from pathlib import Path

from tests.journeys.person import MERGED, Person, branch_of, shared

GREETER = """\
# Greeter

A small command that greets people.

## User stories

### US-1: Greet by name

As a visitor, I want to be greeted by name.

- [ ] `greet.py Ann` prints "Hello, Ann!"

### US-2: Greet nobody in particular

- [ ] `greet.py` prints "Hello!"
"""
TESTS = """\
import subprocess, sys, unittest


class Greet(unittest.TestCase):
    def say(self, *words):
        return subprocess.run([sys.executable, "greet.py", *words], capture_output=True, text=True, check=True).stdout

    def test_ann(self):
        self.assertEqual(self.say("Ann"), "Hello, Ann!\\n")
"""
BY_NAME = {"greet.py": 'import sys\n\nprint(f"Hello, {sys.argv[1]}!")\n', "test_greet.py": TESTS}
NOBODY = {
    "greet.py": 'import sys\n\nprint(f"Hello, {sys.argv[1]}!" if sys.argv[1:] else "Hello!")\n',
    "test_nobody.py": TESTS.replace("test_ann", "test_nobody").replace('"Ann"', "").replace("Hello, Ann!", "Hello!"),
}
WORDS = """\
# Words

Writers want small helpers for their words.

## User stories

### Count words

As a writer I want to know how many words a text has, so that I keep to my limit.

- An empty text has no words

### Capitalise titles

As a writer I want titles with capital letters.

- `title_of("a day")` is "A Day"
"""
CODE = "def shout(word):\n    return word.upper()\n"
COUNTS = f"{CODE}\n\ndef count(text):\n    return len(text.split())\n"
TITLES = f"{COUNTS}\n\ndef title_of(text):\n    return text.title()\n"


def unit(module: str, line: str) -> str:
    return f"import unittest\n\nfrom words import {module}\n\n\nclass Words(unittest.TestCase):\n    def test_it(self):\n        {line}\n"


def test_a_repository_without_a_commit(tmp_path: Path) -> None:
    ann = Person(tmp_path)
    ann.clones(shared(tmp_path, "greeter", {}))
    ann.installs("worker", {"Greet by name": BY_NAME, "Greet nobody in particular": NOBODY})
    ann.writes({"docs/prd.md": GREETER})

    assert 'next: santiago run docs/prd.md --verify "CMD"\n' in ann.types("santiago plan docs/prd.md")
    refused = ann.types("santiago run docs/prd.md --agent worker --verify 'python3 -m unittest discover'", code=30)
    assert "there is no commit yet\n" in refused
    assert 'fix: Commit what is there: `git add -A && git commit -m "Start"`.' in refused

    ann.types('git add -A && git commit -q -m "Start"')
    found = ann.types("santiago init --verify 'python3 -m unittest discover'")
    assert "runs, and finds no test yet" in found
    assert "note: there are no tests yet: each story brings its own" in found
    ann.types('git add santiago.toml && git commit -q -m "Set santiago up"')

    ran = ann.types("santiago run docs/prd.md --agent worker")
    assert (
        "base     `python3 -m unittest discover` finds no test yet; each story has to bring tests of its own\n" in ran
    )
    assert ran.count("own_tests)") == 2
    ann.types(f"git merge -q {branch_of(ran)} && git push -q origin HEAD")
    assert ann.types("python3 greet.py Ann") == "Hello, Ann!\n"
    assert MERGED in ann.types("santiago status")


def test_a_document_without_checks_whose_tests_are_written_first(tmp_path: Path) -> None:
    """There is code, and no test of it; one agent writes the tests, another one the work."""
    ann = Person(tmp_path)
    ann.clones(shared(tmp_path, "words", {"words.py": CODE, "docs/prd.md": WORDS}))
    writer = {
        "Count words": {"test_count.py": unit("count", "self.assertEqual(count(''), 0)")},
        "Capitalise titles": {"test_titles.py": unit("title_of", "self.assertEqual(title_of('a day'), 'A Day')")},
    }
    ann.installs("writer", writer)
    ann.installs("worker", {"Count words": {"words.py": COUNTS}, "Capitalise titles": {"words.py": TITLES}})

    planned = ann.types("santiago plan docs/prd.md")
    assert "no story has a check, and a story without a check is never done" in planned
    assert "next: santiago run docs/prd.md --verify 'python3 -m unittest discover' --yes\n" in planned
    assert "--tests-first has them written before the work" in ann.types("santiago init")
    ann.types("git add santiago.toml && git commit -q -m 'Set santiago up'")

    ran = ann.types("santiago run docs/prd.md --agent worker --tests-first writer --yes")
    assert "note: the tests of each story are written first, by writer\n" in ran
    assert ran.count("they fail without the work: ") == 2
    assert ran.count("2 attempts") == ran.count(", proved)") == 2
    assert "no named test shows these criteria: S1#1, S2#1\n" in ran
    ann.types(f"git merge -q {branch_of(ran)}")
    assert "Ran 2 tests" in ann.types("python3 -m unittest discover")
    assert MERGED in ann.types("santiago status")
