"""What the board says at one moment: its verdict, and the text for users, as the project's rendering contract wants it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from santiago.artifacts.files import read_text
from santiago.board import internals
from santiago.board.loop_verdict import Verdict, is_ending, judge
from santiago.board.next_prompt import (
    FINISHED,
    WORDS,
    Language,
    Product,
    Rendering,
    Target,
    prompt_block,
    target_of,
    user_text,
)
from santiago.contract.board import BoardEvent
from santiago.contract.errors import SantiagoError
from santiago.contract.lazy_regex import pattern
from santiago.contract.record import record
from santiago.util import regular
from santiago.util.inside import is_inside
from santiago.util.text import flat

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from santiago.board.board_store import Reading

_MOST_SEARCHED = 50
"""How many tickets are searched for one with a title that users may read."""
_VISION = ".sigee/product-truth/vision.yaml"
_LARGEST = 2**20
_STATEMENT = pattern(r"^[ \t-]{0,40}statement:[ \t]{1,8}([^\s|>#][^\n]{0,500})$", re.MULTILINE)
NAME = "response-rendering-contract.md"
LARGEST = 2**16
"""Bytes of a contract that are read."""
_HEADING = 80
_LANGUAGES: dict[str, Language] = {
    "en": "en", "english": "en", "en-us": "en", "en-gb": "en", "ko": "ko", "korean": "ko", "ko-kr": "ko", "한국어": "ko",
}  # fmt: skip
_LANGUAGE = pattern(
    r"^[ \t>*_-]{0,8}language[*_ \t]{0,8}:[*_ \t]{0,8}`?([^\s`*_,.]{1,20})", re.IGNORECASE | re.MULTILINE
)
_PROMPT = pattern(r"(?:\btitled\s{1,4}`|^prompt heading:[ \t]{0,8})([^`\n]{1,80})", re.IGNORECASE | re.MULTILINE)
_WHY = pattern(
    r"(?:\bstart(?:s|ing)?\s{1,4}with\s{1,4}`|^why sentence:[ \t]{0,8})([^`\n]{1,80})", re.IGNORECASE | re.MULTILINE
)
_ITEM = pattern(r"^[ \t]{0,3}([123])[.)][ \t]{1,4}(\S[^\n]{0,79})$", re.MULTILINE)


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
    verdict, style = verdict_of(at, backlog, open_questions), read(project, language)
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
    return judge(at.counts(), at.cards("blocked"), moving, backlog, open_questions, ending=ending, bypasses=bypasses)


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
        attested_count=at.attested(),
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


def path_of(project: Path) -> Path:
    """Return where a project keeps its contract."""
    own = ".sigee" if (project / ".sigee").is_dir() else ".santiago"
    return project / own / "policies" / NAME


def read(project: Path, setting: str = "") -> Rendering:
    """Return how a project wants its text.

    The language comes from its setting, else from its contract, else it is English.
    """
    text, warnings = _contract(path_of(project), project)
    language = _LANGUAGES.get(setting.strip().lower()) if setting else None
    if setting and language is None:
        warnings.append(
            f"[board] language = {flat(setting)[:40]!r} is not known; en and ko are. The text is in English."
        )
        language = "en"
    return _rendering(text, language or _language_of(text, warnings), warnings)


def _contract(path: Path, project: Path) -> tuple[str, list[str]]:
    if not path.exists():
        return "", []
    if not is_inside(path, project):
        return "", [f"{path.name} is a link that leads out of the project; it was not read"]
    try:
        return read_text(path, LARGEST), []
    except SantiagoError as error:
        return "", [f"{path.name} was not read: {error.message}"]


def _language_of(text: str, warnings: list[str]) -> Language:
    """Return the language that a contract names, else that of its prompt heading."""
    if found := _LANGUAGE.search(text):
        known = _LANGUAGES.get(found[1].lower())
        if known is None:
            warnings.append(
                f"{NAME} asks for the language {flat(found[1])!r}; en and ko are known. The text is in English."
            )
        return known or "en"
    title = _PROMPT.search(text)
    return "ko" if title and _is_korean(title[1]) else "en"


def _rendering(text: str, language: Language, warnings: list[str]) -> Rendering:
    words = WORDS[language]
    items = dict(reversed(_ITEM.findall(text)))  # where two lists have the same number, the first one counts

    def heading(found: str | None, own: str) -> str:
        bare = internals.clean(flat(found or "").strip("*_ "))[:_HEADING].rstrip(":. ")
        return bare if bare and _is_korean(bare) == (language == "ko") else own

    prompt, why = _PROMPT.search(text), _WHY.search(text)
    return Rendering(
        words=words,
        language=language,
        effect=heading(items.get("1"), words.effect),
        confidence=heading(items.get("2"), words.confidence),
        risk=heading(items.get("3"), words.risk),
        prompt=heading(prompt and prompt[1], words.prompt),
        why=heading(why and why[1], words.why),
        warnings=tuple(warnings),
    )


def _is_korean(text: str) -> bool:
    return any("가" <= letter <= "힣" for letter in text)
