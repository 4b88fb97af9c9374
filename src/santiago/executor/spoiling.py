"""Doubtful work is provoked by tests that are made to fail at their ends: each of them must show, as it does on the base."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.executor.provoking import Provocation


def spoils(one: Provocation) -> bool:
    """Whether all tests that fail on the base when they are made to fail at their ends do so on the work as well."""
    verifier, sealed = one.bench.verifier, one.sight.sealed
    counts = {command: _count(one, command) for command in one.commands}
    then = _on_base(one, [command for command in one.commands if not counts[command]])
    asked = [command for command in one.commands if counts[command] or then[command]]

    def edit(folder: str) -> Sequence[str]:
        return asked if verifier.spoil(folder, sealed) else ()

    shown = one.run("spoiled", edit) if asked else ()
    now = {result.command: verifier.failing(result) for result in shown if result.exit_code != 0}
    # Where as many fail as there are, the base could show no more.
    fewer = [command for command in asked if not counts[command] or len(now.get(command, ())) < counts[command]]
    then = _on_base(one, fewer)
    return not any(
        then[command] - found and len(found) < len(then[command])
        for command in fewer
        for found in [now.get(command, frozenset())]
    )


def _count(one: Provocation, command: str) -> int:
    """Return how many tests a check ran on the work as it is; 0 where nobody counted."""
    shown = one.bench.memory.known(one.snapshot.tree, command, one.sight.told.get("SANTIAGO_STORY", ""))
    return (shown.checks or 0) if shown is not None else 0


def _on_base(one: Provocation, commands: Sequence[str]) -> dict[str, frozenset[str]]:
    """Return the tests that each check names as failing on the base when all are made to fail."""
    verifier, sealed, known = one.bench.verifier, one.sight.sealed, one.known.spoiled
    unknown = [command for command in commands if (command, sealed) not in known]

    def edit(folder: str) -> Sequence[str]:
        return unknown if verifier.spoil(folder, sealed) else ()

    shown = one.run("spoiled-base", edit, commit=one.base) if unknown else ()
    known.update({(command, sealed): frozenset() for command in unknown})
    known.update({(result.command, sealed): verifier.failing(result) for result in shown})
    return {command: known[command, sealed] for command in commands}
