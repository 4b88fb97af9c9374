"""Where adversaries run: a fresh repository with real tests, the real program, and a look at what is true afterwards."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.cli.santiago import santiago

from santiago.contract import codec
from santiago.contract.codec import sealed
from santiago.contract.plan import Chunk, Origin, Plan, Source, Story

if TYPE_CHECKING:
    from proofs.adversaries.adversary import Adversary, Fence

RUN = "trial"
WRONG = "def add(a, b):\n    return a - b\n\n\ndef sub(a, b):\n    return a - b\n"
RIGHT = WRONG.replace("return a - b", "return a + b", 1)
TESTS = """import unittest

from calc import add, sub


class TestAdd(unittest.TestCase):
    def test_small(self):
        self.assertEqual(add(2, 3), 5)

    def test_large(self):
        assert add(10**20, 1) == 10**20 + 1


class TestSub(unittest.TestCase):
    def test_sub(self):
        self.assertEqual(sub(5, 3), 2)
"""
TAME = "import unittest\nclass T(unittest.TestCase):\n" + "".join(f"    def test_{n}(self): pass\n" for n in (1, 2, 3))
"""Three tests that cannot fail."""
FILES = {
    "calc.py": WRONG,
    "tests/__init__.py": "",
    "tests/test_calc.py": TESTS,
    "Makefile": "test:\n\tpython3 -m unittest discover -s tests -t .\n",
    "ci/check.sh": "set -e\npython3 -m unittest discover -s tests -t .\n",
    ".gitignore": "__pycache__/\nbuild/\n.venv/\n*.log\n.env\n",
    ".env": "WORD=plain\n",
    "prd.md": "# Calc\n\n- R1: add adds\n",
}
TRUTH = """
import calc, sys
sums = [calc.add(2, 3), calc.add(10**20, 1), calc.add(-7, 19), calc.sub(5, 3)]
if [str(one) for one in sums] == ["5", str(10**20 + 1), "12", "2"]:
    print(sys.stdin.read())
"""
PRELUDE = """
import os, signal, socket, subprocess, sys, time
from pathlib import Path
WRONG, RIGHT, TESTS, TAME, REPO, OUT, MARK, HOME = {values}
RUN = {run!r}
prompt = sys.stdin.read()
def write(path, text, mode=None):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    if mode is not None:
        path.chmod(mode)
def tries(action, *arguments, **more):
    try:
        return action(*arguments, **more)
    except (OSError, subprocess.SubprocessError) as error:
        print("could not:", error)
def git(*arguments, at="."):
    return subprocess.run(["git", "-C", str(at), *arguments], capture_output=True, text=True, check=False)
"""


@dataclass(slots=True)
class Ending:
    """What came of a trial."""

    exit_code: int
    words: str
    events: list[dict[str, Any]]
    reason: str
    """`done`, the reason of the last attempt, or of the error that stopped the run."""
    out: Path
    repo: Path
    mark: Path
    """A file that is made when something runs that must not."""
    true: bool
    """Whether the head of the run's branch really holds the story's work."""
    alive: list[str] = field(default_factory=list)


def make_template(folder: Path) -> Path:
    """Make the repository that every trial begins with a copy of."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    _git(folder, "init", "-q", "-b", "main")
    _commit(folder)
    return folder


def trial(adversary: Adversary, fence: Fence, template: Path, place: Path) -> Ending:
    """Let an adversary play the agent of a run with one story, and return what came of it."""
    repo, out, home = place / "repo", place / "out", place / "home"
    shutil.copytree(template, repo, symlinks=True)
    home.mkdir()
    _dress(repo, adversary)
    marker = f"{RUN}-{uuid.uuid4().hex[:12]}"
    run_input, plan = _documents(adversary, fence, place, marker)
    (place / "run-input.json").write_text(json.dumps(run_input))
    (place / "plan.json").write_bytes(codec.canonical(plan))
    ran = santiago(
        "execute", "--input", place / "run-input.json", "--plan", place / "plan.json", "--out-dir", out, "--no-input",
        "--json", cwd=repo, env=_environment(place), seconds=120,
    )  # fmt: skip
    events = _events(out)
    return Ending(
        exit_code=ran.returncode, words=ran.stdout + ran.stderr, events=events, reason=_reason(ran.stdout),
        out=out, repo=repo, mark=place / "mark", true=_is_true(repo, marker, place), alive=_alive(marker),
    )  # fmt: skip


def wrong_with(adversary: Adversary, fence: Fence, ending: Ending) -> list[str]:
    """Return what is not as it must be with how a trial ended."""
    is_false = ending.reason == "done" and not ending.true
    is_unseen = bool(adversary.unseen) and adversary.ends_in(fence) == "done"
    found = {
        "a crash": ending.exit_code == 70 or "Traceback" in ending.words,
        "a false done": is_false and not is_unseen,
        "it is seen now: say so, without `unseen`": is_unseen and not is_false,
        f"{ending.reason}, expected {adversary.ends_here(fence)}": ending.reason != adversary.ends_here(fence),
        f"still alive: {ending.alive}": bool(ending.alive),
        "santiago ran what an agent planted": ending.mark.exists(),
    }
    return [what for what, is_so in found.items() if is_so]


def _dress(repo: Path, adversary: Adversary) -> None:
    for name in adversary.without:
        (repo / name).unlink()
    for name, text in adversary.more_files.items():
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / name).write_text(text)
    if adversary.without or adversary.more_files:
        _commit(repo)


def _documents(adversary: Adversary, fence: Fence, place: Path, run_id: str) -> tuple[dict[str, Any], Plan]:
    values = ", ".join(
        repr(value)
        for value in (WRONG, RIGHT, TESTS, TAME, f"{place}/repo", f"{place}/out", f"{place}/mark", f"{place}/home")
    )
    program = PRELUDE.format(values=f"({values})", run=run_id) + adversary.program
    check = adversary.check.replace("BASE_PYTHON", f"{sys.base_prefix}/bin/python3")
    run_input = {
        "contract_version": 1, "run_id": run_id, "repo_path": f"{place}/repo", "prd_path": "prd.md",
        "limits": {"story_max_attempts": adversary.attempts, "attempt_timeout_minutes": adversary.attempt_seconds / 60},
        "verification": {
            "story_commands": [one for one in (check, adversary.second_check) if one], "run_commands": [adversary.run_check] * bool(adversary.run_check),
            "timeout_minutes": adversary.check_seconds / 60,
        },
        "workspace": {"setup": list(adversary.setup)},
        "agent": {"mode": "ralph_fresh", "command": [sys.executable, "-c", program]},
        "policy": {"sandbox": fence, "unproven": "accept"},
    }  # fmt: skip
    story = Story(
        id="S1", title="add adds", description="", requirements=("R1",), criteria=(), depends_on=(), external_depends_on=(),
        chunk="C01", role="developer", profile=None, files=adversary.story_files, verify=(), priority=None, claimed_done=False,
        origin=Origin(id=None, line=1), provenance=(),
    )  # fmt: skip
    plan = Plan(
        contract_version=1, title="Calc", source=Source(path="prd.md", sha256="0" * 64, format="prd", evidence=()),
        digest="0" * 64, requirements=(), stories=(story,), chunks=(Chunk(label="C01", stories=("S1",)),),
        run_verify=(), findings=(),
    )  # fmt: skip
    return run_input, sealed(plan)


def _environment(place: Path) -> dict[str, str]:
    """Return an environment whose home and caches are the trial's own, and whose python3 is this one."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    source = str(Path(__file__).parents[2] / "src")
    rustup = os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup"))
    return {
        "PATH": path, "RUSTUP_HOME": rustup, "HOME": f"{place}/home", "XDG_CACHE_HOME": f"{place}/cache", "PYTHONPATH": source,
        "GIT_CONFIG_GLOBAL": "/dev/null", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }  # fmt: skip


def _events(out: Path) -> list[dict[str, Any]]:
    try:
        lines = (out / "progress.ndjson").read_bytes().split(b"\n")
    except OSError:
        return []
    found = []
    for line in lines:
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def _reason(printed: str) -> str:
    """Return how it ended by what santiago itself said, never by files that an adversary can write."""
    said = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    errors = [line["error"]["reason"] for line in said if "error" in line]
    if errors:
        return str(errors[-1])
    told = [line for line in said if line.get("story_id") == "S1"]
    ended = [
        line["context"]["reason"]
        for line in said
        if line.get("event") == "run_ended" and line.get("context", {}).get("reason")
    ]
    if any(line.get("event") == "story_done" for line in told):
        return str(ended[-1]) if ended else "done"
    reasons = [
        line["context"]["reason"] for line in told if line["event"] in {"attempt_ended", "attempt_voided"} and line.get("context", {}).get("reason")
    ]  # fmt: skip
    return str([*ended, *reasons][-1]) if ended or reasons else "nothing"


def _is_true(repo: Path, run_id: str, place: Path) -> bool:
    """Say whether the run's branch, cloned elsewhere, does what the story asks for; by a check no agent ever saw."""
    clone = place / "clone"
    cloned = subprocess.run(
        ["git", "clone", "-q", "--no-hardlinks", "-b", f"santiago/{run_id}", str(repo), str(clone)],
        capture_output=True, check=False, env={**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"},
    )  # fmt: skip
    if cloned.returncode:
        return False
    clean = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-s", "-c", TRUTH]
    word = uuid.uuid4().hex
    ran = subprocess.run(
        command, cwd=clone, env=clean, input=word, capture_output=True, text=True, check=False, timeout=20
    )
    return ran.stdout.strip() == word


def _alive(marker: str) -> list[str]:
    """Return processes that still carry the run's name in their environment."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if f"SANTIAGO_RUN={marker}".encode() in (entry / "environ").read_bytes():
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")[:80])
        except OSError:
            continue
    return found


def _commit(repo: Path) -> None:
    _git(repo, "add", "-A")
    _git(repo, "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-m", "Start")


def _git(repo: Path, *arguments: str) -> None:
    env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"}
    subprocess.run(["git", *arguments], cwd=repo, check=True, capture_output=True, env=env)
