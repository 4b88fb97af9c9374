"""Making the worlds that the transcripts look at: real runs, each kept as its document, its settings and its out-dir.

`python -m tests.transcripts --record [NAME…]` makes them anew, always at the same place, so that the paths in them stay.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.cli import fakes, greeter, stepwise, words
from tests.cli.santiago import santiago, trusted

WORLDS = Path(__file__).parent / "worlds"
PLACE = Path("/tmp/santiago-worlds")
KEPT = (
    "plan.json",
    "run-input.json",
    "settings.json",
    "progress.ndjson",
    "result.json",
    "attempts/*/*/*",
    "details/*/*",
)
"""What commands that look at a run read of its out-dir; prompts and lists of digests are only for agents and audits."""
NOT_KEPT = ("prompt.md", "files.json", "outcome.json")
APART = """\
# PRD: Apart

### R1: One

Depends on: EXT-7

**Files:** `S1.txt`

- [ ] one

### R2: Two

**Files:** `S2.txt`

- [ ] two
"""
ONCE = "story_max_attempts = 1"
STRENGTHS = """\
# PRD: Numbers

## Phase 1: Small

### R1: One

**Files:** `one.py`

- [ ] one() is 1

### R2: Two

**Files:** `two.py`

- [ ] two() is 2
- [ ] two() is not 3

## Phase 2: Large

### R3: Tidy up

**Files:** `three.py`

- [ ] three() is still 3

### R4: Notes

**Files:** `NOTES.md`

- [ ] the notes say it

### R5: Old

- [x] zero() is 0
"""
TEST = """\
import unittest
from {0} import {0}
class T(unittest.TestCase):
    def test_{0}(self):
        self.assertEqual({0}(), {1})
"""
NUMBERS = f"""\
case "$SANTIAGO_STORY" in
  S1) echo 'def one(): return 1' > one.py; cat > test_one.py <<'END'
{TEST.format("one", 1)}END
      echo '{{"R1#1": "test_one.T.test_one"}}' > "$SANTIAGO_EVIDENCE" ;;
  S2) echo 'def two(): return 2' > two.py; echo '{{"R2#1": "test_zero.T.test_zero"}}' > "$SANTIAGO_EVIDENCE" ;;
  S3) echo 'def three(): return 3' > three.py; echo '{{"no_test": "refactoring"}}' > "$SANTIAGO_EVIDENCE" ;;
  S4) echo 'Notes' > NOTES.md ;;
esac
"""
"""An agent that shows its first story, names an old test for the second, and says that the third needs none."""


def record(name: str) -> None:
    """Make a world, and keep what is looked at."""
    shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir()
    repo = MADE[name](PLACE)
    shutil.rmtree(WORLDS / name, ignore_errors=True)
    out_dir = greeter.out_dir(repo)
    found = [path for pattern in KEPT for path in out_dir.glob(pattern) if not path.name.endswith(NOT_KEPT)]
    for path, kept in [
        *((repo / file, Path(file)) for file in ("prd.md", "santiago.toml") if (repo / file).exists()),
        *((path, "run" / path.relative_to(out_dir)) for path in found),
    ]:
        (WORLDS / name / kept).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, WORLDS / name / kept)
    shutil.rmtree(PLACE)


def load(name: str, folder: Path) -> Path:
    """Put a world into a folder as a repository with this one run, or with none, but without git; return the repository."""
    kept, repo = WORLDS / name, folder / "repo"
    notes = repo / ".git" / "santiago" / "runs"
    notes.mkdir(parents=True)
    for path in filter(Path.is_file, kept.iterdir()):
        shutil.copy(path, repo / path.name.removesuffix(".txt"))  # which hides the tests of a world from pytest
    if (kept / "run").exists():
        run_input = json.loads((kept / "run" / "run-input.json").read_bytes())
        run_id = run_input["run_id"]
        out_dir = shutil.copytree(kept / "run", repo / ".santiago" / "runs" / run_id)
        (out_dir / "run-input.json").write_text(json.dumps({**run_input, "repo_path": str(repo)}))
        note = {"run_id": run_id, "out_dir": f".santiago/runs/{run_id}", "created": "2026-01-01T00:00:00.000Z"}
        (notes / f"{run_id}.json").write_text(json.dumps(note))
    return repo


# The worlds, by name


def _finished(folder: Path) -> Path:
    repo = greeter.make(folder / "repo")
    greeter.carry_out(repo)
    return repo


def _failed(folder: Path) -> Path:
    repo = greeter.make(folder / "repo", greeter.BAD, limits="[limits]\nstory_max_attempts = 2\n")
    greeter.carry_out(repo)
    return repo


def _shell(agent: str, *more: str, limits: str = "", **options: str) -> Callable[[Path], Path]:
    """Return what makes a world in which a shell script was the agent."""

    def make(folder: Path) -> Path:
        repo = words.make(folder)
        words.run(repo, agent, *more, limits=limits, **options)
        return repo

    return make


def _granted(folder: Path) -> Path:
    """A run that failed and was given more of everything; it failed once more."""
    repo = _shell("exit 3\n", limits=ONCE)(folder)
    more = ("--add-attempts", "1", "--add-minutes", "30", "--add-cost", "5", "--add-tokens", "100000")
    santiago("resume", *more, cwd=repo, env=greeter.place(repo))
    return repo


def _external(folder: Path) -> Path:
    repo = greeter.committed(folder / "repo", {"prd.md": APART, "santiago.toml": words.UNFENCED})
    words.run(repo, words.WRITES)
    return repo


def _unproven(folder: Path) -> Path:
    """One story of each strength, and two that no test shows."""
    files = {"prd.md": STRENGTHS, "zero.py": "def zero(): return 0\n", "test_zero.py": TEST.format("zero", 0)}
    repo = greeter.committed(folder / "repo", {**files, "santiago.toml": words.UNFENCED})
    words.run(repo, NUMBERS, "--trust-ticks", check="python3 -m unittest discover -q")
    return repo


def _taken(folder: Path) -> Path:
    repo = _unproven(folder)
    who = {**greeter.place(repo), "SANTIAGO_ACTOR": "ann"}
    santiago("accept", "--unproven", "--why", "I looked at both", cwd=repo, env=who)
    return repo


def _asking(folder: Path) -> Path:
    return stepwise.begin(folder / "repo").parents[2]


def _put_off(folder: Path) -> Path:
    repo = _asking(folder)
    stepwise.answer(greeter.out_dir(repo), "defer")
    return repo


def _halfway(folder: Path) -> Path:
    repo = _asking(folder)
    stepwise.answer_until(greeter.out_dir(repo), "S1.2-result-1")
    return repo


def _own_work(folder: Path) -> Path:
    """A person's own work on the story that failed, which does not pass either."""
    repo = _failed(folder)
    greeter.git(repo, "switch", "-q", "-c", "mine")
    (repo / "hello.txt").write_text("hallo\n")
    greeter.git(repo, "add", "-A")
    greeter.git(repo, "commit", "-q", "-m", "Mine")
    greeter.git(repo, "switch", "-q", "main")
    told = santiago("verify", "S1", "--from", "mine", cwd=repo, env=greeter.place(repo))
    assert told.returncode == 30, told.stderr
    return repo


def _stopped(folder: Path) -> Path:
    """Ann asks it to stop while the first agent works; what that agent had done is kept."""
    repo = words.make(folder)
    agent, begun, go = folder / "agent.sh", folder / "begun", folder / "go"
    os.mkfifo(begun)
    agent.write_text(f"echo > {begun}; until test -e {go}; do sleep 0.05; done; {words.WRITES}")
    arguments = ("run", "prd.md", "--agent", f"sh {agent}", "--verify", words.THERE, "--sandbox", "off")
    with subprocess.Popen(
        [sys.executable, "-m", "santiago", *trusted(*arguments)],
        cwd=repo, env={**os.environ, **greeter.place(repo)}, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        begun.read_text()
        santiago("stop", cwd=repo, env={**greeter.place(repo), "SANTIAGO_ACTOR": "ann"})
        assert process.stderr is not None
        next(line for line in process.stderr if " stopping " in line)
        go.touch()
        process.stderr.read()
    return repo


def _claude(folder: Path, *turns: list[fakes.Step], settings: str = "", prd: str = fakes.PRD) -> Path:
    place = fakes.Place(folder, settings, prd)
    place.sign_in()
    place.install("claude", *turns)
    place.run()
    return place.repo


def _accounts(folder: Path) -> Path:
    """Three stories with accounts of their own; the first agent used thirty tools, the second does not say what it used."""
    many = [fakes.uses("Bash", command=f"echo {number}") for number in range(30)]
    hello = [
        fakes.begins(),
        *many,
        fakes.plans(("Look", "completed"), ("Test", "pending")),
        fakes.writes("hello.txt", "hello\n"),
    ]
    bye = [fakes.begins(), fakes.writes("bye.txt", "goodbye\n"), fakes.ends(tokens=None, cost=None)]
    both = [fakes.begins(), fakes.writes("both.txt", "both\n"), fakes.ends(tokens=600, cost=0.01)]
    return _claude(folder, [*hello, fakes.ends()], bye, both, prd=greeter.PRD)


def _unknown_usage(folder: Path) -> Path:
    wrong = [fakes.begins(), fakes.writes("hello.txt", "helo\n"), fakes.ends(tokens=None, cost=None)]
    return _claude(folder, wrong, settings="[limits]\nrun_max_cost_usd = 1.0\n")


MADE: dict[str, Callable[[Path], Path]] = {
    "finished": _finished,
    "failed": _failed,
    "own-work": _own_work,
    "accounts": _accounts,
    "asking": _asking,
    "put-off": _put_off,
    "halfway": _halfway,
    "stopped": _stopped,
    "paused": _shell(words.WRITES, "--only", "S1"),
    "external": _external,
    "unproven": _unproven,
    "taken": _taken,
    "question": _shell("echo 'SANTIAGO_QUESTION: Red or blue?'\n"),
    "unknown-usage": _unknown_usage,
    "exit-code": _shell("echo boom; exit 3\n", limits="story_max_attempts = 2"),
    "granted": _granted,
    "alike": _shell('test "$SANTIAGO_ATTEMPT" = 1 || { echo boom; exit 3; }\n', limits="story_max_attempts = 3"),
    "no-output": _shell("echo x > other.txt\n", limits=ONCE),
    "spent": _shell(words.WRITES, limits="run_max_attempts = 1"),
    "story-late": _shell("exec sleep 30\n", limits="story_timeout_minutes = 0.01\nattempt_timeout_minutes = 0.005"),
    "run-late": _shell("exec sleep 30\n", limits="run_timeout_minutes = 0.01"),
    "late-and-spent": _shell(
        "exec sleep 30\n", limits=f"{ONCE}\nstory_timeout_minutes = 0.005\nattempt_timeout_minutes = 0.005"
    ),
    "unrunnable": _shell(words.WRITES, check="no-such-program --x"),
}
