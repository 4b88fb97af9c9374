"""Packages that a manifest takes from a folder of the work, and took from elsewhere before."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from santiago.contract.patterns import pattern
from santiago.judge.sections import dotted

if TYPE_CHECKING:
    from collections.abc import Iterator

_PARSED = frozenset({"Cargo.toml", "pyproject.toml", "package.json", "deno.json"})
_LISTS = pattern(r"go\.mod|Gemfile|[\w.-]{0,60}requirements[\w.-]{0,60}\.txt")
_PACKAGE = pattern(r"(?:.*\.)?(?:\w*-?[dD]ependencies|sources|imports)\.([^.]+)(?:\.[\w-]+)?")
_FOR_ALL = pattern(r"(?:.*\.)?(?:patch|replace|overrides|resolutions)\..+")
"""Keys of a package, and keys that hold for packages which other packages ask for, too."""
_PLACE = pattern(r"(?:file|link|portal):.*|\.{0,2}/.*")
_LINE = pattern(
    r"\s*(?:(?:require|replace|gem)\s)?\s*['\"]?([\w./-]{2,200})['\"]?(?:.*?(=>|path:|\s@)\s*['\"]?([^\s'\"]+))?"
)


def swaps(path: str, before: bytes, after: bytes) -> bool:
    """Tell whether a manifest takes a package that it named before from another folder."""
    then, now = dict(_packages(path, before)), dict(_packages(path, after))
    known = {found[1] for key in then if (found := _PACKAGE.fullmatch(key))}
    places = ((key, now[key]) for key in now if key.endswith(".path") or _PLACE.fullmatch(now[key]))
    new = [key for key, place in places if place not in then.values()]
    named = (_PACKAGE.fullmatch(key) for key in new)
    return any(map(_FOR_ALL.fullmatch, new)) or any(found and found[1] in known for found in named)


def _packages(path: str, data: bytes) -> Iterator[tuple[str, str]]:
    """Yield what a manifest says, by dotted keys; nothing if it is no manifest, or nobody can read it."""
    name = path.rpartition("/")[2]
    text = data.decode("utf-8", "replace")
    if name in _PARSED:
        yield from ((key, str(value)) for key, value in dotted(name, text).items())
    for found in map(_LINE.match, text.splitlines() if _LISTS.fullmatch(name) else ()):
        if found:
            place = f"./{found[3]}" if found[2] and found[2].endswith(":") else found[3]
            yield f"dependencies.{re.sub('[.]', ' ', found[1])}", place or ""
