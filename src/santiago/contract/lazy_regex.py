"""Regular expressions that are compiled when they are first asked: most commands need only a part of them."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

_ASKED = ("match", "search", "fullmatch", "finditer", "findall", "sub", "split")


def pattern(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return what `re.compile` returns, except that nothing is compiled before it is used."""
    return cast("re.Pattern[AnyStr]", _Later(source, flags))


class _Later:
    """Stands for a compiled expression; after the first use its methods are that expression's own."""

    def __init__(self, source: str | bytes, flags: int) -> None:
        self.source = source
        self.options = flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self.source, self.options)
        self.__dict__.update({method: getattr(compiled, method) for method in _ASKED})
        return getattr(compiled, name)
