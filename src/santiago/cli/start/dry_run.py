"""`--dry-run`: what a run would do, in order, with the checks and the limits, without doing any of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from santiago.cli.view.text import harmless, say
from santiago.contract.reasons import ExitCode
from santiago.executor.schedule import followed

if TYPE_CHECKING:
    from santiago.contract.plan import Plan
    from santiago.contract.policy import RunInput
    from santiago.executor.situation import Scope


def show(run_input: RunInput, plan: Plan, scope: Scope, *, as_json: bool) -> int:
    """Print every story with its checks and whom it waits for."""
    behind = followed(plan, optimistic=run_input.policy.optimistic)
    rows = [
        {
            "id": story.id, "title": story.title, "chunk": story.chunk, "depends_on": list(story.depends_on),
            "behind": [name for name in behind[story.id] if name not in story.depends_on],
            "checks": [*story.verify, *run_input.verification.story_commands], "files": list(story.files),
        }
        for story in plan.stories
        if (scope.stories is None or story.id in scope.stories) and (scope.chunks is None or story.chunk in scope.chunks)
    ]  # fmt: skip
    if as_json:
        click.echo(json.dumps({"stories": rows, "run_id": run_input.run_id}, indent=2, ensure_ascii=False))
        return ExitCode.OK
    limits = run_input.limits
    say(
        f"would run {len(rows)} stories, at most {limits.story_max_attempts} attempts each and {limits.run_max_attempts} in all"
    )
    for row in rows:
        after = ", ".join([*row["depends_on"], *(f"{name} (same files)" for name in row["behind"])]) or "-"
        say(f"  {row['id']}  {harmless(str(row['title']))}   after {after}")
        for check in row["checks"]:
            say(f"        $ {harmless(str(check))}")
    return ExitCode.OK
