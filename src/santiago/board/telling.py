"""What the board says at one moment: its verdict, and the text for users."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from santiago.board import rendering
from santiago.board.next_prompt import FINISHED, Product, Target, prompt_block, target_of, user_text
from santiago.board.verdict import Verdict, is_ending, judge_counted
from santiago.contract.board import BoardEvent
from santiago.contract.patterns import pattern
from santiago.contract.record import record
from santiago.util import regular
from santiago.util.inside import is_inside

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from santiago.board.records import Reading

_MOST_SEARCHED = 50
"""How many tickets are searched for one with a title that users may read."""
_VISION = ".sigee/product-truth/vision.yaml"
_LARGEST = 2**20
_STATEMENT = pattern(r"^[ \t-]{0,40}statement:[ \t]{1,8}([^\s|>#][^\n]{0,500})$", re.MULTILINE)


@record
class Told:
    """What the board says, for programs and for users."""

    verdict: Verdict
    target: Target
    text: str
    """For users: effect, confidence, risk, and the prompt."""
    prompt: str
    """The prompt alone, in its fence."""
    warnings: tuple[str, ...]


def tell(at: Reading, project: Path, backlog: int, open_questions: Sequence[str] = (), language: str = "") -> Told:
    """Return the verdict and everything that is said about it.

    `language` is the setting, empty where there is none.
    """
    verdict, style = verdict_of(at, backlog, open_questions), rendering.read(project, language)
    product = product_of(at, verdict, lambda: statement_of(project))
    return Told(
        verdict=verdict,
        target=target_of(verdict),
        text=user_text(verdict, product, style),
        prompt=prompt_block(verdict, product, style),
        warnings=style.warnings,
    )


def verdict_of(at: Reading, backlog: int, open_questions: Sequence[str] = ()) -> Verdict:
    """Return the verdict on the board. Only blocked tickets are read, so a long queue costs nothing."""
    bypasses = sum(1 for _ in at.events(event=BoardEvent.ENTRY_BYPASSED))
    # If nothing moves, the inbox holds only requests that already became tickets, and those are few.
    moving = at.moving()
    ending = 0 if moving else sum(is_ending(card, at.of_request(card.id)) for card in at.cards("planner-inbox"))
    return judge_counted(
        at.counts(), at.cards("blocked"), moving, backlog, open_questions, ending=ending, bypasses=bypasses
    )


def product_of(at: Reading, verdict: Verdict, statement: Callable[[], str] = lambda: "") -> Product:
    """Return the material for the text for users. It is valid only while the board is being read."""
    target = target_of(verdict)
    named = (at.card(name) for name in verdict.user_confirmation_ids[:_MOST_SEARCHED])
    waiting = [card for card in named if card is not None]
    if target.queue == "blocked":
        waiting = at.cards("blocked")
    elif target.situation not in ("decision", "done"):
        waiting = at.some(target.queue, _MOST_SEARCHED)
    return Product(
        waiting=waiting,
        finished=at.some("done", FINISHED * 4, latest=True),
        finished_count=at.counts().get("done", 0),
        statement=statement(),
        is_id=lambda word: at.card(word) is not None,
    )


def statement_of(project: Path) -> str:
    """Return the first statement of the product's vision; empty where the vision is still the starter."""
    path = project / _VISION
    content = regular.content(path, _LARGEST) if is_inside(path, project) else None
    text = (content or b"").decode("utf-8", "replace")
    found = _STATEMENT.search(text)
    return found[1].strip().strip("\"'") if found and "VIS-BOOT-" not in text else ""
