"""What a person should know of a plan before it is run, and the command that runs it."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from santiago.app.paths import typed
from santiago.app.shortage import named, too_few, too_short, unchecked
from santiago.app.start.proposals import ways_on
from santiago.contract.policy import Limits
from santiago.report.accounting import proposal

if TYPE_CHECKING:
    from santiago.app.compiling import Job
    from santiago.contract.plan import Plan

MOST_OFFERS = 12
"""How many commands of the repository are named."""


def on_checks(job: Job, plan: Plan) -> list[str]:
    """Return the warning that some stories have no check."""
    bare = unchecked(plan.stories, job.run_input)
    if not bare:
        return []
    which = "no story has a check" if len(bare) == len(plan.stories) else f"nothing checks {named(bare)}"
    hint = f'{_run(job)} --verify "CMD", or santiago init'
    if job.from_program:
        hint = "verification.story_commands in the run input"
    return [f"{which}, and a story without a check is never done. Add one: {hint}"]


def on_units(job: Job, plan: Plan) -> list[str]:
    """Return what a proposal takes as the work and what could be meant instead, or that a person confirmed it."""
    if plan.certain:
        return []
    if job.run_input.policy.units:
        return [f"confirmed: {proposal(plan)[0]}"]
    return [*proposal(plan), "nothing starts on a proposal before you say which list is the work"]


def on_offers(job: Job, plan: Plan) -> list[str]:
    """Return the commands that the repository's files suggest, if a check is missing. Any of them may be used."""
    from santiago.app.candidates import detect
    from santiago.app.scripts import scripts

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


def on_minutes(job: Job, plan: Plan) -> list[str]:
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


def next_command(job: Job, plan: Plan, outcome: str) -> str:
    """Return the next command, as it works from the current folder; empty if there is nothing to do."""
    if outcome == "is unchanged":
        return ""
    if outcome not in ("written", "unchanged"):
        return f"santiago plan {f'--input {typed(job.source)}' if job.source else typed(job.document)}{_place(job)}"
    if not plan.certain and not job.run_input.policy.units:
        return ways_on(plan, plan.source.path, _start(job, plan))[0][0]
    return _start(job, plan)


def other_commands(job: Job, plan: Plan, outcome: str) -> list[str]:
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
