"""Lines of text broken to the width of a terminal, between words, with further lines below the text of the first."""

from __future__ import annotations

import re

from santiago.util.text import harmless, width

_SIGNS = "\u2e80-\ua4cf\uf900-\ufaff\ufe30-\uffdc\U0001f000-\U0003ffff"
"""Characters between which a line may be broken: ideographs, kana, emoji."""
_PIECE = rf"\s+|\x1b\[[0-9;]*m|[{_SIGNS}](?:[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]|\u200d.)*|[^\s\x1b{_SIGNS}]+|."
"""Pieces of a line that are not broken: a blank, a colour, a word, a sign."""
_ASIDE = "      # "
_TYPED = r"((?:next:| {5}) \S.*?)   +# (.+)"
"""A command to paste, with a comment on what it does: `next: santiago resume   # go on`."""
_NAME = r"[│|] +|\S{1,12}(?: \S{1,12})?: +"
"""The bar of a frame, or a name with its colon."""
_GAP = r"(?<=\S)  +(?=\S)"
_WIDEST = 24


def broken(text: str, columns: int, indent: int | None = None) -> str:
    """Return a text wrapped into lines, so that the terminal does not break it in the middle of a word.

    Further lines are indented like the text of the first. A word that is longer than a line is left to the terminal, so that
    a path can be copied as a whole. A command stays on one line, and its comment then goes below it.
    """
    if not columns:
        return text
    return "\n".join(_broken(line, columns, indent) for line in text.split("\n"))


def _broken(text: str, columns: int, indent: int | None) -> str:
    bare = harmless(text)
    if width(bare) <= columns:
        return text
    if typed := re.fullmatch(_TYPED, text):
        why = _broken(typed[2], columns - len(_ASIDE), 0).split("\n")
        return "\n".join([typed[1], *(_ASIDE + line for line in why)])
    hang = _hang(bare) if indent is None else " " * indent
    hang = hang if len(hang) <= columns // 2 else "  "
    lines, line, used, blank = [], "", 0, ""
    for piece in re.findall(_PIECE, text):
        size = width(harmless(piece))
        if piece.isspace():
            blank = piece
        elif (
            size and used + len(blank) + size > columns and (used > len(hang) or len(hang) + size > columns >= size + 2)
        ):
            lines.append(line)
            before = hang if len(hang) + size <= columns else "  "
            line, used, blank = before + piece, len(before) + size, ""
        else:
            line, used, blank = line + blank + piece, used + len(blank) + size, ""
    return "\n".join([*lines, line])


def _hang(text: str) -> str:
    """Return what further lines begin with: the bar of a frame, or blanks up to the text of the first line."""
    if name := re.match(_NAME, text):
        return name[0] if name[0][0] in "│|" else " " * len(name[0])
    gaps = [gap.end() for gap in re.finditer(_GAP, text[: 2 * _WIDEST]) if gap.end() <= _WIDEST]
    before = len(text) - len(text.lstrip())
    return " " * (gaps[-1] if gaps else before if before >= 6 else before + 2)
