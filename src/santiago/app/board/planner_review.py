"""The planner's review: a ticket that passes the done gate is archived, any other goes back with what is missing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from santiago.app import requests
from santiago.app.board import governed, settling, ticket_evidence
from santiago.app.board.backlog import left_open
from santiago.app.board.ticket_context import PLANNER, planners_of, run_state
from santiago.app.board.working import only_loop, start
from santiago.app.loading import load
from santiago.artifacts.files import read_bytes, write_whole
from santiago.artifacts.inbox import Inbox
from santiago.artifacts.names import PLAN
from santiago.artifacts.registry import says_success
from santiago.board import done_gate
from santiago.board.governance import governance_gate as governance
from santiago.board.rules import Move
from santiago.contract.board import TODO
from santiago.contract.box_ticks import tick
from santiago.contract.checks import all_commands_of
from santiago.contract.errors import SantiagoError
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.contract.reasons import Reason
from santiago.contract.record import record
from santiago.executor.decide import next_to_retire
from santiago.workspace.ancestry import is_ancestor, resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from santiago.app.board.ticket_context import TicketContext
    from santiago.app.loading import Run
    from santiago.board.done_gate import Missing
    from santiago.contract.board import Card

TEST_CONTRACT = "test contract"
"""Governance uses these words for faults that stop the loop, since only planning anew helps."""


@record
class Reviewed:
    """The result of one review of everything that waits for the planner."""

    done: tuple[str, ...] = ()
    sent_back: tuple[str, ...] = ()
    broken_contract: tuple[str, ...] = ()
    unproven: tuple[str, ...] = ()
    """Tickets whose work came onto the branch, and that wait for a person's word."""


def review_all(context: TicketContext) -> Reviewed:
    """Review every ticket that waits for the planner, then every request whose tickets are done."""
    found = _review_tickets(context, context.opened.cards("planner-review"))
    for card in context.opened.cards("planner-inbox"):
        if card.run and card.status == "in_progress":
            found = _merged(found, _review_request(context, card))
    return found


def take_answers(context: TicketContext) -> list[Card]:
    """Move tickets with unproven work to where people's answers send them: to review once it is done, else to work."""
    moved = []
    for card in (one for one in context.opened.cards("blocked") if one.is_unproven):
        state = run_state(context.opened, card.run)
        if state is not None and (wish := settling.after_answer(card, state)):
            moved.append(context.opened.board.take_answer(card.id, wish, PLANNER))
    return moved


def record_accepted(context: TicketContext) -> tuple[str, ...]:
    """Take the tickets to done whose unproven work a person has accepted, and the requests that are finished by that.

    Where a loop works on the board, it does that.
    """
    try:
        with only_loop(context.opened.place):
            taken = [card for card in take_answers(context) if card.queue == "planner-review"]
            found = _review_tickets(context, taken)
            for card in context.opened.cards("planner-inbox"):
                if any(card.id == one.request for one in taken) and says_success(context.out_dir(card)):
                    found = _merged(found, _review_request(context, card))
    except SantiagoError as error:
        if error.reason is not Reason.LOCK_HELD:
            raise
        return ()
    return found.done


def _review_tickets(context: TicketContext, cards: Sequence[Card]) -> Reviewed:
    found = Reviewed()
    passing: dict[str, list[Card]] = {}
    for card in cards:
        looked = _review(context, card)
        if looked is None:
            passing.setdefault(card.run, []).append(card)
        else:
            found = _merged(found, looked)
    for group in passing.values():
        found = _merged(found, _reviewed(accept(context, group, PLANNER)))
    return found


def _merged(one: Reviewed, other: Reviewed) -> Reviewed:
    return Reviewed(
        done=one.done + other.done,
        sent_back=one.sent_back + other.sent_back,
        broken_contract=one.broken_contract + other.broken_contract,
        unproven=one.unproven + other.unproven,
    )


def _reviewed(accepted: Sequence[Card]) -> Reviewed:
    done = tuple(card.id for card in accepted if card.queue == "done")
    return Reviewed(done=done, unproven=tuple(card.id for card in accepted if card.is_unproven))


def _review(context: TicketContext, card: Card) -> Reviewed | None:
    """Send a ticket back where something is missing, or leave it to a person. Return None where it can be accepted."""
    is_done = False
    if card.run and card.story:
        run = load(context.out_dir(card))
        is_done = run.state.stories[card.story].phase is StoryPhase.DONE
        if run.state.stories[card.story].is_unproven:  # the planner accepted it before, and a kill came
            return _reviewed([_await_word(context, card)])
        if wish := settling.after_answer(card, run.state):
            context.opened.board.move(card.id, card.queue, wish, PLANNER)
            return Reviewed(sent_back=(card.id,))
        if waits_for_a_person(run, card):
            return Reviewed()
        card = ticket_evidence.keep_attested(context.opened, card, run)
    lacking = all_missing(context, card, PLANNER)
    if not lacking:
        return None
    text = "\n".join(f"- {one.what}. {one.remedy}" for one in lacking)
    link = ticket_evidence.keep_critique(context.opened, card, f"# Sent back by the planner\n\n{text}\n")
    wish = Move(to=TODO[card.role], note=settling.shortened(text), evidence=link, error_class="soft_fail")
    if card.story and not is_done:
        _ask_for_change(context, card, text)
    elif card.run:  # no worker can help: the work is on the branch
        wish = replace(
            wish, to="blocked", error_class="hard_fail", next_action="settle what is missing, then move it back"
        )
    context.opened.board.move(card.id, card.queue, wish, PLANNER)
    broken = (card.id,) if any(TEST_CONTRACT in one.what for one in lacking) else ()
    return Reviewed(sent_back=(card.id,), broken_contract=broken)


def waits_for_a_person(run: Run, card: Card) -> bool:
    """Tell whether the work waits for a judgement that only a person can give, not a planner."""
    asked = settling.open_question(run.state, run.state.stories[card.story])
    return asked is not None and asked.kind in settling.JUDGED


def all_missing(context: TicketContext, card: Card, actor: str, *, in_person: bool = False) -> list[Missing]:
    """Return everything that keeps a ticket from done, for the done gate itself and for governance."""
    opened, planners = context.opened, planners_of(context.opened.place.project, in_person=in_person)
    is_integrated = _is_integrated(context, card)
    with opened.store.reading() as at:
        found = done_gate.missing(at, opened.place, card, actor, planners, is_integrated)
        recorded = governed.recorded_scenarios(at, card.id)
        known = [one for one in done_gate.recorded(at, card.id) if one.attempt == card.attempt_count]
    heads = [one.commit for one in known]
    change = governance.Change(
        ticket=card.id, base=next((one.base for one in reversed(known) if one.base), None),
        head=next(filter(is_integrated, reversed(heads)), heads[-1] if heads else None),
        evidence=tuple(opened.place.project / one.path for one in known), recorded_runs=recorded,
    )  # fmt: skip
    return [*found, *governance.missing(opened.place.project, opened.place.root, change)]


def _is_integrated(context: TicketContext, card: Card) -> Callable[[str], bool]:
    """Return a function that tells whether a commit is integrated, or would be once the planner accepts."""
    project = context.opened.place.project
    run = load(context.out_dir(card)) if card.run and (context.out_dir(card) / PLAN).is_file() else None
    if run is None or not (card.story or run.begun):  # `queue verify` may have refused it before its run began
        handed = ticket_evidence.handed_over_on(context.opened, card)
        return lambda commit: (
            (not handed or is_ancestor(project, handed, commit)) and is_ancestor(project, commit, "HEAD")
        )
    state = run.state
    if not card.story:
        return lambda commit: commit == state.head
    story = state.stories[card.story]
    good = story.phase in (StoryPhase.VERIFIED, StoryPhase.DONE)
    # Integration gives the story a new commit. The evidence is about the attempt's commit, so that one counts too.
    looked_at = resolve(project, f"refs/santiago/{card.run}/{card.story}/{ticket_evidence.attempt_of(story)}")
    return lambda commit: good and commit in (story.commit, looked_at)


def accept(context: TicketContext, cards: Sequence[Card], actor: str) -> list[Card]:
    """Accept work on tickets of one run: first it goes onto the run's branch, then the tickets are archived.

    Where earlier stories come first, the ticket stays in review. A second call goes on where the first one ended.
    Work that no test shows comes onto the branch too; its ticket then waits in blocked for a person's word.
    """
    held: list[Card] = []
    ready = [card for card in cards if not (card.run and card.story)]
    stories = [card for card in cards if card.run and card.story]
    if stories:
        _integrate(context, stories, actor)
        after = load(context.out_dir(stories[0])).state.stories
        ready += [card for card in stories if after[card.story].phase is StoryPhase.DONE]
        held = [_await_word(context, card) for card in stories if after[card.story].is_unproven]
    done = [context.opened.board.accept(card.id, actor, card.attempt_count, "the done gate is open") for card in ready]
    for card in done:
        _tick(context, card)
    return [*done, *held]


def _await_word(context: TicketContext, card: Card) -> Card:
    """Let a ticket with unproven work wait for a person's word. Whatever waits for its story goes on."""
    state = load(context.out_dir(card)).state
    if settling.open_question(state, state.stories[card.story]) is None:  # a kill came before it was asked
        state = start(context, card, {})
    question = settling.open_question(state, state.stories[card.story])
    assert question is not None
    return context.opened.board.move(card.id, card.queue, settling.awaits_word(card, question), PLANNER, frees=True)


def _integrate(context: TicketContext, cards: Sequence[Card], actor: str) -> None:
    """Tell the run that the planner accepts these stories, and have it integrate those whose turn it is."""
    run = load(context.out_dir(cards[0]))
    stories = [run.state.stories[card.story] for card in cards]
    for story in stories:
        if story.asked:
            _answer(run, story.asked, "validate", actor)
    due = next_to_retire(run.state, [one for one in run.state.stories.values() if one.is_improved])
    if any(story.asked for story in stories) or (due is not None and due in stories):
        start(context, cards[0], {})


def _ask_for_change(context: TicketContext, card: Card, text: str) -> None:
    run = load(context.out_dir(card))
    if asked := run.state.stories[card.story].asked:
        _answer(run, asked, "change", PLANNER, text[:2000])
        start(context, card, {})


def _answer(run: Run, question: str, word: str, actor: str, text: str = "") -> None:
    """Give the planner's answer to a run, unless there is one: after a crash, the first answer counts."""
    if Inbox(run.out_dir).answered(question) is None:
        requests.answer(run, question, word, actor, text=text)


def _tick(context: TicketContext, card: Card) -> None:
    """Tick the box of a finished story in its plan. Only plans below the runtime root belong to the board."""
    if not (card.story and card.source.startswith("plan:")):
        return
    run = load(context.out_dir(card))
    path = context.opened.place.project / run.run_input.prd_path
    if path.parent != context.opened.place.plans or not path.is_file():
        return
    line = next(story.origin.line for story in run.plan.stories if story.id == card.story)
    content = read_bytes(path, 2**24)
    if (ticked := tick(content, [line])) != content:
        write_whole(path, ticked)


def _has_no_checks(run: Run) -> bool:
    """Tell whether nothing is there to verify a run by: it has no checks, and its stories are accepted or left out."""
    stories = run.state.stories.values()
    return not all_commands_of(run.plan, run.run_input) and all(one.satisfied or one.skipped for one in stories)


def _review_request(context: TicketContext, card: Card) -> Reviewed:
    """Accept a request when all its tickets are done and its run passed its verification."""
    with context.opened.store.reading() as at:
        children = at.of_request(card.id)
    if not children or not all(one.queue == "done" or one.decided == "bypass" for one in children):
        return Reviewed()
    out_dir = context.out_dir(card)
    # If a crash came first, the start also writes the files that show how the run ended.
    if load(out_dir).state.phase is not RunPhase.SUCCESS or not says_success(out_dir):
        start(context, card, {})
    run = load(out_dir)
    passed = run.state.phase is RunPhase.SUCCESS or _has_no_checks(run)
    link = ticket_evidence.keep_of_run(context.opened, card, run, passed=passed)
    if not passed:
        note = f"{run.state.reason or run.state.phase}: the run of this request did not pass its own verification"
        wish = Move(
            to="blocked",
            note=note,
            evidence=link,
            error_class="hard_fail",
            next_action="mend the branch, then move it back",
        )
        context.opened.board.move(card.id, card.queue, wish, PLANNER)
        return Reviewed()
    governed.collect_evidence(context, card, run.state.base, run.state.head, run.run_input)
    note = left_open(context.opened, card)
    reviewed = context.opened.board.move(
        card.id, card.queue, Move(to="planner-review", phase="evidence_collected", evidence=link, note=note), PLANNER
    )
    looked = _review(context, reviewed)
    return looked or _reviewed(accept(context, [reviewed], PLANNER))
