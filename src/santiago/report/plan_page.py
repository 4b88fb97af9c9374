"""A plan: what was read, its stories with their checks, what a person should know before it is run, and what to type next."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from santiago.app import expected
from santiago.app.paths import shortest, typed
from santiago.app.shortage import named, too_few, too_short, unchecked
from santiago.app.start import kept
from santiago.app.start.proposals import ways_on
from santiago.contract import codec
from santiago.contract.policy import Limits
from santiago.report import account_lines, check_origins
from santiago.report.page import Line
from santiago.util.text import count, fit, flat, harmless, width

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from santiago.app.compiling import Job
    from santiago.app.forecasting import Outlook
    from santiago.contract.plan import Finding, Plan, Story
    from santiago.contract.policy import RunInput
    from santiago.planner.compile import Compilation
    from santiago.planner.rebase import Diff

MAX_CHECKS = 10
"""How many checks of one story are listed."""
MAX_KINDS = 10
"""How many kinds of findings are shown."""
MAX_ROWS = 200
"""How many stories are listed. The file has all of them."""
MOST_OFFERS = 12
"""How many commands of the repository are named."""


def lines(compiled: Compilation, plan: Plan, job: Job, columns: int) -> Iterator[Line]:
    """Yield the plan: counts first, then its stories by chunk, then what became of the rest of the document."""
    criteria = sum(len(requirement.criteria) for requirement in plan.requirements)
    read = f"{count(len(plan.requirements), 'requirement')}, {count(criteria, 'criterion', 'criteria')}"
    yield Line(harmless(f"{plan.source.path}  ({plan.source.format}: {read})"), label="Read")
    yield from (Line(harmless(f"found {evidence}"), label=" ") for evidence in plan.source.evidence[:2])
    planned = f"{count(len(plan.stories), 'story', 'stories')} in {count(len(plan.chunks), 'chunk')}"
    yield Line(f"{planned}, in the order: dependencies, requirement id, name", label="Planned")
    done = kept.foreseen(plan, Path(job.run_input.repo_path))
    yield from (Line(), *story_lines(plan, columns, job.run_input, done), Line())
    for label, text in account_lines.lines(plan, whole=job.findings):
        yield Line(f"{label}: {harmless(text)}", "warn" if label == "Not planned" else "")
    if done:
        yield Line(harmless(kept.told(plan, done)), label="Kept")
    yield from other_checks(plan, job)
    if compiled.diff:
        yield changes(compiled.diff)


def story_lines(
    plan: Plan, columns: int, run_input: RunInput | None = None, done: Container[str] = ()
) -> Iterator[Line]:
    """Yield a line per story under its chunk, in columns that fit the terminal; with a run input, also its checks.

    Stories that are `done` already are marked as a run shows them.
    """
    shown = plan.stories[:MAX_ROWS]
    cells = {story.id: _cells(story, is_done=story.id in done) for story in shown}
    widths = [max((width(row[column]) for row in cells.values()), default=1) for column in range(4)]
    room = max(70, min(columns or 100, 140)) - sum(widths) - 12
    title_width = max(20, min(room, max(width(story.title) for story in shown)))
    for chunk in plan.chunks:
        here = [story for story in shown if story.chunk == chunk.label]
        if here:
            yield Line(f"  {harmless(chunk.label)}", "busy")
        for story in here:
            name, origin, after, judged = (fit(c, w) for c, w in zip(cells[story.id], widths, strict=True))
            yield Line(f"    {name}  {fit(story.title, title_width)}  {origin}  {after}  {judged}".rstrip())
            if run_input is not None:
                yield from _checks(plan, story, run_input, " " * (widths[0] + 6))
    if len(shown) < len(plan.stories):
        yield Line(
            f"    … and {count(len(plan.stories) - len(shown), 'more story', 'more stories')} (all are in plan.json)"
        )


def _checks(plan: Plan, story: Story, run_input: RunInput, indent: str) -> Iterator[Line]:
    own = check_origins.of_story(plan, story, run_input)
    for one in own[:MAX_CHECKS]:
        yield Line(f"{indent}$ {flat(one.command)}{f'   {one.place}' if one.place else ''}")
    if len(own) > MAX_CHECKS:
        yield Line(f"{indent}… and {count(len(own) - MAX_CHECKS, 'more check')}")
    if unchecked([story], run_input):
        yield Line(f"{indent}nothing checks it", "warn")


def other_checks(plan: Plan, job: Job) -> Iterator[Line]:
    """Yield the checks of every story, and those of the whole run."""
    for when, found in (
        ("every story", check_origins.of_every_story(job)),
        ("at the end", check_origins.at_the_end(plan, job)),
    ):
        yield from (Line(f"{when}: $ {flat(one.command)}   {one.place}".rstrip(), label="Checks") for one in found)


def _cells(story: Story, *, is_done: bool) -> tuple[str, str, str, str]:
    """Return the columns besides the title: id, origin, what it waits for, what judges it."""
    needs = ", ".join((*story.depends_on, *(f"{name}?" for name in story.external_depends_on)))
    judged = [count(len(story.criteria), "criterion", "criteria")]
    judged += [count(len(story.verify), "check")] if story.verify else []
    judged += ["claimed done"] * story.claimed_done + ["kept"] * is_done
    return story.id, _cut(story.requirements[0], 16), _cut(f"after {needs}" if needs else "-", 24), ", ".join(judged)


def _cut(text: str, columns: int) -> str:
    return fit(text, columns).rstrip() if width(text) > columns else harmless(text)


def changes(diff: Diff) -> Line:
    """Return how the stories differ from those of the plan before."""
    parts = [
        *(f"+ {name}" for name in diff.new[:8]),
        *(f"~ {name} ({what})" for name, what in diff.changed[:8]),
        *(f"- {name}" for name in diff.removed[:8]),
    ]
    hidden = len(diff.new) + len(diff.changed) + len(diff.removed) - len(parts)
    parts += [f"… {hidden} more"] if hidden else []
    return Line(harmless("   ".join([*parts, f"= {len(diff.kept)} kept"])), label="Changed")


def told_findings(plan: Plan, *, whole: bool) -> list[Finding]:
    """Return warnings and notes: of each kind the first one, which names how many are like it; `whole`: all."""
    if whole:
        return list(plan.findings)
    kinds: dict[tuple[str, str], list[Finding]] = {}
    for finding in sorted(plan.findings, key=lambda one: one.level == "note"):
        kinds.setdefault((finding.level, finding.code), []).append(finding)
    return [
        replace(one, message=f"{one.message} (and {len(like)} more like it)") if like else one
        for one, *like in list(kinds.values())[:MAX_KINDS]
    ]


def outcome_lines(plan: Plan, job: Job, outcome: str) -> Iterator[Line]:
    """Yield what a person should know, what became of the plan's file, and the next commands."""
    yield Line()
    for label, texts in (
        ("Checks", _on_checks(job, plan)),
        ("Offers", _on_offers(job, plan)),
        ("Attempts", on_attempts(job, plan)),
        ("Minutes", _on_minutes(job, plan)),
        ("Proposal", _on_units(job, plan)),
    ):
        yield from (Line(harmless(text), "warn", label=label) for text in texts)
    if told := _forecast(expected.of_plan(plan, job.run_input)):
        yield Line(told, label="Forecast")
    digest = f"sha256:{plan.digest[:8]}…{plan.digest[-4:]}"
    if outcome in ("written", "unchanged"):
        same = "  (as it was)" if outcome == "unchanged" else ""
        yield Line(f"{harmless(shortest(job.out_dir / 'plan.json'))}  {digest}{same}", label="Wrote")
    elif job.compared:
        told = f"{shortest(job.compared)} {outcome}  {digest}; nothing was written"
        yield Line(harmless(told), label="Checked")
    else:
        told = f"there is no plan to compare with  {digest}; nothing was written"
        yield Line(told, "warn", label="Checked")
    if command := _next_command(job, plan, outcome):
        yield Line(f"next: {harmless(command)}", verbatim=True)
        yield from (Line(f"  or: {harmless(other)}", verbatim=True) for other in _other_commands(job, plan, outcome))


def _forecast(found: Outlook | None) -> str:
    """Return what the plan will take, where earlier runs tell it."""
    if found is None:
        return ""
    from santiago.report.forecast_page import sentence  # loaded with what it needs only where there is something to say

    return sentence(found)


# As data


def as_document(compiled: Compilation, plan: Plan, job: Job, outcome: str) -> dict[str, Any]:
    """Return the plan with the outcome of planning, for `--json`."""
    diff = compiled.diff
    return {
        **codec.to_data(plan),
        "diff": diff
        and codec.to_data(
            {
                "kept": diff.kept,
                "changed": [{"id": name, "what": what} for name, what in diff.changed],
                "new": diff.new,
                "removed": diff.removed,
            }
        ),
        "out_dir": str(job.out_dir),
        "outcome": outcome,
        "checks": {
            "every_story": [one._asdict() for one in check_origins.of_every_story(job)],
            "at_the_end": [one._asdict() for one in check_origins.at_the_end(plan, job)],
            "stories": {
                s.id: [one._asdict() for one in check_origins.of_story(plan, s, job.run_input)] for s in plan.stories
            },
        },
        "kept": {name: one.run for name, one in kept.foreseen(plan, Path(job.run_input.repo_path)).items()},
        "unchecked": [story.id for story in unchecked(plan.stories, job.run_input)],
        "forecast": _forecast(expected.of_plan(plan, job.run_input)) or None,
        "limits": [*on_attempts(job, plan), *_on_minutes(job, plan)],
    }


def mermaid(plan: Plan) -> str:
    """Return the dependency graph as Mermaid text, which code forges draw."""
    lines = ["graph LR"]
    by_id = {story.id: story for story in plan.stories}
    for number, chunk in enumerate(plan.chunks, 1):
        lines.append(f'  subgraph chunk{number}["{_quoted(chunk.label)}"]')
        lines += [f'    {_node(name)}["{name} {_quoted(by_id[name].title)}"]' for name in chunk.stories]
        lines.append("  end")
    lines += [f"  {_node(needed)} --> {_node(story.id)}" for story in plan.stories for needed in story.depends_on]
    lines += [f"  chunk{n} -.-> chunk{n + 1}" for n in range(1, len(plan.chunks))]
    return "\n".join(lines)


def _node(name: str) -> str:
    return name.replace(".", "_").replace("-", "_")


def _quoted(text: str) -> str:
    text = harmless(text).replace('"', "#quot;").replace("\n", " ")
    return text if len(text) <= 60 else text[:59] + "…"


# What a person should know


def _on_checks(job: Job, plan: Plan) -> list[str]:
    """Return the warning that some stories have no check."""
    bare = unchecked(plan.stories, job.run_input)
    if not bare:
        return []
    which = "no story has a check" if len(bare) == len(plan.stories) else f"nothing checks {named(bare)}"
    hint = f'{_run(job)} --verify "CMD", or santiago init'
    if job.from_program:
        hint = "verification.story_commands in the run input"
    return [f"{which}, and a story without a check is never done. Add one: {hint}"]


def _on_units(job: Job, plan: Plan) -> list[str]:
    """Return what a proposal takes as the work and what could be meant instead, or that a person confirmed it."""
    if plan.certain:
        return []
    if job.run_input.policy.units:
        return [f"confirmed: {account_lines.proposal(plan)[0]}"]
    return [*account_lines.proposal(plan), "nothing starts on a proposal before you say which list is the work"]


def _on_offers(job: Job, plan: Plan) -> list[str]:
    """Return the commands that the repository's files suggest, if a check is missing. Any of them may be used."""
    from santiago.app.candidates import detect, scripts

    if not unchecked(plan.stories, job.run_input):
        return []
    root = Path(job.run_input.repo_path)
    tests = detect(root).likely
    found = [f"test: {one.test}   ({one.because})" for one in tests]
    found += [f"{one.kind}: {one.command}   ({one.because})" for one in scripts(root)]
    if any("pytest" in one.test.split() for one in tests):
        found[MOST_OFFERS:] = ["a test file of each story's own: pytest tests/test_{id}.py"]
    return found[: MOST_OFFERS + 1]


def _likely(job: Job) -> str:
    """Return the check that the repository's files suggest, as a word of a command line."""
    from santiago.app.candidates import detect

    found = [one for one in detect(Path(job.run_input.repo_path)).likely if not one.setup]
    return quote(found[0].test) if found else '"CMD"'


def _on_minutes(job: Job, plan: Plan) -> list[str]:
    """Return the warning that the run's minutes may not do for one attempt at each story."""
    return too_short(len(plan.stories), job.run_input.limits, job.run_input.policy.jobs)


def on_attempts(job: Job, plan: Plan) -> list[str]:
    """Return the note that the attempts were fitted to the plan, or the warning that they are too few."""
    most, usual = job.run_input.limits.run_max_attempts, Limits().run_max_attempts
    if job.fitted:
        times = "twice" if most == 2 * len(plan.stories) else "four times"
        return [
            f"limits.run_max_attempts is set to {most}, {times} the number of stories; the default of {usual} is too low for them"
        ]
    return too_few(len(plan.stories), most)


def _next_command(job: Job, plan: Plan, outcome: str) -> str:
    """Return the next command, as it works from the current folder; empty if there is nothing to do."""
    if outcome == "is unchanged":
        return ""
    if outcome not in ("written", "unchanged"):
        return f"santiago plan {f'--input {typed(job.source)}' if job.source else typed(job.document)}{_place(job)}"
    if not plan.certain and not job.run_input.policy.units:
        return ways_on(plan, plan.source.path, _start(job, plan))[0][0]
    return _start(job, plan)


def _other_commands(job: Job, plan: Plan, outcome: str) -> list[str]:
    """Return the other commands that go on from a proposal."""
    if plan.certain or job.run_input.policy.units or outcome not in ("written", "unchanged"):
        return []
    return [command for command, _ in ways_on(plan, plan.source.path, _start(job, plan))[1:]]


def _start(job: Job, plan: Plan) -> str:
    if job.source is not None:
        return f"santiago execute --input {typed(job.source)} --plan {typed(job.out_dir / 'plan.json')}{_place(job)}"
    if unchecked(plan.stories, job.run_input):
        return f"{_run(job)} --verify {_likely(job)}"
    if job.is_read_plainly and job.is_at_home:
        return _run(job)
    return f"santiago resume {job.out_dir.name if job.is_at_home else typed(job.out_dir)}"


def _run(job: Job) -> str:
    return f"santiago run {typed(job.document)}{_place(job)}{job.worker}"


def _place(job: Job) -> str:
    """Return the option that names the out-dir, if it is needed."""
    return "" if job.is_at_home and not job.from_program else f" --out-dir {typed(job.out_dir)}"
