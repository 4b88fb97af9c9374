"""Whether a script examines other files: it says no, and to them. Then it is their judge, whatever its name."""

from __future__ import annotations

import posixpath
import re
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from santiago.verification.commandline.steps import resolved

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

_LONGEST = 100_000
_LONGEST_LINE = 1_000
_MOST_WORDS = 3_000
_FLAGS = re.MULTILINE
_VERDICT = r"|[\"'](?:FAIL|PASS|not ok)\b"
"""A script that prints a verdict, for others to look for."""


class _Signs(NamedTuple):
    strong: re.Pattern[bytes]
    """Hardly ever there for another reason."""
    weak: re.Pattern[bytes]
    """Ordinary programs end like this, too."""


def _signs(strong: str, weak: str) -> _Signs:
    return _Signs(re.compile((strong + _VERDICT).encode(), _FLAGS), re.compile(weak.encode(), _FLAGS))


_PYTHON = _signs(
    r"^[ \t]*assert\b[^\n]{0,200}\([^\n]{0,200}(?:==|!=|\bin\b|\bis\b)|\bAssertionError\b|\bunittest\b|\bpytest\b",
    r"^[ \t]*assert\b|\braise\b(?! SystemExit\(\w+\()|\bexit\((?!0?\)|\w+\()",
)
_SCRIPT = _signs(r"\bassert(?:\.\w+)?\(|\bexpect\(|\bif\s?\([^\n;{]{0,100}\w\([^\n;{]{0,100}\)\s?[!=]==?", r"(?!)")
_SHELL = _signs(
    r"\bassert\w*\b|(?:\[|\btest)[ \t][^\n]{0,80}?(?:\$\(|`)[^\n]{0,160}?(?:=|-eq|-ne|-[lg][te])"
    r"|(?:\[|\btest)[ \t][^\n]{0,80}?(?:=|-eq|-ne)[^\n]{0,80}?(?:\$\(|`)|\|[ \t]*(?:grep|egrep|diff|cmp)\b"
    r"|^[ \t]*(?:if[ \t]+)?(?:![ \t]*)?(?:diff|cmp)[ \t]",
    r"(?:\[|\btest)[ \t][^\n]{0,80}?\$\{?[A-Za-z_][^\n]{0,80}?(?:=|-eq|-ne)|\b(?:grep|diff|cmp)\b",
)
_OTHER = _signs(r"\bassert\w*\b|\b(?:is|ok|is_deeply)\s?\(", r"\b(?:die|abort|raise)\b|\bexit\(?\s?[1-9]")
_IMPORTS = re.compile(r"(?:^|[\"';])[ \t]*(?:from|import|use|require)[ \t]+([\w.:]+)", _FLAGS)
_PATH = re.compile(r"[\w.][\w./-]{2,200}")
_DATA_ENDINGS = ".md .txt .json .yml .yaml .toml .cfg .ini .lock .html .css .svg .png .csv .xml .log .env"
_DATA = frozenset(_DATA_ENDINGS.split())
_ENDINGS = ("", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".sh", ".pl", ".pm", ".php", "/index.js", "/__init__.py")
_ENDS_TEST = {b"[": re.compile(rb"\]\s"), b"t": re.compile(rb"\)[^)]*?(?:&&|\|\||;)")}
_READS_ARGUMENTS = re.compile(rb"\bargv\b|\bargparse\b|\bclick\b|\btyper\b|\$\{?[1-9@*#]|\bARGV\b|@_\b|\boptparse\b")


_STARTS_TESTS = re.compile(
    rb"\bunittest\.(?:main|TextTestRunner|TestLoader|defaultTestLoader)\b|\bpytest\.main\b"
    rb"|[\"'](?:unittest|pytest|nose2|tox|jest|mocha|vitest)[\"']"
)
"""A script that starts the runner of tests judges all that they test, and need not name any of it."""


def examines(path: str, raw: bytes, folder: str, files: Collection[str], *, product_like: bool = False) -> bool:
    """Whether a script of the base says no to other files of the base.

    `product_like` is for one that others listen to, or that is started like a program: then ordinary ways to fail are no
    sign. Neither are they where it reads arguments.
    """
    raw = raw[:_LONGEST]
    if _STARTS_TESTS.search(raw):
        return True
    signs = _signs_of(path, raw)
    text = raw.decode("utf-8", "replace")
    if signs.strong.search(raw):
        # What a shell script looks at stands beside the sign; other languages import it first.
        looked_at = _looked_at(signs.strong, raw) if signs is _SHELL else text
        if names_others(path, looked_at, folder, files):
            return True
    likely_work = product_like or _READS_ARGUMENTS.search(raw) is not None
    if likely_work or not signs.weak.search(raw):
        return False
    return names_others(path, text, folder, files, by_path=signs is not _PYTHON)


def _looked_at(signs: re.Pattern[bytes], raw: bytes) -> str:
    """Return the parts of a shell script that it looks at: what comes before a pipe, what is inside a test."""
    found = []
    for line in (line[:_LONGEST_LINE] for line in raw.split(b"\n")):
        for sign in signs.finditer(line):
            kind = sign[0][:1]
            if ends := _ENDS_TEST.get(kind):
                found.append(ends.split(line[sign.start() :])[0])
            else:
                found.append(line[: sign.start()] if kind == b"|" else line)
    return b"\n".join(found).decode("utf-8", "replace")


def _signs_of(path: str, raw: bytes) -> _Signs:
    ending = posixpath.splitext(path)[1]
    first = raw.partition(b"\n")[0] if raw.startswith(b"#!") else b""
    if ending in {".py", ".pyw"} or b"python" in first:
        return _PYTHON
    if ending in {".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"} or b"node" in first:
        return _SCRIPT
    return _SHELL if ending in {".sh", ".bash", ""} or re.search(rb"\b(?:ba|da|z|k)?sh\b", first) else _OTHER


def names_others(path: str, text: str, folder: str, files: Collection[str], *, by_path: bool = True) -> bool:
    """Whether a text means other files of the base: modules that it imports, and paths that it names."""
    here = posixpath.dirname(path)
    modules = (name.replace("::", "/").replace(".", "/") for name in _IMPORTS.findall(text)[:_MOST_WORDS])
    words = [word for word in _PATH.findall(text)[:_MOST_WORDS] if "/" in word or "." in word] if by_path else []
    meant = chain(_spelled(modules, ("", "src", "lib", here, folder)), _spelled(words, (here, folder, "")))
    return any(one in files and one != path for one in meant)


def _spelled(names: Iterable[str], folders: tuple[str, ...]) -> Iterator[str]:
    places = tuple(dict.fromkeys(folders))
    for name in dict.fromkeys(names):
        for place in places:
            path = resolved(place, name)
            if path and posixpath.splitext(path)[1] not in _DATA:
                yield from (path + ending for ending in _ENDINGS)
