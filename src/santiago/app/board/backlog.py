"""The plan backlog: plans below the runtime root with open boxes become requests in the inbox, each once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from santiago.artifacts.files import read_text
from santiago.board.board import add
from santiago.contract.board import Card
from santiago.contract.errors import SantiagoError
from santiago.planner.plan_spec import plan_id

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from santiago.board.opening import Opened

_OPEN_BOX = re.compile(r"^\s*[-*+] \[ \] \S", re.MULTILINE)
MOST = 10_000
"""Plans that are looked at."""


def open_plans(folder: Path) -> Iterator[tuple[str, Path, int]]:
    """Yield the plans with open boxes: their id, their file, and how many boxes are open."""
    for path in sorted(folder.glob("*.md"))[:MOST]:
        try:
            text = read_text(path)
        except SantiagoError:
            continue  # said where it is planned
        if boxes := len(_OPEN_BOX.findall(text)):
            yield plan_id(text, path.name), path, boxes


def synchronise(opened: Opened) -> tuple[str, ...]:
    """Put every plan with open boxes into the inbox that is not there yet; return what a person should know.

    One whose request was archived comes again only where boxes were added since.
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
        _seed(opened, name, boxes)
    return tuple(notices)


def _seed(opened: Opened, name: str, boxes: int) -> None:
    source = f"plan:{name}"
    with opened.store.reading() as at:
        cards = at.of_source(source)
    requests = [card for card in cards if not card.request]
    if any(card.queue != "done" and not card.decided for card in requests) or sum(map(_boxes, requests[-1:])) >= boxes:
        return  # it is on the board, or was and nothing came since
    number = len(requests)
    base = re.sub(r"[^A-Za-z0-9_.@+:-]+", "-", name)[:100] or "plan"
    card = Card(
        id=f"PLAN-{base}" if not number else f"PLAN-{base}-{number + 1}", queue="planner-inbox", status="pending",
        worker="planner", title=f"Carry out the plan {name}", source=source, updated_at="", phase="planned",
        next_action="decompose",
    )  # fmt: skip
    with opened.board.transaction() as at:
        if at.card(card.id) is None:
            add(at, card, "santiago")


def left_open(opened: Opened, card: Card) -> str:
    """Return the note of a finished request: how many boxes of its plan are still open."""
    plans = open_plans(opened.place.plans) if card.source.startswith("plan:") else ()
    return f"{sum(boxes for name, _, boxes in plans if f'plan:{name}' == card.source)} open"


def _boxes(card: Card) -> int:
    """Return how many boxes a plan's last request left open when it was archived, as its note tells."""
    count = card.note.partition(" ")[0]
    return int(count) if count.isdigit() else 0
