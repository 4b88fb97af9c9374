"""Who gives permission to change what judges: a story's files field, or words about work on a file; no mere mention of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from santiago.contract.plan import Requirement, Story

_SAID = "text"
"""Carrier of a file that only a sentence names."""
_TELLS = (
    r"\b(?:add|append|create|write|extend|expand|update|adapt|adjust|change|edit|modify|rewrite|rename|move|delete|remove|drop|replace"
    r"|port|convert|migrate|refactor|split|merge|correct|regenerate|record|introduce|put)(?:s|es|e?d|ing)?\b"
)
_IS_ABOUT_ELSE = r"\b(?:so|that|which|until|when|if|as|see|like|pass\w*|satisf\w+|match\w*|against|from|runs?|keeps?|leaves?|makes?|for)\b|[,(]"
_NOT = r"\b(?:not|never|without|un(?:changed|touched))\b|n't\b"
_MENTIONS = re.compile(
    rf"{_NOT}|\b(?:pass(?:es|ing)?|green|succeeds?|satisf(?:y|ies|ied)|still|see|per|according to)\b"
    r"|\b(?:as \w+|tested|checked|covered|verified|proved) (?:in|by)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.;!?])\s+|\n")


def may_change(story: Story, requirements: Iterable[Requirement]) -> tuple[str, ...]:
    """Return the files of a story by which it may change what judges it.

    `All tests in tests/test_x.py pass` names a judge; `add tests to tests/test_x.py` gives work on it.
    """
    named = [one for one in story.provenance if one.field == "files"]
    said = {one.value for one in named} - {one.value for one in named if one.carrier != _SAID}
    sentences = [one for text in _texts(story, requirements) for one in _SENTENCE.split(text)] if said else []
    return tuple(path for path in story.files if path not in said or _gives_work(path, sentences))


def speaks_of(story: Story, requirements: Iterable[Requirement], path: str) -> bool:
    """Whether a story has a file's name, with or without its ending, in its words."""
    stem = path.rpartition("/")[2].partition(".")[0]
    word = re.compile(rf"\b{re.escape(stem)}\b", re.IGNORECASE)
    return any(map(word.search, _texts(story, requirements)))


def _texts(story: Story, requirements: Iterable[Requirement]) -> Iterator[str]:
    yield from (story.title, story.description)
    yield from (one.text for requirement in requirements for one in requirement.criteria if one.id in story.criteria)


def _gives_work(path: str, sentences: Iterable[str]) -> bool:
    """Whether one of the sentences that name a file tells to work on it, or at least says nothing of it as a judge."""
    told = re.compile(rf"{_TELLS}(?:(?!{_IS_ABOUT_ELSE}).){{0,100}}?{re.escape(path)}", re.IGNORECASE)
    naming = [sentence for sentence in sentences if path in sentence]
    return not naming or any(
        not _MENTIONS.search(one)
        or ((found := told.search(one)) and not re.search(_NOT, one[: found.start()], re.IGNORECASE))
        for one in naming
    )
