"""One story: how it stands and why, its attempts, what its agent did, what judged its work, what it changed."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from santiago.app.finding import target
from santiago.app.loading import LONGEST_DETAIL
from santiago.app.paths import near
from santiago.artifacts.files import read_bytes
from santiago.artifacts.names import DETAILS
from santiago.contract import codec
from santiago.contract.checks import commands_of
from santiago.contract.errors import SantiagoError
from santiago.contract.phases import StoryPhase
from santiago.contract.reasons import MEANINGS, Reason
from santiago.contract.views import step_state, story_status
from santiago.executor.budget import Budget
from santiago.executor.messages import left_out
from santiago.executor.tally import criteria_of, sums
from santiago.report.agent_activity import ACTIONS, Doing, plain, state_of
from santiago.report.asking import asked
from santiago.report.endings import Ending, ending_of, exited, helping, is_the_agents
from santiago.report.evidence import FINDINGS, AttemptEvidence, tidied, totals
from santiago.report.marks import mark
from santiago.report.measures import span
from santiago.report.page import Line, labelled, rows_that_fit, titled
from santiago.report.proof import shown_by
from santiago.report.remedies import after_story, listed
from santiago.report.run_status import detail_data, status_in, step_word
from santiago.report.spending import Sum, dollars, of_story, said, thousands
from santiago.report.story_status import explanation
from santiago.util.clock import SystemClock, between
from santiago.util.text import count, first, fit, flat, harmless, width

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from santiago.agent.stream import Reading
    from santiago.app.loading import AttemptStory, Run
    from santiago.contract.plan import Story
    from santiago.report.page import Tone

MOST_LINES = 1000
"""How many lines of a log or a patch a screen shows. `santiago show --patch` prints all of a patch."""
LOG_LINES = 200
"""How many lines of a log are printed."""
OUTPUT_LINES = 30
"""How many lines of a failed check's output are shown."""
MOST_TODOS = 30
MOST_CRITERIA = 40
MOST_FILES = 40
_TODO: dict[str, tuple[str, Tone]] = {"done": ("✓", "good"), "active": ("▶", "busy"), "open": ("·", "")}
_ENDED: dict[str, tuple[str, Tone]] = {
    "ok": ("✓", "good"), "failed": ("✗", "bad"), "voided": ("-", "warn"), "stopped": ("-", "warn"),
    "running": ("▶", "busy"), Reason.UNPROVEN: ("?", "warn"),
}  # fmt: skip
"""How an attempt ended → its symbol and tone."""
_VERDICTS: dict[str, Tone] = {"pass": "good", "fail": "bad"}

PAGES = ("story", "agent", "log", "changes", "criteria")
"""The pages of a story on a screen, in the order in which they are shown."""


def page(run: Run, planned: Story, name: str, following: Doing, columns: int, live: str | None = None) -> list[Line]:
    """Return one page of a story. `live` is what a running attempt has changed so far, if that is known."""
    tried = run.history.of(planned.id)
    latest = tried[-1] if tried else None
    if name == "story":
        return [*_standing(run, planned), *_detail(run, planned), *_attempts(run, planned, None, columns)]
    if name == "criteria":
        found = list(_criteria(run, planned))
        if latest is not None:
            evidence = AttemptEvidence(run.out_dir, planned.id, latest.number)
            found += [*titled(f"attempt {latest.number}", _judged(evidence)), *_critique(evidence)]
        return found
    if latest is None:
        return [Line("not attempted yet", "dim")]
    if name == "agent":
        return [Line(f"attempt {latest.number}", "head"), *_agent(run, planned, latest, following)]
    if name == "log":
        return _log(run, planned, latest, MOST_LINES)
    return list(_changes(run, planned, tried, live))


def lines(
    run: Run, planned: Story, chosen: AttemptStory | None, columns: int, *, patch: bool, with_log: bool
) -> Iterator[Line]:
    """Yield everything about a story and one of its attempts."""
    yield from _standing(run, planned)
    yield from _criteria(run, planned)
    yield from _detail(run, planned)
    yield from _attempts(run, planned, chosen, columns)
    if chosen is None:
        return
    evidence = AttemptEvidence(run.out_dir, planned.id, chosen.number)
    yield from (Line(), Line(f"attempt {chosen.number}", "head"))
    yield from _judged(evidence)
    yield from _agent(run, planned, chosen, Doing(run.out_dir, chosen.agent, once=True))
    yield from _critique(evidence)
    yield from _files(evidence, chosen)
    if with_log:
        yield from (Line(), *_log(run, planned, chosen, LOG_LINES))
    if patch:
        yield from titled("changes", _patch(_patch_of(run, planned, chosen)))
    yield from _places(run, planned, chosen, patch=patch, with_log=with_log)


def document(run: Run, planned: Story, chosen: AttemptStory | None) -> dict[str, Any]:
    """Return all attempts, and the chosen one with its evidence, for programs."""
    story = run.state.stories[planned.id]
    return {
        "contract_version": 1,
        "run_id": run.run_id,
        "id": planned.id,
        "title": planned.title,
        "phase": str(story.phase),
        "status": status_in(story, story_status(run.state, story)),
        "reason": story.reason,
        "proof": story.proof,
        "flaky": list(story.flaky),
        "excuse": story.unshown.excuse or None if story.unshown else None,
        "criteria": [codec.to_data(row) for row in criteria_of(story)],
        "step_state": step_state(run.state, story),
        "parent": story.parent,
        "deferred": story.deferred,
        "detail": {**detail, "text": _detail_text(run, planned.id)} if (detail := detail_data(story)) else None,
        "why": explanation(run.state, planned, run.run_input),
        "depends_on": list(planned.depends_on),
        "checks": list(commands_of(planned, run.run_input)),
        "usage": codec.to_data(dict(sums(story))),
        "attempts": [attempt_data(run, planned, one) for one in run.history.of(planned.id)],
        "shown": _evidence_data(run, planned, chosen) if chosen else None,
    }


def attempt_data(run: Run, planned: Story, one: AttemptStory) -> dict[str, Any]:
    stats = AttemptEvidence(run.out_dir, planned.id, one.number).stats()
    return {
        "number": one.number, "status": one.status, "reason": one.reason or None, "proof": one.proof or None, "commit": one.commit or None,
        "started": one.started, "ended": one.ended or None, "agent_seconds": one.agent_ms / 1000, "verify_seconds": one.verify_ms / 1000,
        "worker": one.worker or None,
        "agent": one.agent or None, "writes_tests": one.writes_tests, "own_work": one.own_work or None, "pruned": one.pruned, "tokens": one.tokens,
        "cost_usd": one.cost / 1e6 if one.cost is not None else None, "files": [file._asdict() for file in stats],
    }  # fmt: skip


def _evidence_data(run: Run, planned: Story, one: AttemptStory) -> dict[str, Any]:
    evidence = AttemptEvidence(run.out_dir, planned.id, one.number)
    following = Doing(run.out_dir, one.agent, once=True)
    ending = ending_of(run.out_dir, planned.id, one.number)
    return {
        "number": one.number,
        "folder": str(evidence.folder),
        "activity": following.data(planned.id, one.number),
        "ending": {**ending._asdict(), "help": helping(one.reason or None, ending)} if ending.there else None,
        "results": [check._asdict() for check in evidence.checks()],
        "critique": evidence.critique(),
        "patch": evidence.patch(),
    }


# How it stands


def _standing(run: Run, planned: Story) -> Iterator[Line]:
    story = run.state.stories[planned.id]
    look = mark(story, at_rest=run.worker is None)
    reason = "" if story.is_unproven else story.reason or story.proof
    yield Line(f"{planned.id}  {flat(planned.title)}", "head")
    told = "  ".join(filter(None, (f"{look.symbol} {look.word}", reason, step_word(run, story))))
    yield Line(told, look.tone, label="state")
    why = [harmless(text) for text in explanation(run.state, planned, run.run_input)]
    yield from labelled("because", why)
    questions = (flat(one.text) for one in asked(run.state, run.out_dir)[0] if one.story == planned.id)
    yield from labelled("asks you", (text for text in questions if not any(text in told for told in why)), "warn")
    most = Budget(run.run_input.limits, run.state).attempts_of(story)
    spent = [span(story.used_ms), *of_story(story)] if story.attempts else []
    yield Line("   ".join([f"{story.counted} of {count(most, 'attempt')}", *spent]), label="used")
    place = f"{harmless(run.plan.source.path)}:{planned.origin.line}"
    yield Line(f"{place}   {', '.join(planned.requirements[:8])}", label="from")
    yield Line(f"{flat(planned.chunk)}   run {run.run_id}", label="chunk")
    for label, names in (("after", planned.depends_on), ("files", planned.files[:8])):
        if names:
            yield Line(flat(", ".join(names)), label=label)
    yield from labelled("told", map(flat, story.notes), "warn")


def _criteria(run: Run, planned: Story) -> Iterator[Line]:
    """Yield what the story must meet, which test shows it, and the commands that check it."""
    texts = run.plan.criteria
    shown = {row.id: row for row in criteria_of(run.state.stories[planned.id])}
    for at, name in enumerate(planned.criteria[:MOST_CRITERIA]):
        told = f"{planned.name_of(name)}: {texts[name]}" if name in texts else name
        yield Line(flat(told), label=" " if at else "criteria")
        if name in shown:
            yield Line(f"  {shown_by(shown[name])}", "good" if shown[name].is_shown else "warn", label=" ")
    if not planned.criteria:
        yield Line("none", "dim", label="criteria")
    yield from labelled("checks", (f"$ {flat(command)}" for command in commands_of(planned, run.run_input)))


def _detail(run: Run, planned: Story) -> Iterator[Line]:
    """Yield the latest detailed plan of an agent, and whether it was approved."""
    story = run.state.stories[planned.id]
    owner = run.state.stories[story.parent] if story.parent else story
    if owner.detail is None:
        return
    waits = owner.phase is StoryPhase.PROPOSED and not owner.deferred
    word = "approved" if owner.detail.approved else "it waits for your answer" if waits else "not approved"
    text = _detail_text(run, planned.id).splitlines()[:MOST_LINES] or ["(missing or unreadable)"]
    title = f"detailed plan of {owner.id}, proposal {owner.detail.revision}: {word}"
    yield from titled(title, (Line(f"  {harmless(line)}".rstrip()) for line in text))


def _detail_text(run: Run, name: str) -> str:
    """Return a story's latest detailed plan as text; for a substep, only its part. It is untrusted text."""
    story = run.state.stories[name]
    if story.parent:
        planned = run.story(name)
        return planned.description if planned else ""
    if story.detail is None:
        return ""
    try:
        content = read_bytes(run.out_dir / DETAILS / name / f"{story.detail.revision}.md", LONGEST_DETAIL)
    except SantiagoError:
        return ""
    return content.decode("utf-8", "replace")


def _attempts(run: Run, planned: Story, chosen: AttemptStory | None, columns: int) -> Iterator[Line]:
    """Yield a table of the attempts. What went wrong in each stands below it, for the `chosen` one elsewhere."""
    tried = run.history.of(planned.id)
    if not tried:
        return
    room = max(12, *(len(outcome_of(one)) for one in tried))
    heads = [
        f"  #    {fit('outcome', room)}",
        *(f"{word:>7}" for word in ("agent", "checks", "tokens", "cost")),
        "changes",
    ]
    # Tokens and money are told above, and the changes below, so these columns may be dropped.
    head, *texts = rows_that_fit([heads, *(_cells(run, planned, one, room) for one in tried)], columns, [4, 3, 2, 1, 5])
    yield from (Line(), Line(head, "dim", verbatim=True))
    for one, text in zip(tried, texts, strict=True):
        yield Line(text, look_of(one)[1], verbatim=True)
        if one.message and one is not chosen:
            yield Line(f"       {first(flat(one.message), 300)}", "dim")


def _cells(run: Run, planned: Story, one: AttemptStory, room: int) -> list[str]:
    silent = "-" if one.status == "running" else "unknown"
    now = between(one.started, SystemClock().utc()) if one.status == "running" and not one.agent_ms else 0
    tokens = thousands(one.tokens) if one.tokens is not None else silent
    cost = dollars(one.cost) if one.cost is not None else silent
    figures = (f"{text:>7}" for text in (span(one.agent_ms or now), span(one.verify_ms), tokens, cost))
    stats = AttemptEvidence(run.out_dir, planned.id, one.number).stats()
    return [
        f"  {one.number:<2} {look_of(one)[0]} {fit(outcome_of(one), room)}",
        *figures,
        totals(stats) if stats else "-",
    ]


def look_of(one: AttemptStory) -> tuple[str, Tone]:
    """Return the symbol and the tone of an attempt. One whose work is kept for want of a test did not fail."""
    return _ENDED.get(one.reason if one.reason == Reason.UNPROVEN else one.status, ("·", ""))


def outcome_of(one: AttemptStory) -> str:
    passed = "wrote its tests" if one.writes_tests else f"passed, {one.proof}"
    outcome = one.reason or (passed if one.status == "ok" else one.status)
    if one.reason == Reason.UNPROVEN:
        outcome = "brought no test that shows it" if one.shows else "passes, no test shows it"
    elif one.shows:
        outcome = f"missing test: {outcome}"
    outcome = f"tests: {outcome}" if one.writes_tests and one.status != "ok" else outcome
    return f"{outcome}, not counted" if one.status == "voided" else outcome


# What judged its work


def _judged(evidence: AttemptEvidence) -> Iterator[Line]:
    """Yield what an attempt's checks said, what its verdict names."""
    critique = evidence.critique()
    for check in evidence.checks():
        ran = f", {count(check.checks, 'test')}" if check.checks is not None else ""
        yield Line(
            f"{check.verdict}  $ {flat(check.command)}   {check.ended}{ran}", _VERDICTS.get(check.verdict, "warn")
        )
        if check.verdict in ("fail", "inherited") and not critique:  # a critique quotes the output
            yield from (Line(f"│ {text}") for text in check.lines(OUTPUT_LINES))
            if check.dropped:
                yield Line(f"│ ({count(check.dropped, 'byte')} not kept)")
    for field, words in FINDINGS.items():
        if found := evidence.verdict(field):
            yield Line(f"{words}: {', '.join(flat(each) for each in found[:20])}", "warn")


def _critique(evidence: AttemptEvidence) -> list[Line]:
    told = (Line(f"  {line}".rstrip()) for line in evidence.critique().splitlines()[:MOST_LINES])
    return titled("critique for the next attempt", told)


# What its agent did


def _agent(run: Run, planned: Story, one: AttemptStory, following: Doing) -> Iterator[Line]:
    """Yield how an attempt's agent ended and what helps, what it used, its own to-do list, its latest uses of tools."""
    yield from _account(run, planned, one)
    if one.status == "running":
        now = following.words(planned.id, one.number) or "it has printed nothing yet"
        yield Line(now, "busy", label="now")
    reading = following.reading(planned.id, one.number)
    done = sum(todo.done for todo in reading.todos.values())
    yield from titled(f"its to-do list, {done} of {len(reading.todos)} done", _todos(reading))
    uses = reading.actions[-ACTIONS:]
    more = f", the last {len(uses)} of {reading.tools}" if reading.tools > len(uses) else ""
    yield from titled(f"tools that it used{more}", _uses(plain(str(action)) for action in uses))


def _todos(reading: Reading) -> Iterator[Line]:
    for todo in list(reading.todos.values())[:MOST_TODOS]:
        symbol, tone = _TODO[state_of(todo)]
        yield Line(f"  {symbol} {flat(todo.text)}", tone)
    if len(reading.todos) > MOST_TODOS:
        yield Line(f"  … and {len(reading.todos) - MOST_TODOS} more", "dim")


def _uses(texts: Iterable[str]) -> Iterator[Line]:
    for text, same in groupby(texts):
        times = len(list(same))
        yield Line(f"  {fit(text, 110).rstrip()}{f'   ({times} times)' if times > 1 else ''}", verbatim=True)


def _account(run: Run, planned: Story, one: AttemptStory) -> Iterator[Line]:
    """Yield what is known of an attempt's agent: how it ended and what helps, its usage, tools that it was denied."""
    ending = ending_of(run.out_dir, planned.id, one.number)
    reason = one.reason or ending.reason
    lost = flat(left_out(AttemptEvidence(run.out_dir, planned.id, one.number).left_out()))
    own = reason if is_the_agents(reason) else ending.reason
    ended = f"{own}{exited(own, ending)}: {MEANINGS[Reason(own)].sentence}" if own in MEANINGS else ""
    yield from labelled("by", [f"a person, from {first(flat(one.own_work), 100)}"] if one.own_work else [])
    agent = [] if one.own_work else [flat(one.agent), usage_of(one, ending)]
    for label, texts in (
        ("agent", ["   ".join(filter(None, agent))]),
        ("worker", [one.worker]),
        ("ended", [ended]),
        ("it said", ending.words),
        ("denied", [ending.denied]),
        ("help", [helping(reason, ending) if is_the_agents(reason) else ""]),
        ("message", [first(flat(one.message), 300) if not ending.words and not lost else ""]),
        ("left out", [lost]),
        ("settings", [ending.left]),
        ("session", [ending.session]),
    ):
        yield from labelled(label, map(harmless, filter(None, texts)))


def usage_of(one: AttemptStory, ending: Ending) -> str:
    """Return what an attempt used. What it did not report is unknown."""
    if one.status == "running" and not ending.there:
        return ""
    cost = round(ending.cost_usd * 1e6) if ending.cost_usd is not None else one.cost
    tokens = ending.tokens if ending.tokens is not None else one.tokens
    amounts = [Sum(amount or 0, amount is None) for amount in (tokens, cost)]
    return "   ".join(part.partition(" (")[0] for part in said(*amounts))


def _log(run: Run, planned: Story, one: AttemptStory, most: int) -> list[Line]:
    found = AttemptEvidence(run.out_dir, planned.id, one.number).log().splitlines()
    kept = found[-most:]
    more = f", the last {len(kept):,} lines" if len(found) > len(kept) else ""
    head = Line(f"what the agent of attempt {one.number} printed{more}", "head")
    return [head, *(Line(tidied(line).expandtabs(4), verbatim=True) for line in kept or ["(nothing yet)"])]


# What it changed


def _changes(run: Run, planned: Story, tried: list[AttemptStory], live: str | None) -> Iterator[Line]:
    """Yield what the running attempt has changed, or else the latest attempt that left work."""
    if tried[-1].status == "running":
        told = "what it changes is kept when its agent ends" if live is None else "what it has changed so far"
        yield Line(f"attempt {tried[-1].number} is under way; {told}", "busy")
        if live is not None:
            yield from _patch(live, MOST_LINES) if live else [Line("nothing yet", "dim")]
            return
    for one in reversed(tried):
        evidence = AttemptEvidence(run.out_dir, planned.id, one.number)
        if patch := evidence.patch():
            yield from _files(evidence, one)[1:]
            yield from _patch(patch, MOST_LINES)
            return
    yield Line("no attempt has changed anything", "dim")


def _files(evidence: AttemptEvidence, one: AttemptStory) -> list[Line]:
    """Return which files an attempt changed, and how much."""
    stats = evidence.stats()
    size = min(60, max((width(file.path) for file in stats), default=0))
    rows = (f"  {fit(file.path, size)}  +{file.added} -{file.removed}" for file in stats[:MOST_FILES])
    against = f" against {one.base[:12]}" if one.base else ""
    return titled(
        f"changes of attempt {one.number}: {totals(stats)}{against}", (Line(text, verbatim=True) for text in rows)
    )


def _patch_of(run: Run, planned: Story, one: AttemptStory) -> str:
    """Return what an attempt changed, or has changed so far if it is under way."""
    kept = AttemptEvidence(run.out_dir, planned.id, one.number).patch()
    if kept or one.status != "running" or not run.worker:
        return kept
    from santiago.report.live_changes import changed_so_far  # loads git and more, so only when needed

    return changed_so_far(run, planned.id, one.number) or ""


def _patch(patch: str, most: int | None = None) -> Iterator[Line]:
    found = patch.splitlines()
    for line in found[:most]:
        text = harmless(line).expandtabs(4)
        tone: Tone = "head" if text.startswith("diff ") else "busy" if text.startswith("@@") else ""
        if not tone and not text.startswith(("+++", "---", "index ")):
            tone = "good" if text.startswith("+") else "bad" if text.startswith("-") else ""
        yield Line(text, tone, verbatim=True)
    if most is not None and len(found) > most:
        yield Line(f"and {count(len(found) - most, 'more line')}: `santiago show STORY --patch`", "dim")


def _places(run: Run, planned: Story, one: AttemptStory, *, patch: bool, with_log: bool) -> Iterator[Line]:
    """Yield where an attempt's work and evidence are, and what to type next."""
    yield Line()
    if one.commit and one.pruned:
        told = "its ref was removed by `santiago clean`; git keeps what is on a branch"
        yield Line(f"{one.commit[:12]}   {told}", label="commit")
    elif one.commit:
        yield Line(f"refs/santiago/{run.run_id}/{planned.id}/{one.number}   {one.commit[:12]}", label="kept at")
    yield Line(near(AttemptEvidence(run.out_dir, planned.id, one.number).folder), label="evidence")
    more = {} if patch else {"--patch": "its changes"}
    more |= {} if with_log or one.own_work else {"--log": "the agent's log"}
    again = f"santiago show{target(run.out_dir)} {planned.id} --attempt {one.number} {' '.join(more)}"
    rows = [(again, f"with {' and '.join(more.values())}")] if more else []
    yield from map(Line, listed([*rows, *after_story(run, planned.id)]))
