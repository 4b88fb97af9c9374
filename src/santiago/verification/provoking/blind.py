"""A blindfold for work that looks who runs it: in a trial, what could tell a test from real use tells it nothing.

Honest work does not notice: it still gets arguments, a stack and a process, only with names that no runner has.
"""

from __future__ import annotations

import re
import secrets
import textwrap
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.verification.provoking import edits
from santiago.verification.provoking.programs import program

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_FIRST = re.compile(r"(?:.*/)?(?:test[^/]*|[^/]*_test|conftest|__init__)\.py")
"""Test code that Python loads before the work, or as the first that loads it."""
_MARKS = re.compile(r"\b(?:NODE_TEST_CONTEXT|JEST_WORKER_ID|VITEST\w*|PYTEST_\w+)\b")
"""Variables by which runners give themselves away."""
MODULES = re.compile(r"\bsys\.modules\b(?![ \t]?(?:\[|\.(?:pop|setdefault|update|clear)\b))")
"""All modules that are loaded, as a blindfold can hide some."""
_UNSEEN = "{{name: one for name, one in sys.modules.items() if name.partition('.')[0] not in {names}}}"
_RUNNERS = ("unittest", "pytest", "_pytest", "pluggy")


def fold(folder: str, tests: Sequence[str], changed: Iterable[str], *, idle: bool = False) -> None:
    """Put a blindfold on the work in a checkout: by its tests, and by the names of variables that it asks for.

    An idle one looks much the same and hides nothing: it shows which checks mind the texts themselves.
    """
    own = [path for path in changed if path not in set(tests)]
    asked = [text for path in own if (text := edits.read(folder, path)) is not None]
    name, nothing = f"m{secrets.token_hex(2)}", f"X{secrets.token_hex(6).upper()}"
    main = Path(folder, f"{name}.py")
    main.touch()  # a process that is spawned from a test reads it
    first = program("blind.py", name=name, token=nothing, main=str(main), proc=any("/proc" in text for text in asked))
    if idle:
        first = f"def _blind():\n{textwrap.indent(first, '    ')}"
    for path in tests:
        # Where a file stands in place of the folder for compiled tests, none can be put under a test's name.
        with suppress(OSError):
            Path(folder, path).with_name("__pycache__").touch()
        if _FIRST.fullmatch(path):
            edits.rewrite(folder, path, lambda text: edits.begun_with(text, first))
    for path in own:
        edits.rewrite(folder, path, partial(_unseeing, path, nothing, idle=idle))


def _unseeing(path: str, nothing: str, text: str, *, idle: bool) -> str:
    """Return the work without the names by which it would find its runner."""
    names = tuple(f"_{name}" if idle else name for name in _RUNNERS)
    without = text if idle else _MARKS.sub(nothing, text)
    return MODULES.sub(_UNSEEN.format(names=names), without) if path.endswith(".py") else without
