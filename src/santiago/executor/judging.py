"""The bench: verdicts on trees. What a check says about a base is kept per command and tree, so that it runs once."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from santiago.contract.outcomes import CheckResult, Proof, Verdict
from santiago.contract.reasons import Reason

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from santiago.contract.plan import Plan, Story
    from santiago.contract.policy import RunInput
    from santiago.contract.ports import Snapshot, Stop, Verifier, Workspace


class SetUpFailedError(Exception):
    """A set-up command did not succeed, so nothing can be said about the tree."""


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

    def judge_attempt(
        self, story: Story, number: int, base: str, snapshot: Snapshot, stop: Stop
    ) -> tuple[Verdict, bytes] | None:
        """Return the verdict on a snapshot and its record; None where it was stopped before there was one."""
        commands = self.commands_of(story)
        tampered = self.verifier.tampered(
            snapshot.changes,
            self.run_input.verification.protected,
            story.files,
            commands,
            self.workspace.files(base),
            lambda path, side: self.workspace.read(base if side == "base" else snapshot.commit, path),
        )
        if tampered:
            verdict = self.verifier.judge(None, (), tampered, has_checks=bool(commands), fewer_allowed=False)
            return verdict, self.verifier.record(verdict, ())
        before = self._results(f"{story.id}-{number}-base", base, commands, (), stop, to_the_end=True)
        after = self._results(f"{story.id}-{number}-check", snapshot.commit, commands, before or (), stop)
        if before is None or after is None:
            return None
        verdict = self._verdict(story, before, after)
        return verdict, self.verifier.record(verdict, before)

    def judge_tree(self, story: Story, name: str, commit: str, base: str | None, stop: Stop) -> Verdict | None:
        """Return the verdict of a story's checks on any commit, compared with a base where one is given."""
        commands = self.commands_of(story)
        before = self._results(f"{name}-base", base, commands, (), stop, to_the_end=True) if base else ()
        after = self._results(name, commit, commands, before or (), stop)
        if before is None or after is None:
            return None
        return self.verifier.judge(before or None, after, (), has_checks=bool(commands), fewer_allowed=True)

    def judge_run(self, commit: str, stop: Stop) -> tuple[Verdict, bytes] | None:
        commands = self.run_commands()
        after = self._results("run-check", commit, commands, (), stop)
        if after is None:
            return None
        verdict = self.verifier.judge(None, after, (), has_checks=bool(commands), fewer_allowed=True)
        return verdict, self.verifier.record(verdict, ())

    def _verdict(self, story: Story, before: Sequence[CheckResult], after: Sequence[CheckResult]) -> Verdict:
        verdict = self.verifier.judge(before, after, (), has_checks=bool(after), fewer_allowed=_names_tests(story))
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
    ) -> tuple[CheckResult, ...] | None:
        """Return what the commands show on a commit, from memory where the same tree was seen; None where stopped."""
        tree = self.workspace.tree(commit)
        missing = [command for command in commands if (tree, command) not in self.known]
        if missing:
            folder = self.workspace.checkout(commit, name)
            try:
                self.prepare(folder, stop)
                urgency = _urgency(stop)
                found = self.verifier.check(
                    folder, missing, self.timeout_ms, urgency, before=before, to_the_end=to_the_end
                )
            finally:
                self.workspace.discard(folder)
            if any(result.cause == "stopped" for result in found):
                return None
            with self.lock:
                self.known |= {(tree, result.command): result for result in found if result.exit_code is not None}
            fresh = {result.command: result for result in found}
        else:
            fresh = {}
        return tuple(fresh.get(command) or self.known[tree, command] for command in commands)


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
