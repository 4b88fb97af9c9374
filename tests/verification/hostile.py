"""Every regular expression that reads what work or agents write, tried on hostile text; `python -m` prints the slow ones.

A pattern that looks at the same characters from many places needs minutes for the texts here, the others milliseconds. So
a limit of processor time, not of the clock, tells them apart however busy the machine is.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import signal
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import santiago.verification

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

MODULES = (
    *(f"santiago.verification.{found.name}" for found in pkgutil.iter_modules(santiago.verification.__path__)),
    *(f"santiago.agent.{name}" for name in ("faults", "normalize", "stream", "waits")),
    *(f"santiago.executor.{name}" for name in ("critique", "progress")),
    "santiago.cli.view.evidence",
)
SIZE = 24 * 1024
PATH = 4096
SECONDS = 0.3
"""Of processor time, for one pattern on one text."""
_METHODS = frozenset({"search", "match", "fullmatch", "findall", "finditer", "sub", "split"})
_MOST_LITERALS = 3


class Subject(NamedTuple):
    name: str
    pattern: re.Pattern[Any]
    used: frozenset[str]
    """The methods that it is used with, as far as they are to be seen."""

    @property
    def is_anchored(self) -> bool:
        """Whether it is only ever tried at the beginning of a text."""
        return bool(self.used) and self.used <= {"match", "fullmatch"}

    @property
    def size(self) -> int:
        """Return how long its texts are: what must match as a whole is a path or a word."""
        return PATH if self.used == {"fullmatch"} else SIZE


class _TooLongError(Exception):
    pass


def subjects() -> Iterator[Subject]:
    for name in MODULES:
        module = importlib.import_module(name)
        source = inspect.getsource(module)
        for attribute, pattern in _compiled(module):
            used = frozenset(re.findall(rf"\b{attribute}\.(\w+)\b", source)) & _METHODS
            yield Subject(f"{name}.{attribute}", pattern, used)
        yield from _inline(name, source)


def _compiled(module: ModuleType) -> Iterator[tuple[str, re.Pattern[Any]]]:
    for attribute, value in vars(module).items():
        waiting = [value]
        while waiting:
            one = waiting.pop()
            if isinstance(one, re.Pattern):
                yield attribute, one
            elif isinstance(one, tuple | list):
                waiting += one
            elif isinstance(one, dict):
                waiting += one.values()


def _inline(name: str, source: str) -> Iterator[Subject]:
    """Yield the patterns that are written where they are used."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            called, pattern = node.func, node.args[0]
            if (
                isinstance(called.value, ast.Name)
                and called.value.id == "re"
                and called.attr in _METHODS
                and isinstance(pattern, ast.Constant)
            ):
                flags = re.MULTILINE if "re.MULTILINE" in ast.unparse(node) else 0
                yield Subject(f"{name}:{node.lineno}", re.compile(pattern.value, flags), frozenset({called.attr}))


def literals(pattern: re.Pattern[Any]) -> list[str]:
    """Return what a pattern asks for literally: its own words, and all of them in a row."""
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode()
    plain = re.sub(r"\\[sSdDwWbBAZnrt]|\[(?:\\.|[^\]\\])+\]|\(\?[:=!<P]*", "\0", source)
    words = re.findall(r"(?:\\[^\w]|[\w \"'/:,#=%<>-]){2,}", plain)
    found = list(dict.fromkeys(re.sub(r"\\(.)", r"\1", word) for word in words))
    step = max(1, len(found) // _MOST_LITERALS)
    return [*found[::step][:_MOST_LITERALS], "".join(found[:_MOST_LITERALS])]


def texts(pattern: re.Pattern[Any], size: int) -> Iterator[str]:
    for piece in ("\n", " ", "a", "1", "1 ", "/a", "a.", "a: ", "a > ", "("):
        yield piece * (size // len(piece))
    for word in filter(None, literals(pattern)):
        yield word * (size // len(word)) + "\n-"
        yield f"{word} " * (size // (len(word) + 1)) + "\n-"
        yield f"{word}\n" * (size // (len(word) + 1))
        yield from (word + piece * size + "\n-" for piece in " a1\n")


def is_slow(subject: Subject) -> bool:
    def late(*_: object) -> None:
        raise _TooLongError

    signal.signal(signal.SIGPROF, late)
    for text in texts(subject.pattern, subject.size):
        given = text.encode() if isinstance(subject.pattern.pattern, bytes) else text
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            if subject.is_anchored:
                subject.pattern.match(given)
                subject.pattern.fullmatch(given)
            else:
                for _ in subject.pattern.finditer(given):
                    pass
        except _TooLongError:
            return True
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    return False


if __name__ == "__main__":
    wanted = [subject for subject in subjects() if sys.argv[1:] in ([], [subject.name])]
    print(*sorted({subject.name for subject in wanted if is_slow(subject)}), sep="\n")
