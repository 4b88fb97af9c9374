"""A small repository with one story, and a model that gets it wrong until it reads in its prompt what was wrong."""

from pathlib import Path

from tests.agents.script import Acts, Edit, Plan, Read, Say, Shell, Write
from tests.cli.greeter import git

PRD = """\
# PRD: Greeter

### R1: Greet by name

**Files:** `greet.py`

- [ ] `greet("Ann")` returns `Hello, Ann!`

**Verification:** `python3 -m unittest`
"""

CODE = """\
def greet(name):
    return ""
"""

WRONG = '    return "Hello!"\n'

RIGHT = """\
def greet(name):
    return f"Hello, {name}!"
"""

TEST = """\
import unittest

from greet import greet


class Greeting(unittest.TestCase):
    def test_by_name(self):
        self.assertEqual(greet("Ann"), "Hello, Ann!")
"""

CRITIQUE = "What was wrong with earlier attempts"
"""Stands in the prompt of every attempt after a failed one."""
SAID = "AssertionError: 'Hello!' != 'Hello, Ann!'"
"""What the failing check prints; only who was shown it can know how to repair the work."""


REPAIRS: Acts = (
    Plan((("Read the critique", "completed"), ("Repair greet.py", "in_progress"))),
    Read("greet.py"),
    Write("greet.py", RIGHT),
    Shell("env; python3 -B -m unittest"),  # prints the agent's own key, too
    Say("Repaired."),
)


def plays(prompt: str) -> Acts:
    """Leave a half-done story, and repair it where the prompt shows what the check said."""
    if CRITIQUE in prompt and SAID in prompt:
        return REPAIRS
    return [Read("greet.py"), Edit("greet.py", '    return ""\n', WRONG), Say("Done, all tests pass.")]


def make(folder: Path, **limits: float) -> Path:
    """Make the repository."""
    folder.mkdir(parents=True)
    (folder / "prd.md").write_text(PRD)
    (folder / "greet.py").write_text(CODE)
    (folder / "test_greet.py").write_text(TEST)
    if limits:
        lines = "".join(f"{name} = {value}\n" for name, value in limits.items())
        (folder / "santiago.toml").write_text(f"[limits]\n{lines}")
    git(folder, "init", "-q", "-b", "main", ".")
    git(folder, "config", "user.name", "Ann")
    git(folder, "config", "user.email", "ann@example.org")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Start")
    return folder
