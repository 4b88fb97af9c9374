"""Collects what governance needs for a change: its impact result, and its scenarios run on its commit."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from santiago.app.trying import bench
from santiago.board.governance import benches, consent, impact, ranges, running, scenarios
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.ports.judge import SetUpFailedError
from santiago.contract.reasons import Reason
from santiago.process.server import ProcessServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from santiago.board.governance.summary import Ended, Result
    from santiago.board.root import Place
    from santiago.contract.policy import RunInput


def collect(
    place: Place, ticket: str, base: str, head: str, run_input: RunInput, allow: Callable[[list[str]], None],
    hear: Callable[[Result], None] = lambda _: None,
) -> Ended | None:  # fmt: skip
    """Write the impact result of a ticket's change, and run the scenarios that it concerns; None if none were run.

    `allow` is called with commands that nobody has approved yet, and raises if they may not run. `hear` is called after every
    command. Faults of the catalogue are left to the done gate.
    """
    found = impact.of_range(place.project, base, head, enforce=True)
    impact.keep(place.root, ticket, found)
    with ranges.governance_at(place.project, head) as files:
        catalogue = scenarios.read(files)
    concerned = found.impacted["scenarios"]
    if catalogue.faults or not concerned:
        return None
    request = running.Request(ticket=ticket, concerned=concerned)
    nodes = running.selected(catalogue.scenarios, request)
    commands = approved(place.project, [catalogue.scenarios[name] for name in running.scenarios_of(nodes)], allow)
    server = ProcessServer()
    try:
        with checked_out(run_input, server, ranges.commit_of(place.project, head), commands) as ready:
            return running.run(ready, place, catalogue.scenarios, request, hear)
    finally:
        server.close()


def approved(project: Path, meant: Sequence[scenarios.Scenario], allow: Callable[[list[str]], None]) -> tuple[str, ...]:
    """Return the commands of scenarios. Commands that nobody has approved need a person's approval, once for each change."""
    waiting = consent.unapproved(project, meant)
    if waiting:
        allow(list(dict.fromkeys(line for one in waiting for line in one.commands)))
        consent.approve(project, waiting)
    return tuple(dict.fromkeys(line for one in meant for line in one.commands))


@contextmanager
def checked_out(
    run_input: RunInput, server: ProcessServer, commit: str, commands: Sequence[str]
) -> Iterator[benches.Bench]:
    """Lend a checkout of a commit for these commands, and remove it afterwards; raise if its set-up fails."""
    try:
        with bench(run_input, server) as place, place.checkout(commit, commands) as ready:
            execute = benches.runner_in(ready.runner, ready.folder)
            yield benches.Bench(commit=commit, execute=execute, is_clean=lambda: not ready.touched())
    except SetUpFailedError as error:
        hint = "Mend [workspace] setup in santiago.toml; `santiago doctor --checks` tries it."
        raise SantiagoError(Kind.BLOCKED, str(error), hint=hint, reason=Reason.VERIFICATION_UNRUNNABLE) from None
