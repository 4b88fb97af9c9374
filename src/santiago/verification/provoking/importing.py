"""Which modules are loaded into another program: what is only started may end itself as it likes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from santiago.verification.provoking import edits

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

_CODE = (".py", ".pyi", ".pyx", ".sh", ".bash", ".mk", ".toml", ".cfg", ".ini", ".js", ".mjs", ".cjs", ".ts", ".json")
_MOST = 20_000


def imported(
    folder: str, files: Collection[str], commands: Iterable[str], modules: Mapping[str, str]
) -> tuple[str, ...]:
    """Return those of some modules, known by their paths, that commands or other files of a checkout import."""
    left = dict(modules)
    for path, text in _texts(folder, files, commands):
        for one, name in [*left.items()]:
            if one != path and name in text and _imports(name).search(text):
                del left[one]
        if not left:
            break
    return tuple(path for path in modules if path not in left)


def _texts(folder: str, files: Collection[str], commands: Iterable[str]) -> Iterator[tuple[str, str]]:
    yield from (("", command) for command in commands)
    code = [path for path in sorted(files) if path.endswith(_CODE) or "." not in path.rpartition("/")[2]]
    yield from ((path, text) for path in code[:_MOST] if (text := edits.read(folder, path)) is not None)


def _imports(name: str) -> re.Pattern[str]:
    loads = r"\b(?:import\w*|__import__|from|run_path|run_module|spec_from_\w+|mod_\w+)\b"
    return re.compile(rf"{loads}(?:[^\n]{{0,200}}|[^\n]{{0,100}}\([^)]{{0,2000}})\b{re.escape(name)}\b")
