"""`santiago show STORY`: one story with its attempts, why each ended, its checks, its critique and its changes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from santiago.app.finding import find_run, find_story, split_target, target
from santiago.app.loading import Run, load
from santiago.app.paths import near
from santiago.cli.view.account import show_agent
from santiago.cli.view.text import columns_of, paint, say, unicode
from santiago.contract.checks import commands_of
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.phases import StoryPhase
from santiago.contract.reasons import Reason
from santiago.executor.budget import Budget
from santiago.executor.tally import criteria_of
from santiago.report.evidence import FINDINGS, AttemptEvidence, Check, totals
from santiago.report.marks import mark
from santiago.report.measures import span
from santiago.report.page import rows_that_fit
from santiago.report.proof import shown_by
from santiago.report.remedies import after_story, listed
from santiago.report.run_status import step_word
from santiago.report.spending import dollars, of_story, thousands
from santiago.report.story import detail_text, document
from santiago.report.story_status import explanation
from santiago.util.text import count, fit, flat, harmless, width

if TYPE_CHECKING:
    from santiago.app.history import AttemptStory
    from santiago.contract.outcomes import Criterion
    from santiago.contract.plan import Story
    from santiago.report.page import Tone

OUTPUT_LINES = 30
LOG_LINES = 200
_TONES: dict[str, Tone] = {
    "ok": "good", "failed": "bad", "voided": "warn", "stopped": "warn", "running": "busy", "unproven": "warn",
}  # fmt: skip
_SIGNS = {"ok": "✓", "failed": "✗", "voided": "-", "stopped": "-", "running": "▶", "unproven": "?"}


@click.command("show")
@click.argument("words", nargs=-1, required=True, metavar="[RUN] STORY")
@click.option("--attempt", type=click.IntRange(1), help="Which attempt to show; the last one by default.")
@click.option("--patch", is_flag=True, help="Print what the attempt changed, line by line.")
@click.option("--log", "with_log", is_flag=True, help="Print the end of the agent's log.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(words: tuple[str, ...], attempt: int | None, patch: bool, with_log: bool, as_json: bool) -> None:
    """Show STORY of RUN (a folder or an id), or of the run that is running, or of the newest one here."""
    run_name, rest = split_target(words, least=1)
    if len(rest) != 1:
        raise click.UsageError("Say which story.")
    run = load(find_run(run_name))
    planned = find_story(run, rest[0])
    tried = run.history.of(planned.id)
    chosen = _chosen(planned, tried, attempt)
    if as_json:
        click.echo(json.dumps(document(run, planned, chosen), indent=2, ensure_ascii=not unicode(stderr=False)))
        return
    _head(run, planned)
    _detail(run, planned)
    _attempts(run, planned, tried)
    if chosen is not None:
        _attempt(run, planned, chosen, patch=patch, with_log=with_log)


def _chosen(planned: Story, tried: list[AttemptStory], number: int | None) -> AttemptStory | None:
    if number is None:
        return tried[-1] if tried else None
    found = next((one for one in tried if one.number == number), None)
    if found is None:
        raise SantiagoError(
            Kind.USAGE,
            f"{planned.id} has no attempt {number}",
            hint=f"It has {count(len(tried), 'attempt')}." if tried else "It has not been attempted yet.",
        )
    return found


def _head(run: Run, planned: Story) -> None:
    story = run.state.stories[planned.id]
    look = mark(story, at_rest=run.worker is None)
    say(f"{paint(f'{planned.id} {flat(planned.title)}', 'head', stderr=False)}   run {run.run_id}")
    reason = f"  {story.reason}" if story.reason and not story.is_unproven else ""
    proof = f"  {story.proof}" if story.proof and not story.reason else ""
    step = f"  {word}" if (word := step_word(run, story)) else ""
    standing = f"{look.symbol} {look.word}{reason}{proof}{step}"
    say(f"state      {paint(standing, look.tone, stderr=False)}")
    for number, text in enumerate(explanation(run.state, planned, run.run_input)):
        say(f"{'because' if number == 0 else '':10} {harmless(text)}")
    if spent := of_story(story):
        say(f"used       {'   '.join(spent)}")
    say(f"from       {harmless(run.plan.source.path)}:{planned.origin.line}   {', '.join(planned.requirements[:8])}")
    say(f"chunk      {flat(planned.chunk)}")
    if planned.depends_on:
        say(f"after      {', '.join(planned.depends_on)}")
    if planned.files:
        say(f"files      {harmless(', '.join(planned.files[:8]))}")
    criteria = {c.id: c.text for requirement in run.plan.requirements for c in requirement.criteria}
    shown = {row.id: row for row in criteria_of(story)}
    for number, name in enumerate(planned.criteria[:12]):
        told = f"{planned.name_of(name)}: {criteria[name]}" if name in criteria else name
        say(f"{'criteria' if number == 0 else '':10} {flat(told)}")
        if name in shown:
            say(f"{'':10}   {_evidence(shown[name])}")
    for number, text in enumerate(commands_of(planned, run.run_input)):
        say(f"{'checks' if number == 0 else '':10} $ {flat(text)}")


def _detail(run: Run, planned: Story) -> None:
    """Print the latest detailed plan of an agent, and whether it was approved."""
    story = run.state.stories[planned.id]
    owner = run.state.stories[story.parent] if story.parent else story
    text = detail_text(run, planned.id)
    if owner.detail is None:
        return
    waits = owner.phase is StoryPhase.PROPOSED and not owner.deferred
    word = "approved" if owner.detail.approved else "it waits for your answer" if waits else "not approved"
    say()
    say(paint(f"Detailed plan of {owner.id}, proposal {owner.detail.revision}: {word}", "head", stderr=False))
    for line in text.splitlines() or ["(missing or unreadable)"]:
        say(f"  {harmless(line)}".rstrip())


def _evidence(row: Criterion) -> str:
    return paint(shown_by(row), "good" if row.is_shown else "warn", stderr=False)


def _attempts(run: Run, planned: Story, tried: list[AttemptStory]) -> None:
    if not tried:
        return
    most = Budget(run.run_input.limits, run.state).attempts_of(run.state.stories[planned.id])
    say()
    heads = (f"{word:>7}" for word in ("agent", "checks", "tokens", "cost"))
    outcome = f"outcome (of {count(most, 'attempt')})"
    rows = [[f"  #  {fit(outcome, 34)}", *heads, "changes"]]
    for one in tried:
        sign = _SIGNS.get(_status(one), "·")
        passed = "wrote its tests" if one.writes_tests else f"passed, {one.proof}"
        outcome = one.reason or (passed if one.status == "ok" else one.status)
        if _status(one) == Reason.UNPROVEN:
            outcome = "brought no test that shows it" if one.shows else "passes, no test shows it"
        outcome = f"tests: {outcome}" if one.writes_tests and one.status != "ok" else outcome
        outcome = f"{outcome}, not counted" if one.status == "voided" else outcome
        stats = AttemptEvidence(run.out_dir, planned.id, one.number).stats()
        changes = totals(stats) if stats else "-"
        tokens, cost = ("-" if one.status == "running" else "unknown",) * 2
        tokens = thousands(one.tokens) if one.tokens is not None else tokens
        cost = dollars(one.cost) if one.cost is not None else cost
        figures = (f"{text:>7}" for text in (span(one.agent_ms), span(one.verify_ms), tokens, cost))
        rows.append([f"  {one.number:<2} {sign} {fit(outcome, 32)}", *figures, changes])
    # Tokens and money are printed above, and the changes below, so these columns may be dropped.
    head, *lines = rows_that_fit(rows, columns_of(stderr=False), [4, 3, 2, 1, 5])
    say(head)
    for one, text in zip(tried, lines, strict=True):
        say(paint(text, _TONES.get(_status(one), ""), stderr=False))


def _status(one: AttemptStory) -> str:
    """Return how an attempt ended. One whose work is kept for want of a test did not fail."""
    return one.reason if one.reason == Reason.UNPROVEN else one.status


def _attempt(run: Run, planned: Story, one: AttemptStory, *, patch: bool, with_log: bool) -> None:
    evidence = AttemptEvidence(run.out_dir, planned.id, one.number)
    say()
    say(paint(f"Attempt {one.number}", "head", stderr=False))
    critique = evidence.critique()
    for check in evidence.checks():
        _check(check, with_output=not critique)
    for field, words in FINDINGS.items():
        if found := evidence.verdict(field):
            say(f"{words}: {', '.join(flat(one) for one in found[:20])}")
    show_agent(run.out_dir, planned.id, one)
    if critique:
        say()
        say("critique for the next attempt")
        for line in critique.splitlines():
            say(f"  {line}".rstrip())
    if stats := evidence.stats():
        say()
        size = min(60, max(width(one.path) for one in stats))
        for file in stats[:40]:
            say(f"  {fit(file.path, size)}  +{file.added} -{file.removed}")
        say(f"  {totals(stats)}")
    if with_log:
        _section("the agent's log", evidence.log().splitlines()[-LOG_LINES:])
    if patch:
        _section("changes", [_coloured(line) for line in _patch(run, planned, one).splitlines()])
    _places(run, planned, one, patch=patch, with_log=with_log)


def _patch(run: Run, planned: Story, one: AttemptStory) -> str:
    """Return what an attempt changed, or has changed so far if it is under way."""
    kept = AttemptEvidence(run.out_dir, planned.id, one.number).patch()
    if kept or one.status != "running" or not run.worker:
        return kept
    from santiago.report.live_changes import changed_so_far

    return changed_so_far(run, planned.id, one.number) or ""


def _check(check: Check, *, with_output: bool) -> None:
    """Print a check; its output only `with_output`, since a critique already quotes it."""
    ran = f", {count(check.checks, 'test')}" if check.checks is not None else ""
    tone: Tone = "good" if check.verdict == "pass" else "bad" if check.verdict == "fail" else "warn"
    say(f"{paint(check.verdict, tone, stderr=False)}  $ {flat(check.command)}   {check.ended}{ran}")
    if with_output and check.verdict in ("fail", "inherited"):
        bar = "│"
        for line in check.lines(OUTPUT_LINES):
            say(f"{bar} {line}")
        if check.dropped:
            say(f"{bar} ({count(check.dropped, 'byte')} not kept)")


def _section(title: str, lines: list[str]) -> None:
    say()
    say(paint(title, "head", stderr=False))
    for line in lines:
        say(line, verbatim=True)


def _coloured(line: str) -> str:
    text = harmless(line)
    if text.startswith(("+++", "---", "diff ", "index ")):
        return paint(text, "", stderr=False)
    if text.startswith("@@"):
        return paint(text, "busy", stderr=False)
    tone: Tone = "good" if text[:1] == "+" else "bad" if text[:1] == "-" else ""
    return paint(text, tone, stderr=False)


def _places(run: Run, planned: Story, one: AttemptStory, *, patch: bool, with_log: bool) -> None:
    say()
    if one.commit and one.pruned:
        say(f"commit     {one.commit[:12]}   its ref was removed by `santiago clean`; git keeps what is on a branch")
    elif one.commit:
        say(f"kept at    refs/santiago/{run.run_id}/{planned.id}/{one.number}   {one.commit[:12]}")
    say(f"evidence   {near(AttemptEvidence(run.out_dir, planned.id, one.number).folder)}")
    more = {} if patch else {"--patch": "its changes"}
    more |= {} if with_log or one.own_work else {"--log": "the agent's log"}
    again = f"santiago show{target(run.out_dir)} {planned.id} --attempt {one.number} {' '.join(more)}"
    rows = [(again, f"with {' and '.join(more.values())}")] if more else []
    for text in listed([*rows, *after_story(run, planned.id)]):
        say(text)
