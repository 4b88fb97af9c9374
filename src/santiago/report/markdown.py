"""Texts of others in Markdown that people also read as it is written: shown letter by letter, with few marks against markup."""

from __future__ import annotations

import re

from santiago.util.text import first, flat

LONGEST = 300
"""Characters of one text."""
_CODE = re.compile(r"`([^`\n]{1,300})`")
_MARKS = re.compile(r"[\\`*\[\]<>&~|$!^{}]|(?<![^\W_])_|_(?![^\W_])")
"""What Markdown reads as markup; an underscore between letters is none."""
_LINKS = re.compile(r"[@#]|(?<=www)\.|(?<=:)//", re.IGNORECASE)
"""What the services make links of: names, numbers, addresses."""
_ITEM = re.compile(r"^(\d{0,9})([-+.)])(?= )")


def code(text: str) -> str:
    """Return a text as code."""
    words = first(flat(text), LONGEST)
    fence = "`" * (max((len(run) for run in re.findall("`+", words)), default=0) + 1)
    pad = " " if words.startswith("`") or words.endswith("`") else ""
    return f"{fence}{pad}{words}{pad}{fence}"


def prose(text: str) -> str:
    """Return a text on one line: what its author marked as code is code, and nothing else is markup or a link."""
    parts = _CODE.split(first(flat(text), LONGEST))
    return "".join(code(part) if at % 2 else _escaped(part) for at, part in enumerate(parts))


def _escaped(text: str) -> str:
    words = _MARKS.sub(lambda mark: f"\\{mark[0]}", text)
    words = _LINKS.sub(lambda mark: "".join(f"&#{ord(sign)};" for sign in mark[0]), words)
    return _ITEM.sub(r"\1\\\2", words)
