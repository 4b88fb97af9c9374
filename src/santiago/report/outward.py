"""What leaves the machine: places and secrets are replaced in every text, and long texts are cut so that all of them fit."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from santiago.process.redact import Redactor, to_hide
from santiago.report.evidence import tidied
from santiago.util.text import harmless

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from santiago.app.loading import Run

REPOSITORY, FOLDER, HOME, HOST = "<repository>", "<run>", "~", "<host>"
"""What stands in the place of a path or a name of this machine."""
LONGEST = 48 * 1024
"""Bytes of one text."""
_OWN = frozenset(
    {
        "after",
        "began",
        "ended",
        "id",
        "kind",
        "last",
        "of",
        "since",
        "started",
        "state",
        "stories",
        "story",
        "symbol",
        "tone",
        "until",
        "when",
    }
)
"""Fields whose values are words and times of our own. A machine may be called `story`."""


def for_others(run: Run, data: Any) -> Any:
    """Return data without what only this machine knows: its paths, its name, secrets, and signs that no reader can see."""
    clean: dict[str, str] = {}
    _mapped(data, lambda text: clean.setdefault(text, harmless(text)))
    redactor = Redactor(to_hide(os.environ))
    whole = "\n".join(clean.values()).encode("utf-8", "replace")
    if redactor.whole(whole) != whole:  # rare, since all of it was redacted when it was written
        clean = {text: redactor.text(shown) for text, shown in clean.items()}
    replaced = _replacing(run)
    shown = {text: replaced(one) for text, one in clean.items()}
    return _mapped(data, shown.__getitem__)


def redacted(data: Any, redactor: Redactor) -> Any:
    """Return data without signs that no reader can see, and without secrets. Santiago wrote all of it without these; another hand may
    have been there since.
    """
    texts: list[str] = []

    def kept(text: str) -> str:
        texts.append(harmless(text))
        return texts[-1]

    clean = _mapped(data, kept)
    whole = "\n".join(texts).encode("utf-8", "replace")
    return _mapped(clean, redactor.text) if redactor.whole(whole) != whole else clean


def _mapped(data: Any, change: Callable[[str], str], name: str = "") -> Any:
    if isinstance(data, dict):
        return {key: _mapped(one, change, key) for key, one in data.items()}
    if isinstance(data, list | tuple):
        return [_mapped(one, change, name) for one in data]
    return change(data) if isinstance(data, str) and name not in _OWN else data


def _replacing(run: Run) -> Callable[[str], str]:
    """Return what replaces paths and names of this machine in a text; the longest path first."""
    repo = run.out_dir / run.run_input.repo_path
    words: dict[str, str] = {}
    for path, word in ((run.out_dir, FOLDER), (repo, REPOSITORY), (Path.home(), HOME)):
        for text in (str(path), os.path.normpath(path), os.path.realpath(path)):
            if len(text) > 1:
                words.setdefault(text, word)
                words.setdefault(quote(text), word)
    paths = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    hosts = "|".join(map(re.escape, _hosts(run))) or "(?!)"
    pattern = re.compile(rf"(?P<path>{paths})(?![\w-])|(?<![\w-])(?i:{hosts})(?![\w-])")
    return lambda text: pattern.sub(lambda found: words[found[0]] if found["path"] else HOST, tidied(text))


def _hosts(run: Run) -> list[str]:
    names = {os.uname().nodename, run.history.start.get("host", "")}
    every = names | {name.partition(".")[0] for name in names}
    return sorted((name for name in every if len(name) > 1 and name != "localhost"), key=len, reverse=True)


def fitted(texts: Iterable[dict[str, Any]], room: int, size: Callable[[str], int]) -> int:
    """Cut texts at the ends of lines until all of them take at most `room`; return how many were cut. Short ones stay whole."""
    sized = [(size(one["text"]), one) for one in texts]
    left, most = room, LONGEST
    for at, (amount, _) in enumerate(sorted(sized, key=lambda pair: pair[0])):
        if amount > (share := left // (len(sized) - at)):
            most = min(most, share)
            break
        left -= amount
    return sum(_cut(one, amount, most) for amount, one in sized if amount > most)


def _cut(text: dict[str, Any], amount: int, most: int) -> bool:
    """Shorten a text in proportion to what it takes and may take."""
    lines = text["text"].splitlines()
    kept = text["text"][: len(text["text"]) * most // amount].splitlines()[:-1]
    text["text"], text["cut"] = "\n".join(kept), len(lines) - len(kept)
    return True
