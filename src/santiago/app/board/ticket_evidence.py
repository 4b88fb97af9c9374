"""The evidence of a ticket: a table of check results for each attempt, and the event that records its digest."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

from santiago.artifacts.files import read_bytes, read_json, write_whole
from santiago.artifacts.names import CRITIQUE, VERIFICATION, attempt_folder
from santiago.board.board_commands import found
from santiago.board.done_gate import recorded
from santiago.board.rules import Change, split_links
from santiago.contract.board import ATTESTED, BoardEvent
from santiago.contract.errors import SantiagoError
from santiago.contract.outcomes import Proof
from santiago.contract.phases import StoryPhase
from santiago.workspace.ancestry import resolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from santiago.app.loading import Run
    from santiago.board.board_handle import BoardHandle
    from santiago.contract.board import Card
    from santiago.contract.state import StoryState

TABLE = "verification-results.tsv"
_COLUMNS = ("task_no", "title", "kind", "status", "log_path", "command", "commit")
_LARGEST = 64 * 2**20
Row = tuple[str, ...]


def keep(opened: BoardHandle, card: Card, run: Run) -> str:
    """Write the check results of a ticket's latest attempt, and record their digest. Return the link."""
    story = run.state.stories[card.story]
    passed = story.phase in (StoryPhase.VERIFIED, StoryPhase.DONE)
    rows, name = list(_rows_of_attempt(opened, card, run, story)), TABLE
    if passed and story.proof is Proof.ATTESTED:
        rows = [("1", card.title, "attest", "PASS", "", "accepted by a person", story.commit or "")]
        name = ATTESTED
    base = base_of(opened, story) or ""
    return _write(opened, card, name, rows, story.commit or "", base=base, passed=passed)


def keep_attested(opened: BoardHandle, card: Card, run: Run, note: str = "") -> Card:
    """Record that a person accepted the work of this attempt as it is, if they did. Return the ticket as it is then."""
    story = run.state.stories[card.story]
    with opened.store.reading() as at:
        known = any(one.attempt == card.attempt_count for one in recorded(at, card.id))
    taken = story.proof is Proof.ATTESTED and story.phase in (StoryPhase.VERIFIED, StoryPhase.DONE)
    if not taken or not known or (link := keep(opened, card, run)) in split_links(card.evidence_links):
        return card
    with opened.board.transaction() as at:
        now = found(at, card.id)
        changes = {"evidence_links": f"{now.evidence_links},{link}", "next_action": "TBD"} | (
            {"note": note} if note else {}
        )
        return at.change(now, Change(event=BoardEvent.TICKET_MOVED, changes=changes, about={}), "planner")


def keep_of_run(opened: BoardHandle, card: Card, run: Run, *, passed: bool) -> str:
    """Write the result of verifying a whole run, as the evidence of its request."""
    state = run.state
    word = "PASS" if passed else "FAIL"
    rows = [("1", card.title, "verify", word, "", "run verification", state.head or "")]
    return _write(opened, card, TABLE, rows, state.head or "", base=state.base or "", passed=passed)


def attempt_of(story: StoryState) -> int:
    """Return the number of the attempt that made the story's work. Work that no test shows outlasts later attempts."""
    return story.unshown.attempt if story.unshown and story.unshown.commit == story.commit else story.attempts


def base_of(opened: BoardHandle, story: StoryState) -> str | None:
    """Return the commit that the story's work began on."""
    if attempt_of(story) == story.attempts:
        return story.base
    return resolve(opened.place.project, f"{story.commit}^")


def began_on(opened: BoardHandle, card: Card) -> str:
    """Return the commit that was checked out when the ticket was claimed first; empty where it was not recorded."""
    with opened.store.reading() as at:
        claims = [one for one in at.events(ticket=card.id) if one.event is BoardEvent.TICKET_CLAIMED]
    return str(claims[0].about.get("head", "")) if claims else ""


def handed_over_on(opened: BoardHandle, card: Card) -> str:
    """Return the commit that was checked out when the ticket was handed over last; empty where it was not recorded."""
    with opened.store.reading() as at:
        heads = [one.about.get("head") for one in at.events(ticket=card.id) if one.event is BoardEvent.TICKET_MOVED]
    return str(next(filter(None, reversed(heads)), ""))


def critique(run: Run, story: StoryState) -> str:
    """Return what the next attempt is told about the latest one; empty where there is nothing."""
    path = run.out_dir / attempt_folder(story.id, story.attempts) / CRITIQUE
    try:
        return read_bytes(path, _LARGEST).decode("utf-8", "replace")
    except SantiagoError:
        return story.reason or ""


def keep_critique(opened: BoardHandle, card: Card, text: str) -> str:
    """Write everything that the planner's review found. Return the link."""
    path = _folder(opened, card) / "review.md"
    write_whole(path, text.encode())
    return opened.place.named(path)


def _rows_of_attempt(opened: BoardHandle, card: Card, run: Run, story: StoryState) -> Iterable[Row]:
    number = attempt_of(story)
    path = run.out_dir / attempt_folder(story.id, number) / VERIFICATION
    if not number or story.proof is Proof.CLAIMED:  # its checks passed without any work
        path = run.out_dir / "evidence" / f"{story.id}-claim.json"
    verdict = read_json(path, _LARGEST)
    results = verdict.get("results", []) if isinstance(verdict, dict) else []
    log = opened.place.named(path)
    for number, one in enumerate(results, start=1):
        word = "PASS" if one.get("verdict") in ("pass", "inherited") else "FAIL"
        yield (str(number), card.title, "verify", word, log, str(one.get("command", "")), story.commit or "")


def _write(
    opened: BoardHandle, card: Card, name: str, rows: Sequence[Row], commit: str, *, base: str, passed: bool
) -> str:
    path = _folder(opened, card) / name
    lines = ["\t".join(" ".join(value.split()) for value in row) for row in (_COLUMNS, *rows)]
    content = ("\n".join(lines) + "\n").encode("utf-8", "backslashreplace")
    link, digest = opened.place.named(path), sha256(content).hexdigest()
    good = passed and bool(rows) and all(row[3] == "PASS" for row in rows)
    with opened.store.reading() as at:
        known = any(one.digest == digest and one.attempt == card.attempt_count for one in recorded(at, card.id))
    if not known or not path.is_file():
        write_whole(path, content)
    if not known:
        about: dict[str, Any] = {"path": link, "digest": digest, "commit": commit, "base": base, "passed": good}
        opened.board.note(card.id, BoardEvent.EVIDENCE_RECORDED, "santiago", attempt=card.attempt_count, about=about)
    return link


def _folder(opened: BoardHandle, card: Card) -> Path:
    return opened.place.evidence(card.id) / str(card.attempt_count)
