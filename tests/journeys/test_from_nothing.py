"""A repository with nothing to go by: no commit at all."""

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
