"""Finding values inside documents that agents print, whatever these contain. Nothing here raises."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from santiago.contract.patterns import pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from santiago.agent.profile import Condition

MOST_NESTED = 1024 * 1024
"""Longest text that is parsed as JSON when a path leads into it, in characters."""
MOST_SEARCHED = 20_000
"""How many characters of a text a pattern is matched against."""
_INDEX = pattern(r"-?[0-9]{1,6}")


def at(document: Any, path: str) -> Any:
    """Return the value at a dotted path; None if there is none.

    A key with dots in it is found as well. A number leads into a list, `-1` to its last element. A text that holds
    JSON is looked into: some agents print the arguments of a tool that way.
    """
    if not path:
        return document
    if isinstance(document, str):
        document = _unpacked(document)
    head, _, rest = path.partition(".")
    if isinstance(document, dict):
        if path in document:
            return document[path]
        return at(document[head], rest) if rest and head in document else None
    if isinstance(document, list) and _INDEX.fullmatch(head) and -len(document) <= int(head) < len(document):
        return at(document[int(head)], rest)
    return None


def parts(document: dict[str, Any], each: str, where: Mapping[str, Condition]) -> Iterator[Any]:
    """Return the document, or the elements of its list at `each` that satisfy the conditions."""
    if not each:
        yield document
        return
    found = at(document, each)
    for part in found if isinstance(found, list) else ():
        if isinstance(part, dict) and fits(part, where):
            yield part


def fits(document: Any, conditions: Mapping[str, Condition]) -> bool:
    return all(_holds(at(document, path), wanted) for path, wanted in conditions.items())


def _holds(value: Any, wanted: Condition) -> bool:
    if isinstance(wanted, re.Pattern):
        return isinstance(value, str) and wanted.search(value, 0, MOST_SEARCHED) is not None
    if wanted == "*":
        return value not in (None, "", [], {})
    choices = wanted if isinstance(wanted, tuple) else (wanted,)
    return any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in choices)


def _unpacked(text: str) -> Any:
    if len(text) > MOST_NESTED or not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def text_of(value: Any, most: int = 1_000_000) -> str:
    """Return a text; for a list of text blocks, their texts joined."""
    if isinstance(value, str):
        return _writable(value[:most])
    if isinstance(value, list):
        blocks = [one.get("text") for one in value if isinstance(one, dict)]
        return _writable("\n".join(text for text in blocks if isinstance(text, str))[:most])
    if isinstance(value, dict):
        try:
            return json.dumps(value)[:most]
        except RecursionError:
            return ""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**18 else ""


def _writable(text: str) -> str:
    """Return a text that can be written as UTF-8, since JSON may contain half surrogate pairs."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


_FIGURE = pattern(r"\s*\$?([0-9][0-9,]{0,20}(?:\.[0-9]{1,20})?)\s*([kKmM]?)")
_SCALE = {"": 1, "k": 1_000, "m": 1_000_000}


def number_of(value: Any) -> float | None:
    """Return a number that is not negative; also from `1.2k` and `$0.02`. None if it is not one."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        found = _FIGURE.fullmatch(value)
        value = float(found[1].replace(",", "")) * _SCALE[found[2].lower()] if found else None
    return float(value) if isinstance(value, int | float) and 0 <= value < 1e15 else None


def first_line(text: str, most: int = 120) -> str:
    """Return the first line that is not empty, cut to `most`."""
    line = next((part.strip() for part in text.splitlines() if part.strip()), "")
    return line if len(line) <= most else line[: most - 1] + "…"
