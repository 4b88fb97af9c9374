"""Prints a plan: counts first, then chunks and stories, then warnings, and last the next command."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.app.paths import shortest
from santiago.app.shortage import unchecked
from santiago.app.start import kept
from santiago.cli.view.errors import show_findings
from santiago.cli.view.text import paint, say
from santiago.report import accounting, advice, checks
from santiago.util.text import count, fit, flat, harmless, width

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from santiago.app.compiling import Job
    from santiago.contract.plan import Finding, Plan, Story
    from santiago.contract.policy import RunInput
    from santiago.planner.compile import Compilation
    from santiago.planner.rebase import Diff
    from santiago.report.page import Tone

MAX_CHECKS = 10
"""How many checks of one story are listed."""
MAX_KINDS = 10
"""How many kinds of findings are shown."""
MAX_ROWS = 200
"""How many stories are listed. The file has all of them."""


def show(compiled: Compilation, plan: Plan, lines: Sequence[str], job: Job, outcome: str) -> None:
    """Print the plan."""
    criteria = sum(len(requirement.criteria) for requirement in plan.requirements)
    _row(
        "Read",
        f"{plan.source.path}  ({plan.source.format}: {count(len(plan.requirements), 'requirement')}, {count(criteria, 'criterion', 'criteria')})",
    )
    for evidence in plan.source.evidence[:2]:
        _row("", f"found {evidence}")
    _row(
        "Planned",
        f"{count(len(plan.stories), 'story', 'stories')} in {count(len(plan.chunks), 'chunk')}, in the order: dependencies, requirement id, name",
    )
    say()
    done = kept.foreseen(plan, Path(job.run_input.repo_path))
    stories(plan, job.run_input, done)
    say()
    _account(plan, whole=job.findings)
    if done:
        _row("Kept", kept.told(plan, done))
    other_checks(plan, job)
    if compiled.diff:
        changes(compiled.diff)
    _findings(plan, lines, whole=job.findings)
    say()
    for label, texts in (
        ("Checks", advice.on_checks(job, plan)),
        ("Offers", advice.on_offers(job, plan)),
        ("Attempts", advice.on_attempts(job, plan)),
        ("Minutes", advice.on_minutes(job, plan)),
        ("Proposal", advice.on_units(job, plan)),
    ):
        for text in texts:
            _row(label, text, "warn")
    _outcome(plan, job, outcome)
    if command := advice.next_command(job, plan, outcome):
        say(f"next: {harmless(command)}", verbatim=True)
        for other in advice.other_commands(job, plan, outcome):
            say(f"  or: {harmless(other)}", verbatim=True)


def _row(label: str, text: str, tone: Tone = "good") -> None:
    say(f"{paint(f'{label:9}', tone, stderr=False)} {harmless(text)}")


def stories(plan: Plan, run_input: RunInput | None = None, done: Container[str] = ()) -> None:
    """Print a line per story under its chunk, in columns that fit the terminal; with a run input, also its checks.

    Stories that are `done` already are marked as a run shows them.
    """
    shown = plan.stories[:MAX_ROWS]
    cells = {story.id: _cells(story, is_done=story.id in done) for story in shown}
    widths = [max((width(row[column]) for row in cells.values()), default=1) for column in range(4)]
    columns = max(70, min(shutil.get_terminal_size((100, 24)).columns, 140))
    title_width = max(20, min(columns - sum(widths) - 12, max(width(story.title) for story in shown)))
    for chunk in plan.chunks:
        here = [story for story in shown if story.chunk == chunk.label]
        if here:
            say(f"  {paint(harmless(chunk.label), 'busy', stderr=False)}")
        for story in here:
            name, origin, after, judged = (fit(c, w) for c, w in zip(cells[story.id], widths, strict=True))
            say(f"    {name}  {fit(story.title, title_width)}  {origin}  {after}  {judged}".rstrip())
            if run_input is not None:
                _checks(plan, story, run_input, widths[0] + 6)
    if len(shown) < len(plan.stories):
        say(f"    … and {count(len(plan.stories) - len(shown), 'more story', 'more stories')} (all are in plan.json)")


def _checks(plan: Plan, story: Story, run_input: RunInput, indent: int) -> None:
    own = checks.of_story(plan, story, run_input)
    for one in own[:MAX_CHECKS]:
        place = f"   {paint(one.place, 'dim', stderr=False)}" if one.place else ""
        say(f"{'':{indent}}$ {flat(one.command)}{place}")
    if len(own) > MAX_CHECKS:
        say(f"{'':{indent}}… and {count(len(own) - MAX_CHECKS, 'more check')}")
    if unchecked([story], run_input):
        say(f"{'':{indent}}{paint('nothing checks it', 'warn', stderr=False)}")


def other_checks(plan: Plan, job: Job) -> None:
    """Print the checks of every story, and those of the whole run."""
    for one in checks.of_every_story(job):
        _row("Checks", f"every story: $ {flat(one.command)}   {one.place}".rstrip())
    for one in checks.at_the_end(plan, job):
        _row("Checks", f"at the end: $ {flat(one.command)}   {one.place}".rstrip())


def _cells(story: Story, *, is_done: bool) -> tuple[str, str, str, str]:
    """Return the columns besides the title: id, origin, what it waits for, what judges it."""
    needs = ", ".join((*story.depends_on, *(f"{name}?" for name in story.external_depends_on)))
    judged = count(len(story.criteria), "criterion", "criteria")
    if story.verify:
        judged += f", {count(len(story.verify), 'check')}"
    if story.claimed_done:
        judged += ", claimed done"
    if is_done:
        judged += ", kept"
    after = f"after {needs}" if needs else "-"
    return story.id, _cut(story.requirements[0], 16), _cut(after, 24), judged


def _cut(text: str, columns: int) -> str:
    return fit(text, columns).rstrip() if width(text) > columns else harmless(text)


def _account(plan: Plan, *, whole: bool) -> None:
    """Print what became of the parts of the document that are not in the list of stories."""
    for label, text in accounting.lines(plan, whole=whole):
        say(f"{paint(f'{label}:', 'warn' if label == 'Not planned' else 'good', stderr=False)} {harmless(text)}")


def changes(diff: Diff) -> None:
    """Print how the stories differ from those of the plan before."""
    parts = [
        *(f"+ {name}" for name in diff.new[:8]),
        *(f"~ {name} ({what})" for name, what in diff.changed[:8]),
        *(f"- {name}" for name in diff.removed[:8]),
    ]
    hidden = len(diff.new) + len(diff.changed) + len(diff.removed) - len(parts)
    if hidden:
        parts.append(f"… {hidden} more")
    _row("Changed", "   ".join([*parts, f"= {len(diff.kept)} kept"]))


def _findings(plan: Plan, lines: Sequence[str], *, whole: bool) -> None:
    """Print warnings and notes with their places: of each kind the first one, and how many are like it; `whole`: all."""
    if not plan.findings:
        return
    kinds: dict[tuple[str, str], list[Finding]] = {}
    for finding in sorted(plan.findings, key=lambda one: one.level == "note"):
        kinds.setdefault((finding.level, finding.code), []).append(finding)
    groups = list(kinds.values())
    shown = list(plan.findings) if whole else [_with_others(group) for group in groups[:MAX_KINDS]]
    say()
    show_findings(shown, plan.source.path, lines)
    if sum(map(len, groups)) > len(shown):
        say(f"… {count(len(plan.findings), 'finding')} in all; --findings shows each", err=True)


def _with_others(group: list[Finding]) -> Finding:
    """Return the first of some findings of one kind, which names how many there are beside it."""
    more = len(group) - 1
    return replace(group[0], message=f"{group[0].message} (and {more} more like it)") if more else group[0]


def _outcome(plan: Plan, job: Job, outcome: str) -> None:
    place = shortest(job.out_dir / "plan.json")
    digest = f"sha256:{plan.digest[:8]}…{plan.digest[-4:]}"
    if outcome in ("written", "unchanged"):
        _row("Wrote", f"{place}  {digest}{'  (as it was)' if outcome == 'unchanged' else ''}")
    elif job.compared:
        _row("Checked", f"{shortest(job.compared)} {outcome}  {digest}; nothing was written")
    else:
        _row("Checked", f"there is no plan to compare with  {digest}; nothing was written", "warn")
