"""Trials: checks run on commits, each in a clean checkout after the set-up; what they showed on a tree is remembered."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from santiago.contract.ports.judge import SetUpFailedError
from santiago.contract.ports.workspace import PATCH_CUT
from santiago.contract.record import record
from santiago.judge.commandline import is_self_contained
from santiago.util.inside import is_inside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from santiago.contract.policy import RunInput
    from santiago.contract.ports.run import Stop
    from santiago.contract.ports.workspace import Workspace
    from santiago.judge.running import CheckRunner
    from santiago.judge.shown import Shown

    Results = dict[str, Shown]
    """Command → what it showed."""

GARBAGE = b"\x00\x01}{]['\"`<%#@!$^&*|\\~ santiago tries whether this check can see \xff\xfe\n" * 4
"""Bytes that no language parses."""
VARIABLES = "SANTIAGO_"
"""How the variables begin that tell a check whose it is."""


class StoppedError(Exception):
    """Santiago is asked to stop before there is a result."""


@record
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
    patience_ms: int | None = None
    """How long each command may take, where the usual limit would be a waste."""

    def on(self, name: str, commit: str, *, as_base: bool = False) -> Trial:
        """Return the same trial on another commit, in a checkout of its own."""
        return replace(self, name=f"{self.name}-{name}", commit=commit, as_base=as_base)


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
    _remembered: dict[tuple[str, str, str], Shown] = field(default_factory=dict)
    """What was shown, by tree, command and owner: the story for a check that is told its story, nobody for one that is not."""
    base_speaks: bool | None = None
    """Whether the repository speaks of the variables that name a story; None where nobody has looked."""
    work_speaks: bool = False
    """Apart, since attempts are judged side by side: what one adds must not be lost to another's look at the base."""
    _contained: Callable[[str], bool] = field(default_factory=lambda: cache(is_self_contained))
    """Whether a command is self-contained; its scripts are read where a commit was looked at."""

    def prepare(self, folder: str, stop: Stop) -> None:
        """Make a fresh checkout ready: what it needs, then the set-up commands where they have to run."""
        if not self.supply.begin(folder):
            return
        set_up = partial(self.checks.set_up, folder, self.run_input.workspace.setup, stop)
        trouble = set_up()
        if trouble and not stop.soon() and self.supply.again(folder):
            trouble = set_up()
        if not stop.soon():
            if trouble:
                raise SetUpFailedError(trouble)
            self.supply.end(folder)

    def is_sound(self, name: str, commit: str, stop: Stop) -> bool:
        """Tell whether the set-up commands succeed on a commit."""
        try:
            with self._checkout(name, commit, stop):
                return True
        except SetUpFailedError:
            return False

    def heed(self, patch: str) -> None:
        """Look whether an attempt adds anything that speaks of the variables which name a story."""
        if VARIABLES in patch or patch.endswith(PATCH_CUT):
            self.work_speaks = True

    def results(self, trial: Trial, stop: Stop) -> Results:
        """Return what the commands show on a commit, from memory where the same tree was seen."""
        self._look(trial.commit)
        tree, owners = self.workspace.tree(trial.commit), self._owners(trial)
        known = {command: self._known((tree, command, owner), trial) for command, owner in owners.items()}
        unknown = {command: owner for command, owner in owners.items() if known[command] is None}
        ran = self._run(trial, unknown, stop) if unknown else {}
        for command, shown in ran.items():
            self._learn((tree, command, owners[command]), shown, trial)
        return {command: known[command] or ran[command] for command in owners}

    def _known(self, key: tuple[str, str, str], trial: Trial) -> Shown | None:
        found = self._remembered.get(key)
        if found is None or not (trial.as_base or found.is_green):
            return None
        return replace(found, result=replace(found.result, reused=True))

    def _learn(self, key: tuple[str, str, str], shown: Shown, trial: Trial) -> None:
        """Remember what ran to its end; a pass stays, and an attempt's verdict never rests on a failure."""
        if shown.is_green:
            self._remembered[key] = shown
        elif trial.as_base and shown.result.exit_code is not None and not shown.result.timed_out:
            self._remembered.setdefault(key, shown)

    def spoiled(self, trial: Trial, paths: Sequence[str], content: bytes | None, stop: Stop) -> Results:
        """Return what commands show on a prepared checkout some files of which are spoiled; nothing is remembered."""
        return self._run(trial, self._owners(trial), stop, lambda folder: spoil(folder, paths, content))

    def _run(
        self, trial: Trial, owners: Mapping[str, str], stop: Stop, edit: Callable[[str], None] = lambda _: None
    ) -> Results:
        told = {command: self._told(trial) if owner else {} for command, owner in owners.items()}
        with self._checkout(trial.name, trial.commit, stop) as folder:
            edit(folder)
            checks = self.checks if trial.patience_ms is None else self.checks.within(trial.patience_ms)
            ran = checks.run(folder, list(owners), told, trial.before, stop)
        if any(shown.result.cause == "stopped" for shown in ran):
            raise StoppedError
        return {shown.command: shown for shown in ran}

    @contextmanager
    def _checkout(self, name: str, commit: str, stop: Stop) -> Iterator[str]:
        """Provide a prepared checkout of a commit."""
        folder = self.workspace.checkout(commit, name)
        try:
            self.prepare(folder, stop)
            yield folder
        finally:
            self.workspace.discard(folder)

    def is_told(self, command: str) -> bool:
        """Whether a check is told its story: only where it could ask for it."""
        return self.work_speaks or bool(self.base_speaks) or VARIABLES in command or not self._contained(command)

    def _look(self, commit: str) -> None:
        """Look once whether the repository speaks of the variables."""
        if self.base_speaks is None:
            self._contained = cache(partial(is_self_contained, read=partial(self.workspace.read, commit)))
            self.base_speaks = self.workspace.mentions(commit, VARIABLES)

    def _owners(self, trial: Trial) -> dict[str, str]:
        """Return each command with the story that it is told, if any; asked for once, since work may begin to speak."""
        return {command: trial.story if self.is_told(command) else "" for command in trial.commands}

    def _told(self, trial: Trial) -> dict[str, str]:
        """Return the variables that tell a check whose it is, as an agent is told."""
        told = {"SANTIAGO_STORY": trial.story} if trial.story else {}
        if trial.attempt is not None:
            told["SANTIAGO_ATTEMPT"] = str(trial.attempt)
            told["SANTIAGO_PROMPT_FILE"] = self.prompt_path(trial.story, trial.attempt)
        return told


def spoil(folder: str, paths: Sequence[str], content: bytes | None) -> None:
    """Make files of a checkout unusable by writing something else into them, or remove them."""
    for place in (Path(folder, path) for path in paths):
        if not os.path.lexists(place) or not is_inside(place.parent, folder):
            continue
        if content is None:
            place.unlink(missing_ok=True)
        elif place.is_file() and not place.is_symlink():
            place.write_bytes(content)
