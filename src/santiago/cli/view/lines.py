"""Events as lines for people: one word, then what happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.app.loading import titles_of
from santiago.cli.view.terminal import columns_of, paint
from santiago.contract.event_effects import SHOW, TESTS
from santiago.contract.events import EventKind
from santiago.contract.reasons import MEANINGS, OF_ONE_AGENT, Reason
from santiago.executor.budget import Budget
from santiago.executor.tally import headline
from santiago.report import pauses
from santiago.report.endings import MESSAGE, cause
from santiago.report.marks import RUNS
from santiago.report.measures import span
from santiago.report.page import Line
from santiago.report.pauses import stopping
from santiago.report.spending import dollars
from santiago.util.text import count, few, first, flat
from santiago.util.wrapping import broken

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from santiago.contract.events import Event
    from santiago.contract.plan import Plan
    from santiago.contract.policy import Limits
    from santiago.contract.state import RunState, StoryState
    from santiago.report.page import Tone

WORD = 8
LONGEST_QUESTION = 600
FEW = 3
"""How many tests a line names."""


def timed(line: Line, time: str, *, stderr: bool = True, columns: int | None = None) -> str:
    """Return the line of an event with its time and its word in columns, wrapped if the terminal is too narrow."""
    room = columns_of(stderr=stderr) if columns is None else columns
    shown = broken(f"{time} {line.label:{WORD}} {line.text}", room, len(time) + WORD + 2)
    return f"{time} {paint(shown[len(time) + 1 :], line.tone, stderr=stderr)}"


class Lines:
    """Turns events into lines. The evidence in `out_dir` tells which check of an attempt failed."""

    def __init__(self, plan: Plan, limits: Limits, out_dir: Path | None = None) -> None:
        self.plan = plan
        self.titles = {story.id: flat(story.title) for story in plan.stories}
        self.outside = {story.id: story.external_depends_on for story in plan.stories}
        self.limits = limits
        self.out_dir = out_dir
        self.agent = ""
        """The agent's name, as far as the events have told it."""
        self.follower = ""
        """The agent that takes over if this one cannot go on."""

    def of(self, event: Event, state: RunState) -> Line | None:
        """Return a line for an event that matters while a run is watched; None for others."""
        if len(state.stories) > len(self.titles) and self.out_dir is not None:
            self.titles = titles_of(self.plan, state, self.out_dir)
        if event.event is EventKind.RUN_STARTED:
            self.agent = flat(event.context.get("agent", ""))
        teller = _TOLD.get(event.event)
        return teller(self, event, state) if teller else None

    def whole(self, event: Event, state: RunState) -> Line:
        """Return a line for any event, as `santiago log` shows it."""
        told = self.of(event, state)
        if told is not None:
            return told
        detail = "  ".join(f"{key}={flat(str(value))}" for key, value in event.context.items() if key in _SHOWN)
        subject = f"{event.story_id} " if event.story_id else f"{flat(event.chunk)} " if event.chunk else ""
        who = f"  by {flat(event.actor)}" if event.actor != "santiago" else ""
        return Line(f"{subject}{event.event}{'  ' + detail if detail else ''}{who}", label="·")

    def story(self, event: Event) -> str:
        name = event.story_id or ""
        return f"{name} {self.titles.get(name, '')}".strip()

    def tries(self, state: RunState, story: str) -> int:
        budget, known = Budget(self.limits, state), state.stories.get(story)
        return budget.attempts_of(known) if known else budget.story_attempts(story)

    def why(self, event: Event) -> str:
        """Return the reason of an attempt's end, and where it comes from."""
        reason = event.context.get("reason", "")
        message = first(flat(event.context.get("message", "")), MESSAGE)
        if self.out_dir is not None and event.story_id and event.attempt:
            return cause(self.out_dir, event.story_id, event.attempt, reason, message)
        return f"{reason}: {message}" if message else reason


_SHOWN = frozenset(
    {
        *("reason", "limit", "amount", "text", "answer", "message", "agent", "until", "sandbox", "jobs", "version"),
        *("host", "pid", "branch", "verdict", "proof", "head", "engine"),
    }
)


def _chunk(lines: Lines, event: Event, state: RunState) -> Line:
    return Line(flat(event.chunk or ""), "busy", label="chunk")


def _started(lines: Lines, event: Event, state: RunState) -> Line:
    most = lines.tries(state, event.story_id or "")
    if event.actor != "santiago":
        return Line(f"{lines.story(event)}  (attempt {event.attempt}, a person's own work)", label="start")
    voided = state.stories[event.story_id].voided if event.story_id in state.stories else 0
    uncounted = f", {voided} not counted" if voided else ""
    task = {TESTS: ", writing its tests", SHOW: ": adds the missing test"}.get(event.context.get("mode", ""), "")
    return Line(f"{lines.story(event)}  (attempt {event.attempt} of {most + voided}{uncounted}{task})", label="start")


def _ended(lines: Lines, event: Event, state: RunState) -> Line | None:
    if event.status == "ok":
        told = first(flat(event.context.get("message", "")), MESSAGE)
        if written := event.context.get("tests", []):
            words = f"{event.story_id}: they fail without the work: {flat(few(written, FEW))}"
            return Line(f"{words}; {told}" if told else words, "good", label="tests")
        return Line(f"{event.story_id} attempt {event.attempt}: {told}", "warn", label="note") if told else None
    story = state.stories.get(event.story_id or "")
    last = story is not None and story.counted >= lines.tries(state, story.id)
    reason = event.context.get("reason", "")
    if story is not None and story.unshown is not None and (reason == Reason.UNPROVEN or story.showing):
        return _kept(lines, event, story)
    blocked = reason in MEANINGS and MEANINGS[Reason(reason)].ends_in == "blocked"
    word = "stopped" if event.status == "stopped" else "ended" if blocked else "last" if last else "retry"
    return Line(f"{event.story_id} attempt {event.attempt}: {lines.why(event)}", "warn", label=word)


def _kept(lines: Lines, event: Event, story: StoryState) -> Line:
    """Return the line for an attempt after which work stands that passes its checks and that no test shows."""
    assert story.unshown is not None
    about, excuse = f"{event.story_id} attempt {event.attempt}:", flat(event.context.get("excuse", ""))
    if not story.showing:
        told = f"passes its checks, no test shows it{f' ({excuse})' if excuse else ''}; kept"
        return Line(f"{about} {told}", "warn", label="no test")
    ended = "brings no test that fails without the work"
    if event.context.get("reason") != Reason.UNPROVEN:
        ended = lines.why(event)
    return Line(f"{about} {ended}; the work of attempt {story.unshown.attempt} stands", "warn", label="no test")


def _integrated(lines: Lines, event: Event, state: RunState) -> Line:
    story = state.stories.get(event.story_id or "")
    spent = f"; {count(story.counted, 'attempt')}, {span(story.used_ms)}" if story else ""
    return Line(f"{lines.story(event)}  (on the branch, not proven{spent})", "warn", label="unproven")


def _voided(lines: Lines, event: Event, state: RunState) -> Line:
    return Line(f"{event.story_id} attempt {event.attempt}, not counted: {lines.why(event)}", "warn", label="void")


def _conflict(lines: Lines, event: Event, state: RunState) -> Line:
    return Line(f"{event.story_id} attempt {event.attempt} did not fit: {lines.why(event)}", "warn", label="retry")


def _claim(lines: Lines, event: Event, state: RunState) -> Line | None:
    """Return the line for work that the base holds, but whose checks fail there."""
    story = state.stories.get(event.story_id or "")
    if story is None or not story.kept or event.status == "ok":
        return None
    told = f"was done in {story.kept}, but its checks fail here: it is done again"
    return Line(f"{lines.story(event)} {told}", "warn", label="again")


def _done(lines: Lines, event: Event, state: RunState) -> Line:
    story = state.stories.get(event.story_id or "")
    spent = ""
    if story is not None and story.is_kept:
        told = f"done in {story.kept} already; its checks pass, {span(story.used_ms)}, no agent"
        return Line(f"{lines.story(event)}  ({told})", "good", label="kept")
    if story is not None:
        spent = f"  ({count(story.counted, 'attempt')}, {span(story.used_ms)}, {story.proof or 'no proof'})"
    return Line(f"{lines.story(event)}{spent}", "good", label="ok")


def _failed(lines: Lines, event: Event, state: RunState) -> Line:
    limit = event.context.get("limit", "")
    return Line(
        f"{lines.story(event)}: {event.context.get('reason', '')}{f' ({limit})' if limit else ''}",
        "bad",
        label="failed",
    )


def _blocked(lines: Lines, event: Event, state: RunState) -> Line:
    """Return why a story is blocked, unless the line before told it, and what helps."""
    context, reason = event.context, event.context.get("reason", "")
    told = "" if context.get("hint") else first(flat(context.get("message", "")), MESSAGE)
    hint = flat(context.get("hint", "")) or (MEANINGS[Reason(reason)].hint if reason in MEANINGS else "")
    if lines.follower and reason in OF_ONE_AGENT:
        hint = f"{flat(lines.follower)} takes over."
    if reason == Reason.BLOCKED_DEPENDENCY and (names := lines.outside.get(event.story_id or "")):
        told, hint = f"it depends on {', '.join(map(flat, names))}", "--assume-external assumes that it is there."
    if question := context.get("question"):
        asked = state.questions.get(question)
        hint = f'`santiago answer {flat(question)} "YOUR ANSWER"` goes into the next attempt.'
        if asked is not None and asked.kind != "agent":
            hint = f"`santiago answer {flat(question)} accept` takes the work as it is, `refuse` has it done again."
    return Line(f"{lines.story(event)}: {reason}{': ' if told else ''}{told}. {hint}".rstrip(), "warn", label="blocked")


def _skipped(lines: Lines, event: Event, state: RunState) -> Line:
    why = first(flat(event.context.get("text", "")), MESSAGE)
    return Line(f"{lines.story(event)}{': ' + why if why else ''}", "warn", label="left out")


def _reopened(lines: Lines, event: Event, state: RunState) -> Line:
    return Line(lines.story(event), "busy", label="reopened")


def _asked(lines: Lines, event: Event, state: RunState) -> Line | None:
    if event.context.get("kind") == "unproven":
        return None  # nobody waits for the answer, and the end of the run asks for all of them together
    question = flat(event.context.get("question", ""))
    return Line(f"{question}: {first(flat(event.context.get('text', '')), LONGEST_QUESTION)}", "warn", label="asked")


def _answered(lines: Lines, event: Event, state: RunState) -> Line:
    context = event.context
    return Line(
        f"{flat(context.get('question', ''))}: {flat(context.get('answer', ''))} {flat(context.get('text', ''))}".rstrip()
        + (f"  by {flat(event.actor)}" if event.actor not in ("santiago", "user") else "")
        + (", on the page" if context.get("via") == "page" else ""),
        label="answered",
    )


def _expired(lines: Lines, event: Event, state: RunState) -> Line:
    return Line(f"{flat(event.context.get('question', ''))}: nobody answered in time", "warn", label="expired")


def _ahead(lines: Lines, event: Event, state: RunState) -> Line | None:
    """Return the line on work that failed ahead of its turn. One that passed is told when the story is done."""
    if event.status == "ok":
        return None
    why = first(flat(event.context.get("message", "")), MESSAGE)
    return Line(f"{lines.story(event)} failed ahead of its turn, and is decided then: {why}", "warn", label="ahead")


def _proposing(lines: Lines, event: Event, state: RunState) -> Line:
    return Line(f"{lines.story(event)}: proposal {event.context.get('revision', 1)} is being written", label="plan")


def _proposed(lines: Lines, event: Event, state: RunState) -> Line:
    found = event.context.get("findings", [])
    told = f": {count(len(found), 'thing looks', 'things look')} wrong in it" if found else ""
    back = ", and it goes back to the agent" if event.event is EventKind.PROPOSAL_ENDED and found else ""
    if event.status == "voided":
        told = f", not counted: {lines.why(event)}"
    return Line(f"{event.story_id} proposal {event.context.get('revision', 1)}{told}{back}", "busy", label="planned")


def _split(lines: Lines, event: Event, state: RunState) -> Line:
    return Line(
        f"{lines.story(event)} into {', '.join(map(flat, event.context.get('substeps', [])))}", "busy", label="split"
    )


def _changed(lines: Lines, event: Event, state: RunState) -> Line:
    who = "" if event.actor == "user" else f"{flat(event.actor)}: "
    return Line(f"{event.story_id}: {who}{first(flat(event.context.get('text', '')), MESSAGE)}", "busy", label="change")


def _noted(lines: Lines, event: Event, state: RunState) -> Line:
    return Line(flat(event.context.get("message", "") or event.context.get("text", "")), "warn", label="note")


def _repaired(lines: Lines, event: Event, state: RunState) -> Line:
    torn = f"the last line of the log was incomplete; its {count(event.context.get('length', 0), 'byte')} were moved"
    return Line(f"{torn} to progress.torn.{event.context.get('offset', 0)}", "warn", label="repaired")


def _raised(lines: Lines, event: Event, state: RunState) -> Line:
    about = f" of {event.story_id}" if event.story_id else ""
    name, amount = event.context.get("limit", ""), event.context.get("amount", 0)
    minutes = name.endswith("_minutes")
    told = f"{amount / 60_000:g} minutes" if minutes else dollars(amount) if name.endswith("_usd") else f"{amount:,}"
    return Line(f"{name}{about} by {told}", "busy", label="raised")


def _waiting(lines: Lines, event: Event, state: RunState) -> Line:
    until, reason = event.context.get("until", ""), event.context.get("reason", "")
    return Line(pauses.told(until, reason, lines.agent, event.timestamp), "warn", label="waiting")


def _waited(lines: Lines, event: Event, state: RunState) -> Line:
    word = "rests" if state.stop_requested else "goes on"
    return Line(f"after waiting for {span(event.context.get('ms', 0))}", "busy", label=word)


def _examined(lines: Lines, event: Event, state: RunState) -> Line | None:
    """Return the line on tests that fail before any work, and on what prevents a verdict."""
    context = event.context
    if context.get("reason"):
        return Line(
            f"{flat(context.get('message', ''))}. {flat(context.get('hint', ''))}".rstrip(". "), "bad", label="base"
        )
    red, notes = context.get("tests", []), context.get("message", "")
    told = [f"{count(len(red), 'test')} failed already before any work: {few(red, FEW)}"] if red else []
    return Line(flat("; ".join([*told, *notes.splitlines()])), "warn", label="base") if told or notes else None


def _ticks(lines: Lines, event: Event, state: RunState) -> Line:
    tone: Tone = "busy" if event.status == "ok" else "warn"
    return Line(flat(event.context.get("message", "")), tone, label="ticks")


def _accepted(lines: Lines, event: Event, state: RunState) -> Line:
    why = first(flat(event.context.get("text", "")), MESSAGE)
    return Line(f"{lines.story(event)} by {flat(event.actor)}{': ' + why if why else ''}", "busy", label="accepted")


def _stopping(lines: Lines, event: Event, state: RunState) -> Line:
    running = ", ".join(f"{name}, attempt {state.stories[name].attempts}" for name in sorted(state.running))
    return Line(stopping(event, f" ({running})" if running else ""), "warn", label="stopping")


def _pauses(lines: Lines, event: Event, state: RunState) -> Line:
    told = "pauses after each chunk" if state.pauses else "goes on by itself after each chunk"
    return Line(f"{told}, as {flat(event.actor)} asked", "busy", label="pauses")


def _hinted(lines: Lines, event: Event, state: RunState) -> Line:
    told = first(flat(event.context.get("text", "")), MESSAGE)
    return Line(f"{lines.story(event)} by {flat(event.actor)}: {told}", "busy", label="hint")


def _verifying(lines: Lines, event: Event, state: RunState) -> Line:
    return Line("the whole run: its checks, on the finished branch", label="verify")


def _run_ended(lines: Lines, event: Event, state: RunState) -> Line:
    line = headline(lines.plan, state)
    return Line(str(line), RUNS.get(line.word, ""), label="end")


def _paused(lines: Lines, event: Event, state: RunState) -> Line:
    return Line(event.context.get("reason", "") or "nothing more to do here", "busy", label="paused")


_TOLD: dict[EventKind, Callable[[Lines, Event, RunState], Line | None]] = {
    EventKind.CHUNK_STARTED: _chunk,
    EventKind.ATTEMPT_STARTED: _started,
    EventKind.ATTEMPT_ENDED: _ended,
    EventKind.ATTEMPT_VOIDED: _voided,
    EventKind.INTEGRATION_FAILED: _conflict,
    EventKind.BASE_EXAMINED: _examined,
    EventKind.CLAIM_JUDGED: _claim,
    EventKind.TICKS_WRITTEN: _ticks,
    EventKind.STORY_ACCEPTED: _accepted,
    EventKind.AHEAD_VERIFIED: _ahead,
    EventKind.STORY_INTEGRATED: _integrated,
    EventKind.STORY_DONE: _done,
    EventKind.STORY_FAILED: _failed,
    EventKind.STORY_BLOCKED: _blocked,
    EventKind.STORY_SKIPPED: _skipped,
    EventKind.STORY_REOPENED: _reopened,
    EventKind.QUESTION_ASKED: _asked,
    EventKind.QUESTION_ANSWERED: _answered,
    EventKind.QUESTION_EXPIRED: _expired,
    EventKind.PROPOSAL_STARTED: _proposing,
    EventKind.PROPOSAL_ENDED: _proposed,
    EventKind.STORY_PROPOSED: _proposed,
    EventKind.STORY_SPLIT: _split,
    EventKind.CHANGE_REQUESTED: _changed,
    EventKind.HINT_ADDED: _hinted,
    EventKind.PAUSES_SET: _pauses,
    EventKind.NOTE: _noted,
    EventKind.LOG_REPAIRED: _repaired,
    EventKind.BUDGET_RAISED: _raised,
    EventKind.WAIT_STARTED: _waiting,
    EventKind.WAIT_ENDED: _waited,
    EventKind.STOP_REQUESTED: _stopping,
    EventKind.RUN_VERIFYING: _verifying,
    EventKind.RUN_ENDED: _run_ended,
    EventKind.RUN_PAUSED: _paused,
}
