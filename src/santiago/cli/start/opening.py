"""What a start records before the loop begins: approvals, what a crash left, a person's own work, stories left out."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.events import Context, EventKind, Fact
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.contract.reasons import Reason
from santiago.executor.judging import commands_of
from santiago.executor.recover import interruptions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from santiago.artifacts.attempts import FileAttempts
    from santiago.contract.plan import Plan
    from santiago.contract.policy import RunInput
    from santiago.contract.state import RunState
    from santiago.workspace.workspace import GitWorkspace

_PER_LINE = 5000
"""Digests in one event: a line of the log has room for some ten thousand."""


def refuse_unchecked(plan: Plan, run_input: RunInput) -> None:
    """Raise where a run could never be green: before the first attempt, not after the last."""
    bare = [story.id for story in plan.stories if not commands_of(story, run_input)]
    if bare:
        raise SantiagoError(
            Kind.INPUT,
            f"nothing checks {', '.join(bare[:8])}{' …' if len(bare) > 8 else ''}: no story can be done without a check",
            hint="Run `santiago init`, or put a test command into verification.story_commands.",
            reason=Reason.NOTHING_VERIFIED,
        )


def approvals(plan: Plan, state: RunState, consent: Callable[[list[str]], None]) -> list[Fact]:
    """Ask about commands of the document that nobody has approved yet; approved means their digest is in the log."""
    commands = dict.fromkeys([*(c for story in plan.stories for c in story.verify), *plan.run_verify])
    digests = {command: sha256(command.encode()).hexdigest() for command in commands}
    unknown = [command for command, digest in digests.items() if digest not in state.approved]
    if not unknown:
        return []
    consent(unknown)
    told = [digests[command] for command in unknown]
    return [
        Fact(event=EventKind.COMMANDS_APPROVED, actor="user", context={"digests": told[at : at + _PER_LINE]})
        for at in range(0, len(told), _PER_LINE)
    ]


def recovered(state: RunState, attempts: FileAttempts, workspace: GitWorkspace) -> tuple[frozenset[str], list[Fact]]:
    """Return what a crash left running: stories whose agent had ended, and the ends of the others, their work kept."""
    numbers = {name: state.stories[name].attempts for name in state.running}
    ended = frozenset(
        name
        for name, number in numbers.items()
        if attempts.ended(name, number) and workspace.kept(name, number) is not None
    )
    commits = {
        name: workspace.restore(name, numbers[name], base=state.stories[name].base) for name in state.running - ended
    }
    endings = {name: attempts.ending(name, numbers[name]) for name in commits}
    used = {name: ending.usage for name, ending in endings.items() if ending is not None}
    return ended, interruptions(state, commits, ended, used)


def skipping(state: RunState, skips: Sequence[tuple[str, str]]) -> list[Fact]:
    """Return what leaves stories out; the run rests afterwards."""
    facts = [
        Fact(
            event=EventKind.STORY_SKIPPED,
            story=name,
            chunk=state.stories[name].chunk,
            actor="user",
            context={"text": why},
        )
        for name, why in skips
    ]
    rests = state.phase is RunPhase.EXECUTING
    return [*facts, *([Fact(event=EventKind.RUN_PAUSED, phase=RunPhase.PAUSED)] if rests else [])]


def own_work(state: RunState, workspace: GitWorkspace, name: str, ref: str) -> Fact:
    """Return a person's commit as an attempt whose agent has ended; the loop then judges it like any other."""
    story = state.stories[name]
    if story.phase is not StoryPhase.READY:
        hint = "`santiago explain STORY` says what it waits for."
        raise SantiagoError(Kind.INPUT, f"{name} is {story.phase}, so its work cannot be judged now", hint=hint)
    number = story.attempts + 1
    commit = workspace.take_over(name, number, ref, f"{name}: a person's own work\n")
    if commit is None:
        raise SantiagoError(Kind.USAGE, f"{ref} is no commit of this repository", hint="Name a branch or a commit.")
    context: Context = {"step": f"attempt/{name}/{number}", "base": workspace.base_of(commit)}
    return Fact(
        event=EventKind.ATTEMPT_STARTED,
        story=name,
        chunk=story.chunk,
        phase=StoryPhase.RUNNING,
        attempt=number,
        actor="user",
        context=context,
    )
