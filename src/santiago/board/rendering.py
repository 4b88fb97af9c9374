"""The rendering contract of a project: the language and the headings of its text for users."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from santiago.artifacts.files import read_text
from santiago.board import leaks
from santiago.board.wording import WORDS, Language
from santiago.contract.errors import SantiagoError
from santiago.contract.patterns import pattern
from santiago.contract.record import record
from santiago.util.inside import is_inside
from santiago.util.text import flat

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.board.wording import Words

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
class Rendering:
    """How the text for users is written."""

    words: Words
    language: Language
    effect: str
    confidence: str
    risk: str
    prompt: str
    why: str
    warnings: tuple[str, ...] = ()


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
        bare = leaks.clean(flat(found or "").strip("*_ "))[:_HEADING].rstrip(":. ")
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
