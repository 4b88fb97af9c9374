"""Before doubtful work is believed, its checks are provoked: with a test planted that must fail, they have to fail.

This catches work that ends the runner, replaces it or speaks for it, however it does so. It costs two short runs of the
checks, and only where the work could reach its judge at all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from santiago.contract.outcomes import CheckResult
    from santiago.contract.ports import Snapshot, Stop, Verifier

_AROUND = "programs or start files outside the worktree"


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
        self,
        name: str,
        commit: str,
        commands: Sequence[str],
        stop: Stop,
        *,
        edit: Callable[[str], object],
        unmarked: bool,
    ) -> tuple[CheckResult, ...] | None: ...


@dataclass(slots=True)
class Provoker:
    """Knows which checks react to a planted test, and tries doubtful work with one."""

    reacting: dict[tuple[str, tuple[str, ...]], bool] = field(default_factory=dict)

    def subverted(
        self,
        bench: Trying,
        label: str,
        sight: Sight,
        base: str,
        snapshot: Snapshot,
        commands: Sequence[str],
        stop: Stop,
    ) -> tuple[str, ...] | None:
        """Return what took the verdict out of the checks' hands, in words; None where it was stopped."""
        doubts = bench.verifier.doubts(snapshot.patch)
        moved = sight.surroundings != bench.verifier.surroundings(commands)
        if not doubts and not moved:
            return ()
        suspects = [doubt.path for doubt in doubts] or [_AROUND]
        if any(doubt.asks for doubt in doubts):
            alone = bench.tried(f"{label}-alone", snapshot.commit, commands, stop, edit=lambda _: None, unmarked=True)
            if alone is None:
                return None
            if any(result.exit_code != 0 for result in alone):
                return tuple(f"{path} (passes only while santiago looks)" for path in suspects)
        able = self._able(bench, label, sight, base, commands, stop)
        if able is None:
            return None
        if not able:
            # What was changed around the checks may be what keeps them from reacting.
            around = (f"{_AROUND} (changed while the agent ran)",) if moved else ()
            return tuple(f"{doubt.path} (reaches for the test runner)" for doubt in doubts if doubt.strong) or around
        found, token = _provoked(bench, f"{label}-provoked", snapshot.commit, able, sight, stop, alone=False)
        if found is None:
            return None
        deaf = token and any(result.exit_code == 0 and result.cause != "contradicted" for result in found)
        return tuple(f"{path} (with it, a test that must fail passes)" for path in suspects) if deaf else ()

    def _able(
        self, bench: Trying, label: str, sight: Sight, base: str, commands: Sequence[str], stop: Stop
    ) -> tuple[str, ...] | None:
        """Return the checks that notice a planted test on the base, where no agent has had a hand in it."""
        unknown = [command for command in commands if (command, sight.sealed) not in self.reacting]
        if unknown:
            found, token = _provoked(bench, f"{label}-provoked-base", base, unknown, sight, stop, alone=True)
            if found is None:
                return None
            for result in found:
                said = bool(token) and token in result.output.head + result.output.tail
                self.reacting[result.command, sight.sealed] = said and result.exit_code != 0
        return tuple(command for command in commands if self.reacting[command, sight.sealed])


def _provoked(
    bench: Trying, name: str, commit: str, commands: Sequence[str], sight: Sight, stop: Stop, *, alone: bool
) -> tuple[tuple[CheckResult, ...] | None, str]:
    """Return what checks show with a failing test among the others, or alone in their place, and that test's name."""
    tokens: list[str] = []

    def plant(folder: str) -> None:
        tokens.append(bench.verifier.plant(folder, sight.sealed, alone=alone))

    found = bench.tried(name, commit, commands, stop, edit=plant, unmarked=False)
    return found, tokens[0]
