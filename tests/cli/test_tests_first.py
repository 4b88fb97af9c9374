"""`--tests-first`, with real programs: a document without a single command reaches `proved`, and nobody cheats."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli import greeter

PRD = """\
# PRD: Greeter
### R1: Say hello
**Files:** `greet.py`

- [ ] `greet("Ann")` returns "Hello, Ann!"
- [ ] `greet("")` returns "Hello!"
"""
OLD_TEST = """\
import unittest
from numbers_ import two

class Old(unittest.TestCase):
    def test_two(self):
        self.assertEqual(two(), 2)
"""
TESTS = """\
import unittest
from greet import greet

class Greeting(unittest.TestCase):
    def test_name(self):
        self.assertEqual(greet("Ann"), "Hello, Ann!")

    def test_nobody(self):
        self.assertEqual(greet(""), "Hello!")
"""
WORK = 'def greet(name):\n    return f"Hello, {name}!" if name else "Hello!"\n'
HALF = 'def greet(name):\n    return f"Hello, {name}!"\n'
CHECK = "python3 -m unittest -q"
LIMITS = "[limits]\nstory_max_attempts = 3\n"
FLAGS = ("--verify", CHECK, "--sandbox", "off", "--tests-first")
GOOD_TESTS = {"write": {"tests/test_greet.py": TESTS}, "evidence": {"R1#1": "test_greet.Greeting.test_name"}}
WRITER = f"""\
import os, pathlib, sys
prompt = sys.stdin.read()
assert "write its tests" in prompt and "tests/test_two.py" in prompt, prompt
pathlib.Path("tests/test_greet.py").write_text({TESTS!r})
pathlib.Path("greet.py").write_text("def greet(name):\\n    return 'cheat'\\n")
pathlib.Path(os.environ["SANTIAGO_EVIDENCE"]).write_text('{{"R1#1": "tests.test_greet.Greeting.test_name"}}')
"""
WORKER = f"""\
import pathlib, sys
prompt = sys.stdin.read()
assert "stand already" in prompt and "- `tests/test_greet.py`" in prompt, prompt
assert not pathlib.Path("greet.py").exists()
pathlib.Path("greet.py").write_text({WORK!r})
"""
NONE = {
    "no test at all": {"greet.py": WORK},
    "no python": {"tests/test_greet.py": "import no such thing\n"},
    "an old test emptied": {"tests/test_greet.py": TESTS, "tests/test_two.py": "import unittest\n"},
}
WEAK = TESTS.replace('"Hello, Ann!"', 'greet("Ann")').replace('"Hello!"', 'greet("")')
EASED: dict[str, Any] = {
    "weakened": {"write": {"greet.py": HALF, "tests/test_greet.py": WEAK}},
    "not loaded": {
        "write": {"greet.py": HALF, "tests/__init__.py": "def load_tests(loader, tests, pattern):\n    return tests\n"}
    },
    "an old test deleted": {"write": {"greet.py": WORK}, "delete": ["tests/test_two.py"]},
    "deleted once they pass": {"write": {"greet.py": WORK}, "delete": ["tests/test_greet.py"]},
}


class World:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        files = {"prd.md": PRD, "numbers_.py": "def two():\n    return 2\n", "santiago.toml": LIMITS}
        tests = {"tests/__init__.py": "", "tests/test_two.py": OLD_TEST}
        self.repo = greeter.committed(folder / "repo", files | tests)

    def play(self, tests: Any, stories: Any, *flags: str) -> subprocess.CompletedProcess[str]:
        """Run with the scripted agent: what it does in the attempts that write tests, and in the others."""
        self.plays(tests, stories)
        return self.run(*flags, "--playbook", str(self.folder / "play.yaml"))

    def plays(self, tests: Any, stories: Any) -> None:
        (self.folder / "play.yaml").write_text(json.dumps({"tests": {"R1": tests}, "stories": {"R1": stories}}))

    def run(self, *flags: str) -> subprocess.CompletedProcess[str]:
        return self.santiago("run", "prd.md", *FLAGS, *flags)

    def santiago(self, *words: str) -> subprocess.CompletedProcess[str]:
        return greeter.says(self.repo, *words)

    def program(self, name: str, text: str) -> str:
        """Return the command line of an agent that is a small program."""
        (self.folder / name).write_text(text)
        return f"python3 {self.folder / name}"

    def file(self, attempt: int, name: str) -> str:
        return (greeter.out_dir(self.repo) / "attempts" / "S1" / str(attempt) / name).read_text()

    def record(self, attempt: int) -> Any:
        return json.loads(self.file(attempt, "verification.json"))

    def branch(self, *arguments: str) -> str:
        return greeter.git(self.repo, *arguments, f"santiago/{greeter.out_dir(self.repo).name}")

    @property
    def untouched(self) -> bool:
        return self.branch("rev-parse") == greeter.git(self.repo, "rev-parse", "main")


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_a_document_without_commands_reaches_proved(world: World) -> None:
    ended = world.play([GOOD_TESTS], [{"write": {"greet.py": HALF}}, {"write": {"greet.py": WORK}}])
    assert ended.returncode == 0, ended.stderr
    assert "the tests of each story are written first, by scripted" in ended.stderr
    assert "(attempt 1 of 3, writing its tests)" in ended.stderr
    assert "tests    S1: they fail without the work: tests.test_greet" in ended.stderr
    assert "retry    S1 attempt 2: story_verification_failed" in ended.stderr
    assert "(3 attempts," in ended.stderr
    assert "proved)" in ended.stderr
    # Tests and work come onto the branch in one commit.
    assert world.branch("log", "--format=%s").splitlines()[:2] == ["S1: Say hello", "Start"]
    assert world.branch("diff", "--name-only", "main").split() == ["greet.py", "tests/test_greet.py"]
    shown = greeter.looks(world.repo, "show", "S1", "--attempt", "1").stdout
    assert "wrote its tests" in shown
    assert "its tests, which fail without the work: tests.test_greet" in shown
    assert greeter.looks(world.repo, "audit").returncode == 0
    # The evidence of the tests counts where the work names none.
    rows = {row["id"]: row for row in world.record(3)["criteria"]}
    assert rows["R1#1"]["test"].endswith("test_greet.Greeting.test_name")
    assert (rows["R1#1"]["before"], rows["R1#1"]["after"]) == ("failed", "passed")
    assert rows["R1#2"]["test"] == ""


def test_another_agent_writes_the_tests_and_its_source_is_left_out(world: World) -> None:
    writer, worker = world.program("writer.py", WRITER), world.program("worker.py", WORKER)
    ended = world.run(writer, "--agent", worker)
    assert ended.returncode == 0, ended.stderr
    assert "left out, since only tests are written now: greet.py" in ended.stderr
    assert f"agent     {writer}" in greeter.looks(world.repo, "show", "S1", "--attempt", "1").stdout
    assert "(2 attempts," in ended.stderr
    assert "proved)" in ended.stderr
    assert world.record(2)["criteria"][0]["after"] == "passed"


def test_vacuous_tests_are_refused(world: World) -> None:
    vacuous = {
        "write": {"tests/test_greet.py": "import unittest\nclass T(unittest.TestCase):\n    def test_it(self): pass\n"}
    }
    ended = world.play([vacuous, GOOD_TESTS], [{"write": {"greet.py": WORK}}])
    assert ended.returncode == 0, ended.stderr
    assert "nothing_verified: The tests pass already without the work, so they show nothing" in ended.stderr
    assert "pass already without the work, so they show nothing" in world.file(1, "critique.md")
    assert "pass already without the work" in world.file(2, "prompt.md")
    assert "pass already without the work" not in world.file(3, "prompt.md")
    assert "(3 attempts," in ended.stderr


@pytest.mark.parametrize("case", NONE)
def test_tests_that_are_none_never_get_as_far_as_the_work(world: World, case: str) -> None:
    """The second refusal of the same kind asks a person, whose answer the next attempt hears."""
    ended = world.play([{"write": NONE[case]}], [{"write": {"greet.py": WORK}}])
    assert (ended.returncode, ended.stderr.count("writing its tests"), world.untouched) == (10, 2, True), ended.stderr
    if case == "no python":
        assert '`santiago answer S1-2 "YOUR ANSWER"` goes into the next attempt' in " ".join(ended.stderr.split())
        world.santiago("answer", "S1-2", "Call greet, please")
        assert world.santiago("resume", "--sandbox", "off").returncode == 10
        assert ("Call greet, please" in world.file(3, "prompt.md"), world.untouched) == (True, True)


@pytest.mark.parametrize("work", EASED)
def test_work_that_eases_its_tests_does_not_get_through(world: World, work: str) -> None:
    ended = world.play([GOOD_TESTS], [EASED[work]], "--max-attempts", "2")
    assert (ended.returncode in (10, 30), world.untouched) == (True, True), ended.stderr


def test_a_run_keeps_writing_tests_first_and_a_later_start_may_begin_with_it(world: World) -> None:
    assert world.play([{}], [{"write": {"greet.py": WORK}}], "--max-attempts", "1").returncode == 30
    world.plays([GOOD_TESTS], [{"write": {"greet.py": WORK}}])
    ended = world.santiago("resume", "--add-attempts", "3", "--sandbox", "off")
    assert ended.returncode == 0, ended.stderr
    assert "(attempt 2 of 4, writing its tests)" in ended.stderr
    assert "proved)" in ended.stderr


def test_tests_that_were_written_first_judge_a_persons_work_only_where_it_brings_them(world: World) -> None:
    assert world.play([GOOD_TESTS], [{"write": {"greet.py": HALF}}], "--max-attempts", "2").returncode in (10, 30)
    greeter.git(world.repo, "checkout", "-q", "-b", "mine")
    (world.repo / "greet.py").write_text(WORK)
    greeter.git(world.repo, "add", "-A")
    greeter.git(world.repo, "commit", "-q", "-m", "My own work")
    ended = world.santiago("verify", "S1", "--from", "mine~1")
    found = re.search(r"judge your own work only if it contains them:\s+`git cherry-pick (\w+)`", ended.stderr)
    assert found, ended.stderr
    greeter.git(world.repo, "cherry-pick", found[1])
    ended = world.santiago("verify", "S1", "--from", "mine")
    assert ended.returncode == 0, ended.stderr
    assert "own_tests" in ended.stderr


def test_an_agent_that_is_not_there_is_refused_before_anything_begins(world: World) -> None:
    ended = world.run("no-such-agent", "--agent", world.program("worker.py", WORKER))
    assert ended.returncode == 2
    assert "no-such-agent" in ended.stderr
    assert not list((world.repo / ".santiago" / "runs").glob("*/progress.ndjson"))
