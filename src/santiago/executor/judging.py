"""The bench: verdicts on trees, always from a clean checkout; what a command showed on a tree is remembered."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from santiago.contract.outcomes import CheckResult, Proof, Verdict
from santiago.contract.reasons import Reason
from santiago.executor.memory import VARIABLES, Memory
from santiago.executor.provoking import Provoker, Sight

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from santiago.contract.plan import Plan, Story
    from santiago.contract.policy import RunInput
    from santiago.contract.ports.run import Stop
    from santiago.contract.ports.verifier import Verifier
    from santiago.contract.ports.workspace import Snapshot, Workspace


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


class SetUpFailedError(Exception):
    """A set-up command did not succeed, so nothing can be said about the tree."""


class ReplacedError(Exception):
    """A checkout does not hold the tests that the base had before the agent ran."""

    def __init__(self, paths: tuple[str, ...]) -> None:
        super().__init__(", ".join(paths))
        self.paths = paths


@dataclass(slots=True, kw_only=True)
class Bench:
    """Judges what attempts leave, always in a clean checkout after the set-up commands."""

    plan: Plan
    run_input: RunInput
    workspace: Workspace
    verifier: Verifier
    provide: Callable[[str], None]
    """Copies the ignored files that a checkout needs."""
    prompt_path: Callable[[str, int], str]
    """Where the prompt of a story's attempt stands."""
    memory: Memory = field(default_factory=Memory)
    sights: dict[tuple[str, int], Sight] = field(default_factory=dict)
    """(story, attempt) → what judges it, as it was before the agent ran."""
    provoker: Provoker = field(default_factory=Provoker)

    @property
    def timeout_ms(self) -> int:
        return int(self.run_input.verification.timeout_minutes)

    def commands_of(self, story: Story) -> tuple[str, ...]:
        return commands_of(story, self.run_input)

    @property
    def run_commands(self) -> tuple[str, ...]:
        """The checks of the run, where it has any of its own."""
        return tuple(dict.fromkeys((*self.run_input.verification.run_commands, *self.plan.run_verify)))

    def prepare(self, folder: str, stop: Stop) -> None:
        """Make a fresh checkout ready: the files that it needs, then the set-up commands."""
        self.provide(folder)
        commands = self.run_input.workspace.setup
        if not commands:
            return
        trouble = self.verifier.set_up(folder, commands, self.timeout_ms, _urgency(stop))
        if trouble and not stop.soon():
            raise SetUpFailedError(trouble)

    def look(self, story: Story, number: int, base: str, folder: str) -> None:
        """Remember what judges a story before its agent runs, from the folder that was just made for it."""
        self.sights[story.id, number] = self._sight(story, number, base, folder)

    def _sight(self, story: Story, number: int, base: str, folder: str | None) -> Sight:
        files = self.workspace.files(base)
        sealed = self.verifier.sealed(files, self.run_input.verification.protected, story.files)
        contents = self.verifier.contents(folder, sealed) if folder else {}
        around = self.verifier.surroundings(self.commands_of(story))
        told = self._told(story.id, number)
        return Sight(files=files, sealed=sealed, contents=contents, surroundings=around, told=told)

    def judge_attempt(
        self, story: Story, number: int, base: str, snapshot: Snapshot, stop: Stop
    ) -> tuple[Verdict, bytes] | None:
        """Return the verdict on a snapshot and its record; None where it was stopped before there was one."""
        commands = self.commands_of(story)
        sight = self.sights.pop((story.id, number), None) or self._sight(story, number, base, None)
        tampered = self.verifier.tampered(
            snapshot.changes,
            self.run_input.verification.protected,
            story.files,
            commands,
            sight.files,
            lambda path, side: self.workspace.read(base if side == "base" else snapshot.commit, path),
        )
        if tampered:
            return self._tampered(tampered)
        compiled = [change.path for change in snapshot.changes if change.path.endswith((".pyc", ".pyo"))]
        self.memory.heed(snapshot.patch)
        label = f"{story.id}-{number}"
        on_base = Trial(
            name=f"{label}-base", commit=base, commands=commands, story=story.id, attempt=number, to_the_end=True, sight=sight
        )  # fmt: skip
        try:
            before = self._results(on_base, stop)
            after = self._results(
                replace(
                    on_base, name=f"{label}-check", commit=snapshot.commit, before=before or (), to_the_end=False, compiled=compiled
                ),
                stop,
            )  # fmt: skip
        except ReplacedError as error:
            return self._tampered(error.paths)
        if before is None or after is None:
            return None
        verdict = self._verdict(story, before, after)
        if verdict.passed:
            passing = [result.command for result in after if result.exit_code == 0]
            subverted = self._touched(base, snapshot) or self.provoker.subverted(
                self, label, sight, base, snapshot, passing, stop
            )
            if subverted is None:
                return None
            if subverted:
                return self._tampered(subverted)
        return verdict, self.verifier.record(verdict, before)

    def _tampered(self, paths: Sequence[str]) -> tuple[Verdict, bytes]:
        verdict = self.verifier.judge(None, (), paths, has_checks=True, fewer_allowed=False)
        return verdict, self.verifier.record(verdict, ())

    def _touched(self, base: str, snapshot: Snapshot) -> tuple[str, ...]:
        """Return the test code that only this work touches while its checks run."""
        usual, now = self.memory.restless(self.workspace.tree(base)), self.memory.restless(snapshot.tree)
        return tuple(f"{path} (changed while the checks ran)" for path in sorted(now - usual))

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

    def judge_tree(
        self, story: Story, name: str, commit: str, base: str | None, stop: Stop, attempt: int | None = None
    ) -> tuple[Verdict, bytes] | None:
        """Return the verdict of a story's checks on any commit, compared with a base where one is given; and its record."""
        trial = Trial(name=name, commit=commit, commands=self.commands_of(story), story=story.id, attempt=attempt)
        before: Sequence[CheckResult] | None = ()
        try:
            if base:
                before = self._results(replace(trial, name=f"{name}-base", commit=base, to_the_end=True), stop)
            after = self._results(replace(trial, before=before or ()), stop)
        except SetUpFailedError as error:
            return self._unrunnable(error)
        if before is None or after is None:
            return None
        verdict = self.verifier.judge(before or None, after, (), has_checks=bool(trial.commands), fewer_allowed=True)
        return verdict, self.verifier.record(verdict, before)

    def judge_run(self, commit: str, done: Collection[str], stop: Stop) -> tuple[Verdict, bytes] | None:
        """Return the verdict on the whole: by the checks of the run, or else by those of all stories that are done."""
        stories = [story for story in self.plan.stories if story.id in done]
        try:
            if self.run_commands:
                after = self._results(Trial(name="run-check", commit=commit, commands=self.run_commands), stop)
            else:
                after = self._of_all(stories, commit, stop)
        except SetUpFailedError as error:
            return self._unrunnable(error)
        if after is None:
            return None
        verdict = self.verifier.judge(None, after, (), has_checks=bool(after), fewer_allowed=True)
        return verdict, self.verifier.record(verdict, ())

    def _of_all(self, stories: Sequence[Story], commit: str, stop: Stop) -> tuple[CheckResult, ...] | None:
        """Run the checks of stories once; those that fail may need to be told their story, and get a second chance so."""
        commands = tuple(dict.fromkeys(command for story in stories for command in self.commands_of(story)))
        once = self._results(Trial(name="run-check", commit=commit, commands=commands, to_the_end=True), stop)
        if once is None:
            return None
        found = [result for result in once if not self._may_be_told(result)]
        again = {result.command for result in once} - {result.command for result in found}
        for story in stories:
            own = tuple(command for command in self.commands_of(story) if command in again)
            trial = Trial(name=f"run-check-{story.id}", commit=commit, commands=own, story=story.id)
            shown = self._results(trial, stop) if own else ()
            if shown is None:
                return None
            found += shown
        return tuple(found)

    def _may_be_told(self, result: CheckResult) -> bool:
        return result.exit_code != 0 and (self.memory.is_spoken_of is True or VARIABLES in result.command)

    def _unrunnable(self, error: SetUpFailedError) -> tuple[Verdict, bytes]:
        """Nothing can be said about a tree that cannot be set up; that is no success."""
        verdict = Verdict(
            passed=False, proof=None, reason=Reason.VERIFICATION_UNRUNNABLE, results=(), message=str(error)
        )
        return verdict, self.verifier.record(verdict, ())

    def _verdict(self, story: Story, before: Sequence[CheckResult], after: Sequence[CheckResult]) -> Verdict:
        verdict = self.verifier.judge(
            before, after, (), has_checks=bool(after), fewer_allowed=_names_tests(story), own=story.verify
        )
        if verdict.passed and self.run_input.policy.proof == "proved" and verdict.proof is not Proof.PROVED:
            return replace(verdict, passed=False, reason=Reason.NOTHING_VERIFIED)
        return verdict

    def _results(self, trial: Trial, stop: Stop) -> tuple[CheckResult, ...] | None:
        """Return what the commands show on a commit, from memory where the same tree was seen; None where stopped."""
        if self.memory.is_spoken_of is None:
            self.memory.is_spoken_of = self.workspace.mentions(trial.commit, VARIABLES)
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
            self.prepare(folder, stop)

            def look() -> None:
                # After each command: what one leaves, the next one may run, and remove.
                if trial.sight is not None:
                    sealed, all_ = trial.sight.sealed, trial.commands
                    read = partial(self.workspace.read, trial.commit)
                    touched.update(self.verifier.touched(folder, marks, sealed, all_, read))

            found = self.verifier.check(
                folder, commands, self.timeout_ms, _urgency(stop),
                before=trial.before, to_the_end=trial.to_the_end, told=self._told(trial.story, trial.attempt), between=look,
            )  # fmt: skip
        finally:
            self.workspace.discard(folder)
        return tuple(_without(folder, result) for result in found), frozenset(touched)

    def _told(self, story: str, attempt: int | None) -> dict[str, str]:
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
        return self.verifier.marks(folder, sight.sealed)


def _without(folder: str, result: CheckResult) -> CheckResult:
    """Return a result whose output names files as the repository does; the checkout it ran in is gone."""
    head, tail = (text.replace(f"{folder}/", "") for text in (result.output.head, result.output.tail))
    return replace(result, output=replace(result.output, head=head, tail=tail))


def commands_of(story: Story, run_input: RunInput) -> tuple[str, ...]:
    """Return the checks of a story: its own, then those of every story."""
    return tuple(dict.fromkeys((*story.verify, *run_input.verification.story_commands)))


def _urgency(stop: Stop) -> Callable[[], str | None]:
    return lambda: "now" if stop.now() else "stop" if stop.soon() else None


def _names_tests(story: Story) -> bool:
    """Tell whether a story names tests among its files: then it may also take some away."""
    return any(
        re.search(r"(?:^|[/_.\-])(?:tests?|specs?|e2e|__tests__)(?:[/_.\-]|$)", path, re.IGNORECASE)
        for path in story.files
    )
