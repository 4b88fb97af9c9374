"""Doubts: added lines that look like cheating and that putting the judge back cannot show; a person is asked about them.

Files of the judge are left alone: they are put back. The rules are in `doubt_rules`, what they mean for users in docs/doubts.md.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

from santiago.contract.outcomes import DoubtfulLine
from santiago.contract.patterns import pattern
from santiago.judge.doubt_rules import EXITS_WELL, NEW_NAME, PATTERNS, PROGRAM, RULES, asks
from santiago.judge.python_text import statements

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from santiago.contract.ports.workspace import Change

    Judges = Callable[[str], bool]
    Read = Callable[[str], bytes | None]
    Lines = dict[int, str]
    """Lines by number."""
    Seen = Iterator[tuple[int, str]]
    """Lines, each with the rule that it falls under."""

_MOST = 50
_SHOWN = 200
_LARGEST = 1024 * 1024
_LINK = "120000"
_OPENED = pattern(r"(?:\bopen\(|\bPath\(|\.joinpath\(|\.with_name\()['\"]([^'\"]{1,200})['\"]")
_REPLACED = pattern(r"([A-Za-z_][\w.]{0,100})\.\w{1,80} = (?!['\"\d\[{]|None|True|False)")
_COMMENT = ("//", "/*", "*", "# ")


def doubts(changes: Iterable[Change], judges: Judges, before: Read, after: Read) -> tuple[DoubtfulLine, ...]:
    """Return the doubts about what an attempt changed; `judges` tells judge files, the others read the base and the work."""
    asked = (change for change in changes if not judges(change.path))
    return tuple(islice((doubt for change in asked for doubt in _about(change, judges, before, after)), _MOST))


def _about(change: Change, judges: Judges, before: Read, after: Read) -> Iterator[DoubtfulLine]:
    """Yield one doubt for each rule, at its first line."""
    path, data = change.path, (after(change.path) or b"")[:_LARGEST]
    added = _added((before(path) or b"")[:_LARGEST], data)
    found: dict[str, set[int]] = {}
    for line, rule in _in_file(change, data, added, judges, after):
        found.setdefault(rule, set()).add(line)
    for rule, lines in found.items():
        first, more = min(lines), f" (and {len(lines) - 1} more)" if len(lines) > 1 else ""
        sentence, text = f"{path}:{first}{more} {RULES[rule]}", added.get(first, "").strip()[:_SHOWN]
        yield DoubtfulLine(path=path, line=first, rule=rule, sentence=sentence, text=text)


def _added(old: bytes, new: bytes) -> Lines:
    """Return the lines that a file has more of than before; which of them is the new one makes no difference."""
    then, now = (re.split("\r\n?|\n", data.decode("utf-8", "replace")) for data in (old, new))
    had, has = Counter(then), Counter(now)
    return {number: line for number, line in enumerate(now, 1) if has[line] > had[line] and line.strip()}


def _in_file(change: Change, data: bytes, added: Lines, judges: Judges, read: Read) -> Seen:
    path, patterns = change.path, PATTERNS.get("." + change.path.rpartition(".")[2], {})
    if change.status == "A" and (NEW_NAME.fullmatch(path) or _shadows(path, read)):
        yield 1, "takes_name"
    if _holds_code(data) or (change.new_mode == _LINK and patterns):
        yield 1, "hides_code"
        return
    seen = _in_python(data, added, judges, read) if path.endswith(".py") else _in_lines(added, patterns)
    for line, rule in seen:
        if rule != EXITS_WELL:
            yield line, rule
        elif not PROGRAM.search(data):
            yield line, "ends_process"


def _in_python(data: bytes, added: Lines, judges: Judges, read: Read) -> Seen:
    try:
        every = statements(data, added)
    except ValueError:  # not Python as this one knows it
        yield from _in_lines(added, PATTERNS[".py"])
        return
    for one in every:
        for rule in (rule for rule, known in PATTERNS[".py"].items() if known.search(one.text)):
            if rule != "loads_runner" or one.where != "main":  # a file may test itself when it is the program
                yield one.line, "ends_process" if rule == EXITS_WELL and one.where == "module" else rule
        if asks(one.text, one.compared):
            yield one.line, "asks_for_tests"
        if any(judges(path) and read(path) is not None for path in _imported(one.text)):
            yield one.line, "loads_runner"
        if any(judges(path) and read(path) is not None for path in _OPENED.findall(one.text)):
            yield one.line, "touches_tests"
        if (found := _REPLACED.match(one.text)) and _is_module(found[1], data, read):
            yield one.line, "replaces_work"


def _imported(statement: str) -> list[str]:
    """Return the files of the modules that a statement may import."""
    words = statement.replace(",", " ").split()
    names = words[1:] if words[0] == "import" else []
    if words[0] == "from":
        names = [words[1], *(f"{words[1]}.{name}" for name in words[3:])]
    return [f"{name.replace('.', '/')}.py" for name in names]


def _is_module(name: str, data: bytes, read: Read) -> bool:
    """Whether a file imports this module, and the work has it."""
    path = name.replace(".", "/")
    imported = re.search(rf"\bimport\b[^\n]{{0,200}}\b{name.rpartition('.')[2]}\b".encode(), data)
    return imported is not None and any(read(f"{folder}{path}.py") is not None for folder in ("", "src/"))


def _in_lines(added: Lines, patterns: dict[str, re.Pattern[str]]) -> Seen:
    whole, first = "", 0
    for number, line in added.items() if patterns else ():
        whole, first = (whole + line, first) if whole else (line, number)
        if line.endswith("\\"):
            whole = whole[:-1]  # it goes on in the next line
            continue
        if not whole.lstrip().startswith(_COMMENT):
            yield from ((first, rule) for rule, known in patterns.items() if known.search(whole))
        whole = ""


def _shadows(path: str, read: Read) -> bool:
    """Whether a new module stands where Python may take it for one of the library."""
    folder, _, name = path.removesuffix(".py").removesuffix("/__init__").rpartition("/")
    library = path.endswith(".py") and name in sys.stdlib_module_names and "/" not in folder
    return library and read(f"{folder}/__init__.py".lstrip("/")) is None


def _holds_code(data: bytes) -> bool:
    """Whether a file is a program, compiled Python, or an archive of modules."""
    compiled = data[:4] in (b"\x7fELF", b"\xcf\xfa\xed\xfe") or data[2:4] == b"\r\n"
    return b"\0" in data and (compiled or (data[:2] == b"PK" and b".py" in data))
