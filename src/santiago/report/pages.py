"""One story, or one chunk, as pages of lines: its state, what its agent does, its log, its changes, its criteria.

Every line is harmless text with a tone. The front end chooses colours and line breaks.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from santiago.contract.checks import commands_of
from santiago.contract.phases import StoryPhase
from santiago.executor.budget import Budget
from santiago.executor.tally import criteria_of
from santiago.report.account import account_of
from santiago.report.agent_activity import ACTIONS, plain, state_of
from santiago.report.asking import asked
from santiago.report.evidence import FINDINGS, AttemptEvidence, tidied, totals
from santiago.report.marks import mark
from santiago.report.measures import span
from santiago.report.page import Line
from santiago.report.proof import shown_by
from santiago.report.question import card
from santiago.report.run_status import step_word
from santiago.report.spending import dollars, of_story, thousands
from santiago.report.story import detail_text
from santiago.report.story_status import explanation
from santiago.util.clock import between
from santiago.util.text import count, flat, harmless

if TYPE_CHECKING:
    from collections.abc import Iterator

    from santiago.app.history import AttemptStory
    from santiago.app.loading import Run
    from santiago.contract.plan import Story
    from santiago.report.agent_activity import Doing
    from santiago.report.chunks import ChunkRow
    from santiago.report.page import Tone

MOST_LINES = 1000
"""How many lines of a log or a patch are shown. `santiago show` prints all of it."""
MOST_TODOS = 30
MOST_CRITERIA = 40
_TODO: dict[str, tuple[str, Tone]] = {"done": ("done", "good"), "active": ("now", "busy"), "open": ("open", "")}
_STATUS: dict[str, Tone] = {"ok": "good", "failed": "bad", "voided": "warn", "stopped": "warn", "running": "busy"}


PAGES = ("story", "agent", "log", "changes", "criteria")
"""The pages of a story, in the order in which they are shown."""


def page(run: Run, planned: Story, name: str, following: Doing, now: str, live: str | None = None) -> list[Line]:
    """Return one page of a story. `live` is what a running attempt has changed so far, if that is known."""
    tried = run.history.of(planned.id)
    latest = tried[-1] if tried else None
    if name == "story":
        return [*_standing(run, planned), *_attempts(run, planned, tried, now)]
    if name == "criteria":
        return [*_criteria(run, planned), *_checks(run, planned, latest)]
    if latest is None:
        return [Line("not attempted yet", "dim")]
    if name == "agent":
        return list(_agent(run, planned, latest, following))
    return list(_log(run, planned, latest) if name == "log" else _changes(run, planned, tried, live))


def chunk_page(run: Run, row: ChunkRow) -> list[Line]:
    """Return the page of a chunk as a whole."""
    lines = [
        Line(f"chunk {row.number}  {flat(row.label)}", "head"),
        Line(f"{row.mark.word}   {row.done} of {count(row.stories, 'story', 'stories')} done"),
    ]
    lines += [Line(row.note, "bad" if row.failed else "warn")] if row.note else []
    lines += [Line(f"{span(row.ms)} so far" if row.mark.word == "current" else span(row.ms), "dim")] if row.ms else []
    waiting = [one for one in asked(run.state, run.out_dir)[0] if _in_chunk(run, one.story, row.label)]
    return [*lines, *(Line(f"{one.id} asks: {flat(one.text)}", "warn") for one in waiting)]


def _in_chunk(run: Run, story: str | None, label: str) -> bool:
    return story in run.state.stories and run.state.stories[story or ""].chunk == label


# How it stands


def _standing(run: Run, planned: Story) -> Iterator[Line]:
    story = run.state.stories[planned.id]
    look = mark(story, at_rest=run.worker is None)
    reason = story.reason or ("" if story.phase is not StoryPhase.DONE else story.proof or "")
    reason = "" if story.is_unproven else reason
    yield Line(f"{planned.id}  {flat(planned.title)}", "head")
    yield Line("  ".join(filter(None, (look.word, reason, step_word(run, story)))), look.tone)
    for text in explanation(run.state, planned, run.run_input):
        yield Line(harmless(text))
    for question in asked(run.state, run.out_dir)[0]:
        if question.story == planned.id:
            yield Line(f"asks you: {flat(question.text)}", "warn")
    most = Budget(run.run_input.limits, run.state).attempts_of(story)
    used = [f"{story.counted} of {count(most, 'attempt')}", span(story.used_ms), *of_story(story)]
    yield Line(f"used     {'   '.join(used)}")
    yield Line(f"from     {harmless(run.plan.source.path)}:{planned.origin.line}", "dim")
    if planned.depends_on:
        yield Line(f"after    {', '.join(planned.depends_on)}", "dim")
    if planned.files:
        yield Line(f"files    {flat(', '.join(planned.files[:8]))}", "dim")
    for note in story.notes:
        yield Line(f"told     {flat(note)}", "warn")
    if story.detail is not None and (text := detail_text(run, planned.id)):
        word = "approved" if story.detail.approved else "not approved yet"
        yield Line("")
        yield Line(f"detailed plan, proposal {story.detail.revision}: {word}", "head")
        yield from (Line(harmless(line).rstrip()) for line in text.splitlines()[:MOST_LINES])


def _attempts(run: Run, planned: Story, tried: list[AttemptStory], now: str) -> Iterator[Line]:
    if not tried:
        return
    yield Line("")
    yield Line("attempts", "head")
    for one in tried:
        outcome = one.reason or (f"passed, {one.proof}" if one.status == "ok" and one.proof else one.status)
        outcome = f"asked for the missing test: {outcome}" if one.shows else outcome
        time = span(
            one.agent_ms + one.verify_ms or between(one.started, now if one.status == "running" else one.started)
        )
        spent = [thousands(one.tokens) + " tokens"] if one.tokens is not None else []
        spent += [dollars(one.cost)] if one.cost is not None else []
        stats = AttemptEvidence(run.out_dir, planned.id, one.number).stats()
        parts = [f"{one.number}  {outcome}", time, *spent, *([totals(stats)] if stats else [])]
        yield Line("   ".join(parts), _STATUS.get(one.status, ""))
        if one.message:
            yield Line(f"   {flat(one.message)}", "dim")


# What its agent does


def _agent(run: Run, planned: Story, one: AttemptStory, following: Doing) -> Iterator[Line]:
    yield Line(f"attempt {one.number}   {flat(one.agent) or flat(one.own_work)}", "head")
    for name, text in account_of(run.out_dir, planned.id, one) if one.status != "running" else ():
        yield Line(f"{name:10} {harmless(text)}")
    if one.status == "running":
        yield Line(following.words(planned.id, one.number) or "it has printed nothing yet", "busy")
    reading = following.reading(planned.id, one.number)
    if reading.todos:
        done = sum(todo.done for todo in reading.todos.values())
        yield Line("")
        yield Line(f"to-do list, {done} of {len(reading.todos)} done", "head")
    for todo in list(reading.todos.values())[:MOST_TODOS]:
        word, tone = _TODO[state_of(todo)]
        yield Line(f"{word:5} {flat(todo.text)}", tone)
    if reading.actions:
        yield Line("")
        yield Line(f"the last of {count(reading.tools, 'use')} of tools", "head")
    for text, same in groupby(plain(str(action)) for action in reading.actions[-ACTIONS:]):
        times = len(list(same))
        yield Line(f"{text}{f'   ({times} times)' if times > 1 else ''}", verbatim=True)


def _log(run: Run, planned: Story, one: AttemptStory) -> Iterator[Line]:
    lines = AttemptEvidence(run.out_dir, planned.id, one.number).log().splitlines()
    kept = lines[-MOST_LINES:]
    more = f", the last {len(kept):,} lines" if len(lines) > len(kept) else ""
    yield Line(f"what the agent of attempt {one.number} printed{more}", "head")
    for line in kept or ["(nothing yet)"]:
        yield Line(tidied(line).expandtabs(4), verbatim=True)


# What it changed


def _changes(run: Run, planned: Story, tried: list[AttemptStory], live: str | None) -> Iterator[Line]:
    """Yield what the running attempt has changed, or else the latest attempt that left work."""
    if tried[-1].status == "running":
        told = "what it changes is kept when its agent ends" if live is None else "what it has changed so far"
        yield Line(f"attempt {tried[-1].number} is under way; {told}", "busy")
        if live is not None:
            yield from _patch(live) if live else [Line("nothing yet", "dim")]
            return
    for one in reversed(tried):
        evidence = AttemptEvidence(run.out_dir, planned.id, one.number)
        patch = evidence.patch()
        if not patch:
            continue
        stats = evidence.stats()
        yield Line(f"attempt {one.number}   {totals(stats)}   against {one.base[:12] or 'its base'}", "head")
        for file in stats[:20]:
            yield Line(f"  +{file.added} -{file.removed}  {file.path}", "dim", verbatim=True)
        yield from _patch(patch)
        return
    yield Line("no attempt has changed anything", "dim")


def _patch(patch: str) -> Iterator[Line]:
    lines = patch.splitlines()
    for line in lines[:MOST_LINES]:
        text = harmless(line).expandtabs(4)
        tone: Tone = "head" if text.startswith("diff ") else "busy" if text.startswith("@@") else ""
        if not tone and not text.startswith(("+++", "---", "index ")):
            tone = "good" if text.startswith("+") else "bad" if text.startswith("-") else ""
        yield Line(text, tone, verbatim=True)
    if len(lines) > MOST_LINES:
        yield Line(f"and {count(len(lines) - MOST_LINES, 'more line')}: `santiago show STORY --patch`", "dim")


# What shows that it is right


def _criteria(run: Run, planned: Story) -> Iterator[Line]:
    texts = {one.id: one.text for requirement in run.plan.requirements for one in requirement.criteria}
    shown = {row.id: row for row in criteria_of(run.state.stories[planned.id])}
    yield Line(f"criteria of {planned.id}", "head")
    for name in planned.criteria[:MOST_CRITERIA]:
        yield Line(flat(texts.get(name, name)))
        if name in shown:
            yield Line(f"   {shown_by(shown[name])}", "good" if shown[name].is_shown else "warn")
    if not planned.criteria:
        yield Line("it has none", "dim")


def _checks(run: Run, planned: Story, latest: AttemptStory | None) -> Iterator[Line]:
    yield Line("")
    evidence = AttemptEvidence(run.out_dir, planned.id, latest.number) if latest else None
    checks = evidence.checks() if evidence else []
    yield Line(f"checks of attempt {latest.number}" if latest and checks else "checks", "head")
    for check in checks:
        tone: Tone = "good" if check.verdict == "pass" else "bad" if check.verdict == "fail" else "warn"
        yield Line(f"{check.verdict}  $ {flat(check.command)}   {check.ended}", tone)
        for text in check.lines(12) if check.verdict in ("fail", "inherited") else ():
            yield Line(f"  {text}", "dim", verbatim=True)
    for command in commands_of(planned, run.run_input) if not checks else ():
        yield Line(f"$ {flat(command)}")
    for field, words in FINDINGS.items() if evidence else ():
        if evidence and (found := evidence.verdict(field)):
            yield Line(f"{words}: {', '.join(flat(one) for one in found[:20])}", "warn")
    if evidence and (critique := evidence.critique()):
        yield Line("")
        yield Line("critique for the next attempt", "head")
        yield from (Line(line.rstrip()) for line in critique.splitlines()[:MOST_LINES])


def question_lines(run: Run) -> list[Line]:
    """Return what is asked of people, each with the command that answers it."""
    found = []
    for question in asked(run.state, run.out_dir)[0]:
        one = card(run.plan, run.state, question, run.out_dir)
        found.append(
            Line(f"{one.id} asks: {flat(one.text)}   ({one.command} {'|'.join(word for word, _ in one.words)})", "warn")
        )
    return found
