"""Routes a request: compiles its document, makes its run, and puts its stories onto the board as tickets."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.app.board.backlog import open_plans
from santiago.app.board.settling import hindered
from santiago.app.board.ticket_context import PLANNER, board_settings, run_state
from santiago.app.compiling import asked_for, read_document
from santiago.app.config import run_input_defaults, values_of
from santiago.app.loading import frozen
from santiago.app.planning.begin import Wanted, begin
from santiago.app.planning.go_on import go_on
from santiago.app.planning.planning_sessions import load_session
from santiago.app.planning.session_word import say_on_plan
from santiago.app.shortage import too_short
from santiago.app.start.agents import named
from santiago.app.start.compose import execute
from santiago.app.start.request import prepare
from santiago.app.start.risky_settings import note_basis
from santiago.app.start.start_options import StartOptions
from santiago.artifacts import run_locations
from santiago.artifacts.files import write_whole
from santiago.artifacts.names import has_begun
from santiago.board.board_commands import add, found
from santiago.board.rules import Change, new_card
from santiago.contract.board import TODO, BoardEvent, Card
from santiago.contract.counting import count
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.ids import first_free, run_id_from
from santiago.contract.reasons import ExitCode, Reason
from santiago.executor.schedule import followed
from santiago.executor.scope import Scope
from santiago.util.inside import is_inside
from santiago.workspace import refs
from santiago.workspace.ancestry import independent, is_ancestor, resolve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.app.board.ticket_context import Consents
    from santiago.app.start.request import Request
    from santiago.board.board_handle import BoardHandle
    from santiago.contract.board import Card
    from santiago.contract.plan import Plan
    from santiago.contract.policy import RunInput

_NO_AGENT = (
    "Install one or sign in to it (`santiago doctor` says how), or name any program with developer under [board] in "
    "santiago.toml. People need none: `santiago queue add --queue developer-todo` makes a ticket for them."
)
_NO_CHECK = (
    "Name a command that tests the work: `Verification:` in the document, or story_commands under [verification] in "
    "santiago.toml."
)
MOST = 20
"""How many finished requests are looked at, the last first."""


def route(opened: BoardHandle, card: Card, consents: Consents, agent: str | None = None) -> Card:
    """Make a request's run and its tickets. If that fails, block the request with the reason."""
    try:
        return routed(opened, card, consents, agent=agent)
    except SantiagoError as error:
        if error.reason is Reason.AGENT_NOT_SIGNED_IN:
            error.message = f"its work needs an agent: {error.message}"
            error.hint = _NO_AGENT
        elif error.reason is Reason.NOTHING_VERIFIED:
            error.hint = _NO_CHECK
        return block(opened, card, error)


def routed(
    opened: BoardHandle, card: Card, consents: Consents, begins_on: str | None = None, agent: str | None = None
) -> Card:
    """Make a request's run and its tickets. After a crash, doing it again completes the rest.

    `begins_on` is given where a person does the work. It is the commit to begin on, and no agent is needed. `agent` goes
    before the settings.
    """
    run_id = card.run or _free_run_id(opened, card)
    out_dir = opened.place.project / run_locations.RUNS / run_id
    if not has_begun(out_dir):
        plan, document = plan_of(opened, card, agent)
        if not (plan.certain or run_input_defaults(opened.place.project).policy.units):
            consents.units(plan)
        if not card.run:
            _note_route(opened, card, {"run": run_id})  # before the run is made, so that a crash never makes two
        settings = _settings(opened, card, plan, document, run_id, agent)
        _make_run(opened, settings, plan, out_dir, consents, begins_on)
    plan, run_input = frozen(out_dir)
    if card.queue in TODO.values():
        # Somebody added it to a worker's queue by hand, and it is the only story of its run.
        return _note_route(opened, card, {"run": run_id, "story": plan.stories[0].id})
    return _with_tickets(opened, card, plan, run_input, run_id)


def plan_of(opened: BoardHandle, card: Card, agent: str | None = None) -> tuple[Plan, str]:
    """Return the plan of a request, and the name of its document."""
    path = document_of(opened, card, agent)
    name = run_locations.name_inside(path, opened.place.project)
    compiled = read_document(path, name).compiled(asked_for(run_input_defaults(opened.place.project)))
    if compiled.plan is None:
        errors = [one for one in compiled.findings if one.level == "error"]
        said = "; ".join(f"line {one.line}: {one.message}" if one.line else one.message for one in errors[:5])
        message, hint = f"{name} gives no plan: {said or 'no story was found'}", f"`santiago plan {name}` says more."
        raise SantiagoError(Kind.INPUT, message, hint=hint, reason=Reason.PLAN_GENERATION_FAILED)
    return compiled.plan, name


def document_of(opened: BoardHandle, card: Card, agent: str | None = None) -> Path:
    """Return the document of a request.

    Without one, the planning agent writes it, or else `agent`. If there is none, raise so that a person decides.
    """
    if card.queue in TODO.values():
        return _own_document(opened, card)
    kind, _, rest = card.source.partition(":")
    if kind == "plan":
        plans = [path for name, path, _ in open_plans(opened.place.plans) if name == rest]
        if len(plans) == 1:
            return plans[0]
        raise _needs_person(f"there is no plan {rest} with an open box below {opened.place.named(opened.place.plans)}")
    path = opened.place.project / rest
    if kind == "doc" and rest and is_inside(path, opened.place.project) and path.is_file():
        return path
    if kind == "doc":
        raise _needs_person(f"there is no document {rest[:200]} in the project")
    if (planner := board_settings(opened.place.project).planner or agent) is None:
        raise _needs_person("no document describes this request, and no planning agent is set")
    return planned_by(opened, card, planner)


def _own_document(opened: BoardHandle, card: Card) -> Path:
    """Return the document of a ticket that was added to a worker's queue by hand.

    Its title and its note are all that the document says.
    """
    path = opened.place.root / "requests" / f"{card.id}.md"
    if not path.is_file():
        title, note = " ".join(card.title.split()), card.note.strip()
        role = "Role: scientist\n" if card.role == "scientist" else ""
        text = f"# {title}\n\n## User stories\n\n### US-1: {title}\n\n{role}\n{note}\n"
        write_whole(path, text.encode())
    return path


def _needs_person(message: str) -> SantiagoError:
    hint = (
        "Name a document with `--source doc:PATH` when you put it back, or set planner under [board] in santiago.toml."
    )
    return SantiagoError(Kind.BLOCKED, message, hint=hint, reason=Reason.NEEDS_USER_CONFIRMATION)


def block(opened: BoardHandle, card: Card, error: SantiagoError) -> Card:
    """Move a request to blocked, with the reason. If a person must decide, the note begins with SIGNAL."""
    if error.exit_code == ExitCode.TRANSIENT:
        raise error  # the disk or another process failed; the ticket is not to blame
    wish = hindered(error, card, card.queue, asks=error.exit_code == ExitCode.BLOCKED)
    return opened.board.move(card.id, card.queue, wish, PLANNER)


def _free_run_id(opened: BoardHandle, card: Card) -> str:
    """Return an id for a request's run that no other run has."""
    used = refs.used_in(opened.place.project)  # branches outlive the folders of their runs
    runs = opened.place.project / run_locations.RUNS
    return first_free(run_id_from(card.id), lambda name: name in used or (runs / name).exists())


def _note_route(opened: BoardHandle, card: Card, changes: dict[str, str]) -> Card:
    with opened.board.transaction() as at:
        change = Change(event=BoardEvent.TICKET_ROUTED, changes=changes, about={})
        return at.change(found(at, card.id), change, PLANNER)


def _make_run(
    opened: BoardHandle, settings: RunInput, plan: Plan, out_dir: Path, consents: Consents, begins_on: str | None
) -> None:
    project = opened.place.project
    run_locations.keep_out_of_git(project / ".santiago")
    note_basis(project, out_dir.name, consents.tell)
    request = prepare(out_dir, settings, plan, StartOptions(actor=PLANNER), base=project, compiled=True)
    request.only_creates, request.begins_on = True, begins_on or base_commit(opened)
    request.settings = values_of(run_input_defaults(project))
    for text in too_short(len(plan.stories), settings.limits, settings.policy.jobs):
        consents.tell(text)
    if begins_on:
        request.scope = Scope(claims={})
    set_consents(request, consents)
    opened.store.close()  # the start forks, and the store must be closed then
    execute(request)


def set_consents(request: Request, consents: Consents) -> None:
    request.consent, request.consent_unfenced = consents.commands, consents.unfenced
    request.confirm_units = lambda _: None  # they were asked about when the request was routed


def _settings(opened: BoardHandle, card: Card, plan: Plan, document: str, run_id: str, agent: str | None) -> RunInput:
    """Return the settings of a routed run. The planner accepts each result, and a ticket's budget limits its story."""
    project = opened.place.project
    found, budget = run_input_defaults(project), card.retry_budget
    most = max(found.limits.run_max_attempts, budget * len(plan.stories))
    limits = replace(found.limits, story_max_attempts=budget, run_max_attempts=most)
    policy = replace(found.policy, gate="auto", gates=("result",), exhausted="blocked", keep_going=True, tests_first="")
    developer = named(found.agent, agent or board_settings(project).developer, None, None)
    commands = dict.fromkeys((*found.verification.story_commands, *card.checks))
    verification = replace(found.verification, story_commands=tuple(commands)) if card.checks else found.verification
    return replace(
        found, run_id=run_id, repo_path=str(project), prd_path=document,
        limits=limits, policy=policy, agent=developer, verification=verification,
    )  # fmt: skip


def _with_tickets(opened: BoardHandle, card: Card, plan: Plan, run_input: RunInput, run_id: str) -> Card:
    """Put the stories onto the board as tickets. The request waits for all of them."""
    behind, before = followed(plan, optimistic=run_input.policy.optimistic), _chunks_before(plan)
    with opened.board.transaction() as at:
        request = found(at, card.id)
        for story in plan.stories:
            name = f"{card.id}.{story.id}"
            if (there := at.card(name)) is not None and there.request == card.id:
                continue  # an earlier routing added it and then died
            waits = dict.fromkeys((*story.depends_on, *before[story.id]))
            follows = [other for other in behind.get(story.id, ()) if other not in waits]
            ticket = new_card(
                TODO[story.role], name, story.title,
                source=card.source if card.source.startswith("plan:") else f"plan:{run_id}",
                phase="planned" if waits or follows else "ready", retry_budget=card.retry_budget,
                next_action=f"profile={story.profile}" if story.profile else "TBD",
                request=card.id, run=run_id, story=story.id,
            )  # fmt: skip
            tickets = [[f"{card.id}.{other}" for other in others] for others in (waits, follows)]
            add(at, ticket, PLANNER, *tickets)
        why = {"why": f"{count(len(plan.stories), 'story', 'stories')} of {plan.source.path}", "run": run_id}
        changes = {"phase": "running", "lease": "none", "expires": None, "run": run_id}
        return at.change(request, Change(event=BoardEvent.TICKET_ROUTED, changes=changes, about=why), PLANNER)


def _chunks_before(plan: Plan) -> dict[str, Sequence[str]]:
    """Return for each story the stories of the chunk before its own, which must be done first."""
    before: Sequence[str] = ()
    found: dict[str, Sequence[str]] = {}
    for chunk in plan.chunks:
        found |= dict.fromkeys(chunk.stories, before)
        before = chunk.stories
    return found


def planned_by(opened: BoardHandle, card: Card, agent: str) -> Path:
    """Return the document for a request. The planning agent is asked only once."""
    path = opened.place.root / "requests" / f"{card.id}.md"
    if path.is_file():
        return path
    subject = f"{card.title}\n\n{card.note}".strip()
    wanted = Wanted(subject=subject, agents=(agent,), artifact="document", output=opened.place.named(path))
    opened.store.close()  # agents are started by a fork, and the store must be closed then
    folder = begin(wanted, PLANNER, dict(os.environ))
    go_on(folder, PLANNER)
    session = load_session(folder)
    if session.state.review is None:
        hint = f"`santiago review {folder.name}` shows what it wrote."
        message = f"the planning agent {agent} wrote no usable document"
        raise SantiagoError(Kind.BLOCKED, message, hint=hint, reason=Reason.NEEDS_USER_CONFIRMATION)
    path.parent.mkdir(parents=True, exist_ok=True)
    say_on_plan(session, "approve", "", PLANNER, moved=True)
    go_on(folder, PLANNER)
    return path


def base_commit(opened: BoardHandle) -> str | None:
    """Return the commit that a new request builds on; None for HEAD.

    A request that waits for nothing but a person's word counts as finished. It may be accepted long after others that
    were built on it, so a branch that another one contains does not count.
    """
    project = opened.place.project
    done = [card for card in opened.cards("done") if card.run and not card.request]
    done.sort(key=lambda one: (one.archived_at, one.arrival))
    open_ones = [card for card in opened.cards("planner-inbox", "blocked") if card.run and not card.request]
    states = [(card, run_state(opened, card.run)) for card in open_ones if not card.decided]
    waiting = [card for card, state in states if state is not None and state.reason is Reason.UNPROVEN]
    found = [resolve(project, f"refs/heads/santiago/{card.run}") for card in (*done[-MOST:], *waiting)]
    heads = independent(project, [head for head in found if head is not None])
    return None if not heads or is_ancestor(project, heads[-1], "HEAD") else heads[-1]
