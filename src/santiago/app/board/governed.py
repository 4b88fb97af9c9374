"""Collects what governance asks of a ticket whose work passed, so that the done gate can let it through by itself."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from santiago.app.board.ticket_context import Renewal
from santiago.app.board.ticket_evidence import began_on
from santiago.app.trying import bench
from santiago.artifacts.trust import Trust
from santiago.board.governance import impact, ranges, scenario_run, scenarios
from santiago.board.governance.truth_validation import is_on
from santiago.board.rules import Change, joined, split_links
from santiago.contract import codec
from santiago.contract.board import BoardEvent
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.ports.judge import SetUpFailedError
from santiago.contract.reasons import Reason
from santiago.process.server import ProcessServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from santiago.app.board.ticket_context import TicketContext
    from santiago.board.board_handle import BoardHandle
    from santiago.board.board_place import Place
    from santiago.board.board_store import Reading
    from santiago.board.governance.scenario_results import Ended, Result
    from santiago.board.governance.scenarios import Scenario
    from santiago.contract.board import Card
    from santiago.contract.policy import RunInput


def collect_evidence(
    context: TicketContext, card: Card, base: str | None, head: str | None, run_input: RunInput
) -> None:
    """Write the ticket's impact result, and run the scenarios that its change concerns.

    Where they cannot run, the ticket goes on without them, and the done gate says what is missing.
    """
    place = context.opened.place
    if not is_on(place.project) or not base or not head:
        return
    renewal = Renewal(context.opened.board, [card])
    context.opened.store.close()  # commands are started by a fork, and the store must be closed then
    try:
        ended = run_scenarios(
            place, card.id, base, head, run_input, context.consents.commands, lambda _: renewal.beat()
        )
    except SantiagoError as error:
        if error.kind is Kind.TRANSIENT:
            raise
        context.consents.tell(f"{card.id}: its scenarios were not run: {error.message}")
        return
    if ended is not None:
        record_scenarios(context.opened, card.id, ended, base)


def record_scenarios(opened: BoardHandle, ticket: str, ended: Ended, base: str = "") -> bool:
    """Record a run of scenarios as evidence of its ticket, and return whether it may open the done gate.

    `base` is the commit that the work began on, where the caller knows it.
    """
    place, data = opened.place, ended.summary
    assert ended.file is not None
    link, passed = place.named(ended.file), ended.status == "PASS" and data["clean"]
    card = opened.card(ticket)
    if card is not None and not card.story:
        base = base or began_on(opened, card)
    about = {
        "digest": ended.digest, "status": ended.status, "path": link, "commit": data["commit"] or "", "base": base,
        "passed": passed, "folder": data["evidence_dir"],
    }  # fmt: skip
    with opened.board.transaction() as at:
        card = at.card(ticket)
        if card is None or card.queue == "done" or not passed:
            attempt = card.attempt_count if card else 0
            at.record(ticket, BoardEvent.SCENARIOS_RUN, "santiago", attempt=attempt, about=about)
            return False
        changes = {"evidence_links": joined([*split_links(card.evidence_links), link])}
        at.change(card, Change(event=BoardEvent.SCENARIOS_RUN, changes=changes, about=about), "santiago")
    return True


def recorded_scenarios(at: Reading, ticket: str) -> frozenset[str]:
    """Return the digests of the scenario runs that the board recorded for a ticket."""
    events = at.events(ticket=ticket)
    return frozenset(str(one.about["digest"]) for one in events if one.event is BoardEvent.SCENARIOS_RUN)


def run_scenarios(
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
    request = scenario_run.Request(ticket=ticket, concerned=concerned)
    nodes = scenario_run.selected(catalogue.scenarios, request)
    commands = approved(place.project, [catalogue.scenarios[name] for name in scenario_run.scenarios_of(nodes)], allow)
    server = ProcessServer()
    try:
        with checked_out(run_input, server, ranges.commit_of(place.project, head), commands) as ready:
            return scenario_run.run(ready, place, catalogue.scenarios, request, hear)
    finally:
        server.close()


def approved(project: Path, meant: Sequence[Scenario], allow: Callable[[list[str]], None]) -> tuple[str, ...]:
    """Return the commands of scenarios. Commands that nobody has approved need a person's approval, once for each change.

    An approval is the digest of all commands of a scenario, and is kept outside the repository.
    """
    trust = Trust(project, "scenarios")
    digests = {one.id: codec.digest(list(one.commands)) for one in meant}
    waiting = [one for one in meant if not trust.has(digests[one.id])]
    if waiting:
        allow(list(dict.fromkeys(line for one in waiting for line in one.commands)))
        for one in waiting:
            trust.add(digests[one.id], {"scenario": one.id, "commands": list(one.commands)})
    return tuple(dict.fromkeys(line for one in meant for line in one.commands))


@contextmanager
def checked_out(
    run_input: RunInput, server: ProcessServer, commit: str, commands: Sequence[str]
) -> Iterator[scenario_run.Bench]:
    """Lend a checkout of a commit for these commands, and remove it afterwards; raise if its set-up fails."""
    try:
        with bench(run_input, server) as place, place.checkout(commit, commands) as ready:
            execute = scenario_run.runner_in(ready.runner, ready.folder)
            yield scenario_run.Bench(commit=commit, execute=execute, is_clean=lambda: not ready.touched())
    except SetUpFailedError as error:
        hint = "Mend [workspace] setup in santiago.toml; `santiago doctor --checks` tries it."
        raise SantiagoError(Kind.BLOCKED, str(error), hint=hint, reason=Reason.VERIFICATION_UNRUNNABLE) from None
