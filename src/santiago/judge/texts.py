"""The text of a test: its function, what that uses, and every file of the judge that it loads."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING

from santiago.judge.judges import is_setting
from santiago.judge.python_files import parsed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

_CODE = (
    ".py", ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".rb", ".go", ".rs", ".php", ".java", ".kt", ".cs", ".swift",
)  # fmt: skip
_SHARED_FOLDER = (".go", ".java", ".kt", ".cs", ".swift")
"""Languages in which the files of a folder see each other without a word."""
_FOLDER_FILES = frozenset({"__init__", "index", "mod"})
"""Files that go by the name of their folder."""
_ALWAYS_LOADED = ("conftest.py", "__init__.py")
"""Files that are loaded with every test of their folder and below."""
_WORD = re.compile(r"[\w-]+(?:\.[\w-]+)*")
_LONGEST, _MOST_FILES = 1_000_000, 500
"""Characters of a file that is read, files that a test comes to."""


class Tree:
    """One commit, as far as tests are read; keep it for as long as tests of this commit are asked about."""

    def __init__(self, files: Collection[str], read: Callable[[str], bytes | None]) -> None:
        self.files = files
        self.blob = cache(lambda path: read(path) if path in files else None)
        self.loads = cache(self._loads)

    def _loads(self, path: str) -> frozenset[str]:
        """Return the files that a test file comes to: those around it, those that it names, and what these name."""
        # Code of other folders is the work's, not the judge's; data may lie anywhere.
        top = path.partition("/")[0] + "/" if "/" in path else ""
        found = {path, *self._around(path)}
        waiting = list(found)
        while waiting and len(found) < _MOST_FILES:
            named = {file for word in _words(self.blob(waiting.pop())) for file in self._by_name.get(word, ())}
            new = {file for file in named if file.startswith(top) or not file.endswith(_CODE)} - found
            found |= new
            waiting += [file for file in new if file.endswith(_CODE)]
        return frozenset(found)

    def _around(self, path: str) -> Iterator[str]:
        folder, kind = posixpath.dirname(path), posixpath.splitext(path)[1]
        if kind in _SHARED_FOLDER:
            yield from (file for file in self.files if posixpath.dirname(file) == folder and file.endswith(kind))
        above = ["", *(path[: sign.start() + 1] for sign in re.finditer("/", path))]
        yield from (place for one in above for file in _ALWAYS_LOADED if (place := one + file) in self.files)

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        """Files by the words that mean them: their names, and for data that of their folder."""
        found: dict[str, list[str]] = defaultdict(list)
        for path in self.files:
            folder, _, name = path.rpartition("/")
            stem = name.rpartition(".")[0] or name
            is_code = name.endswith(_CODE)
            around = [folder.rpartition("/")[2]] if folder and (stem in _FOLDER_FILES or not is_code) else []
            for word in {name, stem, *around} if stem not in _FOLDER_FILES else around:
                found[word].append(path)
        return found


def changed(test: str, path: str | None, before: Tree, after: Tree, judges: Collection[str]) -> bool:
    """Whether the text of a test differs between two commits, `judges` being the files of the judge that differ.

    Where nobody knows which file a test stands in, every changed file of the judge may be its text.
    """
    if path is None:
        return bool(judges)
    if any(one != path and _is_loaded(one, path, tree) for tree in (before, after) for one in judges):
        return True
    old, new = before.blob(path), after.blob(path)
    if old == new or not path.endswith(".py"):
        return old != new
    then, now = (file.text_of(test) if (file := parsed(blob or b"")) else None for blob in (old, new))
    return then is None or then != now


def _is_loaded(judge: str, path: str, tree: Tree) -> bool:
    own = posixpath.basename(path).partition(".")[0]
    name = posixpath.basename(judge)
    is_snapshot = not judge.endswith(_CODE) and name.startswith((f"{own}.", f"{own}_", f"{own}-"))
    return is_setting(judge) or is_snapshot or judge in tree.loads(path)


@lru_cache(maxsize=512)
def _words(blob: bytes | None) -> frozenset[str]:
    """Return the words by which a file may mean others."""
    found = set(_WORD.findall((blob or b"")[:_LONGEST].decode("utf-8", "replace")))
    return frozenset(found | {part for word in found for part in (word.rpartition(".")[0], *word.split("."))})
