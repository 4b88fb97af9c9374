"""Untrusted texts in Markdown: they are shown literally, with as few escapes as possible, so that the source stays readable."""

from __future__ import annotations

import re

from santiago.contract.patterns import pattern
from santiago.util.text import first, flat

LONGEST = 300
"""Characters of one text."""
_CODE = pattern(r"`([^`\n]{1,300})`")
_MARKS = pattern(r"[\\`*\[\]<>&~|$!^{}]|(?<![^\W_])_|_(?![^\W_])")
"""Characters that Markdown reads as markup. An underscore between letters is not one."""
_LINKS = pattern(r"[@#]|(?<=www)\.|(?<=:)//", re.IGNORECASE)
"""Texts that code forges turn into links: names, numbers, addresses."""
_ITEM = pattern(r"^(\d{0,9})([-+.)])(?= )")


def code(text: str) -> str:
    """Return a text as code."""
    words = first(flat(text), LONGEST)
    fence = "`" * (max((len(run) for run in re.findall("`+", words)), default=0) + 1)
    pad = " " if words.startswith("`") or words.endswith("`") else ""
    return f"{fence}{pad}{words}{pad}{fence}"


def prose(text: str) -> str:
    """Return a text on one line. Code stays code; nothing else becomes markup or a link."""
    parts = _CODE.split(first(flat(text), LONGEST))
    return "".join(code(part) if at % 2 else _escaped(part) for at, part in enumerate(parts))


def _escaped(text: str) -> str:
    words = _MARKS.sub(lambda mark: f"\\{mark[0]}", text)
    words = _LINKS.sub(lambda mark: "".join(f"&#{ord(sign)};" for sign in mark[0]), words)
    return _ITEM.sub(r"\1\\\2", words)
