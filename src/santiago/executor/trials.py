"""Trials: commands run on commits, each in a clean checkout after the set-up; what they showed on a tree is remembered."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from santiago.executor.memory import VARIABLES, Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from santiago.contract.outcomes import CheckResult
    from santiago.contract.policy import RunInput
    from santiago.contract.ports.run import Stop
    from santiago.contract.ports.verifier import Verifier
    from santiago.contract.ports.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What judges a story, as it was before the story's agent ran."""

    files: frozenset[str]
    sealed: tuple[str, ...]
    watched: tuple[str, ...]
    """The same with the data that it reads."""
    contents: Mapping[str, str]
    commands: tuple[str, ...]
    surroundings: str
    """What the commands take from the machine."""
    told: Mapping[str, str]
    """The variables that tell a check whose it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Commands to be run on a commit, in a checkout of this name."""

    name: str
    commit: str
    commands: tuple[str, ...]
    story: str = ""
    """Whose checks they are; nobody's where they are the run's."""
    attempt: int | None = None
    before: Sequence[CheckResult] = ()
    """What they showed on the base."""
    to_the_end: bool = False
    """Also after a failure, as is wanted on a base."""
    sight: Sight | None = None
    compiled: Sequence[str] = ()
    changed: Sequence[str] = ()
    """Paths that the work has changed."""


class SetUpFailedError(Exception):
    """A set-up command did not succeed, so nothing can be said about the tree."""


class ReplacedError(Exception):
    """A checkout does not hold the tests that the base had before the agent ran."""

    def __init__(self, paths: tuple[str, ...]) -> None:
        super().__init__(", ".join(paths))
        self.paths = paths


@dataclass(slots=True, kw_only=True)
class Trials:
    """Carries trials out."""

    run_input: RunInput
    workspace: Workspace
    verifier: Verifier
    provide: Callable[[str], None]
    """Copies the ignored files that a checkout needs."""
    prompt_path: Callable[[str, int], str]
    """Where the prompt of a story's attempt stands."""
    memory: Memory = field(default_factory=Memory)

    @property
    def timeout_ms(self) -> int:
        return int(self.run_input.verification.timeout_minutes)

    def prepare(self, folder: str, stop: Stop) -> None:
        """Make a fresh checkout ready: the files that it needs, then the set-up commands."""
        self.provide(folder)
        commands = self.run_input.workspace.setup
        if not commands:
            return
        trouble = self.verifier.set_up(folder, commands, self.timeout_ms, _urgency(stop))
        if trouble and not stop.soon():
            raise SetUpFailedError(trouble)

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

    def results(self, trial: Trial, stop: Stop) -> tuple[CheckResult, ...] | None:
        """Return what the commands show on a commit, from memory where the same tree was seen; None where stopped."""
        self.memory.look_once(lambda: self.workspace.mentions(trial.commit, VARIABLES))
        tree = self.workspace.tree(trial.commit)
        known = {command: self.memory.known(tree, command, trial.story) for command in trial.commands}
        missing = [command for command, result in known.items() if result is None]
        if missing:
            found, touched = self._run(trial, missing, stop)
            if any(result.cause == "stopped" for result in found):
                return None
            self.memory.learn(tree, trial.story, found, touched)
            known |= {result.command: result for result in found}
        return tuple(result for command in trial.commands if (result := known[command]) is not None)

    def _run(self, trial: Trial, commands: Sequence[str], stop: Stop) -> tuple[tuple[CheckResult, ...], frozenset[str]]:
        """Run commands in a clean checkout; return what they showed, and which judges were touched meanwhile."""
        folder = self.workspace.checkout(trial.commit, trial.name)
        touched: set[str] = set()
        try:
            marks = self._marks(folder, trial.sight, trial.compiled)
            touched |= self._rewritten(folder, trial, stop)

            def look() -> None:
                # After each command: what one leaves, the next one may run, and remove.
                if trial.sight is not None:
                    watched, all_ = trial.sight.watched, trial.commands
                    read = partial(self.workspace.read, trial.commit)
                    touched.update(self.verifier.touched(folder, marks, watched, all_, read))

            found = self.verifier.check(
                folder, commands, self.timeout_ms, _urgency(stop),
                before=trial.before, to_the_end=trial.to_the_end, told=self.told(trial.story, trial.attempt), between=look,
            )  # fmt: skip
        finally:
            self.workspace.discard(folder)
        return tuple(_without(folder, result) for result in found), frozenset(touched)

    def _rewritten(self, folder: str, trial: Trial, stop: Stop) -> set[str]:
        """Prepare a checkout, and return the code that is not what was committed any more: set-up adds, it does not edit."""
        files = trial.sight.files.union(trial.changed) if trial.sight and self.run_input.workspace.setup else ()
        code = self.verifier.sealed(files, ("**",), ())
        before = self.verifier.contents(folder, code)
        self.prepare(folder, stop)
        after = self.verifier.contents(folder, code)
        return {path for path in code if before[path] != after[path]}

    def told(self, story: str, attempt: int | None) -> dict[str, str]:
        """Return the variables that tell a check whose it is, as an agent is told."""
        told = {"SANTIAGO_STORY": story} if story else {}
        if attempt is not None:
            told |= {"SANTIAGO_ATTEMPT": str(attempt), "SANTIAGO_PROMPT_FILE": self.prompt_path(story, attempt)}
        return told

    def _marks(self, folder: str, sight: Sight | None, compiled: Sequence[str]) -> Mapping[str, object]:
        """See that a checkout has the right judges, and return marks by which a later touch of them shows."""
        if sight is None:
            return {}
        replaced = self.verifier.ready(folder, sight.contents, compiled)
        if replaced:
            raise ReplacedError(replaced)
        return self.verifier.marks(folder, sight.watched)

    def tried(
        self, name: str, commit: str, edit: Callable[[str], Sequence[str]], stop: Stop, *, told: Mapping[str, str] | None
    ) -> tuple[CheckResult, ...] | None:  # fmt: skip
        """Return what commands show on a commit after an edit of its checkout, which names them; nothing is remembered.

        Where they are told nothing, neither their environment nor their folder says that santiago runs them.
        """
        folder = self.workspace.checkout(commit, name, apart=told is None)
        try:
            commands = edit(folder)
            if not commands:
                return ()
            self.prepare(folder, stop)
            found = self.verifier.check(
                folder, commands, self.timeout_ms, _urgency(stop), to_the_end=True, unmarked=told is None, told=told
            )
        finally:
            self.workspace.discard(folder)
        return None if any(result.cause == "stopped" for result in found) else found


def _without(folder: str, result: CheckResult) -> CheckResult:
    """Return a result whose output names files as the repository does; the checkout it ran in is gone."""
    head, tail = (text.replace(f"{folder}/", "") for text in (result.output.head, result.output.tail))
    return replace(result, output=replace(result.output, head=head, tail=tail))


def _urgency(stop: Stop) -> Callable[[], str | None]:
    return lambda: "now" if stop.now() else "stop" if stop.soon() else None
