"""Trials: checks run on commits, each in a clean checkout after the set-up. Results are remembered by tree."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from functools import partial
from itertools import count
from pathlib import Path
from threading import Condition
from typing import TYPE_CHECKING

from santiago.contract.checks import ATTEMPT, PROMPT_FILE, STORY
from santiago.contract.policy import RunInput
from santiago.contract.ports.judge import Noted, Notes, SetUpFailedError
from santiago.contract.ports.run import Stop
from santiago.contract.ports.workspace import Supply, Workspace
from santiago.contract.record import lean, record
from santiago.judge.comparison import Shown
from santiago.util.inside import is_inside

if TYPE_CHECKING:
    from santiago.judge.check_runner import CheckRunner

Results = dict[str, Shown]
"""Command → what it showed."""
Key = tuple[str, str, tuple[tuple[str, str], ...], str]
"""All that a result depends on: the tree, the command, the variables that only this check gets, and what was spoiled."""
GARBAGE = b"\x00\x01}{]['\"`<%#@!$^&*|\\~ santiago tries whether this check can see \xff\xfe\n" * 4
"""Bytes that no language parses."""

_POLL_S = 0.2


class StoppedError(Exception):
    """Santiago is asked to stop before there is a result."""


@record
class Trial:
    """Commands to be run on a commit, under a name for people who look on."""

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
    spoils: tuple[str, ...] = ()
    """Files of the checkout that are made unusable before the commands run."""
    spoiled_by: bytes | None = None
    """What is written into these files. With None, they are removed."""

    def on(self, name: str, commit: str, *, as_base: bool = False) -> Trial:
        """Return the same trial on another commit, in a checkout of its own."""
        return replace(self, name=f"{self.name}-{name}", commit=commit, as_base=as_base)


@lean(kw_only=True)
class Trials:
    """Carries trials out."""

    run_input: RunInput
    workspace: Workspace
    checks: CheckRunner
    supply: Supply
    prompt_path: Callable[[str, int], str]
    """Returns the path of the prompt of a story's attempt."""
    notes: Notes
    _remembered: dict[Key, Shown] = field(default_factory=dict)
    _busy: set[Key] = field(default_factory=set)
    """What runs now."""
    _turn: Condition = field(default_factory=Condition)
    _places: Iterator[int] = field(default_factory=lambda: count(1))
    _free: list[str] = field(default_factory=list)
    """Names of folders for checkouts that no thread uses now."""

    def prepare(self, folder: str, stop: Stop, name: str = "") -> None:
        """Make a fresh checkout ready: give it what it needs, then run the set-up commands if they must run."""
        if not self.supply.begin(folder):
            return
        set_up = partial(self.checks.set_up, name or Path(folder).name, folder, self.run_input.workspace.setup, stop)
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

    def results(self, trial: Trial, stop: Stop) -> Results:
        """Return what the commands show on a commit, from memory if the same tree was seen before."""
        keys = self._keys(trial)
        with self._alone(keys.values(), stop):
            found = {command: self._known(key, trial) for command, key in keys.items()}
            unknown = [command for command in keys if found[command] is None]
            ran = self._run(replace(trial, commands=unknown), keys, stop) if unknown else {}
        return {command: found[command] or ran[command] for command in keys}

    @contextmanager
    def _alone(self, keys: Collection[Key], stop: Stop) -> Iterator[None]:
        """Within this context, nobody else runs these commands on their tree. Who waits for them finds the results."""
        with self._turn:
            while not self._busy.isdisjoint(keys):
                self._turn.wait(_POLL_S)
                if stop.soon():
                    raise StoppedError
            self._busy.update(keys)
        try:
            yield
        finally:
            with self._turn:
                self._busy.difference_update(keys)
                self._turn.notify_all()

    def _keys(self, trial: Trial) -> dict[str, Key]:
        tree, told = self.workspace.tree(trial.commit), self._told(trial)
        spoiled = repr(trial.spoiled_by) if trial.spoils else ""
        return {command: (tree, command, tuple(told[command].items()), spoiled) for command in trial.commands}

    def _known(self, key: Key, trial: Trial) -> Shown | None:
        found = self._remembered.get(key)
        if found is None and trial.as_base and (noted := self.notes.read(key)):
            found = Shown(noted.result, None if noted.tests is None else dict(noted.tests), noted.note)
        if found is None or not (trial.as_base or found.is_green):
            return None
        return replace(found, result=replace(found.result, reused=True))

    def _learn(self, key: Key, shown: Shown, trial: Trial) -> None:
        """Remember a result. Failures are remembered only for bases, so that no verdict on an attempt rests on an old failure."""
        ended = shown.result.exit_code is not None and not shown.result.timed_out
        if shown.is_green:
            self._remembered[key] = shown
        elif trial.as_base and ended:
            self._remembered.setdefault(key, shown)
        if trial.as_base and ended and not shown.result.cause:  # one that could not start may be helped meanwhile
            tests = None if shown.tests is None else tuple(shown.tests.items())
            self.notes.write(key, Noted(result=shown.result, tests=tests, note=shown.note))

    def _run(self, trial: Trial, keys: Mapping[str, Key], stop: Stop) -> Results:
        ran: Results = {}
        with self._checkout(trial.name, trial.commit, stop) as folder:
            spoil(folder, trial.spoils, trial.spoiled_by)
            checks = self.checks if trial.patience_ms is None else self.checks.within(trial.patience_ms)
            for shown in checks.run(trial.name, folder, trial.commands, self._told(trial), trial.before, stop):
                if shown.result.cause == "stopped":
                    raise StoppedError
                self._learn(keys[shown.command], shown, trial)
                ran[shown.command] = shown
            if self.notes.is_open and not trial.spoils:
                self.supply.keep_built(folder)
        return ran

    @contextmanager
    def _checkout(self, name: str, commit: str, stop: Stop) -> Iterator[str]:
        """Lend a prepared checkout of a commit. Its path does not tell which: compilers cache by path, and work could ask."""
        try:
            place = self._free.pop()
        except IndexError:
            place = str(next(self._places))
        folder = self.workspace.checkout(commit, place)
        try:
            self.prepare(folder, stop, name)
            yield folder
        finally:
            self.workspace.discard(folder)
            self._free.append(place)

    def _told(self, trial: Trial) -> dict[str, dict[str, str]]:
        """Return the variables of each command: of those that an agent gets, the ones that the command names."""
        given = {STORY: trial.story} if trial.story else {}
        if trial.attempt is not None:
            given |= {ATTEMPT: str(trial.attempt), PROMPT_FILE: self.prompt_path(trial.story, trial.attempt)}
        return {one: {name: value for name, value in given.items() if name in one} for one in trial.commands}


def spoil(folder: str, paths: Sequence[str], content: bytes | None) -> None:
    """Make files of a checkout unusable by writing something else into them, or remove them."""
    for place in (Path(folder, path) for path in paths):
        if not os.path.lexists(place) or not is_inside(place.parent, folder):
            continue
        is_link = place.is_symlink()
        if content is None:
            if is_link or not place.is_dir():  # the folder of a submodule stays
                place.unlink(missing_ok=True)
        elif place.is_file() and not is_link:
            place.write_bytes(content)
