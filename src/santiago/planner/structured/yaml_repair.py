"""Read YAML that is not quite valid, by putting texts such as `- [ ] Given …`, `@name` or `key: a: b` in quotes.

The parser reports the line of an error. The list item or value on that line is put in quotes, and the text is parsed again,
a limited number of times. Line numbers stay the same. The caller reports every line that was quoted.
"""

from __future__ import annotations

from typing import NamedTuple

from santiago.contract.patterns import pattern
from santiago.planner.structured import yaml_tree
from santiago.planner.structured.tree import Node
from santiago.planner.structured.yaml_tree import YamlSyntaxError

MAX_REPAIRS = 50
MAX_WORK = 32 * 2**20
"""The most characters parsed in all tries together; a large document gets fewer tries."""

_DASHES = pattern(r"(\s*)((?:- +)*)")
_KEY = pattern(r"(?:[\w$][^:#\"'\[\]{}]*?|\"[^\"]*\"|'[^']*')\s*:(?:\s+|$)")
_NAME = pattern(r"[\w-]+\s*:")
_OPENS_BLOCK = pattern(r"[|>][+-]?\d?[+-]?\s*(?:#.*)?$")


class _Line(NamedTuple):
    """The parts of a line."""

    indent: int
    content: int
    """Column behind the dashes."""
    value: int
    """Column of the value: behind the key, if there is one."""
    text: str

    @property
    def is_item(self) -> bool:
        return self.content > self.indent

    @property
    def has_key(self) -> bool:
        return self.value > self.content

    @property
    def begins_text(self) -> bool:
        """A plain text begins here, which the lines below may continue."""
        rest = self.text[self.value :]
        return bool(rest) and not _OPENS_BLOCK.match(rest) and rest[0] not in "\"'"


def parse(text: str, first_line: int = 1) -> tuple[Node, list[int]]:
    """Return the tree, and the lines that had to be quoted. Raises DocumentError if quoting does not help."""
    try:
        return yaml_tree.parse(text, first_line), []
    except YamlSyntaxError as error:
        return _Repair(text, first_line).run(error)


class _Repair:
    """`written` is the original text, `lines` the text with quotes, `tried` what was quoted: (line, whole item or only its value)."""

    def __init__(self, text: str, first_line: int) -> None:
        self.first = first_line
        self.written = text.split("\n")
        self.lines = self.written.copy()
        self.tried: set[tuple[int, bool]] = set()
        self.quoted: set[int] = set()
        self.tries = min(MAX_REPAIRS, MAX_WORK // max(len(text), 1))

    def run(self, error: YamlSyntaxError) -> tuple[Node, list[int]]:
        while len(self.tried) < self.tries and self.mend(error):
            try:
                tree = yaml_tree.parse("\n".join(self.lines), self.first)
                return tree, [self.first + at for at in sorted(self.quoted)]
            except YamlSyntaxError as again:
                error = again
        raise error

    def mend(self, error: YamlSyntaxError) -> bool:
        """Quote the text that caused the error: the value on that line, else the list item around it."""
        for number in dict.fromkeys((error.line, error.origin)):
            at = number - self.first
            if not 0 <= at < len(self.lines):
                continue
            start = _entry(self.written, at)
            for candidate, whole in ((start, False), (_item(self.written, start), True)):
                if candidate is not None and self.quote(candidate, whole=whole):
                    return True
        return False

    def quote(self, start: int, *, whole: bool) -> bool:
        """Put a value and its continuation lines in double quotes. Return False if there is no value, or it was tried before."""
        line = _read(self.written[start])
        column = line.content if whole else line.value
        rest = line.text[column:]
        if (start, whole) in self.tried or not rest.strip() or rest.startswith("#"):
            return False
        self.tried.add((start, whole))
        end = _end(self.written, start, line.content if line.has_key and not whole else line.indent)
        if end == start and len(rest := rest.strip()) > 1 and rest[0] == rest[-1] and rest[0] in "\"'":
            rest = rest[1:-1]
        self.lines[start] = line.text[:column] + '"' + _escaped(rest)
        for below in range(start + 1, end + 1):
            self.lines[below] = _escaped(self.written[below])
        self.lines[end] = self.lines[end].rstrip() + '"'
        self.quoted = {at for at in self.quoted if not start <= at <= end} | {start}
        return True


def _entry(lines: list[str], at: int) -> int:
    """Return the line on which the text begins that this line is a part of."""
    here = _read(lines[at])
    if here.is_item:
        return at
    for above in range(at - 1, -1, -1):
        line = _read(lines[above])
        is_silent = not line.text.strip() or line.text.lstrip().startswith("#")
        if is_silent or line.indent >= here.indent or line.content > here.indent:
            continue
        if line.content == here.indent and line.has_key:
            return at
        return above if line.begins_text else at
    return at


def _item(lines: list[str], at: int) -> int | None:
    """Return the list item around an entry if the item is a sentence, and None if it is a record of fields."""
    indent = _read(lines[at]).indent
    for above in range(at, -1, -1):
        line = _read(lines[above])
        if line.is_item and (line.indent < indent or above == at):
            return None if line.has_key and _NAME.match(line.text, line.content) else above
        if line.text.strip() and line.indent < indent:
            indent = line.indent
    return None


def _end(lines: list[str], start: int, indent: int) -> int:
    """Return the last of the following lines that are indented deeper than this."""
    end = start
    for below in range(start + 1, len(lines)):
        if lines[below].strip():
            if _read(lines[below]).indent <= indent:
                break
            end = below
    return end


def _read(text: str) -> _Line:
    found = _DASHES.match(text)
    indent, content = (found.end(1), found.end()) if found else (0, 0)
    key = _KEY.match(text, content)
    return _Line(indent, content, key.end() if key else content, text)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\t", " ")
