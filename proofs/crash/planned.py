"""A planning session that is killed at its events: nothing is lost, no turn counts twice, and one finalize makes one run."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.crash.world import git, memory_folder
from tests.sessions.drafters import drafter, plan

from proofs.crash.nursery import Nursery, Order, Report, When
from proofs.crash.sweeps import Tally

WHENS: tuple[When, ...] = ("unrecorded", "recorded")
STARTS = 12
"""Commands after which a session must have come through, however often it was killed."""


@dataclass(frozen=True)
class Death:
    """Which of the three commands dies, and at which event; the run's own first event has the number 1 as well."""

    command: int
    at: int
    when: When
    kind: str = ""
    """Only events of this kind count, from the command's beginning."""


class Planned:
    """A repository, two agents, and a person who plans, has it planned on, and finalizes."""

    def __init__(self, nursery: Nursery, top: Path) -> None:
        self.nursery, self.top, self.repo = nursery, top, top / "repo"
        both = (
            ("MERGE", {"write": plan("One", "Two")}),
            ("more", {"write": plan("One", "Three")}),
            ("", {"write": plan("One")}),
        )
        top.mkdir(exist_ok=True)
        self.agents = [drafter(top, name, *both) for name in ("one", "two")]
        self.events: tuple[int, int, int, int] = (0, 0, 0, 0)
        """How many the log has after each command of an undisturbed session; last, how many that of the run has."""
        self.bytes = b""
        """The plan of an undisturbed session."""

    def undisturbed(self) -> None:
        self._reset()
        counts = []
        for number in range(3):
            report = self._command(number)
            assert report.code == 0, report.words
            counts.append(len(self._log()))
        (run,) = self._runs()
        self.events = (counts[0], counts[1], counts[2], len((run / "progress.ndjson").read_bytes().splitlines()))
        self.bytes = (run / "plan.json").read_bytes()

    def deaths(self) -> list[Death]:
        """Return every death that there is: before and after each event, and those of the run that is made."""
        spans = [(0, range(1, self.events[0] + 1)), (1, range(self.events[0] + 1, self.events[1] + 1))]
        spans += [(2, range(self.events[1] + 1, self.events[2] + 1)), (2, range(1, self.events[3] + 1))]
        return [Death(command, at, when) for command, span in spans for at in span for when in WHENS]

    def episode(self, *deaths: Death) -> Tally:
        """Come through one session with these deaths, one of a command at most."""
        self._reset()
        tally, number = Tally(), 0
        waiting, killed = {death.command: death for death in deaths}, False
        for _ in range(STARTS):
            if number > 2:
                break
            now = waiting.pop(number, None)
            report = self._command(number, now) if now or not killed else self._again(number)
            killed = killed or report.code == 137
            tally.deaths += report.code == 137
            if report.code not in (0, 137):
                tally.violations.append(f"{deaths}: command {number} ended with {report.code}: {report.words[-300:]}")
                break
            number = self._reached()
        tally.violations += [f"{deaths}: {wrong}" for wrong in self._wrong()]
        return tally

    def _again(self, number: int) -> Report:
        """Go on after a death: the person takes the session up, and says again what it did not hear."""
        if self._log() and self._is_owed():
            return self._give("review", str(self._session()), "--take-up")
        return self._command(number)

    def _command(self, number: int, death: Death | None = None) -> Report:
        if number == 0:
            given = [word for agent in self.agents for word in ("--with", agent)]
            words = ["plan", str(self.repo / "task.md"), *given]
        elif number == 1:
            words = ["review", str(self._session()), "--continue", "more"]
        else:
            words = ["review", str(self._session()), "--finalize", "--revision", "2", "--no-start"]
        return self._give(*words, death=death)

    def _give(self, *words: str, death: Death | None = None) -> Report:
        order = Order(top=str(self.top), arguments=list(words))
        if death:
            order = replace(order, when=death.when, at=death.at, kind=death.kind)
        return self.nursery._give(order)

    def _reset(self) -> None:
        shutil.rmtree(self.repo, ignore_errors=True)
        shutil.rmtree(self.top / "cache", ignore_errors=True)
        self.repo.mkdir()
        (self.repo / "task.md").write_text("Small things.\n")
        for words in (("init", "-q", "-b", "main", "."), ("add", "-A"), ("commit", "-qm", "start")):
            git(self.repo, *words)

    def _session(self) -> Path:
        """Return the session that has begun; one whose first event was not written is none."""
        logs = [log for log in self.repo.glob(".santiago/sessions/*/progress.ndjson") if log.stat().st_size]
        return logs[-1].parent

    def _log(self) -> list[dict[str, Any]]:
        logs = [log for log in self.repo.glob(".santiago/sessions/*/progress.ndjson") if log.stat().st_size]
        return [json.loads(line) for line in logs[-1].read_bytes().splitlines()] if logs else []

    def _runs(self) -> list[Path]:
        return [log.parent for log in self.repo.glob(".santiago/runs/*/progress.ndjson") if log.stat().st_size]

    def _is_owed(self) -> bool:
        """Tell whether the session heard the last word: it drafts, or an answer of it is not carried out yet."""
        phases = [event["phase"] for event in self._log() if event["phase"]]
        last = self._log()[-1]["event"]
        letters = list(self._session().glob("inbox/*.json"))
        return phases[-1] == "drafting" or last in ("question_answered", "turn_ended") or bool(letters)

    def _reached(self) -> int:
        """Return the command that comes next, as the log says."""
        events = self._log()
        if any(event["event"] == "session_finalized" for event in events):
            return 3
        asked = [event for event in events if event["event"] == "question_asked"]
        return len(asked) if not self._log() or not self._is_owed() else max(len(asked) - 1, 0)

    def _wrong(self) -> list[str]:
        events = self._log()
        names = [event["event"] for event in events]
        found = []
        if names.count("turn_started") != 2 or names.count("turn_ended") != 2:
            found.append(f"turns: {names.count('turn_started')} begun, {names.count('turn_ended')} ended")
        twice = ("question_asked", "question_answered")
        found += [f"{kind}: {names.count(kind)} times" for kind in twice if names.count(kind) != 2]
        if names.count("session_finalized") != 1:
            found.append(f"finalized {names.count('session_finalized')} times")
        runs = self._runs()
        if len(runs) != 1:
            return [*found, f"there are {len(runs)} runs"]
        if (runs[0] / "plan.json").read_bytes() != self.bytes:
            found.append("the plan is another one")
        first = json.loads((runs[0] / "progress.ndjson").read_bytes().splitlines()[0])
        if first["context"].get("session") != self._session().name:
            found.append("the run does not name its session")
        audit = self.nursery._give(Order(top=str(self.top), arguments=["audit", str(runs[0])]))
        return [*found, *([f"audit: {audit.words[-300:]}"] if audit.code else [])]


@contextmanager
def planned() -> Iterator[Planned]:
    """Make a place to plan and die in, and see how an undisturbed session goes."""
    top = Path(tempfile.mkdtemp(dir=memory_folder()))
    try:
        with Nursery({"SANTIAGO_ACTOR": "ann"}) as nursery:
            place = Planned(nursery, top)
            place.undisturbed()
            yield place
    finally:
        shutil.rmtree(top, ignore_errors=True)
