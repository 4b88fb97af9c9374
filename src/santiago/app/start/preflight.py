"""Before the first attempt: refuse what cannot succeed, and warn of what is doubtful. Nothing is started for this."""

from __future__ import annotations

import json
import os
import posixpath
from collections import Counter
from functools import cache, cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from santiago.app.shortage import MOST, named, too_few, too_short, unchecked
from santiago.artifacts.run_locations import find_root
from santiago.contract.checks import commands_of
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.lazy_regex import pattern
from santiago.contract.phases import PARKED, StoryPhase
from santiago.contract.reasons import Reason
from santiago.contract.record import record
from santiago.executor.schedule import followed, overlap
from santiago.judge.commandline import programs, unwritten
from santiago.process.toolchains import inside
from santiago.util.text import flat
from santiago.workspace.inspect import NO_REPOSITORY, find, is_ignored

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.app.start.request import Request
    from santiago.contract.plan import Plan, Story
    from santiago.contract.policy import Limits, RunInput
    from santiago.contract.state import RunState
    from santiago.executor.scope import Scope
    from santiago.process.place import Dependency
    from santiago.workspace.workspace import GitWorkspace

_INSTALLED = pattern(
    r"[\w.][\w./-]*/(?:python|pypy)[\d.]*|(?:[\w.][\w./-]*/)?(?:\.?venv/bin|node_modules/\.bin|vendor/bin)/[\w.-]+"
)
"""A program that is installed inside the repository: the python of an environment, or a tool in one."""
GIVE_CHECK = (
    'Name a command that tests the work: `santiago run PRD --verify "CMD"`, or story_commands under [verification] '
    "in santiago.toml; for `execute`, verification.story_commands in the run input."
)


def refuse_outside(document: Path) -> None:
    """Raise if a document is in no repository. A run works in the repository around its document, wherever it is started."""
    if find_root(document) is not None:
        return
    try:
        find(document.parent)
    except SantiagoError as error:
        if error.message == NO_REPOSITORY:
            error.hint = (
                "A run works in the repository around its document: move the document into yours, or make one there: "
            )
            error.hint += '`git init && git add -A && git commit -m "Start"`.'
        raise


class Checkout:
    """What the clean checkout of an attempt will contain, as far as can be told before it exists."""

    def __init__(
        self,
        run_input: RunInput,
        workspace: GitWorkspace,
        provided: Sequence[Dependency] = (),
        begins_on: str | None = None,
    ) -> None:
        self._begins_on = begins_on
        self._setting = run_input.workspace
        self._workspace = workspace
        self._provided = provided
        self.repo = Path(run_input.repo_path)

    @cached_property
    def _commit(self) -> str:
        return self._workspace.head() or self._begins_on or self._workspace.repository.found.head

    @cached_property
    def files(self) -> frozenset[str]:
        return self._workspace.files(self._commit)

    def gaps(self) -> list[str]:
        """Return messages on what a checkout of the commit will lack: submodules, and objects of Git LFS."""
        notes, pointers = [], self._absent[1]
        if submodules := self.empty_submodules:
            notes.append(
                f"submodules are empty folders in every checkout: {_few(submodules)}; "
                'setup = ["git submodule update --init"] under [workspace] fills them'
            )
        if pointers:
            notes.append(
                "checkouts have only the pointers of these Git LFS files, because their objects are missing here or too "
                f"large to copy: {_few(pointers)}; `git lfs pull` fetches missing ones"
            )
        return notes

    @property
    def empty_submodules(self) -> list[str]:
        """The submodules that no set-up command fills."""
        return [] if any("submodule" in command for command in self._setting.setup) else self._absent[0]

    @cached_property
    def _absent(self) -> tuple[list[str], list[str]]:
        return self._workspace.not_in_checkouts(self._commit)

    @cached_property
    def _folders(self) -> frozenset[str]:
        return frozenset(str(parent) for file in self.files for parent in PurePosixPath(file).parents)

    def lacks(self, path: str) -> bool:
        """Tell whether a relative path will surely be missing. Set-up commands, links and submodules may bring anything.

        Folders of dependencies are the same as in the repository.
        """
        name = posixpath.normpath(path)
        if self._setting.setup or name in self._setting.copy or name.startswith(".."):
            return False
        if any(inside(name, one.name) for one in self._provided):
            return not os.path.lexists(self.repo / name)
        above = {str(parent) for parent in PurePosixPath(name).parents}
        return name not in self.files and name not in self._folders and above.isdisjoint(self.files)

    def forgotten(self, path: str) -> bool:
        """Tell whether a path will be missing although it exists in the repository, since it is not committed."""
        return self.lacks(path) and (self.repo / path).is_file()


def _few(paths: Sequence[str]) -> str:
    return flat(", ".join(paths[:MOST])) + (f" and {len(paths) - MOST} more" if len(paths) > MOST else "")


def foresee(run_input: RunInput, state: RunState, request: Request, checkout: Checkout) -> list[str]:
    """Raise if a start cannot succeed; else return warnings."""
    if request.skips or request.own_work:
        return []  # the start only skips a story, or takes a person's work
    prospect = Prospect(plan=request.plan, run_input=run_input, state=state, scope=request.scope, checkout=checkout)
    prospect.refuse()
    attempts = () if request.grants.attempts else prospect.of_budget(request.at_once)
    beside = of_jobs(request.plan, prospect.to_do(), run_input, request.jobs)
    limits = of_limits(run_input.limits, state, request.at_once)
    policy = run_input.policy
    if policy.proof == "regression" and policy.unproven == "ask" and not state.seq:
        limits.append('policy.proof = "regression" is read as unproven = "accept": work that no test shows is taken')
    return [*prospect.of_checks(), *attempts, *beside, *limits, *checkout.gaps()]


@record
class Prospect:
    """Whether a start of a run can succeed."""

    plan: Plan
    run_input: RunInput
    state: RunState
    scope: Scope
    checkout: Checkout

    def refuse(self) -> None:
        """Raise if the run could never pass, before its first attempt is spent."""
        self._refuse_overtaking()
        left = [story for story in self.plan.stories if not self.state.stories[story.id].satisfied]
        refuse_unchecked(left, self.run_input)
        self._refuse_misnamed(left)
        for script, story in self._scripts(left).items():
            if not self.checkout.lacks(script) or self._may_come(script, story):
                continue
            ignored = is_ignored(self.checkout.repo, script)
            if self.checkout.forgotten(script):
                raise _forgotten(script, story, self.run_input.workspace.provide if ignored else None)
            if ignored or _INSTALLED.fullmatch(script):
                raise _never_made(script, story)

    def _refuse_overtaking(self) -> None:
        """Raise if the chunks of this start wait for a chunk that it leaves out."""
        chosen, chunks = self.scope.chunks or frozenset(), list(self.state.chunks.values())
        places = [place for place, chunk in enumerate(chunks, 1) if chunk.left and chunk.label in chosen]
        ahead = [chunk for chunk in chunks[: places[-1]] if chunk.left and chunk.label not in chosen] if places else []
        if not ahead:
            return
        before = ahead[0]
        places = [place for place in places if place > chunks.index(before)]
        states = ((story, self.state.stories[story.id]) for story in self.plan.stories if story.chunk == before.label)
        left = [(story, state) for story, state in states if not state.skipped and state.phase is not StoryPhase.DONE]
        first = [story for story, _ in left]
        message = f"{flat(chunks[places[0] - 1].label)} cannot begin: {named(first)} of {flat(before.label)} must be done first"
        begins = next(place for place, chunk in enumerate(chunks, 1) if chunk.left)
        hint = f"Type the same with `--chunks {begins}..{places[-1]}`, which begins there"
        if parked := [story for story, state in left if state.phase in PARKED]:
            hint = f"`santiago explain {parked[0].id}` says what helps, since {named(parked)} does not begin by itself"
        raise SantiagoError(Kind.USAGE, message, hint=f"{hint}; `santiago skip STORY --why …` leaves a story out.")

    def _refuse_misnamed(self, stories: Sequence[Story]) -> None:
        """Raise if the document names a test file that does not exist, while one of that name stands elsewhere."""
        files = self.checkout.files
        named = ((story, path) for story in stories for command in story.verify for path in unwritten(command, files))
        for story, path in named:
            if not self.checkout.lacks(path) or self._may_come(path, story):
                continue
            name = PurePosixPath(path).name
            if others := sorted(one for one in files if one.endswith(f"/{name}") or one == name):
                raise _misnamed(path, story, others)

    def to_do(self) -> list[Story]:
        """Return the stories that this start would work on."""
        states = ((story, self.state.stories[story.id]) for story in self.plan.stories)
        return [story for story, state in states if not state.satisfied and self.scope.allows(state)]

    def of_checks(self) -> list[str]:
        """Return warnings on checks that start a program which does not exist yet."""
        found = self._scripts(self.to_do(), direct=True).items()
        return [
            f"`{script}`, which checks {story.id}, is not in the last commit; a story must create it"
            for script, story in found
            if self.checkout.lacks(script)
        ][:MOST]

    def of_budget(self, jobs: int) -> list[str]:
        """Return the warnings that attempts or minutes of the run may not do for its stories."""
        limits, begun = self.run_input.limits, self.state.seq > 0
        attempts = limits.run_max_attempts + self.state.raised.get("run_max_attempts", 0) - self.state.counted
        stories, each = len(self.to_do()), 2 if self.run_input.policy.tests_first else 1
        short = too_short(stories * each, limits, jobs) if not begun else []
        return [*too_few(stories, attempts, each=each, begun=begun), *short]

    def _scripts(self, stories: Sequence[Story], *, direct: bool = False) -> dict[str, Story]:
        """Return the files that checks begin with, each with the first story that it judges."""
        found: dict[str, Story] = {}
        for story in stories:
            for command in commands_of(story, self.run_input):
                for script in (_installed(command), _script(command, direct=direct)):
                    if script:
                        found.setdefault(script, story)
        return found

    def _may_come(self, path: str, story: Story) -> bool:
        """Tell whether this story or an earlier one names this file, and so may create it."""
        stories = self.plan.stories
        before = stories[: stories.index(story) + 1]
        return any(overlap(name, path) for one in before for name in one.files)


def refuse_unchecked(stories: Sequence[Story], run_input: RunInput) -> None:
    """Raise if a story has no check at all."""
    if bare := unchecked(stories, run_input):
        message = f"nothing checks {named(bare)}; a story without a check is never done"
        raise SantiagoError(Kind.INPUT, message, hint=GIVE_CHECK, reason=Reason.NOTHING_VERIFIED)


@cache
def _script(command: str, *, direct: bool) -> str | None:
    """Return the file of the checkout that a check starts; with `direct`, only if the file itself is the program."""
    program = next(iter(programs(command)), None)
    script = program.script if program else None
    if program is None or script is None or "*" in script:
        return None
    own = "/" in program.argv[0]
    return script if own or (not direct and ("/" in script or "." in script)) else None


@cache
def _installed(command: str) -> str | None:
    """Return the installed program of the checkout that runs a check, as in `.venv/bin/python -m pytest`."""
    program = next(iter(programs(command)), None)
    words = program.written if program else ()
    return next((word.removeprefix("./") for word in words[:3] if _INSTALLED.fullmatch(word)), None)


def _misnamed(path: str, story: Story, others: Sequence[str]) -> SantiagoError:
    """Return the error for a test that a document names and that may be one at another place."""
    return SantiagoError(
        Kind.BLOCKED,
        f"{path} checks {story.id} and does not exist, but {_few(others)} does; which one is meant?",
        hint=f"If that one is meant, correct the path in the document. If {story.id} is to write a new file, name it there, "
        f"as in `Files: {path}`.",
        reason=Reason.NEEDS_USER_CONFIRMATION,
    )


def _never_made(script: str, story: Story) -> SantiagoError:
    """Return the error for a check whose program exists nowhere, and is no part of any story's work."""
    return SantiagoError(
        Kind.BLOCKED,
        f"`{script}` checks {story.id} and does not exist",
        hint="Install here what the checks need, as in a fresh clone; or have each checkout do it: setup, under [workspace] in "
        "santiago.toml.",
        reason=Reason.VERIFICATION_UNRUNNABLE,
    )


def _forgotten(script: str, story: Story, provided: Sequence[str] | None) -> SantiagoError:
    """Return the error for a check whose program no checkout has. If `provided` is given, git ignores the program."""
    commit = (
        f"Commit it: `git add {script} && git commit`. If a build makes it, run that build in setup, under [workspace]."
    )
    bring = (
        "Git ignores it, so it cannot be committed. In santiago.toml, under [workspace]: "
        f"`provide = {json.dumps([*(provided or ()), script.split('/')[0]])}` if its folder holds installed packages, or a "
        "setup that makes it in each checkout; or name a program that is on PATH."
    )
    return SantiagoError(
        Kind.BLOCKED,
        f"`{script}` checks {story.id} and is not in the last commit, so no checkout would have it",
        hint=commit if provided is None else bring,
        reason=Reason.VERIFICATION_UNRUNNABLE,
    )


def of_jobs(plan: Plan, to_do: Sequence[Story], run_input: RunInput, jobs: int) -> list[str]:
    """Return a warning if fewer stories than asked for can run at the same time: why, and what helps."""
    if jobs == 1 or len(to_do) < 2:
        return []
    if run_input.policy.stepwise:
        return [
            f"{jobs} at a time are asked for, but only one runs: with --gate step, each story waits for your answer"
        ]
    most = _widest(plan, to_do, optimistic=run_input.policy.optimistic)
    if most >= min(jobs, len(to_do)):
        return []
    told = f"{jobs} at a time are asked for, but {'only one' if most == 1 else f'at most {most}'} can run"
    bare = [] if run_input.policy.optimistic else [story for story in to_do if not story.files]
    if not bare:
        return [f"{told}: the others wait for stories that they depend on, or that change the same files"]
    which = (
        "no story names its" if len(bare) == len(to_do) else f"{named(bare)} {'names' if len(bare) == 1 else 'name'} no"
    )
    why = f"{which} files, so it is not known which stories change the same ones"
    return [f"{told}: {why}; write `Files: …` in the document, or use --optimistic"]


def _widest(plan: Plan, to_do: Sequence[Story], *, optimistic: bool) -> int:
    """Return how many stories of one chunk can run together at most, if each takes the same time."""
    behind, level = followed(plan, optimistic=optimistic), dict.fromkeys((story.id for story in to_do), 0)
    for story in to_do:
        waits_for = [level[name] for name in (*story.depends_on, *behind[story.id]) if name in level]
        level[story.id] = 1 + max(waits_for, default=0)
    return max(Counter((story.chunk, level[story.id]) for story in to_do).values(), default=1)


_HOLDS = (
    ("run_timeout_minutes", "story_timeout_minutes"),
    ("run_max_attempts", "story_max_attempts"),
    ("story_timeout_minutes", "attempt_timeout_minutes"),
)
"""Pairs of limits. If the first is lower, it is reached before the second can be used up."""


def of_limits(limits: Limits, state: RunState, jobs: int) -> list[str]:
    """Return warnings on limits that keep another limit from being used up, or stories from running at the same time."""
    notes = [
        f"limits.{high} is {_shown(most)}, but limits.{low} ends the work earlier, at {_shown(least)}"
        for low, high in _HOLDS
        if (least := getattr(limits, low)) < (most := getattr(limits, high) or 0)
    ]
    given = [name for name in ("run_max_tokens", "run_max_cost_usd") if getattr(limits, name) is not None]
    if jobs > 1 and given and not state.attempts:
        notes.append(f"limits.{' and '.join(given)} is set, so the first attempt runs alone: it shows what one costs")
    return notes


def _shown(value: int) -> str:
    return str(getattr(value, "written", value))
