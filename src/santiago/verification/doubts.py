"""Doubts about work: added lines that could reach the runner which judges them, or that ask who is looking.

A doubt is no verdict. It only makes santiago provoke the check: plant a test that must fail, and see that it does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_POWERFUL = re.compile(
    r"\b(?:unittest|_?pytest\w*|pluggy|ctypes|cffi|atexit|importlib|builtins|inspect|gc|multiprocessing|runpy|site|marshal|pickle|modules|settrace"
    r"|setprofile|addaudithook|meta_path|path_hooks|path_importer_cache|excepthook|unraisablehook|_?exit|quit|fork|posix|exec[lv]?p?e?|eval|setattr"
    r"|getattr|attrgetter|methodcaller|globals|vars|breakpoint|SystemExit|KeyboardInterrupt|BaseException|_getframe|(?:f|tb)_(?:back|frame|globals|locals"
    r"|builtins)|__(?:class|bases|mro|subclasses|globals|builtins|dict|import|setattr|delattr|code|closure|self|func|loader|spec|path|getattribute|getattr"
    r"|init_subclass|set_name|del)__)\b"
)
"""What a module needs to get hold of the process that it is imported into."""
_IN_TESTS = re.compile(
    r"\b(?:_exit|atexit|modules|setattr|load_tests|pytest_\w+|_pytest|__dict__|__class__|__bases__|exec\w*|eval|ctypes|importlib|globals|builtins"
    r"|os\.kill|settrace|excepthook|BaseException)\b|\b(?:unittest|pytest|Test\w+|TextTestRunner)\.[\w.]+\s*=[^=]"
)
"""The same for new tests, which import the runner as a matter of course."""
_STRONG = re.compile(r"\b(?:unittest|_?pytest|_exit)\b")
_ASKS_WHO_LOOKS = re.compile(r"\b(?:environb?|getenv\w*)\b|SANTIAGO_")
_TEST = re.compile(r"(?:.*/)?(?:tests?/.*|test_[^/]*|[^/]*_test|tests)\.py")
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True)
class Doubt:
    path: str
    strong: bool = False
    """Names the runner itself, or ends the process: decides where the check cannot be provoked."""
    asks: bool = False
    """Looks at the environment: may behave only while it is watched."""


def doubts(patch: str) -> tuple[Doubt, ...]:
    """Return what is doubtful in a patch; only Python, since only Python's runners can be provoked."""
    found = (_doubt(path, lines) for path, lines in added(patch) if path.endswith((".py", ".pth", ".pyi", ".pyx")))
    return tuple(doubt for doubt in found if doubt is not None)


def _doubt(path: str, lines: list[str] | None) -> Doubt | None:
    if lines is None:
        return Doubt(path)  # git shows no lines of it, so nobody has seen what it does
    text = "\n".join(lines)
    is_test = _TEST.fullmatch(path) is not None and not path.endswith("/__init__.py")
    powerful = (_IN_TESTS if is_test else _POWERFUL).search(text) is not None
    asks = _ASKS_WHO_LOOKS.search(text) is not None and not is_test
    if not powerful and not asks:
        return None
    return Doubt(path, strong=not is_test and _STRONG.search(text) is not None, asks=asks)


def added(patch: str) -> Iterator[tuple[str, list[str] | None]]:
    """Yield each file of a patch with the lines that it gains; None where the patch does not show them."""
    path, lines = "", []
    shown = True
    left_old = left_new = 0
    for line in patch.split("\n"):
        if left_old > 0 or left_new > 0:
            left_old -= line[:1] in ("-", " ", "")
            left_new -= line[:1] in ("+", " ", "")
            if line.startswith("+"):
                lines.append(line[1:])
        elif line.startswith("diff --git "):
            if path:
                yield path, lines if shown else None
            path, lines, shown = line.partition(" b/")[2].rstrip('"'), [], True
        elif hunk := _HUNK.match(line):
            left_old, left_new = int(hunk[1] or 1), int(hunk[2] or 1)
        elif line.startswith(("Binary files ", "GIT binary patch", "… the rest of the patch")):
            shown = False
    if path:
        yield path, lines if shown and left_old <= 0 and left_new <= 0 else None
