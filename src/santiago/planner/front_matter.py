"""Read front matter line by line. It need not be valid YAML: ids keep their leading zeros, and `@name` is a plain value."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from santiago.contract.patterns import pattern

_KEY = pattern(r"^([\w][\w .-]*?)[ \t]*[:=][ \t]*(.*)$")


class Entry(NamedTuple):
    """One value of a front matter, kept as written."""

    value: str
    line: int
    items: tuple[tuple[str, int], ...]
    """The elements with their lines, if the value is a list. A list may stand in brackets or below its key."""


def read(text: str) -> tuple[dict[str, Entry], int]:
    """Return the entries of a front matter, and how many lines it takes."""
    lines = text.split("\n", 400)
    if lines[0].rstrip() != "---":
        return {}, 0
    end = next((i for i, line in enumerate(lines[1:400], 1) if line.rstrip() in ("---", "...")), 0)
    if not end or not any(_KEY.match(line) for line in lines[1:end]):
        return {}, 0
    return entries_of(lines[1:end], 2), end + 1


def entries_of(lines: Sequence[str], first: int) -> dict[str, Entry]:
    """Return the entries in these lines. `first` is the line number of the first of them."""
    entries: dict[str, Entry] = {}
    key = ""
    for number, line in enumerate(lines, first):
        if line[:1] not in (" ", "\t", "-") and (found := _KEY.match(line)):
            key = found[1].lower()
            entries[key] = Entry(_unquoted(found[2]), number, _flow_items(found[2], number))
        elif key and (item := re.match(r"^\s*-\s+(.*)$", line)):
            entry = entries[key]
            entries[key] = entry._replace(items=(*entry.items, (_unquoted(item[1]), number)))
    return entries


def _unquoted(value: str) -> str:
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return re.sub(r"\s+#.*$", "", value)


def _flow_items(value: str, line: int) -> tuple[tuple[str, int], ...]:
    value = re.sub(r"\s+#.*$", "", value.strip())
    if not (value.startswith("[") and value.endswith("]")):
        return ()
    return tuple((_unquoted(part), line) for part in value[1:-1].split(",") if part.strip())


_ID_LINE = pattern(r"(?m)^[ \t]{0,3}(?:[-*] )?id:[ \t]*[\"'`]?([^\s\"'`#][^\n\"'`#]{0,200})")


def plan_id(text: str, name: str) -> str:
    """Return the id of a plan: the value of its `id:` line, else the file name without its ending."""
    found = _ID_LINE.search(text)
    return found[1].strip() if found else name.replace("\\", "/").rsplit("/", 1)[-1].rsplit(".", 1)[0]
