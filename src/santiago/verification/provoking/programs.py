"""Programs that are planted into a checkout: each is a file of its own in `planted`, a valid program as it stands there.

They become part of files that others wrote: so no docstrings, which would become the file's, and names with an underscore.
"""

from __future__ import annotations

import json
import re
import shlex
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_FOLDER = Path(__file__).with_name("planted")
_GIVEN = re.compile(r'(")?__([A-Z]+)__(?(1)")')
_LITERALS: dict[str, Callable[[Any], str]] = {".py": repr, ".js": json.dumps, ".sh": shlex.quote}


def program(name: str, /, **given: object) -> str:
    """Return a program with what it is given, put in once.

    A whole text `"__NAME__"` stands for a value, which becomes a literal of the program's language; `__NAME__` within a longer
    text or name stands for a word, which has nothing in it that any language would take for its own.
    """
    literal = _LITERALS[Path(name).suffix]

    def put(found: re.Match[str]) -> str:
        value = given[found[2].lower()]
        if found[1]:
            return literal(value)
        assert isinstance(value, str), found[2]
        assert value.isidentifier(), value
        return value

    return _GIVEN.sub(put, _content(name))


@cache
def _content(name: str) -> str:
    return (_FOLDER / name).read_text("utf-8")
