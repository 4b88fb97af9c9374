"""The bench: verdicts on what attempts left, on the work of several stories together, and on the whole run."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from santiago.contract.outcomes import CheckResult, CheckVerdict, Proof, Verdict
from santiago.contract.reasons import Reason
from santiago.executor.memory import VARIABLES
from santiago.executor.names import is_named, module
from santiago.executor.permission import may_change, speaks_of
from santiago.executor.provoking import Provoker
from santiago.executor.trials import ReplacedError, SetUpFailedError, Sight, Trial, Trials

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from santiago.contract.plan import Plan, Story
    from santiago.contract.policy import RunInput
    from santiago.contract.ports.run import Stop
    from santiago.contract.ports.workspace import Snapshot

_QUICK_MS = 5000
_PASSES_ON = re.compile(r"\b(?:make|just|npm|yarn|pnpm|bun)\b")
"""Programs whose command line does not name the files that they come to."""


@dataclass(slots=True, kw_only=True)
class Bench:
    """Judges what attempts leave, always in a clean checkout after the set-up commands."""

    plan: Plan
    run_input: RunInput
    trials: Trials
    provoker: Provoker = field(default_factory=Provoker)
    surroundings: dict[tuple[str, ...], str] = field(init=False)
    """Commands → what they take from the machine, as it was before the first agent of this start ran."""

    every_check: tuple[str, ...] = field(init=False)
    """All commands by which the run or any of its stories is judged."""

    def __post_init__(self) -> None:
        known = dict.fromkeys(map(self.commands_of, self.plan.stories))
        self.every_check = tuple(dict.fromkeys((*(one for commands in known for one in commands), *self.run_commands)))
        self.surroundings = {commands: self.trials.verifier.surroundings(commands) for commands in known}

    def commands_of(self, story: Story) -> tuple[str, ...]:
        return commands_of(story, self.run_input)

    def _own(self, story: Story) -> tuple[str, ...]:
        """The files by which a story may change what judges it."""
        return may_change(story, self.plan.requirements)

    @property
    def run_commands(self) -> tuple[str, ...]:
        """The checks of the run, where it has any of its own."""
        return tuple(dict.fromkeys((*self.run_input.verification.run_commands, *self.plan.run_verify)))

    def look(self, story: Story, number: int, base: str, folder: str | None) -> Sight:
        """Return what judges a story before its agent runs, with the tests as they are in the folder made for it."""
        files = self.trials.workspace.files(base)
        which = (files, self.run_input.verification.protected, self._own(story))
        sealed = self.trials.verifier.sealed(*which)
        contents = self.trials.verifier.contents(folder, sealed) if folder else {}
        commands, told = self.commands_of(story), self.trials.told(story.id, number)
        return Sight(
            files=files, sealed=sealed, watched=self.trials.verifier.watched(*which), contents=contents, told=told,
            commands=commands, surroundings=self.surroundings[commands],
        )  # fmt: skip

    def judge_attempt(
        self, story: Story, number: int, base: str, snapshot: Snapshot, sight: Sight, stop: Stop
    ) -> tuple[Verdict, bytes] | None:
        """Return the verdict on a snapshot and its record; None where it was stopped before there was one."""
        commands = self.commands_of(story)
        tampered = self.trials.verifier.tampered(
            snapshot.changes,
            self.run_input.verification.protected,
            self._own(story),
            commands,
            sight.files,
            lambda path, side: self.trials.workspace.read(base if side == "base" else snapshot.commit, path),
        )
        tampered = tampered or self._judges_of_others(story, base, snapshot, sight)
        if tampered:
            return self._tampered(tampered)
        changed = [change.path for change in snapshot.changes]
        compiled = [path for path in changed if path.endswith((".pyc", ".pyo"))]
        self.trials.memory.heed(snapshot.patch)
        label = f"{story.id}-{number}"
        on_base = Trial(
            name=f"{label}-base", commit=base, commands=commands, story=story.id, attempt=number, to_the_end=True, sight=sight
        )  # fmt: skip
        try:
            before = self.trials.results(on_base, stop)
            after = self.trials.results(
                replace(
                    on_base, name=f"{label}-check", commit=snapshot.commit, before=before or (), to_the_end=False,
                    compiled=compiled, changed=changed,
                ),
                stop,
            )  # fmt: skip
        except ReplacedError as error:
            return self._tampered(error.paths)
        if before is None or after is None:
            return None
        verdict = self._verdict(story, base, before, after)
        if verdict.passed:
            passing = [result.command for result in after if result.exit_code == 0]
            subverted = self._touched(base, snapshot) or self.provoker.subverted(
                self.trials, label, sight, base, snapshot, passing, stop,
                preparing=self._preparing(snapshot), anyway=self._is_cheap(after),
            )  # fmt: skip
            if subverted is None:
                return None
            if subverted:
                return self._tampered(subverted)
        return verdict, self.trials.verifier.record(verdict, before)

    def _judges_of_others(self, story: Story, base: str, snapshot: Snapshot, sight: Sight) -> tuple[str, ...]:
        """Return the changed scripts of the base by which only other stories, or the run, will be judged."""
        changed = {change.path for change in snapshot.changes} & sight.files
        # Only commands that may come to a changed file are read: there may be one for each of many stories.
        names = set(map(module, changed))
        others = [one for one in self.every_check if _PASSES_ON.search(one) or any(name in one for name in names)]
        if not changed or {*others} <= {*self.commands_of(story)}:
            return ()
        found = self.trials.verifier.judging(
            others, sight.files, self._own(story), lambda path: self.trials.workspace.read(base, path)
        )
        # What a story speaks of is its work, also where a later one is judged by it.
        strange = (path for path in found & changed if not speaks_of(story, self.plan.requirements, path))
        return tuple(sorted(strange))

    def _preparing(self, snapshot: Snapshot) -> list[str]:
        """Return the changed files that a set-up command names."""
        setup = self.run_input.workspace.setup
        return [change.path for change in snapshot.changes if any(is_named(change.path, command) for command in setup)]

    def _is_cheap(self, results: Sequence[CheckResult]) -> bool:
        """Whether the checks can be run once more without anybody noticing; unless they need to be told their story."""
        quick = sum(int(result.seconds) for result in results) < _QUICK_MS
        return quick and not self.run_input.workspace.setup and not self.trials.memory.is_spoken_of

    def _tampered(self, paths: Sequence[str]) -> tuple[Verdict, bytes]:
        verdict = self.trials.verifier.judge(None, (), paths, has_checks=True, fewer_allowed=False)
        return verdict, self.trials.verifier.record(verdict, ())

    def _touched(self, base: str, snapshot: Snapshot) -> tuple[str, ...]:
        """Return the tests and their data that only this work touches while its checks run."""
        usual, now = (
            self.trials.memory.restless(self.trials.workspace.tree(base)),
            self.trials.memory.restless(snapshot.tree),
        )
        return tuple(f"{path} (changed while the checks ran)" for path in sorted(now - usual))

    def judge_tree(
        self, story: Story, name: str, commit: str, base: str | None, stop: Stop, attempt: int | None = None
    ) -> tuple[Verdict, bytes] | None:
        """Return the verdict of a story's checks on any commit, compared with a base where one is given; and its record."""
        trial = Trial(name=name, commit=commit, commands=self.commands_of(story), story=story.id, attempt=attempt)
        before: Sequence[CheckResult] | None = ()
        try:
            if base:
                before = self.trials.results(replace(trial, name=f"{name}-base", commit=base, to_the_end=True), stop)
            after = self.trials.results(replace(trial, before=before or ()), stop)
        except SetUpFailedError as error:
            if base and self.trials.is_sound(f"{name}-base", base, stop):
                return self._failed(Reason.STORY_VERIFICATION_FAILED, str(error))
            return self._failed(Reason.VERIFICATION_UNRUNNABLE, str(error))
        if before is None or after is None:
            return None
        verdict = self.trials.verifier.judge(
            before or None, after, (), has_checks=bool(trial.commands), fewer_allowed=True,
            base_files=self.trials.workspace.files(base) if base else (), read=partial(self.trials.workspace.read, base or commit),
        )  # fmt: skip
        return verdict, self.trials.verifier.record(verdict, before)

    def judge_run(self, commit: str, done: Collection[str], stop: Stop) -> tuple[Verdict, bytes] | None:
        """Return the verdict on the whole: by the checks of the run, or else by those of all stories that are done."""
        stories = [story for story in self.plan.stories if story.id in done]
        try:
            if self.run_commands:
                after = self.trials.results(Trial(name="run-check", commit=commit, commands=self.run_commands), stop)
            else:
                after = self._of_all(stories, commit, stop)
        except SetUpFailedError as error:
            return self._failed(Reason.VERIFICATION_UNRUNNABLE, str(error))
        if after is None:
            return None
        verdict = self.trials.verifier.judge(None, after, (), has_checks=bool(after), fewer_allowed=True)
        return verdict, self.trials.verifier.record(verdict, ())

    def _of_all(self, stories: Sequence[Story], commit: str, stop: Stop) -> tuple[CheckResult, ...] | None:
        """Run the checks of stories once; those that fail may need to be told their story, and get a second chance so."""
        commands = tuple(dict.fromkeys(command for story in stories for command in self.commands_of(story)))
        once = self.trials.results(Trial(name="run-check", commit=commit, commands=commands, to_the_end=True), stop)
        if once is None:
            return None
        found = [result for result in once if not self._may_be_told(result)]
        again = {result.command for result in once} - {result.command for result in found}
        for story in stories:
            own = tuple(command for command in self.commands_of(story) if command in again)
            trial = Trial(name=f"run-check-{story.id}", commit=commit, commands=own, story=story.id)
            shown = self.trials.results(trial, stop) if own else ()
            if shown is None:
                return None
            found += shown
        return tuple(found)

    def _may_be_told(self, result: CheckResult) -> bool:
        return result.exit_code != 0 and (self.trials.memory.is_spoken_of or VARIABLES in result.command)

    def _failed(self, reason: Reason, message: str) -> tuple[Verdict, bytes]:
        """Nothing can be said about a tree that cannot be set up; that is no success."""
        verdict = Verdict(passed=False, proof=None, reason=reason, results=(), message=message)
        return verdict, self.trials.verifier.record(verdict, ())

    def _verdict(self, story: Story, base: str, before: Sequence[CheckResult], after: Sequence[CheckResult]) -> Verdict:
        verdict = self.trials.verifier.judge(
            before, after, (), has_checks=bool(after), fewer_allowed=_names_tests(story), own=story.verify,
            base_files=self.trials.workspace.files(base), read=partial(self.trials.workspace.read, base),
        )  # fmt: skip
        if verdict.passed and self.run_input.policy.proof == "proved" and verdict.proof is not Proof.PROVED:
            return replace(verdict, passed=False, reason=Reason.NOTHING_VERIFIED, message=_unproved(before, after))
        return verdict


def commands_of(story: Story, run_input: RunInput) -> tuple[str, ...]:
    """Return the checks of a story: its own, then those of every story."""
    return tuple(dict.fromkeys((*story.verify, *run_input.verification.story_commands)))


def _unproved(before: Sequence[CheckResult], after: Sequence[CheckResult]) -> str:
    """Return why checks that pass are not enough for a policy that asks for a proof."""
    passing = [result.command for result in after if result.verdict is CheckVerdict.PASS]
    passed = {result.command for result in before if result.verdict is CheckVerdict.PASS}
    words = [
        f"`{one}` {'passes without it too' if one in passed else 'was not there before, or could not run'}"
        for one in passing
    ]
    return (
        f'The checks pass, but policy.proof = "proved" asks for one that fails without the work: {"; ".join(words)}.\n\n'
        "Only a test that is committed before the run begins can show it, or a policy that asks for less."
    )


def _names_tests(story: Story) -> bool:
    """Tell whether a story names tests among its files: then it may also take some away."""
    return any(
        re.search(r"(?:^|[/_.\-])(?:tests?|specs?|e2e|__tests__)(?:[/_.\-]|$)", path, re.IGNORECASE)
        for path in story.files
    )
