"""The events before the loop begins: approvals, what a crash left, a person's own work, skipped stories."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from santiago.app.loading import with_substeps
from santiago.artifacts.details import FileDetails
from santiago.artifacts.names import LOG, attempt_folder
from santiago.contract.counting import count
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.events import EventKind, Fact
from santiago.contract.facts import accepted, of_run, of_story
from santiago.contract.outcomes import Usage
from santiago.contract.phases import PARKED, RunPhase, StoryPhase
from santiago.contract.plan import content_of
from santiago.contract.reasons import Reason
from santiago.executor import messages, recover

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from santiago.artifacts.attempts import FileAttempts
    from santiago.contract.plan import Plan, Story
    from santiago.contract.policy import RunInput
    from santiago.contract.ports.engine import Sign
    from santiago.contract.state import RunState, StoryState
    from santiago.workspace.workspace import GitWorkspace

_PER_LINE = 5000
"""How many digests one event holds. A line of the log has room for about ten thousand."""


def approvals(
    plan: Plan, run_input: RunInput, state: RunState, consent: Callable[[list[str]], None], actor: str
) -> list[Fact]:
    """Ask about commands of the document that are not approved yet. Approved means that their digest is in the log.

    Commands that the settings run as checks of every story need no approval.
    """
    commands = dict.fromkeys([*(c for story in plan.stories for c in story.verify), *plan.run_verify])
    for command in run_input.verification.left_out:
        commands.pop(command, None)
    digests = {command: sha256(command.encode()).hexdigest() for command in commands}
    unknown = [command for command, digest in digests.items() if digest not in state.approved]
    if not unknown:
        return []
    checks = run_input.verification
    if asked := [one for one in unknown if one not in (*checks.story_commands, *checks.run_commands)]:
        consent(asked)
    told = [digests[command] for command in unknown]
    return [
        of_run(EventKind.COMMANDS_APPROVED, actor=actor, digests=told[at : at + _PER_LINE])
        for at in range(0, len(told), _PER_LINE)
    ]


def confirmations(plan: Plan, state: RunState, confirm: Callable[[Plan], None], actor: str) -> list[Fact]:
    """Return the fact that a person agreed to the units of a proposal. `confirm` raises if nobody did."""
    if plan.certain or state.units:
        return []
    confirm(plan)
    name = plan.chosen.name if plan.chosen else ""
    return [of_run(EventKind.UNITS_CONFIRMED, actor=actor, digest=plan.digest, text=name)]


def trusting(ticked: Sequence[str], consent: Callable[[int], bool], actor: str) -> list[Fact]:
    """Ask once whether the document's word is taken for boxes that are ticked and that no check shows."""
    if not ticked:
        return []
    return [of_run(EventKind.TICKS_TRUSTED, None, "ok" if consent(len(ticked)) else "failed", actor=actor)]


def put_back(state: RunState, workspace: GitWorkspace) -> list[str]:
    """Make the run's branch again if somebody deleted it; return messages for people."""
    if state.head is None or workspace.head() is not None:
        return []
    workspace.begin(state.head)
    return [f"the branch {state.branch} was missing; santiago made it again at {state.head[:12]}"]


def forget_broken(workspace: GitWorkspace, record: Callable[[Sequence[Fact]], object]) -> None:
    """Record, then remove, refs of attempts whose commits are missing in the repository; raise if the branch is one."""
    broken = workspace.broken()
    for name, commit in broken:
        if name == workspace.branch:
            message = f"the run's branch leads to {commit[:12]}, and objects of that commit are missing"
            hint = "`git fsck` shows what is missing; put the objects back from a clone or a backup, then `santiago resume`."
            raise SantiagoError(Kind.BLOCKED, message, where=name, hint=hint, reason=Reason.ARTIFACT_CORRUPT)
    record(
        [
            of_run(
                EventKind.NOTE,
                ref=name,
                commit=commit,
                text=f"{name} led to {commit[:12]}, which is missing; the ref was removed",
            )
            for name, commit in broken
        ]
    )
    workspace.forget(broken)


class Unknown(NamedTuple):
    """One thing that the log does not know: the log's end was cut off, or somebody added the thing."""

    code: str
    where: str
    message: str


def unknown_files(state: RunState, attempts: FileAttempts) -> Iterator[Unknown]:
    """Yield the attempts that have files but are not in the log."""
    for story in state.stories.values():
        latest = attempts.latest(story.id)
        if latest > story.attempts:
            message = f"the log ends before attempt {latest} of {story.id}, whose files are there"
            yield Unknown("attempt_unknown", attempt_folder(story.id, latest), message)


def unknown_commits(state: RunState, workspace: GitWorkspace) -> Iterator[Unknown]:
    """Yield refs of attempts that are not in the log, and commits on the branch that name an event after its end."""
    for ref in workspace.refs():
        story = state.stories.get(ref.story)
        if story is None or ref.attempt > story.attempts:
            message = f"the log ends before attempt {ref.attempt} of {ref.story}, whose work is kept"
            yield Unknown("ref_unknown", ref.name, message)
    anchored = workspace.anchored(state.base) if state.base else 0
    if anchored > state.seq:
        yield Unknown("log_cut", LOG, f"it ends with event {state.seq}, but the branch names event {anchored}")


def refuse_left_out(state: RunState, engine: str, attempts: FileAttempts) -> None:
    """Raise if workers of another engine may still have attempts: without it nobody knows whether they go on.

    An attempt whose agent's end is on this disk is out no more, whatever engine is used now.
    """
    if not state.engine or engine == state.engine:
        return
    steps = recover.under_way(state)
    out = [step for step in steps if not (step.startswith("attempt/") and attempts.ending(*_named(step)))]
    if not out:
        return
    names = ", ".join(step.split("/")[1] for step in out[:5])
    message = f"workers of {state.engine} still have {count(len(out), 'step')} of this run ({names})"
    hint = "Name that engine and the git remote as before, by --engine and --remote or by $SANTIAGO_ENGINE and $SANTIAGO_REMOTE."
    raise SantiagoError(Kind.BLOCKED, message, hint=hint)


def _named(step: str) -> tuple[str, int]:
    _, story, number = step.split("/")
    return story, int(number)


def refuse_cut(state: RunState, attempts: FileAttempts, workspace: GitWorkspace) -> None:
    """Raise if there are files or commits that the log does not know: its end was cut off, and work would be done again."""
    for found in (*unknown_files(state, attempts), *unknown_commits(state, workspace)):
        hint = "Put the whole log back; `santiago audit` says what else is wrong."
        raise SantiagoError(Kind.BLOCKED, found.message, where=found.where, hint=hint, reason=Reason.ARTIFACT_CORRUPT)


def recovered(
    plan: Plan, state: RunState, attempts: FileAttempts, workspace: GitWorkspace, sign: Sign | None, most_ms: int,
    attached: Collection[str], record: Callable[[Sequence[Fact]], object],
) -> tuple[frozenset[str], list[Fact]]:  # fmt: skip
    """Return the running stories that a crash left with an ended agent, to be judged; and how the attempts of others ended.

    `sign` is the last start's last sign of life. An attempt takes at most `most_ms`. What cannot be taken up is recorded and
    raised; the second time, its attempt ends. The steps of `attached` stories are still under way.
    """
    left = {}
    for story in with_substeps(plan, state, attempts.store.path):
        if story.id in state.running and story.id not in attached:
            lasted_ms = recover.lasted(state, state.stories[story.id], sign, most_ms)
            try:
                found = _take_up(plan, story, state, attempts, workspace)
            except Exception as error:  # whatever it is, it would come again in every start
                found = _give_up(state.stories[story.id], error, attempts, workspace, record)
            left[story.id] = found._replace(lasted_ms=lasted_ms)
    judged = frozenset(name for name, one in left.items() if one.judge)
    unwritten = recover.unwritten(state, FileDetails(attempts.store).begun, sign, attached)
    return judged, [*recover.unseen(state, sign), *recover.interruptions(state, left, attached), *unwritten]


def _take_up(
    plan: Plan, story: Story, state: RunState, attempts: FileAttempts, workspace: GitWorkspace
) -> recover.Left:
    """Keep the work of an attempt if that was not done yet. If its agent had ended, the work will be judged."""
    one = state.stories[story.id]
    kept = workspace.kept(story.id, one.attempts)
    if kept is None and not attempts.begun(story.id, one.attempts):
        return recover.Left(begun=False, files=attempts.seal(story.id, one.attempts, {}))
    left = recover.Left()
    had_ended = recover.may_adopt(state, one) and attempts.ended(story.id, one.attempts)
    if kept is None:
        if had_ended and not workspace.whole(story.id, one.attempts):
            attempts.disown(story.id, one.attempts)  # noted before the work is kept, so that no later start judges it
            had_ended = False
        content, anchor = content_of(plan, story), attempts.store.anchor()
        message = messages.commit_message(state.run_id, story, one.attempts, anchor, content) if had_ended else ""
        kept = workspace.restore(story.id, one.attempts, message, (one.base, *one.onto) if one.base else ())
        if kept is not None:
            attempts.keep_work(story.id, one.attempts, kept.patch, kept.left_out)
        if kept is not None and kept.too_large:
            attempts.disown(story.id, one.attempts, Reason.DISK_LIMIT)
            left = left._replace(reason=Reason.DISK_LIMIT, message=messages.too_large(kept.too_large))
            had_ended = False
    if had_ended and kept is not None:
        return recover.Left(snapshot=kept, judge=True)
    ending = attempts.ending(story.id, one.attempts)
    files = attempts.seal(story.id, one.attempts, {})
    return left._replace(snapshot=kept, usage=ending.usage if ending else Usage(), files=files)


def _give_up(
    story: StoryState, error: Exception, attempts: FileAttempts, workspace: GitWorkspace,
    record: Callable[[Sequence[Fact]], object],
) -> recover.Left:  # fmt: skip
    """Raise an error that is new; if it came in an earlier start too, put the attempt's folder aside and end the attempt."""
    if not recover.has_failed_so(story, error):
        with suppress(SantiagoError):  # the disk may be what failed
            record(recover.failed(story, error))
        raise error
    attempts.disown(story.id, story.attempts, Reason.IO_ERROR)
    ending, files = attempts.ending(story.id, story.attempts), attempts.seal(story.id, story.attempts, {})
    left = recover.given_up(error, workspace.put_aside(story.id, story.attempts))
    return left._replace(usage=ending.usage if ending else Usage(), files=files)


def skipping(state: RunState, skips: Sequence[tuple[str, str]], actor: str) -> list[Fact]:
    """Return the facts that skip stories. The run pauses afterwards."""
    left_out = [(state.stories[name], why) for name, why in skips]
    facts = [of_story(story, EventKind.STORY_SKIPPED, attempt=0, actor=actor, text=why) for story, why in left_out]
    rests = state.phase is RunPhase.EXECUTING
    return [*facts, *([of_run(EventKind.RUN_PAUSED, RunPhase.PAUSED)] if rests else [])]


def refuse_accepting(state: RunState, name: str) -> None:
    """Raise if a story has no work that a person could accept."""
    story = state.stories[name]
    if story.is_unproven:
        return
    if story.phase not in PARKED or story.skipped:
        word = "left out" if story.skipped else story.phase
        hint = (
            "Only a story that is unproven, or rests with a question, a refusal or a used-up budget, can be accepted."
        )
        raise SantiagoError(Kind.INPUT, f"{name} is {word}, so there is nothing to accept", hint=hint)
    if story.commit is None:
        hint = f"Bring work of your own: `santiago verify {name} --from REF`, or leave it out: `santiago skip {name} --why …`."
        raise SantiagoError(Kind.INPUT, f"no attempt of {name} left any work", hint=hint)
    if story.unmet or story.behind:
        hint = f"`santiago explain {name}` says what it waits for."
        raise SantiagoError(Kind.INPUT, f"{name} waits for other stories, so it cannot be accepted now", hint=hint)


def accepting(state: RunState, names: Sequence[str], why: str, actor: str) -> list[Fact]:
    """Return the facts by which a person accepts the work of stories. Those that rested were made ready again before."""
    return [fact for name in names for fact in accepted(state.stories[name], actor, why)]


def refuse_own_work(state: RunState, workspace: GitWorkspace, name: str, ref: str) -> None:
    """Raise if a person's commit cannot be judged now, before anything is recorded."""
    story = state.stories[name]
    word = "left out" if story.skipped else story.phase
    if story.skipped or story.phase is StoryPhase.DONE:
        message = f"{name} is {word}, and that cannot be undone"
        raise SantiagoError(Kind.INPUT, message, hint="Write a new story for it.")
    chunk = state.chunks[story.chunk]
    # Commands of the document are approved when a run begins, so a run cannot begin in this way.
    is_next = not chunk.started and chunk is state.next_chunk() and state.phase is not RunPhase.CREATED
    can_begin = story.phase is StoryPhase.READY or story.phase in PARKED or is_next
    if not can_begin or story.unmet or story.behind:
        first = f"Answer {story.asked} first; with `defer`, your own work can be judged then."
        hint = first if story.asked else f"`santiago explain {name}` says what it waits for."
        raise SantiagoError(Kind.INPUT, f"{name} is {word}, so its work cannot be judged now", hint=hint)
    if workspace.repository.resolve(ref) is None:
        raise _no_commit(ref)


def _no_commit(ref: str) -> SantiagoError:
    return SantiagoError(Kind.USAGE, f"{ref!r} is not a commit of this repository", hint="Name a branch or a commit.")


def own_work(state: RunState, workspace: GitWorkspace, name: str, ref: str, actor: str, why: str = "") -> Fact:
    """Return the fact that turns a person's commit into an attempt whose agent has ended. The loop judges it like any other."""
    story = state.stories[name]
    number = story.attempts + 1
    commit = workspace.take_over(ref, f"{name}: a person's own work\n")
    if commit is None:
        raise _no_commit(ref)
    step, base = f"attempt/{name}/{number}", workspace.base_of(commit)
    begun, phase = EventKind.ATTEMPT_STARTED, StoryPhase.RUNNING
    return of_story(
        story, begun, phase, attempt=number, actor=actor, step=step, base=base, ref=ref, commit=commit, text=why
    )  # fmt: skip


def keep_changes(state: RunState, attempts: FileAttempts, workspace: GitWorkspace, name: str, commit: str) -> None:
    """Keep a person's own work, and write its patch, as for an agent's work. The attempt is already in the log."""
    number = state.stories[name].attempts
    workspace.keep(name, number, commit)
    kept = workspace.kept(name, number)
    if kept is not None:
        attempts.keep_work(name, number, kept.patch, kept.left_out)
