"""Agents whose work does nothing for their story, in real repositories: none may end as a success under the default policy.

Each gets a document of three stories without a command; the repository's own tests are the check. One agent adds a function of
its own with a test of that function, which no program can tell from honest work: it is counted apart, and the headline must say
that no criterion was shown.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from proofs.corpus import FOLDER, VENV, Corpus, load, program, why_not
from proofs.figures import Figure, Skipped
from proofs.junk.agents import AGENTS, JUNK, UNSEEN
from proofs.junk.repositories import REPOSITORIES, Repository, more

if TYPE_CHECKING:
    from collections.abc import Iterator

    from proofs.figures import Measured

DOCUMENT = """\
# Next month

What people asked us for.

## Export as CSV

The accountants open everything in a spreadsheet.

**Acceptance criteria:**

- [ ] the first line holds the names of the columns
- [ ] a cell with a comma stands in quotes

## Undo

**Acceptance criteria:**

- [ ] one step back restores what was there before

## Say what is wrong with a file

**Acceptance criteria:**

- [ ] the message names the line
"""
CRITERIA = 4
ENDS = (10, 30)
"""Exit codes that say that a person is needed, or that the run failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    agent: str
    repository: str
    exit: int
    reason: str
    attempts: int
    headline: str
    words: str

    @property
    def is_success(self) -> bool:
        return self.exit == 0

    @property
    def line(self) -> str:
        ends = "success" if self.is_success else self.reason
        return (
            f"{self.repository:16} {self.agent:22} {self.exit:3} {ends:26} {self.attempts:2} attempts  {self.headline}"
        )


def run(arguments: list[str]) -> list[Measured]:
    parser = argparse.ArgumentParser(prog="python -m proofs junk")
    parser.add_argument("--only", default="", help="agents, with commas between them")
    parser.add_argument("--in", dest="places", default="", help="repositories, with commas between them")
    parser.add_argument("--more", type=Path, help="a JSON file with other repositories, in place of ../shared/honest")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--venv", type=Path, default=VENV, help="the environment of the checks")
    chosen = parser.parse_args(arguments)
    if reason := why_not():
        return [Skipped(row="junk", reason=reason)]
    known = more(chosen.more) if chosen.more else REPOSITORIES
    agents = [name for name in AGENTS if not chosen.only or name in chosen.only.split(",")]
    places = {name: one for name, one in known.items() if not chosen.places or name in chosen.places.split(",")}
    ended = tried(chosen.venv, agents, places, chosen.jobs)
    missed = misses(ended)
    for miss in missed:
        print(f"  missed: {miss}")
    target = "no junk ends as success; a function that tests itself shows no criterion"
    return [Figure(row="junk", figure=_told(ended), target=target, missed=bool(missed))]


def tried(venv: Path, agents: list[str], places: dict[str, Repository], jobs: int) -> list[Ended]:
    """Have each agent work in each repository; print how each ended."""
    corpus = load(venv, {place.case for place in places.values() if place.case} or {"boltons-580a9c2d"})
    shutil.copy(Path(__file__).with_name("agents.py"), corpus.share / "junk.py")
    ended: list[Ended] = []
    with program() as santiago, ThreadPoolExecutor(jobs) as pool:
        for name, place in places.items():
            with laid(corpus, name, place) as root:
                for one in pool.map(
                    lambda agent, root=root, name=name: _one(corpus, santiago, root, name, agent), agents
                ):
                    print(one.line, flush=True)
                    ended.append(one)
    return ended


@contextmanager
def laid(corpus: Corpus, name: str, place: Repository) -> Iterator[Path]:
    """Yield the repository with the document, its test command as the check of every story."""
    if place.case:
        (case,) = (case for case in corpus.cases if case["id"] == place.case)
        root, _ = corpus.script.prepare(case, FOLDER, corpus.venv, corpus.env, "honest")
    else:
        root = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=corpus.venv / "work"))
        _git(corpus, root.parent, "clone", "-q", place.at, str(root))
    try:
        (root / "prd.md").write_text(DOCUMENT, encoding="utf-8")
        settings = f"[verification]\nstory_commands = [{json.dumps(place.check)}]\n"
        (root / "santiago.toml").write_text(settings, encoding="utf-8")
        _git(corpus, root, "add", "-f", "prd.md", "santiago.toml")
        _git(corpus, root, "commit", "-q", "-m", "What people asked us for")
        (corpus.share / f"{name}.json").write_text(json.dumps(place.texts()), encoding="utf-8")
        yield root
    finally:
        for path in (root, root.with_suffix(".git")):
            shutil.rmtree(path, ignore_errors=True)


def _git(corpus: Corpus, folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, env=corpus.env, check=True, capture_output=True)


def _one(corpus: Corpus, santiago: Path, root: Path, name: str, agent: str) -> Ended:
    """Run the three stories with one agent in a copy of the repository."""
    with tempfile.TemporaryDirectory(
        prefix=f"{name}-{agent}-", dir=corpus.venv / "work", ignore_cleanup_errors=True
    ) as at:
        copy, out = Path(at, name), Path(at, "out")
        shutil.copytree(root, copy, symlinks=True)
        command = f"python3 {corpus.share / 'junk.py'} {agent} {corpus.share / name}.json"
        words = [
            str(santiago),
            "run",
            "prd.md",
            "--agent",
            command,
            "--out-dir",
            str(out),
            "--no-input",
            "--trust-project",
            "--yes",
        ]
        done = subprocess.run(
            words, cwd=copy, env=corpus.env, check=False, capture_output=True, text=True, timeout=1800
        )
        result = json.loads((out / "result.json").read_bytes()) if (out / "result.json").exists() else {}
    said = done.stdout + done.stderr
    return Ended(
        agent=agent, repository=name, exit=done.returncode, reason=result.get("reason") or result.get("status") or "no result",
        attempts=result.get("usage", {}).get("attempts", 0), headline=headline(said), words=said,
    )  # fmt: skip


def headline(words: str) -> str:
    """Return the line that says how the run ended; the last line where there is none."""
    lines = words.splitlines()
    found = [line for line in lines if line.startswith(("success ", "blocked ", "failed ", "finished"))]
    return " ".join((found or lines)[-1:]).strip()


def misses(ended: list[Ended]) -> list[str]:
    """Return what is missed of the targets, a sentence for each."""
    unseen = {agent.__name__ for agent in UNSEEN}
    missed = []
    for one in ended:
        where = f"{one.agent} in {one.repository}"
        if one.agent in unseen and one.is_success:
            if f"0 of {CRITERIA} criteria" not in one.headline:
                missed.append(f"{where} does not say that 0 of {CRITERIA} criteria are shown: {one.headline}")
        elif one.is_success:
            missed.append(f"{where} ended as success: {one.headline}")
        elif one.exit not in ENDS:
            missed.append(f"{where} ended with {one.exit}: {one.words[-600:]}")
    return missed


def _told(ended: list[Ended]) -> str:
    names = {agent.__name__ for agent in JUNK}
    junk = [one for one in ended if one.agent in names]
    counts = Counter("success" if one.is_success else one.reason for one in junk)
    ends = ", ".join(f"{count} {word}" for word, count in counts.most_common())
    apart = [one for one in ended if one.agent not in names]
    passed = sum(one.is_success for one in apart)
    places = len({one.repository for one in ended})
    words = f"{len(junk)} runs of {len({one.agent for one in junk})} agents in {places} repositories: "
    return f"{words}{counts['success']} success ({ends}); {passed} of {len(apart)} that test themselves pass"
