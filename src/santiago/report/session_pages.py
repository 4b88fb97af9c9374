"""A planning session as pages of lines: a story of its plan, what a revision changed, the turns, the findings.

Every line is harmless text with a tone. The front end chooses colours and line breaks.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from santiago.contract.checks import commands_of, run_commands_of
from santiago.report import account_lines
from santiago.report.measures import ago, limit, span
from santiago.report.page import Line
from santiago.util.clock import between
from santiago.util.text import count, flat, harmless

if TYPE_CHECKING:
    from collections.abc import Iterator

    from santiago.contract.plan import Plan, Requirement, Story
    from santiago.contract.policy import RunInput
    from santiago.contract.session import DraftState, TurnState
    from santiago.report.following_session import FollowingSession
    from santiago.report.page import Tone
    from santiago.report.session_review import ChunkRow

PAGES = ("story", "changes", "turns", "findings")
"""The pages of a review, in the order in which they are shown."""
MOST = 1000
"""How many lines one part of a page has. The revision's file has all of them."""
_LEVELS: dict[str, Tone] = {"error": "bad", "warning": "warn", "note": "dim"}


def page(following: FollowingSession, name: str, chunk: ChunkRow | None, story: Story | None) -> list[Line]:
    """Return a page of the shown revision, for the story or chunk at the cursor."""
    if name == "turns":
        return list(_turns(following))
    if following.review.plan is None:
        return [Line("no plan yet", "dim"), Line(""), *_turns(following)]
    if name == "changes":
        return list(_changes(following))
    if name == "findings":
        return list(_findings(following.review.plan))
    if story is not None:
        return list(_story(following, story))
    return list(_chunk(following, chunk)) if chunk is not None else []


# A story, or a chunk


def _story(following: FollowingSession, story: Story) -> Iterator[Line]:
    review = following.review
    assert review.plan is not None
    yield Line(f"{story.id}  {flat(story.title)}", "head")
    if mark := review.marks.get(story.id):
        yield Line(f"{mark} in rev {review.revision}", "good" if mark == "new" else "warn")
    yield from _told(review.plan, story)
    if story.description.strip():
        yield Line("")
        yield from (Line(harmless(line).rstrip()) for line in story.description.strip().splitlines()[:MOST])
    yield from _part("Acceptance", [f"[ ] {name}  {flat(text)}" for name, text in review.criteria(story)])
    yield from _part("Files", [flat(path) for path in story.files])
    own = set(story.verify)
    commands = commands_of(story, following.planning.run_input)
    yield from _part("Verify", [f"$ {flat(one)}{'' if one in own else '   (every story)'}" for one in commands])
    named = re.compile(rf"(?<![\w.-]){re.escape(story.id)}(?![\w-])")
    found = [one for one in review.plan.findings if named.search(one.message)]
    yield from _part("Findings", [f"{one.level}: {flat(one.message)}" for one in found], "warn")
    before = following.before
    if mark == "changed" and before is not None:
        yield Line("")
        yield Line(f"Changed since rev {review.revision - 1}", "head")
        yield from differences(before, review.plan, story.id)


def _told(plan: Plan, story: Story) -> Iterator[Line]:
    line = f":{story.origin.line}" if story.origin.line else ""
    yield Line(f"from     {flat(plan.source.path)}{line}", "dim")
    yield Line(f"after    {', '.join((*story.depends_on, *map(flat, story.external_depends_on))) or '-'}", "dim")
    yield Line(f"covers   {', '.join(map(flat, story.requirements)) or '-'}", "dim")
    if story.role != "developer" or story.profile:
        yield Line(f"by       {story.role} {flat(story.profile or '')}".rstrip(), "dim")


def _part(title: str, lines: list[str], tone: Tone = "") -> Iterator[Line]:
    if lines:
        yield Line("")
        yield Line(title, "head")
        yield from (Line(f"  {text}", tone) for text in lines[:MOST])


def _chunk(following: FollowingSession, chunk: ChunkRow) -> Iterator[Line]:
    review = following.review
    yield Line(f"chunk {chunk.number}  {flat(chunk.label)}", "head")
    criteria, checks = sum(len(one.criteria) for one in chunk.stories), sum(len(one.verify) for one in chunk.stories)
    yield Line(
        f"{count(len(chunk.stories), 'story', 'stories')}, {count(criteria, 'criterion', 'criteria')}, {count(checks, 'check')}"
    )
    outside = sorted({name for one in chunk.stories for name in one.depends_on} - {one.id for one in chunk.stories})
    if outside:
        yield Line(f"after    {', '.join(outside[:40])}", "dim")
    yield Line("")
    for one in chunk.stories[:MOST]:
        mark = review.marks.get(one.id, "")
        tone: Tone = "good" if mark == "new" else "warn" if mark else ""
        yield Line(f"{one.id}  {flat(one.title)}{f'   {mark}' if mark else ''}", tone)


# What changed


def _changes(following: FollowingSession) -> Iterator[Line]:
    review, before = following.review, following.before
    assert review.plan is not None
    if review.diff is None or before is None:
        yield Line(f"revision {review.revision} is the first", "dim")
        return
    diff = review.diff
    yield Line(f"revision {review.revision} against revision {review.revision - 1}", "head")
    numbers = (
        (len(diff.new), "new"),
        (len(diff.changed), "changed"),
        (len(diff.removed), "removed"),
        (len(diff.kept), "kept"),
    )
    yield Line(", ".join(f"{number} {word}" for number, word in numbers), "dim")
    titles = {one.id: flat(one.title) for plan in (before, review.plan) for one in plan.stories}
    for name in diff.new[:MOST]:
        yield Line(f"+ {name}  {titles[name]}", "good")
    for name in diff.removed[:MOST]:
        yield Line(f"- {name}  {titles[name]}", "bad")
    for name, what in diff.changed[:MOST]:
        yield Line("")
        yield Line(f"~ {name}  {titles[name]}   ({what})", "warn")
        yield from differences(before, review.plan, name)


def differences(old: Plan, new: Plan, name: str) -> Iterator[Line]:
    """Yield the old and new lines of a changed story."""
    a, b = _fields(old, name), _fields(new, name)
    for field in a:
        gone, come = [one for one in a[field] if one not in b[field]], [one for one in b[field] if one not in a[field]]
        if gone or come or a[field] != b[field]:
            yield Line(f"  {field}" + ("" if gone or come else ": another order"))
        yield from (Line(f"    - {flat(one)}", "bad") for one in gone[:MOST])
        yield from (Line(f"    + {flat(one)}", "good") for one in come[:MOST])


def _fields(plan: Plan, name: str) -> dict[str, list[str]]:
    story = next(one for one in plan.stories if one.id == name)
    wanted = set(story.requirements)
    return {
        "title": [story.title],
        "text": story.description.splitlines(),
        "after": [*story.depends_on, *story.external_depends_on],
        "chunk": [story.chunk],
        "files": list(story.files),
        "checks": [f"$ {one}" for one in story.verify],
        "role": [story.role, story.profile or ""],
        "priority": [story.priority or ""],
        "claim": ["done"] if story.claimed_done else [],
        "criteria": [one.text for each in plan.requirements if each.id in wanted for one in each.criteria],
    }


# Turns


def _turns(following: FollowingSession) -> Iterator[Line]:
    state, now = following.planning.state, following.utc()
    if not state.turns:
        yield Line("no turn yet", "dim")
    for place, turn in enumerate(reversed(state.turns)):
        if place:
            yield Line("")
        yield from turn_lines(turn, now, held=bool(following.planning.worker))
    answered = [one for one in state.questions.values() if one.kind == "agent"]
    yield from _part(
        "What agents asked",
        [f"{one.id}: {flat(one.text)}   -> {flat(one.detail) if one.answer else 'open'}" for one in answered],
    )


def turn_lines(turn: TurnState, now: str, *, held: bool) -> Iterator[Line]:
    """Yield the lines of a turn: who asked for it and how, what each agent does or did, and the outcome."""
    mode = "all agents" if turn.mode == "multi" else "one agent"
    tone: Tone = "bad"
    if not turn.ended:
        outcome = f"under way for {span(between(turn.at, now))}" if held else "interrupted"
        tone = "busy" if held else "warn"
    elif turn.revision:
        outcome, tone = f"revision {turn.revision}", "good"
    else:
        outcome = "no plan"
    yield Line(f"turn {turn.number}   {mode}   from {f'revision {turn.began}' if turn.began else 'nothing'}", "head")
    yield Line(f"{flat(turn.actor)}, {ago(turn.at, now)}", "dim")
    if turn.text:
        yield Line(f'"{flat(turn.text)}"')
    for name in turn.agents:
        draft = turn.drafts.get(("draft", name))
        yield _doing(name, draft, held=held) if draft else Line(f"  {flat(name)}: waits", "dim")
    for (kind, name), draft in turn.drafts.items():
        if kind == "merge":
            yield _doing(name, draft, held=held)
    yield Line(f"-> {outcome}", tone)
    if turn.ended and not turn.revision and (turn.message or turn.reason):
        yield Line(f"   {flat(turn.message or turn.reason)}", "bad")


def _doing(name: str, draft: DraftState, *, held: bool) -> Line:
    does, did = ("merges the drafts", "merged") if draft.kind == "merge" else ("drafts", "drafted")
    again = " again, with what is wrong" if draft.sent_back else ""
    if draft.status == "ok":
        return Line(f"  {flat(name)}: {did}{again}, done", "good")
    if draft.status == "failed":
        why = "; ".join(map(flat, draft.findings[:5])) or flat(draft.message) or draft.reason
        return Line(f"  {flat(name)}: failed: {why}", "bad")
    return Line(f"  {flat(name)}: {does if held else 'cut short'}{again}", "busy" if held else "warn")


# Findings


def _findings(plan: Plan) -> Iterator[Line]:
    yield Line("findings of the plan", "head")
    if not plan.findings:
        yield Line("none", "dim")
    for one in plan.findings[:MOST]:
        line = f"line {one.line}: " if one.line else ""
        yield Line(f"{one.level}: {line}{flat(one.message)}", _LEVELS[one.level])
        if one.hint:
            yield Line(f"  {flat(one.hint)}", "dim")
    yield from _part(
        "The document", [f"{label}: {flat(text)}" for label, text in account_lines.lines(plan, whole=True)]
    )
    missing = [f"{flat(one.id)}  {flat(one.title)}" for one in uncovered(plan)]
    yield from _part("Uncovered requirements", missing, "warn")


def uncovered(plan: Plan) -> list[Requirement]:
    """Return the requirements that no story covers."""
    covered = {name for story in plan.stories for name in story.requirements}
    return [one for one in plan.requirements if one.id not in covered]


# What is approved with it


def finalize_page(following: FollowingSession, moved: str, word: str) -> list[Line]:
    """Return what a person approves by a word: stories, chunks, every command, the budget, and warnings."""
    review, run_input = following.review, following.planning.run_input
    plan = review.plan
    assert plan is not None
    stories, chunks = count(len(plan.stories), "story", "stories"), count(len(plan.chunks), "chunk")
    lines = [Line(f"{stories} in {chunks}", "head")]
    if review.artifact == "document":
        return [*lines, Line(f"the document is written to {flat(review.output)}; nothing is carried out")]
    if moved:
        turn = following.planning.state.turn_of(review.revision)
        lines.append(
            Line(
                f"the repository has new commits since this was planned: {turn.base[:12] if turn else ''} -> {moved[:12]}",
                "warn",
            )
        )
    warnings = sum(one.level != "note" for one in plan.findings)
    lines += [Line(f"{count(warnings, 'warning')}, on the page of findings", "warn")] if warnings else []
    lines += [Line(f"agent    {flat(review.agent)} does the work"), Line(f"budget   {_budget(run_input)}"), Line("")]
    return [*lines, *approved(plan, run_input, word)]


def approved(plan: Plan, run_input: RunInput, word: str) -> Iterator[Line]:
    """Yield every command that would run on this machine after a word, each once, with the number of stories that it checks."""
    judged: dict[str, int] = {}
    for story in plan.stories:
        for command in commands_of(story, run_input):
            judged[command] = judged.get(command, 0) + 1
    final = run_commands_of(plan, run_input)
    total = len({*judged, *final})
    them = count(total, f"command runs as a check; {word} approves it", f"commands run as checks; {word} approves them")
    yield Line(them if total else "no command judges the work", "head")
    for command, number in judged.items():
        yield Line(f"  $ {flat(command)}" + (f"   ({number} stories)" if number > 1 else ""))
    for command in final:
        yield Line(f"  $ {flat(command)}   (at the end)")


def _budget(run_input: RunInput) -> str:
    limits = run_input.limits
    parts = [
        f"{count(limits.run_max_attempts, 'attempt')}, {limits.story_max_attempts} of one story",
        limit(int(limits.run_timeout_minutes)),
    ]
    parts += [f"{limits.run_max_tokens:,} tokens"] if limits.run_max_tokens is not None else []
    parts += [f"${limits.run_max_cost_usd.written}"] if limits.run_max_cost_usd is not None else []
    return ", ".join(parts)
