"""Documents without a command, in a repository that has tests: what an agent shows by tests of its own, and what stays unproven."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli import santiago
from tests.cli.greeter import committed, git, out_dir, says

CHECK = "python3 -m unittest discover -q -s tests -t ."
OLD = "import unittest\n\nimport old\n\n\nclass Old(unittest.TestCase):\n    def test_old(self):\n        self.assertEqual(old.two, 2)\n"
STORY = (
    "### {0}\n\nPeople asked for it.\n\n**Acceptance criteria:**\n\n- {0} says its name\n- {0} says it in capitals\n\n"
)
AGENT = '''\
import json, os, pathlib, re, sys

prompt, story, attempt = sys.stdin.read(), os.environ["SANTIAGO_STORY"].lower(), os.environ["SANTIAGO_ATTEMPT"]
tests = prompt.startswith(f"# Story {story.upper()}, attempt 2: add the test that is missing")
if not tests:
    pathlib.Path(f"{story}.py").write_text(f"name = {story!r}\\ncapitals = {story.upper()!r}\\n")
if tests if story in SLOW else story not in NEVER:
    pathlib.Path(f"tests/test_{story}.py").write_text(f"""\\
import unittest

import {story}


class Said(unittest.TestCase):
    def test_name(self):
        self.assertEqual({story}.name, "{story}")

    def test_capitals(self):
        self.assertEqual({story}.capitals, "{story.upper()}")
""")
    found = re.findall(r"^- (\\S+#\\d+):", prompt, re.MULTILINE)
    named = [f"tests.test_{story}.Said.test_name", f"tests.test_{story}.Said.test_capitals"]
    pathlib.Path(os.environ["SANTIAGO_EVIDENCE"]).write_text(json.dumps(dict(zip(found, named))))
'''


@pytest.fixture(autouse=True)
def _by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the policy as it is for everybody."""
    monkeypatch.setattr(santiago, "UNPROVEN", {})


def ran(folder: Path, document: str, *, slow: str = "", never: str = "", code: int) -> dict[str, Any]:
    """Have the document carried out; some stories get their test only at the second request, some never."""
    files = {
        "prd.md": f"# Next month\n\n{document}",
        "old.py": "two = 2\n",
        "tests/__init__.py": "",
        "tests/test_old.py": OLD,
    }
    repo = committed(folder / "repo", files)
    (folder / "agent.py").write_text(f"SLOW, NEVER = {slow.split()}, {never.split()}\n{AGENT}")
    words = ("--agent", f"python3 {folder}/agent.py", "--verify", CHECK, "--sandbox", "off", "--yes")
    says(repo, "run", "prd.md", *words, code=code)
    return result(repo)


def result(repo: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out_dir(repo) / "result.json").read_bytes())
    return found


def test_an_agent_that_writes_tests_when_asked_again_shows_every_criterion_in_one_more_attempt(tmp_path: Path) -> None:
    found = ran(tmp_path, STORY.format("Hello") + STORY.format("Goodbye"), slow="s1 s2", code=0)
    assert (found["status"], found["usage"]["attempts"]) == ("success", 4)
    assert [(one["proof"], one["attempts"]) for one in found["stories"]] == [("own_tests", 2)] * 2
    rows = [(row["test"], row["before"], row["after"]) for one in found["stories"] for row in one["criteria"]]
    tests = [f"tests.test_{story}.Said.{test}" for story in ("s1", "s2") for test in ("test_name", "test_capitals")]
    assert rows == [(test, "failed", "passed") for test in tests]


def test_an_unproven_story_of_the_first_chunk_keeps_no_other_chunk_from_being_worked_on(tmp_path: Path) -> None:
    """A person's one word later ends the run as a success, and nothing is done again for it."""
    document = "".join(
        f"## Phase {number}: {name}\n\n{STORY.format(name)}"
        for number, name in enumerate(("Hello", "Nice", "Goodbye"), 1)
    )
    found = ran(tmp_path, document, never="s1", code=10)
    repo = tmp_path / "repo"
    assert (found["status"], found["reason"]) == ("blocked", "unproven")
    stories = [(one["status"] == "done", one["proof"], one["attempts"]) for one in found["stories"]]
    assert stories == [(False, "regression", 2), (True, "own_tests", 1), (True, "own_tests", 1)]
    work = git(repo, "diff", "--name-only", "main", found["branch"]).split()
    assert work == ["s1.py", "s2.py", "s3.py", "tests/test_s2.py", "tests/test_s3.py"]
    says(repo, "accept", "--unproven", "--why", "I tried it", code=0)
    after = result(repo)
    assert (after["status"], after["usage"]["attempts"], after["stories"][0]["proof"]) == ("success", 4, "attested")
