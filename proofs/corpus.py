"""The honest corpus of ../shared/honest under plain git: its cases, their trees, and what each test says on a tree."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import ModuleType

PROJECT = Path(__file__).resolve().parents[1]
FOLDER = PROJECT.parent / "shared" / "honest"
VENV = Path(tempfile.gettempdir(), "honest-venv")
Case = dict[str, Any]

# No byte code and no cache: a file may change twice within a second and keep its size. The plugin of hypothesis takes
# two thirds of a short check's time, and has no say in whether it passes.
PLAIN = {
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTEST_ADDOPTS": "-p no:cacheprovider -p no:hypothesispytest -o junit_family=xunit1",
}
TAP = re.compile(r"^\s*(not )?ok \d+(?: - )?(.*?)( # (?:skip|todo).*)?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    script: ModuleType
    venv: Path
    env: dict[str, str]
    cases: tuple[Case, ...]

    @property
    def share(self) -> Path:
        """What agents can read."""
        return self.venv / "share"


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a check said on a tree; `tests` has a word for each test, in the order in which they ran."""

    code: int
    tests: dict[str, str]

    @property
    def green(self) -> bool:
        return self.code == 0

    def names(self, word: str) -> set[str]:
        return {name for name, said in self.tests.items() if said == word}


def why_not() -> str:
    if not (FOLDER / "run.py").exists():
        return f"the real commits are not there ({FOLDER})"
    return ""


def load(venv: Path = VENV, only: Iterable[str] = (), *, needs: str = "") -> Corpus:
    """Return the corpus with an environment for its checks, which the first call makes."""
    wanted = set(only)
    every: list[Case] = json.loads((FOLDER / "cases.json").read_bytes())
    cases = tuple(c for c in every if (not wanted or c["id"] in wanted) and needs in ("", c["needs"]))
    if unknown := wanted - {case["id"] for case in every}:
        raise SystemExit(f"there is no case {', '.join(sorted(unknown))} in {FOLDER / 'cases.json'}")
    script = _script()
    env: dict[str, str] = script.environment(venv, {case["repo"] for case in cases})
    for name in ("work", "share", "home"):
        (venv / name).mkdir(exist_ok=True)
    (venv / "share" / "agent.py").write_text(script.AGENT)
    return Corpus(script=script, venv=venv, env=env, cases=cases)


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("honest_run", FOLDER / "run.py")
    assert spec
    assert spec.loader
    module, written = importlib.util.module_from_spec(spec), sys.dont_write_bytecode
    sys.dont_write_bytecode = True  # the folder is others' to read
    try:
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = written
    return module


@contextmanager
def program() -> Iterator[Path]:
    """Yield a program that is this project's santiago, and puts nothing of it into the environment."""
    with tempfile.TemporaryDirectory(prefix="santiago-") as folder:
        path = Path(folder, "santiago")
        entry = "from santiago.cli.entry import entry"
        path.write_text(
            f"#!{sys.executable}\nimport sys\n\nsys.path.insert(0, {str(PROJECT / 'src')!r})\n{entry}\n\nentry()\n"
        )
        path.chmod(0o755)
        yield path


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A case's repository with its trees as branches: `before`, `after`, and `tests-first` with the new tests only."""

    case: Case
    root: Path
    env: dict[str, str]

    def git(self, *words: str, stdin: bytes | None = None) -> bytes:
        return subprocess.run(
            ["git", *words], cwd=self.root, env=self.env, input=stdin, check=True, capture_output=True
        ).stdout

    def lay(self, tree: str, over: str = "", files: Iterable[str] = ()) -> None:
        """Make the folder stand as a tree, with some files as they are in another."""
        self.git("checkout", "-q", "-f", "--detach", tree)
        self.git("clean", "-fdq")
        for name in files:
            text = self.read(over, name)
            if text is None:
                (self.root / name).unlink(missing_ok=True)
            else:
                self.write(name, text)

    def read(self, tree: str, name: str) -> bytes | None:
        found = subprocess.run(
            ["git", "cat-file", "blob", f"{tree}:{name}"], cwd=self.root, env=self.env, check=False, capture_output=True
        )
        return found.stdout if found.returncode == 0 else None

    def write(self, name: str, text: bytes | None) -> None:
        path = self.root / name
        if text is None:
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)

    def patch(self, base: str) -> bytes:
        """Return what leads from a tree to what stands in the folder."""
        self.git("add", "-A")
        return self.git("diff", "--cached", "--binary", "--full-index", base)

    def check(self, seconds: int = 120) -> Said:
        """Run the case's own check on what stands in the folder."""
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder, "report.xml")
            env = {**self.env, **PLAIN, "PYTEST_ADDOPTS": f"{PLAIN['PYTEST_ADDOPTS']} --junitxml={report}"}
            tap = " --tap" if " ava" in self.case["check"] else ""
            # npx takes longer to find the program than that takes to run.
            check = self.case["check"].replace("npx --no-install ", "node_modules/.bin/") + tap
            command = ["timeout", str(seconds), "sh", "-c", check]
            done = subprocess.run(command, cwd=self.root, env=env, check=False, capture_output=True)
            if self.case["needs"] == "node":
                return Said(code=done.returncode, tests=_tap(done.stdout.decode(errors="replace"), grouped=not tap))
            return Said(code=done.returncode, tests=_junit(report) if report.exists() else {})


@contextmanager
def place(corpus: Corpus, case: Case) -> Iterator[Place]:
    # The script's own layout, so that what stands here is what it would have santiago judge.
    root, patch = corpus.script.prepare(case, FOLDER, corpus.venv, corpus.env, "honest")
    try:
        made = Place(case=case, root=root, env=corpus.env)
        made.git("branch", "before")
        made.git("apply", "--index", "--binary", "--whitespace=nowarn", str(patch))
        _branch(made, "after")
        made.lay("before", "after", case["tests"])
        _branch(made, "tests-first")
        yield made
    finally:
        for path in (root, root.with_suffix(".git")):
            shutil.rmtree(path, ignore_errors=True)


def _branch(place: Place, name: str) -> None:
    place.git("add", "-A")
    place.git("commit", "-q", "--allow-empty", "-m", "What upstream did")
    place.git("branch", name)


def _junit(report: Path) -> dict[str, str]:
    said: dict[str, str] = {}
    for test in ElementTree.parse(report).iter("testcase"):
        marks = {child.tag for child in test}
        name = f"{test.get('classname')}::{test.get('name')}"
        word = "failed" if marks & {"failure", "error"} else "skipped" if "skipped" in marks else "passed"
        said[name] = "failed" if said.get(name) == "failed" else word
    return said


def _tap(text: str, *, grouped: bool) -> dict[str, str]:
    """Read what tape says per titled group of assertions, or what ava says per test."""
    said: dict[str, str] = {}
    group, ended = "", False
    for line in text.splitlines():
        ended = ended or line.startswith("1..")
        if grouped and line.startswith("# ") and not ended:
            group = line[2:]
            said.setdefault(group.removeprefix("SKIP "), "skipped" if group.startswith("SKIP ") else "passed")
        elif found := TAP.match(line):
            name = group if grouped else found[2]
            said[name] = "failed" if found[1] or said.get(name) == "failed" else "skipped" if found[3] else "passed"
    return said if ended else {}
