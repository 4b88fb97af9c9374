"""Work is provoked by tests that are made to fail: each of them must show, as it does on the base.

Doubtful work by tests that fail at their ends; any work that tests in C include, or that holds examples, by such that begin so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.executor.experiment import Experiment


def spoils(one: Experiment) -> bool:
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


def silences(one: Experiment) -> bool:
    """Whether an assertion or an example that must fail is heard on the base, and on the work no longer."""
    names, now, failed = _voiced(one)
    if now is None or not names - now or (failed and not now):
        return False  # what fails without a word says nothing about who took the word away
    _, then, _ = _voiced(one, one.base)
    return then is not None and bool(names & then - now) and len(now) < len(then)


def _voiced(one: Experiment, commit: str = "") -> tuple[frozenset[str], frozenset[str] | None, bool]:
    """Return the names of all that must fail, those that the checks say, and whether a check failed."""
    verifier, changed = one.bench.verifier, [change.path for change in one.snapshot.changes]
    planted: list[tuple[str, frozenset[str]]] = []

    def edit(folder: str) -> Sequence[str]:
        planted.append(verifier.voice(folder, one.sight.files, changed, one.commands))
        return one.commands if planted[0][1] else ()

    shown = one.run("voiced-base" if commit else "voiced", edit, commit=commit)
    heard = [verifier.heard(planted[0][0], result) for result in shown]
    known = [names for names in heard if names is not None]
    said = frozenset[str]().union(*known) if len(known) == len(heard) else None
    return planted[0][1], said, any(result.exit_code != 0 for result in shown)


def _count(one: Experiment, command: str) -> int:
    """Return how many tests a check ran on the work as it is; 0 where nobody counted."""
    shown = one.bench.memory.known(one.snapshot.tree, command, one.sight.told.get("SANTIAGO_STORY", ""))
    return (shown.checks or 0) if shown is not None else 0


def _on_base(one: Experiment, commands: Sequence[str]) -> dict[str, frozenset[str]]:
    """Return the tests that each check names as failing on the base when all are made to fail."""
    verifier, sealed, known = one.bench.verifier, one.sight.sealed, one.known.spoiled
    unknown = [command for command in commands if (command, sealed) not in known]

    def edit(folder: str) -> Sequence[str]:
        return unknown if verifier.spoil(folder, sealed) else ()

    shown = one.run("spoiled-base", edit, commit=one.base) if unknown else ()
    known.update({(command, sealed): frozenset() for command in unknown})
    known.update({(result.command, sealed): verifier.failing(result) for result in shown})
    return {command: known[command, sealed] for command in commands}
