"""Trials: checks run on commits, each in a clean checkout after the set-up. Results are remembered by tree."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import field, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from santiago.contract.ports.judge import SetUpFailedError
from santiago.contract.ports.workspace import PATCH_CUT
from santiago.contract.record import lean, record
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
"""The prefix of the variables that tell a check its story."""


class StoppedError(Exception):
    """Santiago is asked to stop before there is a result."""


@record
class Trial:
    """Commands to be run on a commit, in a checkout of this name."""

    name: str
    commit: str
    commands: Sequence[str]
    story: str = ""
    """The story that the checks belong to; empty for checks of the run."""
    attempt: int | None = None
    before: Mapping[str, Shown] | None = None
    """What the checks showed on the base: the first new failure ends the trial. With None, all of them run."""
    as_base: bool = False
    """Whether the tree is a base. If so, failures are remembered too."""
    patience_ms: int | None = None
    """How long each command may take, if that is less than the usual limit."""

    def on(self, name: str, commit: str, *, as_base: bool = False) -> Trial:
        """Return the same trial on another commit, in a checkout of its own."""
        return replace(self, name=f"{self.name}-{name}", commit=commit, as_base=as_base)


class Supply(Protocol):
    """Gives fresh checkouts what git does not: ignored files and installed packages."""

    def begin(self, folder: str) -> bool:
        """Give a checkout what it needs; return whether the set-up commands must run in it."""

    def again(self, folder: str) -> bool:
        """After the commands failed: give the checkout what they may have lacked; return whether there was anything."""

    def end(self, folder: str) -> None:
        """After the commands succeeded: keep what they made for other checkouts."""

    def lacking(self, base: str, work: str, *, failed: bool = False) -> str:
        """Return a message if the work asks for packages that its base does not need and no set-up installs; else empty.

        If the checks `failed` since packages are missing, files count too that name packages among much else.
        """


@lean(kw_only=True)
class Trials:
    """Carries trials out."""

    run_input: RunInput
    workspace: Workspace
    checks: CheckRunner
    supply: Supply
    prompt_path: Callable[[str, int], str]
    """Returns the path of the prompt of a story's attempt."""
    _remembered: dict[tuple[str, str, str], Shown] = field(default_factory=dict)
    """What was shown, by tree, command and owner. The owner is the story if the check is told its story; else empty."""
    base_speaks: bool | None = None
    """Whether the repository mentions the variables that name a story; None if that is not known yet."""
    work_speaks: bool = False
    """Whether an attempt added such a mention. Kept apart, since another thread's look at the base must not overwrite it."""
    _contained: Callable[[str], bool] = field(default_factory=lambda: cache(is_self_contained))
    """Command → whether it is self-contained, by its scripts in a commit that was looked at."""

    def prepare(self, folder: str, stop: Stop) -> None:
        """Make a fresh checkout ready: give it what it needs, then run the set-up commands if they must run."""
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
        """Note whether an attempt's patch mentions the variables that name a story."""
        if VARIABLES in patch or patch.endswith(PATCH_CUT):
            self.work_speaks = True

    def results(self, trial: Trial, stop: Stop) -> Results:
        """Return what the commands show on a commit, from memory if the same tree was seen before."""
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
        """Remember a result. Failures are remembered only for bases, so that no verdict on an attempt rests on an old failure."""
        if shown.is_green:
            self._remembered[key] = shown
        elif trial.as_base and shown.result.exit_code is not None and not shown.result.timed_out:
            self._remembered.setdefault(key, shown)

    def spoiled(self, trial: Trial, paths: Sequence[str], content: bytes | None, stop: Stop) -> Results:
        """Return what commands show on a prepared checkout after some of its files were spoiled. Nothing is remembered."""
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
        """Lend a prepared checkout of a commit."""
        folder = self.workspace.checkout(commit, name)
        try:
            self.prepare(folder, stop)
            yield folder
        finally:
            self.workspace.discard(folder)

    def is_told(self, command: str) -> bool:
        """Tell whether a check is told its story. It is told only if it could read the variables."""
        return self.work_speaks or bool(self.base_speaks) or VARIABLES in command or not self._contained(command)

    def _look(self, commit: str) -> None:
        """Find out, once, whether the repository mentions the variables."""
        if self.base_speaks is None:
            self._contained = cache(partial(is_self_contained, read=partial(self.workspace.read, commit)))
            self.base_speaks = self.workspace.mentions(commit, VARIABLES)

    def _owners(self, trial: Trial) -> dict[str, str]:
        """Return each command with the story that it is told, if any. Called once a trial, since the answer may change meanwhile."""
        return {command: trial.story if self.is_told(command) else "" for command in trial.commands}

    def _told(self, trial: Trial) -> dict[str, str]:
        """Return the variables that tell a check its story, the same as an agent gets."""
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
