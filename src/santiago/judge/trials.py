"""Trials: checks run on commits, each in a clean checkout after the set-up; what they showed on a tree is remembered."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Protocol

from santiago.contract.ports.judge import SetUpFailedError
from santiago.contract.ports.workspace import PATCH_CUT
from santiago.judge.commandline import is_self_contained
from santiago.judge.memory import Memory
from santiago.judge.running import reused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from santiago.contract.policy import RunInput
    from santiago.contract.ports.run import Stop
    from santiago.contract.ports.workspace import Workspace
    from santiago.judge.running import CheckRunner
    from santiago.judge.shown import Shown

    Results = dict[str, Shown]
    """Command → what it showed."""

VARIABLES = "SANTIAGO_"
"""How the variables begin that tell a check whose it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Commands to be run on a commit, in a checkout of this name."""

    name: str
    commit: str
    commands: Sequence[str]
    story: str = ""
    """Whose checks they are; nobody's where they are the run's."""
    attempt: int | None = None
    before: Mapping[str, Shown] | None = None
    """What they showed on the base: the first failure that is not there ends the trial. None runs all of them."""
    as_base: bool = False
    """Whether the tree is a base: then failures are remembered as well."""


class Supply(Protocol):
    """Brings fresh checkouts what git does not: ignored files, and installed packages."""

    def begin(self, folder: str) -> bool:
        """Bring a checkout what it needs; return whether the set-up commands have to run in it."""

    def again(self, folder: str) -> bool:
        """After the commands failed: bring what they may have lacked; return whether there was anything."""

    def end(self, folder: str) -> None:
        """After the commands succeeded: keep what they made for other checkouts."""

    def lacking(self, base: str, work: str) -> str:
        """Say which packages a work asks for that its base does not and no set-up installs; empty where there are none."""


@dataclass(slots=True, kw_only=True)
class Trials:
    """Carries trials out."""

    run_input: RunInput
    workspace: Workspace
    checks: CheckRunner
    supply: Supply
    prompt_path: Callable[[str, int], str]
    """Where the prompt of a story's attempt stands."""
    memory: Memory = field(default_factory=Memory)
    base_speaks: bool | None = None
    """Whether the repository speaks of the variables that name a story; None where nobody has looked."""
    work_speaks: bool = False
    """Apart, since attempts are judged side by side: what one adds must not be lost to another's look at the base."""
    _first: str = ""
    """The first commit that was looked at."""
    _contained: dict[str, bool] = field(default_factory=dict)
    """Commands that were looked at, and whether they stay inside the repository."""

    @property
    def timeout_ms(self) -> int:
        return int(self.run_input.verification.timeout_minutes)

    def prepare(self, folder: str, stop: Stop) -> None:
        """Make a fresh checkout ready: what it needs, then the set-up commands where they have to run."""
        if not self.supply.begin(folder):
            return
        set_up = partial(self.checks.set_up, folder, self.run_input.workspace.setup, self.timeout_ms, urgency(stop))
        trouble = set_up()
        if trouble and not stop.soon() and self.supply.again(folder):
            trouble = set_up()
        if not stop.soon():
            if trouble:
                raise SetUpFailedError(trouble)
            self.supply.end(folder)

    def is_sound(self, name: str, commit: str, stop: Stop) -> bool:
        """Tell whether the set-up commands succeed on a commit."""
        folder = self.workspace.checkout(commit, name)
        try:
            self.prepare(folder, stop)
        except SetUpFailedError:
            return False
        finally:
            self.workspace.discard(folder)
        return True

    def heed(self, patch: str) -> None:
        """Look whether an attempt adds anything that speaks of the variables which name a story."""
        if VARIABLES in patch or patch.endswith(PATCH_CUT):
            self.work_speaks = True

    def results(self, trial: Trial, stop: Stop) -> Results | None:
        """Return what the commands show on a commit, from memory where the same tree was seen; None where stopped."""
        self._look(trial.commit)
        tree = self.workspace.tree(trial.commit)
        owners = {command: self._owner(command, trial.story) for command in dict.fromkeys(trial.commands)}
        found = {
            command: reused(shown)
            for command, owner in owners.items()
            if (shown := self.memory.known(tree, command, owner, as_base=trial.as_base)) is not None
        }
        unknown = [command for command in owners if command not in found]
        if unknown:
            ran = self._run(trial, unknown, owners, stop)
            if any(shown.result.cause == "stopped" for shown in ran):
                return None
            for shown in ran:
                self.memory.learn(tree, owners[shown.command], [shown], as_base=trial.as_base)
            found |= {shown.command: shown for shown in ran}
        return {command: found[command] for command in owners}

    def _run(self, trial: Trial, commands: Sequence[str], owners: Mapping[str, str], stop: Stop) -> list[Shown]:
        folder = self.workspace.checkout(trial.commit, trial.name)
        told = {command: self._told(trial) if owners[command] else {} for command in commands}
        try:
            self.prepare(folder, stop)
            return self.checks.run(folder, commands, self.timeout_ms, urgency(stop), told=told, before=trial.before)
        finally:
            self.workspace.discard(folder)

    def edited(self, trial: Trial, edit: Callable[[str], None], stop: Stop) -> Results | None:
        """Return what commands show after an edit of a prepared checkout; nothing is remembered."""
        folder = self.workspace.checkout(trial.commit, trial.name)
        told = {command: self._told(trial) for command in trial.commands if self._owner(command, trial.story)}
        try:
            self.prepare(folder, stop)
            edit(folder)
            ran = self.checks.run(folder, trial.commands, self.timeout_ms, urgency(stop), told=told)
        finally:
            self.workspace.discard(folder)
        stopped = any(shown.result.cause == "stopped" for shown in ran)
        return None if stopped else {shown.command: shown for shown in ran}

    def is_told(self, command: str) -> bool:
        """Whether a check is told its story: only where it could ask for it."""
        if self.work_speaks or self.base_speaks or VARIABLES in command:
            return True
        if command not in self._contained:
            read = partial(self.workspace.read, self._first) if self._first else lambda _: None
            self._contained[command] = is_self_contained(command, read)
        return not self._contained[command]

    def _look(self, commit: str) -> None:
        """Look once whether the repository speaks of the variables."""
        if self.base_speaks is None:
            self._first = commit
            self.base_speaks = self.workspace.mentions(commit, VARIABLES)

    def _owner(self, command: str, story: str) -> str:
        return story if self.is_told(command) else ""

    def _told(self, trial: Trial) -> dict[str, str]:
        """Return the variables that tell a check whose it is, as an agent is told."""
        told = {"SANTIAGO_STORY": trial.story} if trial.story else {}
        if trial.attempt is not None:
            told["SANTIAGO_ATTEMPT"] = str(trial.attempt)
            told["SANTIAGO_PROMPT_FILE"] = self.prompt_path(trial.story, trial.attempt)
        return told


def urgency(stop: Stop) -> Callable[[], str | None]:
    return lambda: "now" if stop.now() else "stop" if stop.soon() else None
