"""The plan backlog: each plan below the runtime root with open boxes becomes a request in the inbox, once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from santiago.artifacts.files import read_text
from santiago.board.board_commands import add
from santiago.board.rules import new_card
from santiago.contract.board import Card
from santiago.contract.errors import SantiagoError
from santiago.contract.lazy_regex import pattern
from santiago.planner.source import plan_id

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from santiago.board.board_handle import BoardHandle

_OPEN_BOX = pattern(r"^\s*[-*+] \[ \] \S", re.MULTILINE)
MOST = 10_000
"""The most plans that are looked at."""


def open_plans(folder: Path) -> Iterator[tuple[str, Path, int]]:
    """Yield the plans with open boxes: their id, their file, and how many boxes are open."""
    for path in sorted(folder.glob("*.md"))[:MOST]:
        try:
            text = read_text(path)
        except SantiagoError:
            continue  # planning the file reports the error
        if boxes := len(_OPEN_BOX.findall(text)):
            yield plan_id(text, path.name), path, boxes


def synchronise(opened: BoardHandle) -> tuple[str, ...]:
    """Add a request for every plan with open boxes that has none; return notices for a person.

    If the plan's request was archived, another one is added only where boxes were added since.
    """
    notices: list[str] = []
    known: dict[str, Path] = {}
    twice: set[str] = set()
    plans = list(open_plans(opened.place.plans))
    for name, path, _ in plans:
        if name in known:
            twice.add(name)
            both = f"{opened.place.named(known[name])} and {opened.place.named(path)}"
            notices.append(f"two plans are called {name}: {both}; neither becomes a request until one is renamed")
        known.setdefault(name, path)
    fresh = [(name, path, boxes) for name, path, boxes in plans if name not in twice]
    for name, _, boxes in fresh:
        _add_request(opened, name, boxes)
    return tuple(notices)


def _add_request(opened: BoardHandle, name: str, boxes: int) -> None:
    source = f"plan:{name}"
    with opened.store.reading() as at:
        cards = at.of_source(source)
    requests = [card for card in cards if not card.request]
    if (
        any(card.queue != "done" and not card.decided for card in requests)
        or sum(map(_noted_boxes, requests[-1:])) >= boxes
    ):
        return  # its request is on the board, or no box was added since the last one
    number = len(requests)
    base = re.sub(r"[^A-Za-z0-9_.@+:-]+", "-", name)[:100] or "plan"
    title = f"Carry out the plan {name}"
    new = f"PLAN-{base}" if not number else f"PLAN-{base}-{number + 1}"
    card = new_card("planner-inbox", new, title, source=source, next_action="decompose")
    with opened.board.transaction() as at:
        if at.card(card.id) is None:
            add(at, card, "santiago")


def left_open(opened: BoardHandle, card: Card) -> str:
    """Return the note for a finished request: how many boxes of its plan are still open."""
    plans = open_plans(opened.place.plans) if card.source.startswith("plan:") else ()
    return f"{sum(boxes for name, _, boxes in plans if f'plan:{name}' == card.source)} open"


def _noted_boxes(card: Card) -> int:
    """Return how many boxes were still open when the request was archived, as its note says."""
    count = card.note.partition(" ")[0]
    return int(count) if count.isdigit() else 0
