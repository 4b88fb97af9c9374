"""The done gate: lists everything that is missing before a ticket may be called done, each with its remedy."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

from santiago.artifacts.files import read_bytes
from santiago.board.rules import split_links
from santiago.contract.board import BoardEvent
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.record import record
from santiago.util.inside import is_inside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from santiago.board.board_place import Place
    from santiago.board.board_store import Reading
    from santiago.contract.board import Card

LARGEST = 16 * 2**20
"""The largest file of evidence that is read, in bytes."""
_ADDRESS = ("http://", "https://")
_RECORDS = (BoardEvent.EVIDENCE_RECORDED, BoardEvent.SCENARIOS_RUN)


@record
class Missing:
    """One thing that is missing before a ticket is done."""

    what: str
    remedy: str
    kind: Kind = Kind.INPUT


@record
class Evidence:
    """What santiago recorded about one run of a ticket's checks."""

    path: str
    digest: str
    commit: str
    passed: bool
    attempt: int
    base: str = ""
    dry_run: bool = False
    folder: str = ""
    """The folder with the output of its commands, where it has one. Without that folder it shows nothing."""


def recorded(at: Reading, ticket: str) -> list[Evidence]:
    """Return the evidence that santiago itself recorded for a ticket, oldest first."""
    names = ("path", "digest", "commit", "passed", "base", "dry_run", "folder")
    found: list[Evidence] = []
    for one in at.events(ticket=ticket):
        if one.event in _RECORDS and "path" in one.about:  # scenario runs of earlier versions name none
            about: dict[str, Any] = {name: one.about[name] for name in names if name in one.about}
            found.append(Evidence(attempt=one.attempt, **about))
    return found


def missing(
    at: Reading, place: Place, card: Card, actor: str, planners: Sequence[str], is_integrated: Callable[[str], bool]
) -> list[Missing]:
    """Return everything that keeps a ticket from done. The caller adds what governance asks for."""
    return [
        *_of_actor(at, card, actor, planners),
        *_of_ticket(card),
        *_of_evidence(at, place, card, is_integrated),
    ]


def _of_actor(at: Reading, card: Card, actor: str, planners: Sequence[str]) -> Iterator[Missing]:
    if actor not in planners:
        yield Missing(what=f"{actor or 'nobody'} is not a planner", remedy=who_decides(planners), kind=Kind.BLOCKED)
    claims = [one for one in at.events(ticket=card.id) if one.event is BoardEvent.TICKET_CLAIMED]
    worker = str(claims[-1].changes.get("worker", "")) if claims else ""
    if actor and actor == worker:
        yield Missing(
            what=f"{actor} did the work, and nobody may accept their own work",
            remedy="Have another planner accept it.",
            kind=Kind.BLOCKED,
        )


def who_decides(planners: Sequence[str]) -> str:
    """Return how somebody says that they may accept work and decide."""
    named = f"--actor NAME, or SANTIAGO_ACTOR, with one of {', '.join(planners)}"
    return f"The owner of the repository does it at a terminal, under their own name; elsewhere: {named}."


def _of_ticket(card: Card) -> Iterator[Missing]:
    if card.queue != "planner-review":
        yield Missing(what=f"it is in {card.queue}", remedy="Move it to planner-review.", kind=Kind.BLOCKED)
    if card.phase not in ("verified", "evidence_collected"):
        yield Missing(what=f"its phase is {card.phase}", remedy="Evidence must be collected first.")
    if card.attempt_count > card.retry_budget:
        what = f"{card.attempt_count} attempts are more than its budget of {card.retry_budget}"
        yield Missing(what=what, remedy=f"`santiago queue decide {card.id} replan --budget N`.")


def _of_evidence(at: Reading, place: Place, card: Card, is_integrated: Callable[[str], bool]) -> Iterator[Missing]:
    links = split_links(card.evidence_links)
    if not links:
        yield Missing(what="it has no evidence", remedy=_verify(card))
        return
    if lost := unusable(place, links):
        other = f"`santiago queue move --id {card.id} --to {card.queue} --evidence FILES` names others instead."
        yield from (Missing(what=what, remedy=other) for what in lost)
    paths = [place.project / link for link in links if not link.startswith(_ADDRESS)]
    known = recorded(at, card.id)
    files = [path for path in paths if is_inside(path, place.project) and path.is_file()]
    told = [_fault(at, place, card, path, known, is_integrated) for path in files]
    if None not in told:
        reasons = [one for one in told if one] or ["no file among its evidence is a record of passed checks"]
        ran = f"`santiago scenario run --ticket {card.id}` runs its scenarios again."
        remedy = ran if known and known[-1].folder else _verify(card)
        yield Missing(what="nothing shows that its checks passed: " + "; ".join(reasons), remedy=remedy)


def unusable(place: Place, links: Sequence[str]) -> list[str]:
    """Say which links lead nowhere. A web address is for people to read: it is not looked at, and proves nothing."""
    paths = {link: place.project / link for link in links if not link.startswith(_ADDRESS)}
    inside = {link: is_inside(path, place.project) for link, path in paths.items()}
    return [
        f"{link} {'does not exist' if inside[link] else 'is outside the project'}"
        for link, path in paths.items()
        if not (inside[link] and path.exists())
    ]


def _fault(
    at: Reading, place: Place, card: Card, path: Path, known: list[Evidence], is_integrated: Callable[[str], bool]
) -> str | None:
    """Return why a file does not show that the ticket's checks passed; None where it does."""
    name = place.named(path)
    try:
        digest = sha256(read_bytes(path, LARGEST)).hexdigest()
    except SantiagoError as error:
        return f"{name}: {error.message}"
    found = next((one for one in reversed(known) if one.digest == digest), None)
    if found is None:
        return f"{name} {_why_unknown(at, name, digest, known)}"
    if found.dry_run:
        return f"{name} comes from a dry run"
    if not found.passed:
        return f"{name} has a FAIL, or no PASS"
    if found.attempt != card.attempt_count:
        return f"{name} is about attempt {found.attempt}, and this is attempt {card.attempt_count}"
    if found.folder and not (place.project / found.folder).is_dir():
        return f"{name} has lost the output of its commands, {found.folder}"
    if not is_integrated(found.commit):
        return f"{name} is about commit {found.commit[:12]}, but another commit is integrated"
    return None


def _why_unknown(at: Reading, name: str, digest: str, known: list[Evidence]) -> str:
    """Say why a file is not among the recorded evidence of the ticket."""
    records = (one for event in _RECORDS for one in at.events(event=event))
    if other := next((one for one in records if one.about.get("digest") == digest), None):
        return f"is evidence of {other.ticket}"
    if any(one.path == name for one in known):
        return "was changed since santiago wrote it"
    return "is not a record that santiago made"


def _verify(card: Card) -> str:
    return f"`santiago queue verify {card.id}` runs its checks and records them."


def refusal(card: Card, found: Sequence[Missing]) -> SantiagoError:
    """Return one error that lists everything that is missing."""
    kind = Kind.BLOCKED if any(one.kind is Kind.BLOCKED for one in found) else Kind.INPUT
    remedies = " ".join(dict.fromkeys(one.remedy for one in found))
    if len(found) == 1:
        return SantiagoError(kind, f"{card.id} is not done: {found[0].what}", hint=remedies)
    what = "".join(f"\n  {one.what}" for one in found)
    return SantiagoError(kind, f"{card.id} is not done, {len(found)} things are missing:{what}", hint=remedies)
