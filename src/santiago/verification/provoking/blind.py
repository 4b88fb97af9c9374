"""A blindfold for work that looks who runs it: in a trial, what could tell a test from real use tells it nothing.

Honest work does not notice: it still gets arguments, a stack and a process, only with names that no runner has.
"""

from __future__ import annotations

import re
import secrets
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.verification.provoking import edits

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_FIRST = re.compile(r"(?:.*/)?(?:test[^/]*|[^/]*_test|conftest|__init__)\.py")
"""Test code that Python loads before the work, or as the first that loads it."""
_MARKS = re.compile(r"\b(?:NODE_TEST_CONTEXT|JEST_WORKER_ID|VITEST\w*|PYTEST_\w+)\b")
"""Variables by which runners give themselves away."""
_MODULES = re.compile(r"\bsys\.modules\b(?![ \t]?(?:\[|\.(?:pop|setdefault|update|clear)\b))")
_UNSEEN = "{name: one for name, one in sys.modules.items() if name.partition('.')[0] not in ('unittest', 'pytest', '_pytest', 'pluggy')}"
_PYTHON = """
import sys as _planted
_planted.argv[:1] = ["{name}.py"]
if __name__ != "__main__":
    del _planted.argv[1:]
    _planted.orig_argv[:] = [_planted.executable, "{name}.py"]
    vars(_planted.modules["__main__"]).update(__file__={main!r}, __spec__=None, __package__="")
if "{token}" not in _planted.modules:
    _planted.modules["{token}"] = _planted

    def _blind():
        import builtins, inspect, io, os, re, sys, traceback
        runners = re.compile(r"unittest|pytest|pluggy|runpy|(?:^|/)tests?/|(?:^|/)test[^/]*$|_test\\.py$|conftest|^<frozen")
        stack, frames, opened = traceback.extract_stack, inspect.stack, io.open
        init, program = "systemd\\n", f"{{sys.executable}}\\0{name}.py\\0"
        told = {{"1/comm": init, "1/cmdline": "/sbin/init\\0", "self/comm": "python3\\n", "self/cmdline": program}}
        told |= {{f"{{os.getpid()}}/cmdline": program, f"{{os.getppid()}}/comm": init, f"{{os.getppid()}}/cmdline": "/sbin/init\\0"}}

        def extract_stack(f=None, limit=None):
            found = stack(f or sys._getframe(1), limit)
            return traceback.StackSummary.from_list([
                ("{name}.py", one.lineno, "main", one.line) if runners.search(one.filename) else one for one in found
            ])

        def all_frames(context=1):
            return [
                one._replace(filename="{name}.py", function="main") if runners.search(one.filename) else one
                for one in frames(context)[1:]
            ]

        def open_(file, mode="r", *more, **named):
            path = os.fspath(file) if isinstance(file, (str, os.PathLike)) else ""
            text = told.get(path[6:]) if isinstance(path, str) and path.startswith("/proc/") else None
            if text is None:
                return opened(file, mode, *more, **named)
            return io.BytesIO(text.encode()) if "b" in mode else io.StringIO(text)

        def names(self):
            return iter([name for name in listed(self) if not name.startswith("PYTEST")])

        def value(self, name):
            if isinstance(name, str) and name.startswith("PYTEST"):
                raise KeyError(name)
            return valued(self, name)

        def pop(self, name, *default):
            found = valued(self, name) if not default or name in listed(self) else default[0]
            if name in listed(self):
                del self[name]
            return found

        kept = type(os.environ)  # pytest itself only sets its variables, and takes them back
        listed, valued = kept.__iter__, kept.__getitem__
        kept.__iter__, kept.__getitem__, kept.pop = names, value, pop
        traceback.extract_stack, inspect.stack = extract_stack, all_frames
        if {proc}:
            io.open = builtins.open = open_

    _blind()
"""


def fold(folder: str, tests: Sequence[str], changed: Iterable[str]) -> None:
    """Put a blindfold on the work in a checkout: by its tests, and by the names of variables that it asks for."""
    own = [path for path in changed if path not in set(tests)]
    asked = [text for path in own if (text := edits.read(folder, path)) is not None]
    name, nothing = f"m{secrets.token_hex(2)}", f"X{secrets.token_hex(6).upper()}"
    main = Path(folder, f"{name}.py")
    main.touch()  # a process that is spawned from a test reads it
    first = _PYTHON.format(name=name, token=nothing, main=str(main), proc=any("/proc" in text for text in asked))
    for path in tests:
        # Where a file stands in place of the folder for compiled tests, none can be put under a test's name.
        with suppress(OSError):
            Path(folder, path).with_name("__pycache__").touch()
        if _FIRST.fullmatch(path):
            edits.rewrite(folder, path, lambda text: edits.begun_with(text, first))
    for path in own:
        edits.rewrite(folder, path, partial(_unseeing, path, nothing))


def _unseeing(path: str, nothing: str, text: str) -> str:
    """Return the work without the names by which it would find its runner."""
    without = _MARKS.sub(nothing, text)
    return _MODULES.sub(_UNSEEN, without) if path.endswith(".py") else without
