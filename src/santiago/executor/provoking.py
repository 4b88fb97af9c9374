"""Before doubtful work is believed, its checks are provoked: edited so that they must fail, or must still pass.

This catches work that ends the runner, replaces it, speaks for it or fools it, however it does so. It costs one or two
more runs of the checks, and only where the work could do such a thing at all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from santiago.contract.outcomes import CheckResult
    from santiago.contract.ports.run import Stop
    from santiago.contract.ports.verifier import Doubt, Verifier
    from santiago.contract.ports.workspace import Snapshot

_AROUND = "programs or start files outside the worktree"


class StoppedError(Exception):
    """Santiago is asked to stop before there is a verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What judges a story, as it was before the story's agent ran."""

    files: frozenset[str]
    sealed: tuple[str, ...]
    contents: Mapping[str, str]
    surroundings: str


class Trying(Protocol):
    """A bench on which commands can be tried on an edited checkout."""

    @property
    def verifier(self) -> Verifier: ...

    def tried(
        self, name: str, commit: str, commands: Sequence[str], stop: Stop, *, edit: Callable[[str], object], unmarked: bool
    ) -> tuple[CheckResult, ...] | None: ...  # fmt: skip


@dataclass(slots=True)
class Provoker:
    """Knows which checks react to a planted test on a base."""

    reacting: dict[tuple[str, tuple[str, ...]], bool] = field(default_factory=dict)

    def subverted(
        self, bench: Trying, label: str, sight: Sight, base: str, snapshot: Snapshot, commands: Sequence[str], stop: Stop
    ) -> tuple[str, ...] | None:  # fmt: skip
        """Return what took the verdict out of the hands of these passing checks, in words; None where it was stopped."""
        doubts = bench.verifier.doubts(snapshot.patch)
        moved = sight.surroundings != bench.verifier.surroundings(commands)
        if not doubts and not moved:
            return ()
        one = _Provocation(self, bench, label, sight, base, snapshot, tuple(commands), stop)
        try:
            return one.found(doubts, moved=moved)
        except StoppedError:
            return None


@dataclass(frozen=True, slots=True)
class _Provocation:
    """All that is tried with one attempt's work."""

    known: Provoker
    bench: Trying
    label: str
    sight: Sight
    base: str
    snapshot: Snapshot
    commands: tuple[str, ...]
    stop: Stop

    def found(self, doubts: Sequence[Doubt], *, moved: bool) -> tuple[str, ...]:
        of = {kind: [doubt.path for doubt in doubts if kind in doubt.kinds] for kind in _KINDS}
        if of["knows"]:
            return _says(of["knows"], "has no business with the test runner")
        if of["asks"] and not self.passes("alone", lambda _: None, unmarked=True):
            return _says(of["asks"], "passes only while santiago looks")
        if of["patches"] and self.needs_new_tests():
            return _says(of["patches"], "the other tests pass only with it")
        if of["equals"] and not self.compares():
            return _says(of["equals"], "its values equal anything")
        if of["reaches"] or of["ends"] or moved:
            return self.reached(of["reaches"] or of["ends"] or [_AROUND], of["ends"], moved=moved)
        return ()

    def reached(self, suspects: list[str], ends: list[str], *, moved: bool) -> tuple[str, ...]:
        """A test is planted that must fail; where no check would see it, what ends its process is not believed."""
        able = self.able()
        if able and not self.reacts(able):
            return _says(suspects, "with it, a test that must fail passes")
        reached = self.ends_reached()
        if not all(reached):
            return _says(suspects, "with it, the check does not reach its end")
        if able or reached:
            return ()
        return _says(ends, "ends the process that tests it") or (_says([_AROUND], "changed") if moved else ())

    def passes(self, name: str, edit: Callable[[str], object], *, unmarked: bool = False) -> bool:
        return all(result.exit_code == 0 for result in self.tried(name, self.commands, edit, unmarked=unmarked))

    def needs_new_tests(self) -> bool:
        """Whether the base's own tests fail once the attempt's new ones are taken away."""
        added = [change.path for change in self.snapshot.changes if change.path not in self.sight.files]
        fresh = self.bench.verifier.sealed(added, ("@tests",), ())
        stems = [path.rpartition("/")[2].partition(".")[0] for path in fresh]
        # A check that names one of them cannot do without.
        free = [command for command in self.commands if not any(stem in command for stem in stems)]
        if not self.sight.sealed or not fresh:
            return False
        found = self.tried("without", free, lambda folder: self.bench.verifier.ready(folder, {}, fresh))
        return any(result.exit_code != 0 and bool(result.checks) for result in found)

    def compares(self) -> bool:
        """Whether the tests still pass when their comparisons refuse what equals anything."""
        words: list[str] = []
        found = self.tried(
            "strict", self.commands, lambda folder: words.append(self.bench.verifier.harden(folder, self.sight.sealed))
        )
        told = "".join(result.output.head + result.output.tail for result in found if result.exit_code != 0)
        fooled = words[0] and words[0] in told
        return not fooled and all(self.ends_reached())

    def ends_reached(self) -> list[bool]:
        """Return for each check that is a plain Python program whether it comes to its end, with strict comparisons."""
        verifier = self.bench.verifier
        changed = {change.path for change in self.snapshot.changes}
        judges = self.sight.files - changed
        inline = [longer for command in self.commands if (longer := verifier.prolonged(command))]
        scripts: list[str] = []
        found = self.tried(
            "longer", [*inline, *self.commands],
            lambda folder: scripts.extend(one for one in self.commands if verifier.prolong(folder, one, judges)),
        )  # fmt: skip
        return [result.exit_code == _REACHED for result in found if result.command in {*inline, *scripts}]

    def reacts(self, commands: Sequence[str]) -> bool:
        """Whether checks fail on the work when a test is planted that must fail."""
        planted: list[str] = []
        found = self.tried("provoked", commands, lambda folder: planted.append(self.plant(folder, alone=False)))
        deaf = any(result.exit_code == 0 and result.cause != "contradicted" for result in found)
        return not (planted[0] and deaf)

    def able(self) -> tuple[str, ...]:
        """Return the checks that notice a planted test on the base, where no agent has had a hand in it."""
        known, sealed = self.known.reacting, self.sight.sealed
        unknown = [command for command in self.commands if (command, sealed) not in known]
        if unknown:
            planted: list[str] = []
            edit: Callable[[str], object] = lambda folder: planted.append(self.plant(folder, alone=True))  # noqa: E731
            for result in self.tried("provoked-base", unknown, edit, commit=self.base):
                said = bool(planted[0]) and planted[0] in result.output.head + result.output.tail
                known[result.command, sealed] = said and result.exit_code != 0
        return tuple(command for command in self.commands if known[command, sealed])

    def plant(self, folder: str, *, alone: bool) -> str:
        return self.bench.verifier.plant(folder, self.sight.sealed, alone=alone)

    def tried(
        self, name: str, commands: Sequence[str], edit: Callable[[str], object] = lambda _: None, *,
        unmarked: bool = False, commit: str = "",
    ) -> tuple[CheckResult, ...]:  # fmt: skip
        if not commands:
            return ()
        where = commit or self.snapshot.commit
        found = self.bench.tried(f"{self.label}-{name}", where, commands, self.stop, edit=edit, unmarked=unmarked)
        if found is None:
            raise StoppedError
        return found


_KINDS = ("knows", "asks", "patches", "equals", "reaches", "ends")
_REACHED = 97


def _says(paths: Sequence[str], why: str) -> tuple[str, ...]:
    return tuple(f"{path} ({why})" for path in paths)
