"""Why a story has its present state, and what it waits for: in a few words, and in whole sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from santiago.contract.counting import few
from santiago.contract.phases import ENDED, RunPhase, StoryPhase
from santiago.contract.reasons import MEANINGS, Reason
from santiago.executor.budget import Budget
from santiago.executor.gates import holding
from santiago.executor.messages import flaky
from santiago.executor.tally import stopped_by
from santiago.report.asking import put_off
from santiago.report.marks import mark

if TYPE_CHECKING:
    from collections.abc import Collection

    from santiago.contract.plan import Story
    from santiago.contract.policy import Limits, RunInput
    from santiago.contract.state import RunState, StoryState
    from santiago.report.marks import Mark

MOST = 6
"""How many names one list has."""


def waits_for(state: RunState, story: StoryState, ahead: Collection[str] = ()) -> str:
    """Return, in a few words, what a story that is not under way waits for. `ahead` are those that are being verified ahead."""
    if story.skipped:
        return ""
    if story.aside:
        return waits_for_a_person(state, story)
    match story.phase:
        case StoryPhase.PLANNED:
            needed = unmet(state, story)
            if needed:
                return f"waits for {named(needed)}"
            chunk = state.chunks[story.chunk]
            return "waits" if chunk.started else "waits for its chunk"
        case StoryPhase.READY if story.reason is Reason.UNPROVEN:
            return "passes its checks; an attempt adds the missing test"
        case StoryPhase.READY:
            return "next" if next(state.ready_stories(), None) is story else ""
        case StoryPhase.VERIFIED if story.is_unproven:
            return "on the branch, no test shows it"
        case StoryPhase.VERIFIED:
            first = state.order[state.retire_at] if state.retire_at < len(state.order) else story.id
            found = found_ahead(story, ahead)
            return f"waits for {first} to go first{_AHEAD[found]}" if first != story.id else "goes onto the branch"
        case StoryPhase.PROPOSED:
            return _WAITS["detail"]
        case StoryPhase.RUNNING if state.phase is RunPhase.PAUSED:
            return "work kept, judged on resume"
        case StoryPhase.FAILED | StoryPhase.BLOCKED:
            return story.reason or ""
        case _:
            return ""


def found_ahead(story: StoryState, under_way: Collection[str]) -> Literal["running", "ok", "failed", None]:
    """Return what a verification ahead says of verified work that waits for its turn; None if there is none."""
    if story.phase is not StoryPhase.VERIFIED or story.integrated:
        return None
    if story.id in under_way:
        return "running"
    known = story.ahead is not None and story.ahead.onto[-1] == story.commit
    return ("ok" if story.ahead.passed else "failed") if known and story.ahead else None


_AHEAD = {
    None: "", "running": ", is being verified ahead", "ok": ", verified ahead",
    "failed": ", failed ahead and is decided at its turn",
}  # fmt: skip


class StoryRow(NamedTuple):
    """What every list of stories shows of one, besides its id and its title."""

    mark: Mark
    tries: str
    """Attempts that count, and how many there may be."""
    now: str
    """Its state in a word, and what it waits for."""


def row_of(
    state: RunState, story: StoryState, limits: Limits, *, at_rest: bool, jobs: int = 0, ahead: Collection[str] = ()
) -> StoryRow:
    """Return the row of a story. With `jobs`, it also names the limit that holds it back beside those under way."""
    look, waits = mark(story, at_rest=at_rest), waits_for(state, story, ahead)
    waits = "" if waits == look.word else waits
    now = waits if story.phase is StoryPhase.PLANNED and waits else f"{look.word}  {waits}".rstrip()
    if story.phase is StoryPhase.DONE:
        now = f"{look.word}  {story.proof or ''}".rstrip()
    elif story.phase is StoryPhase.READY and (held := held_back(state, limits, jobs)):
        now = f"{look.word}  held back by {held}"
    elif story.phase is StoryPhase.READY and story.attempts and story.reason not in (None, Reason.UNPROVEN):
        now = f"{look.word}  again after {story.reason}"
    most = Budget(limits, state).attempts_of(story)
    return StoryRow(look, f"{story.counted}/{most}" if story.attempts else "", now)


def held_back(state: RunState, limits: Limits, jobs: int) -> str:
    """Return the limit that keeps a ready story from beginning beside those under way; empty if none does."""
    under_way = len(state.running)
    if not under_way or under_way >= jobs or next(state.ready_stories(), None) is None:
        return ""
    return Budget(limits, state).holding(under_way)


_WAITS = {
    "detail": "its plan waits for your answer",
    "result": "its result waits for your answer",
    "grant": "a request for more attempts waits for your answer",
}


def waits_for_a_person(state: RunState, story: StoryState) -> str:
    """Return, in a few words, what a story needs from a person; empty if it needs nothing."""
    if question := state.questions.get(story.asked):
        return _WAITS.get(question.kind, "waits for your answer")
    return "put off" if story.deferred else ""


def unmet(state: RunState, story: StoryState) -> list[str]:
    """Return the stories that keep this one from beginning, in plan order."""
    needs = (name for name in state.needs.get(story.id, ()) if name in state.stories)
    found = [state.stories[name] for name in dict.fromkeys(needs) if not _out_of_the_way(state, story, name)]
    return [other.id for other in sorted(found, key=lambda other: other.index)]


def _out_of_the_way(state: RunState, story: StoryState, name: str) -> bool:
    other = state.stories[name]
    return other.satisfied if story.id in state.dependents.get(name, ()) else other.clear


def named(names: list[str], joint: str = ", ") -> str:
    return few(names, MOST, joint)


def explanation(state: RunState, planned: Story, run_input: RunInput) -> list[str]:
    """Return, in whole sentences, why a story has its present state, and what would change it."""
    story = state.stories[planned.id]
    if story.skipped:
        return ["A person left it out; no other story waits for it."]
    if question := state.questions.get(story.asked):
        told = waits_for_a_person(state, story)
        return [f"{told[0].upper()}{told[1:]} ({question.id}): {' '.join(question.text.split())}"]
    if story.deferred:
        return ["A person deferred it; it comes again when nothing else is left."]
    match story.phase:
        case StoryPhase.PLANNED:
            return [*_stop(state, unmet(state, story)), *_of_planned(state, story, planned)]
        case StoryPhase.READY:
            return [
                *_stop(state, []),
                *_external(planned, run_input, state),
                *_of_ready(story, at_rest=state.phase in ENDED),
            ]
        case StoryPhase.RUNNING if state.phase is RunPhase.PAUSED:
            return [f"The agent of attempt {story.attempts} has ended; its work is kept, and judged on resume."]
        case StoryPhase.RUNNING | StoryPhase.EVIDENCE_COLLECTED:
            return [f"Attempt {story.attempts} is under way{_task(story)}."]
        case StoryPhase.VERIFIED:
            return _of_verified(state, story)
        case StoryPhase.DONE if story.is_kept:
            return [f"The run {story.kept} already finished it: its work is in the base, and its checks pass there."]
        case StoryPhase.DONE:
            return [
                f"It is on the branch as {(story.commit or '')[:12]} ({story.proof or 'no proof'}).",
                *_flaky(story),
            ]
        case StoryPhase.PROPOSED:
            return ["Its detailed plan waits for approval."]
        case _:
            return _of_parked(state, story, planned)


def _stop(state: RunState, waited_for: list[str]) -> list[str]:
    """Return for which story a run ended before this one had its turn, unless that one is `waited_for`; or the other reason."""
    if state.phase not in (RunPhase.FAILED, RunPhase.BLOCKED) or state.reason is None:
        return []
    if (found := stopped_by(state)) is not None:
        return [] if found.id in waited_for else [f"The run stopped at {found.id}, which is {standing(state, found)}."]
    if waiting := holding(state):
        known = waiting[0].story in waited_for
        return [] if known else [f"The run stopped at the question {waiting[0].id}, which waits for your answer."]
    return [f"The run stopped ({state.reason}): {MEANINGS[state.reason].sentence}"]


def _of_planned(state: RunState, story: StoryState, planned: Story) -> list[str]:
    lines = []
    for name in unmet(state, story):
        other = state.stories[name]
        why = "it depends on it" if name in planned.depends_on else "both may touch the same files"
        if other.parent:
            why = "its substep" if name in story.parts else "a substep before it"
        lines.append(f"It waits for {name} ({why}), which is {standing(state, other)}.")
    chunk = state.chunks[story.chunk]
    if not chunk.started:
        earlier = [one for one in state.chunks.values() if one.left and one.label != chunk.label]
        before = [one for one in earlier if _first(state, one.stories) < story.index]
        lines += [f"Its chunk has not begun: {one.label} has {one.left} unfinished." for one in before[:MOST]]
    return lines or ["Its chunk has not begun yet."]


def _first(state: RunState, names: tuple[str, ...]) -> int:
    return min((state.stories[name].index for name in names), default=0)


def standing(state: RunState, other: StoryState) -> str:
    """Return the state of another story, and what that story waits for."""
    word = mark(other).word
    if other.aside:
        return "waiting for your answer" if other.asked else word
    if other.phase in (StoryPhase.FAILED, StoryPhase.BLOCKED):
        return f"{word} ({other.reason})"
    if other.phase is StoryPhase.PLANNED and (needed := unmet(state, other)):
        return f"waiting for {named(needed)}"
    return f"{word}, attempt {other.attempts}" if other.phase is StoryPhase.RUNNING else word


def _external(planned: Story, run_input: RunInput, state: RunState) -> list[str]:
    if state.engine and planned.pool:
        return [f"It goes to a worker of the pool {planned.pool}."]
    if not planned.external_depends_on or run_input.policy.assume_external:
        return []
    names = ", ".join(planned.external_depends_on)
    return [f"It depends on {names}, outside the document; --assume-external assumes that it is there."]


def lacking(planned: Story, story: StoryState) -> str:
    """Return the dependencies outside the document that block a story; empty if that is not its reason."""
    blocked = story.phase is StoryPhase.BLOCKED and story.reason is Reason.BLOCKED_DEPENDENCY
    return ", ".join(planned.external_depends_on) if blocked else ""


def _of_ready(story: StoryState, *, at_rest: bool) -> list[str]:
    if story.writes_tests and story.tests:
        return [f"Its tests are written; it is ready for attempt {story.attempts + 1}."]
    if story.reason is Reason.UNPROVEN:
        return [f"Its work passes its checks and is kept; attempt {story.attempts + 1} adds the test that is missing."]
    if story.attempts:
        return [
            f"It is ready for attempt {story.attempts + 1}; the last one ended with {story.reason or 'no verdict'}."
        ]
    return ["It is ready, and begins when the run goes on." if at_rest else "It is ready and waits for a free place."]


def _task(story: StoryState) -> str:
    """Return what an attempt does if it does not do the story's work."""
    return ", writing its tests" if story.writes_tests else ", adding the missing test" if story.showing else ""


def _of_verified(state: RunState, story: StoryState) -> list[str]:
    if not story.is_unproven:
        told = f"It is verified ({story.proof or 'no proof'}); it {waits_for(state, story)}. Stories go onto the branch in plan order."
        return [told, *_flaky(story)]
    excuse = f" ({' '.join(story.unshown.excuse.split())})" if story.unshown and story.unshown.excuse else ""
    asked = [one.id for one in state.open_questions() if one.kind == "unproven" and one.story == story.id]
    word = f"A person says whether it is done ({asked[0]})." if asked else "A person says whether it is done."
    return [
        f"Its work is on the branch as {story.integrated[:12]}, but no test fails without it{excuse}.",
        f"{word} Stories that depend on it go on meanwhile.",
    ]


def _flaky(story: StoryState) -> list[str]:
    told = flaky(story.flaky)
    return [f"{told[0].upper()}{told[1:]}."] if told else []


def _of_parked(state: RunState, story: StoryState, planned: Story) -> list[str]:
    lines = [f"It is {story.phase}: {story.reason or 'for no recorded reason'}."]
    later = put_off(state, story)
    if later is not None:
        lines += [
            f"Its question {later.id} was deferred ({later.answer}): {later.text}",
            "What to do: answer it with `change`, then `resume` tries the story again; `skip` leaves it out.",
        ]
    elif names := lacking(planned, story):
        lines += [f"It depends on {names}, outside the document.", "What to do: `resume --assume-external` goes on."]
    elif story.reason is not None:
        meaning = MEANINGS[story.reason]
        lines += [meaning.sentence, f"What to do: {' '.join(story.remedy.split()) or meaning.hint}"]
    for question in state.open_questions():
        if question.story == story.id:
            lines.append(f"Open question {question.id}: {' '.join(question.text.split())}")
    waiting = [name for name in state.dependents.get(story.id, ()) if not state.stories[name].satisfied]
    return [*lines, *([f"Waiting for it: {named(waiting)}."] if waiting else [])]
