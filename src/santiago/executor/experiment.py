"""One attempt's work under trial: where its checks run again after an edit of a checkout, and what is known of bases."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from santiago.contract.outcomes import CheckResult
    from santiago.contract.ports.run import Stop
    from santiago.contract.ports.workspace import Snapshot
    from santiago.executor.trials import Sight, Trials

Check = tuple[str, tuple[str, ...]]
"""A command, with the tests that were sealed."""


class StoppedError(Exception):
    """Santiago is asked to stop before there is a verdict."""


@dataclass(slots=True)
class Known:
    """How checks react on bases, where no agent had a hand in it: tried once, and remembered for all stories."""

    reacting: dict[Check, bool] = field(default_factory=dict)
    """Whether they notice a planted test."""
    spoiled: dict[Check, frozenset[str]] = field(default_factory=dict)
    """The tests that fail when all are made to fail."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """What a trial of one attempt's work needs."""

    known: Known
    bench: Trials
    label: str
    sight: Sight
    base: str
    snapshot: Snapshot
    commands: tuple[str, ...]
    stop: Stop

    def tried(
        self, name: str, commands: Sequence[str], edit: Callable[[str], object], *, unmarked: bool = False, commit: str = ""
    ) -> tuple[CheckResult, ...]:  # fmt: skip
        """Return what these commands show after an edit of a checkout of the work, or of another commit."""

        def edited(folder: str) -> Sequence[str]:
            edit(folder)
            return commands

        return self.run(name, edited, unmarked=unmarked, commit=commit) if commands else ()

    def run(
        self, name: str, edit: Callable[[str], Sequence[str]], *, unmarked: bool = False, commit: str = ""
    ) -> tuple[CheckResult, ...]:  # fmt: skip
        """The same where the edit says which commands there are to run; with `unmarked` nothing tells that santiago runs them."""
        told = None if unmarked else self.sight.told
        found = self.bench.tried(f"{self.label}-{name}", commit or self.snapshot.commit, edit, self.stop, told=told)
        if found is None:
            raise StoppedError
        return found
