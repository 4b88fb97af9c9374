"""The bench: verdicts on trees. What a check says about a base is kept per command and tree, so that it runs once."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from santiago.contract.outcomes import CheckResult, Proof, Verdict
from santiago.contract.reasons import Reason
from santiago.executor.provoking import Provoker, Sight

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from santiago.contract.plan import Plan, Story
    from santiago.contract.policy import RunInput
    from santiago.contract.ports.run import Stop
    from santiago.contract.ports.verifier import Verifier
    from santiago.contract.ports.workspace import Snapshot, Workspace


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
    known: dict[tuple[str, str], CheckResult] = field(default_factory=dict)
    """(tree, command) → what it showed there."""
    restless: dict[str, frozenset[str]] = field(default_factory=dict)
    """tree → test code that was touched while it was being checked."""
    sights: dict[tuple[str, int], Sight] = field(default_factory=dict)
    """(story, attempt) → what judges it, as it was before the agent ran."""
    provoker: Provoker = field(default_factory=Provoker)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def timeout_ms(self) -> int:
        return int(self.run_input.verification.timeout_minutes)

    def commands_of(self, story: Story) -> tuple[str, ...]:
        return commands_of(story, self.run_input)

    def run_commands(self) -> tuple[str, ...]:
        """Return the checks of the run; all story commands where none is named."""
        named = (*self.run_input.verification.run_commands, *self.plan.run_verify)
        every = (command for story in self.plan.stories for command in self.commands_of(story))
        return tuple(dict.fromkeys(named or every))

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
        self.sights[story.id, number] = self._sight(story, base, folder)

    def _sight(self, story: Story, base: str, folder: str | None) -> Sight:
        files = self.workspace.files(base)
        sealed = self.verifier.sealed(files, self.run_input.verification.protected, story.files)
        contents = self.verifier.contents(folder, sealed) if folder else {}
        around = self.verifier.surroundings(self.commands_of(story))
        return Sight(files=files, sealed=sealed, contents=contents, surroundings=around)

    def judge_attempt(
        self, story: Story, number: int, base: str, snapshot: Snapshot, stop: Stop
    ) -> tuple[Verdict, bytes] | None:
        """Return the verdict on a snapshot and its record; None where it was stopped before there was one."""
        commands = self.commands_of(story)
        sight = self.sights.pop((story.id, number), None) or self._sight(story, base, None)
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
        names = f"{story.id}-{number}-base", f"{story.id}-{number}-check"
        try:
            told = {"SANTIAGO_STORY": story.id, "SANTIAGO_ATTEMPT": str(number)}
            before = self._results(names[0], base, commands, (), stop, to_the_end=True, sight=sight, told=told)
            after = self._results(
                names[1], snapshot.commit, commands, before or (), stop, sight=sight, compiled=compiled, told=told
            )
        except ReplacedError as error:
            return self._tampered(error.paths)
        if before is None or after is None:
            return None
        verdict = self._verdict(story, before, after)
        if verdict.passed:
            label = f"{story.id}-{number}"
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
        usual = self.restless.get(self.workspace.tree(base), frozenset())
        now = self.restless.get(snapshot.tree, frozenset())
        return tuple(f"{path} (changed while the checks ran)" for path in sorted(now - usual))

    def tried(
        self,
        name: str,
        commit: str,
        commands: Sequence[str],
        stop: Stop,
        *,
        edit: Callable[[str], object],
        unmarked: bool,
    ) -> tuple[CheckResult, ...] | None:
        """Return what the commands show on a commit after an edit of its checkout; nothing of it is remembered."""
        folder = self.workspace.checkout(commit, name)
        try:
            edit(folder)
            self.prepare(folder, stop)
            found = self.verifier.check(
                folder, commands, self.timeout_ms, _urgency(stop), to_the_end=True, unmarked=unmarked
            )
        finally:
            self.workspace.discard(folder)
        return None if any(result.cause == "stopped" for result in found) else found

    def judge_tree(
        self, story: Story, name: str, commit: str, base: str | None, stop: Stop
    ) -> tuple[Verdict, bytes] | None:
        """Return the verdict of a story's checks on any commit, compared with a base where one is given; and its record."""
        commands = self.commands_of(story)
        told = {"SANTIAGO_STORY": story.id}
        before = self._results(f"{name}-base", base, commands, (), stop, to_the_end=True, told=told) if base else ()
        after = self._results(name, commit, commands, before or (), stop, told=told)
        if before is None or after is None:
            return None
        verdict = self.verifier.judge(before or None, after, (), has_checks=bool(commands), fewer_allowed=True)
        return verdict, self.verifier.record(verdict, before)

    def judge_run(self, commit: str, stop: Stop) -> tuple[Verdict, bytes] | None:
        commands = self.run_commands()
        after = self._results("run-check", commit, commands, (), stop)
        if after is None:
            return None
        verdict = self.verifier.judge(None, after, (), has_checks=bool(commands), fewer_allowed=True)
        return verdict, self.verifier.record(verdict, ())

    def _verdict(self, story: Story, before: Sequence[CheckResult], after: Sequence[CheckResult]) -> Verdict:
        verdict = self.verifier.judge(
            before, after, (), has_checks=bool(after), fewer_allowed=_names_tests(story), own=story.verify
        )
        if verdict.passed and self.run_input.policy.proof == "proved" and verdict.proof is not Proof.PROVED:
            return replace(verdict, passed=False, reason=Reason.NOTHING_VERIFIED)
        return verdict

    def _results(
        self,
        name: str,
        commit: str,
        commands: Sequence[str],
        before: Sequence[CheckResult],
        stop: Stop,
        *,
        to_the_end: bool = False,
        sight: Sight | None = None,
        compiled: Sequence[str] = (),
        told: Mapping[str, str] | None = None,
    ) -> tuple[CheckResult, ...] | None:
        """Return what the commands show on a commit, from memory where the same tree was seen; None where stopped."""
        tree = self.workspace.tree(commit)
        # What a command makes of the story's own variables holds for that story alone.
        known = {command: self.known.get((tree, command)) for command in commands if "SANTIAGO_" not in command}
        missing = [command for command in commands if known.get(command) is None]
        if missing:
            folder = self.workspace.checkout(commit, name)
            try:
                marks = self._marks(folder, sight, compiled)
                self.prepare(folder, stop)
                urgency = _urgency(stop)
                found = self.verifier.check(
                    folder, missing, self.timeout_ms, urgency, before=before, to_the_end=to_the_end, told=told
                )
                touched = self.verifier.touched(folder, marks)
            finally:
                self.workspace.discard(folder)
            if any(result.cause == "stopped" for result in found):
                return None
            found = tuple(_without(folder, result) for result in found)
            with self.lock:
                self.restless[tree] = self.restless.get(tree, frozenset()) | touched
                self.known |= {(tree, result.command): result for result in found if result.exit_code is not None}
            fresh = {result.command: result for result in found}
        else:
            fresh = {}
        return tuple(fresh.get(command) or self.known[tree, command] for command in commands)

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
