"""A plan as data: with the outcome of planning, and as a graph that code forges draw."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from santiago.app.shortage import unchecked
from santiago.app.start import kept
from santiago.contract import codec
from santiago.report import advice, checks
from santiago.util.text import harmless

if TYPE_CHECKING:
    from santiago.app.compiling import Job
    from santiago.contract.plan import Plan
    from santiago.planner.compile import Compilation
    from santiago.planner.rebase import Diff


def as_document(compiled: Compilation, plan: Plan, job: Job, outcome: str) -> dict[str, Any]:
    """Return the plan with the outcome of planning, for `--json`."""
    return {
        **codec.to_data(plan),
        "diff": compiled.diff and codec.to_data(_diff_data(compiled.diff)),
        "out_dir": str(job.out_dir),
        "outcome": outcome,
        "checks": {
            "every_story": [one._asdict() for one in checks.of_every_story(job)],
            "at_the_end": [one._asdict() for one in checks.at_the_end(plan, job)],
            "stories": {s.id: [one._asdict() for one in checks.of_story(plan, s, job.run_input)] for s in plan.stories},
        },
        "kept": {name: one.run for name, one in kept.foreseen(plan, Path(job.run_input.repo_path)).items()},
        "unchecked": [story.id for story in unchecked(plan.stories, job.run_input)],
        "limits": [*advice.on_attempts(job, plan), *advice.on_minutes(job, plan)],
    }


def _diff_data(diff: Diff) -> dict[str, Any]:
    return {
        "kept": diff.kept,
        "changed": [{"id": name, "what": what} for name, what in diff.changed],
        "new": diff.new,
        "removed": diff.removed,
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
