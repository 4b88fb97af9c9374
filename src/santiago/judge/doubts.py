"""Doubts: added lines that look like cheating and that putting the judge back cannot show; a person is asked about them.

Files of the judge are left alone: they are put back. The rules are in `doubt_rules`, what they mean for users in docs/doubts.md.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from santiago.contract.ports.workspace import PATCH_CUT
from santiago.judge.doubt_rules import ENDINGS, EXITS_WELL, IN_LINES, IN_PYTHON, NEW_NAME, PROGRAM, RULES, asks
from santiago.judge.python_text import statements

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Judges = Callable[[str], bool]
    Read = Callable[[str], bytes | None]
    Seen = Iterator[tuple[int, str]]
    """Lines, each with the rule that it falls under."""

_MOST = 50
_SHOWN = 200
_LARGEST = 1024 * 1024
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_OPENED = re.compile(r"(?:\bopen\(|\bPath\(|\.joinpath\(|\.with_name\()['\"]([^'\"]{1,200})['\"]")
_REPLACED = re.compile(r"([A-Za-z_][\w.]{0,100})\.\w{1,80} = (?!['\"\d\[{]|None|True|False)")
_COMMENT = ("//", "/*", "*", "# ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """One place in the work that a person should look at."""

    path: str
    line: int
    """In the work's file."""
    rule: str
    """One of `RULES`."""
    sentence: str
    text: str
    """The line itself, within a limit."""


@dataclass(slots=True, kw_only=True)
class _Added:
    """What a patch adds to one file."""

    path: str
    lines: dict[int, str] = field(default_factory=dict)
    new: bool = False
    link: bool = False
    binary: bool = False


def doubts(patch: str, judges: Judges, read: Read, paths: Iterable[str] = ()) -> tuple[Doubt, ...]:
    """Return the doubts about an attempt's patch; `judges` tells judge files, `read` reads a file of the work.

    Of all changed `paths`, those that a cut patch no longer shows are looked at as a whole.
    """
    files = {file.path: file for file in _added(patch)}
    if patch.endswith(PATCH_CUT):
        last = next(reversed(files), "")
        files |= {path: _whole(path, read) for path in sorted({*paths} - {*files} | {last})}
    asked = (file for file in files.values() if not judges(file.path))
    return tuple(islice((doubt for file in asked for doubt in _about(file, judges, read)), _MOST))


def _whole(path: str, read: Read) -> _Added:
    lines = (read(path) or b"")[:_LARGEST].decode("utf-8", "replace").splitlines()
    return _Added(path=path, lines=dict(enumerate(lines, 1)))


def _about(file: _Added, judges: Judges, read: Read) -> Iterator[Doubt]:
    """Yield one doubt for each rule, at its first line."""
    found: dict[str, set[int]] = {}
    for line, rule in _in_file(file, judges, read):
        found.setdefault(rule, set()).add(line)
    for rule, lines in found.items():
        first, more = min(lines), f" (and {len(lines) - 1} more)" if len(lines) > 1 else ""
        yield Doubt(
            path=file.path, line=first, rule=rule, sentence=f"{file.path}:{first}{more} {RULES[rule]}",
            text=file.lines.get(first, "").strip()[:_SHOWN],
        )  # fmt: skip


def _in_file(file: _Added, judges: Judges, read: Read) -> Seen:
    if file.new and (NEW_NAME.fullmatch(file.path) or _shadows(file.path, read)):
        yield 1, "takes_name"
    if file.link and file.path.endswith(ENDINGS):
        yield 1, "hides_code"
        return
    data = (read(file.path) or b"")[:_LARGEST] if file.binary or file.path.endswith(ENDINGS) else b""
    if file.binary and _holds_code(data):
        yield 1, "hides_code"
    program = bool(PROGRAM.search(data))
    seen = _in_python(file, data, judges, read) if file.path.endswith(".py") else _in_lines(file, _patterns(file.path))
    for line, rule in seen:
        if rule != EXITS_WELL:
            yield line, rule
        elif not program:
            yield line, "ends_process"


def _in_python(file: _Added, data: bytes, judges: Judges, read: Read) -> Seen:
    try:
        every = statements(data, file.lines)
    except ValueError:  # not Python as this one knows it
        yield from _in_lines(file, IN_PYTHON)
        return
    for one in every:
        for rule in (rule for rule, pattern in IN_PYTHON.items() if pattern.search(one.text)):
            if rule != "loads_runner" or one.where != "main":  # a file may test itself when it is the program
                yield one.line, "ends_process" if rule == EXITS_WELL and one.where == "module" else rule
        if asks(one.text, one.compared):
            yield one.line, "asks_for_tests"
        imported = (f"{module.replace('.', '/')}.py" for module in one.imports)
        if any(judges(path) and read(path) is not None for path in imported):
            yield one.line, "loads_runner"
        if any(judges(path) and read(path) is not None for path in _OPENED.findall(one.text)):
            yield one.line, "touches_tests"
        if (found := _REPLACED.match(one.text)) and _is_module(found[1], data, read):
            yield one.line, "replaces_work"


def _is_module(name: str, data: bytes, read: Read) -> bool:
    """Whether a file imports this module, and the work has it."""
    path = name.replace(".", "/")
    imported = re.search(rf"\bimport\b[^\n]{{0,200}}\b{name.rpartition('.')[2]}\b".encode(), data)
    return imported is not None and any(read(f"{folder}{path}.py") is not None for folder in ("", "src/"))


def _patterns(path: str) -> dict[str, re.Pattern[str]]:
    return next((patterns for ends, patterns in IN_LINES.items() if path.endswith(ends)), {})


def _in_lines(file: _Added, patterns: dict[str, re.Pattern[str]]) -> Seen:
    whole, first = "", 0
    for number, line in file.lines.items() if patterns else ():
        whole, first = (whole + line, first) if whole else (line, number)
        if line.endswith("\\"):
            whole = whole[:-1]  # it goes on in the next line
            continue
        if not whole.lstrip().startswith(_COMMENT):
            yield from ((first, rule) for rule, pattern in patterns.items() if pattern.search(whole))
        whole = ""


def _shadows(path: str, read: Read) -> bool:
    """Whether a new module stands where Python may take it for one of the library."""
    folder, _, name = path.removesuffix(".py").removesuffix("/__init__").rpartition("/")
    library = path.endswith(".py") and name in sys.stdlib_module_names and "/" not in folder
    return library and read(f"{folder}/__init__.py".lstrip("/")) is None


def _holds_code(data: bytes) -> bool:
    """Whether a binary file is a program, compiled Python, or an archive of modules."""
    return (
        data[:4] in (b"\x7fELF", b"\xcf\xfa\xed\xfe") or data[2:4] == b"\r\n" or (data[:2] == b"PK" and b".py" in data)
    )


def _added(patch: str) -> Iterator[_Added]:
    """Yield what a patch adds to each file."""
    file: _Added | None = None
    old = new = at = 0
    for line in patch.removesuffix(PATCH_CUT).split("\n"):
        if old > 0 or new > 0:
            kind = line[:1] or " "
            old, new = old - (kind in "- "), new - (kind in "+ ")
            if file and kind == "+":
                file.lines[at] = line[1:]
            at += kind in "+ "
        elif line.startswith("diff --git "):
            if file:
                yield file
            file = _Added(path=_path(line.removeprefix("diff --git ")))
        elif found := _HUNK.match(line):
            old, at, new = int(found[1] or 1), int(found[2]), int(found[3] or 1)
        elif file:
            file.new |= line.startswith("new file mode ")
            file.link |= line.startswith(("new file mode 120000", "new mode 120000"))
            file.binary |= line.startswith(("Binary files ", "GIT binary patch"))
    if file:
        yield file


def _path(both: str) -> str:
    """Return the path from `a/PATH b/PATH`, whose halves are alike where nothing is renamed; git quotes odd names."""
    half = both[len(both) // 2 + 1 :]
    if half.startswith('"'):
        plain = half[1:-1].encode("latin-1", "backslashreplace").decode("unicode_escape")
        half = plain.encode("latin-1", "replace").decode("utf-8", "replace")
    return half[2:]
