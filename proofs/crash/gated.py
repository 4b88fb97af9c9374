"""A run that goes step by step, killed at its events: no question and no answer is lost, and none counts twice."""

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.crash.world import Story, World, memory_folder

from proofs.crash.checks import Finish, after_all, after_death, events_of, finish_of
from proofs.crash.nursery import Nursery, Report, When
from proofs.crash.sweeps import MOST_STARTS, Death, Tally
from santiago.app.loading import load
from santiago.artifacts.inbox import Inbox
from santiago.contract.answers import Letter

STEPS = (Story("a", parts=2), Story("b"))
"""A step with two substeps, and one whose plan and whose work a person wants changed once."""
WHENS: tuple[When, ...] = ("unrecorded", "recorded")
WAITS = 10
"""Exit code of a run that waits for a person."""
WORDS = {"detail": ("Approve", ""), "result": ("yes!", ""), "continue": ("go ahead", "")}
FIRST = {("S2", "detail"): ("adjust", "in blue"), ("S2", "result"): ("change", "and shorter")}
"""What a person says the first time, where that is something else."""


@dataclass(frozen=True)
class Course:
    """What a person was asked and said, and what came of it, as far as a kill must not change it."""

    finish: Finish
    flow: tuple[tuple[str, ...], ...]
    notes: tuple[tuple[str, ...], ...]
    """What each story's agent was told."""


@dataclass(kw_only=True)
class Gated:
    """A nursery and a world of its own, with a person who answers whatever is open."""

    nursery: Nursery
    world: World
    reference: Course | None = None
    events: int = 0
    """Of an undisturbed run."""
    said: set[tuple[str | None, str]] = field(default_factory=set)

    def episode(self, deaths: Sequence[Death]) -> Tally:
        """Run from the beginning through these deaths to the end, answering what is open."""
        self.world.reset()
        self.said.clear()
        tally, told, acknowledged, died = Tally(), ", ".join(map(str, deaths[:3])), 0, 0
        waiting = [one for one in deaths if one.kind]
        for _ in range(MOST_STARTS):
            written = len(events_of(self.world))
            numbered = (one for one in deaths if not one.kind and one.at > max(written, died))
            death = waiting[0] if waiting else next(numbered, None)
            report = self._start(death)
            tally.runs += 1
            acknowledged = max(acknowledged, report.acknowledged)
            if report.code == 137:
                tally.deaths += 1
                died = death.at if death else 0
                waiting = waiting[1:]
                tally.violations += [f"{told}: {what}" for what in after_death(self.world, acknowledged)]
            elif report.code != WAITS:
                break
            elif wrong := self._answer():
                tally.violations.append(f"{told}: {wrong}")
                return tally
        if report.code:
            tally.violations.append(f"{told}: ended with {report.code}: {report.words[-400:]}")
            return tally
        tally.violations += [f"{told}: {what}" for what in self._wrong(tally.deaths)]
        return tally

    def _start(self, death: Death | None) -> Report:
        if death is None:
            return self.nursery.run(self.world)
        return self.nursery.run(self.world, when=death.when, at=death.at, kind=death.kind, all=death.all)

    def _answer(self) -> str:
        """Answer what is open; return what is wrong where nothing is, or where an answer was not taken up."""
        open_ones = questions(events_of(self.world))
        if not open_ones:
            return "it waits for a person, and nothing is open"
        for name, event in open_ones.items():
            key = event["story_id"], event["context"]["kind"]
            word, text = WORDS[key[1]] if key in self.said else FIRST.get(key, WORDS[key[1]])
            letter = Letter(kind="answer", subject=name, answer=word, text=text, actor="ann")
            if not Inbox(self.world.out).drop(letter):
                return f"{name} was answered, and is still open"
            self.said.add(key)
        return ""

    def _wrong(self, kills: int) -> list[str]:
        if self.reference is None:
            return []
        found = after_all(self.world, self.reference.finish, kills=kills, jobs=1) + self.nursery.audit(self.world)
        events = events_of(self.world)
        for kind in ("question_asked", "question_answered"):
            names = Counter(event["context"]["question"] for event in events if event["event"] == kind)
            found += [f"{kind} {count} times: {name}" for name, count in names.items() if count > 1]
        found += [f"note: {event['context'].get('message')}" for event in events if event["event"] == "note"]
        course = course_of(self.world)
        if (course.flow, course.notes) != (self.reference.flow, self.reference.notes):
            found.append(f"a person went through {course}, undisturbed through {self.reference}")
        return found


def questions(events: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the open questions, each with the event that asked it."""
    asked = {event["context"]["question"]: event for event in events if event["event"] == "question_asked"}
    closed = {event["context"]["question"] for event in events if event["event"] == "question_answered"}
    return {name: event for name, event in asked.items() if name not in closed}


def course_of(world: World) -> Course:
    """Return a run's course; numbers of proposals and attempts are left out, for a kill may cost one."""
    events = events_of(world)
    flow: list[tuple[str, ...]] = []
    kinds = {event["context"]["question"]: event["context"]["kind"] for event in events if "kind" in event["context"]}
    for event in events:
        context, story = event["context"], event["story_id"] or ""
        match event["event"]:
            case "question_asked":
                flow.append((story, context["kind"], "?"))
            case "question_answered":
                said = context["answer"], context.get("text", ""), event["actor"]
                flow.append((story, kinds[context["question"]], *said))
            case "story_split" | "story_done":
                flow.append((story, event["event"]))
    state = load(world.out).state
    return Course(finish_of(world), tuple(flow), tuple(story.notes for story in state.stories.values()))


@contextmanager
def gated() -> Iterator[Gated]:
    """Make a place, with an undisturbed run as its measure."""
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="gated-", dir=memory_folder()))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        world = World(folder / "world", STEPS, {"gate": "step", "write_back": True}).make(folder / "template")
        place = Gated(nursery=stack.enter_context(Nursery()), world=world)
        calm = place.episode(())
        assert calm.violations == [], calm.violations
        place.reference, place.events = course_of(world), len(events_of(world))
        yield place


def at_every_event(events: int) -> list[tuple[Death, ...]]:
    """Return one episode for each event, in which it is recorded just before the death, and one in which it is not."""
    return [(Death(when, at, all=at % 2 == 0),) for at in range(1, events + 1) for when in WHENS]


def at_one_in(step: int, first: int) -> tuple[Death, ...]:
    """Return one episode of many deaths: at one event in so many, by turns before and after it is recorded."""
    return tuple(Death(WHENS[at // step % 2], at, all=at % 3 == 0) for at in range(first, 400, step))
