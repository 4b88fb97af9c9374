"""Parse YAML into a tree of values with line numbers, from parser events: no recursion, no constructors, text kept as written.

What makes YAML dangerous or surprising is refused: aliases that multiply a document, tags that build objects, duplicate keys.

YAML that is not quite valid is mended, by putting texts such as `- [ ] Given …`, `@name` or `key: a: b` in quotes. The parser
reports the line of an error. The list item or value on that line is put in quotes, and the text is parsed again, a limited
number of times. Line numbers stay the same. The caller reports every line that was quoted.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from math import isinf
from typing import Any, NamedTuple

from santiago.contract.lazy_regex import pattern
from santiago.planner.draft import DocumentError
from santiago.planner.structured.tree import MAX_DIGITS, Array, Builder, Node, Object, Scalar, ScalarKind

_CORE = "tag:yaml.org,2002:"
_TAGS = frozenset({None, "!", *(_CORE + name for name in ("str", "int", "float", "bool", "null", "map", "seq"))})
_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOL = frozenset({"true", "True", "TRUE", "false", "False", "FALSE"})
_NUMBER = pattern(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$")


class YamlSyntaxError(DocumentError):
    """The text breaks the grammar of YAML, which quoting one line may repair. `origin` is the line where the broken part began."""

    def __init__(self, line: int, message: str, origin: int) -> None:
        super().__init__(line, message, "Put texts that hold : # [ ] { } @ * ` in quotes, and indent with spaces.")
        self.origin = origin


def parse(text: str, first_line: int = 1) -> Node:
    """Return the tree of a YAML text, or a list of trees if it has several documents."""
    builder = _Builder(first_line)
    for event in _events(text, first_line):
        builder.take(event)
    documents = builder.roots
    if len(documents) > 1:
        return Array(documents[0].line, documents)
    return documents[0] if documents else Scalar(first_line, "", "null")


def _events(text: str, first_line: int) -> Iterator[Any]:
    # Imported here, since documents of other formats do not need it.
    import yaml

    loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        yield from yaml.parse(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line if mark else 0
        origin = error.context_mark.line if error.context_mark else line
        message = f"not valid YAML: {_one_line(error.problem or error.context or 'unreadable')}"
        raise YamlSyntaxError(line + first_line, message, origin + first_line) from None
    except yaml.YAMLError as error:
        position = getattr(error, "position", 0)
        line = text.count("\n", 0, position) + first_line
        reason = _one_line(str(getattr(error, "reason", "") or error))
        raise DocumentError(line, f"not valid YAML: {reason}", "Remove control characters.") from None


class _Builder(Builder):
    """Builds the tree from parser events."""

    def __init__(self, first_line: int) -> None:
        super().__init__()
        self.first = first_line
        self.anchors: dict[str | None, Node] = {}
        """Values by their anchor. The last value without one is under None, which no alias names."""

    def take(self, event: Any) -> None:
        line = event.start_mark.line + self.first
        match type(event).__name__:
            case "ScalarEvent":
                self.check_tag(event.tag, line)
                scalar = _scalar(event, line)
                self.scalar(scalar)
                self.anchors[event.anchor] = scalar
            case "SequenceStartEvent":
                self.begin(Array(line), event)
            case "MappingStartEvent":
                self.begin(Object(line), event)
            case "SequenceEndEvent" | "MappingEndEvent":
                self.close()
            case "AliasEvent":
                self.alias(event.anchor, line)
            case "DocumentStartEvent":
                self.anchors.clear()

    def begin(self, node: Array | Object, event: Any) -> None:
        self.check_tag(event.tag, node.line)
        if self.awaits_key():
            raise YamlSyntaxError(node.line, "not valid YAML: a list or object as a key", node.line)
        self.open(node)
        self.anchors[event.anchor] = node

    def alias(self, anchor: str, line: int) -> None:
        node = self.anchors.get(anchor)
        if node is None:
            raise YamlSyntaxError(line, f"not valid YAML: there is no anchor &{_one_line(anchor)}", line)
        if not isinstance(node, Scalar):
            message = f"*{_one_line(anchor)} repeats a list or object"
            raise DocumentError(line, message, "Write it out; santiago does not expand YAML aliases.")
        self.scalar(Scalar(line, node.text, node.kind))

    def check_tag(self, tag: str | None, line: int) -> None:
        if tag not in _TAGS:
            shown = _one_line((tag or "").replace(_CORE, "!!"))
            raise DocumentError(line, f"the tag {shown} is not read", "Remove the tag, or put the text in quotes.")

    def scalar(self, node: Scalar) -> None:
        if (parent := self.awaits_key()) is not None:
            self.key(parent, node.text, node.line)
        else:
            self.add(node)


def _scalar(event: Any, line: int) -> Scalar:
    text: str = event.value
    if event.style in ("|", ">"):
        return Scalar(line, text, literal=event.style == "|")
    kind: ScalarKind = "null" if text in _NULL else "bool" if text in _BOOL else "string"
    if len(text) <= MAX_DIGITS and _NUMBER.match(text) and not isinf(float(text)):
        kind = "number"
    plain = not event.style and event.tag in (None, *(_CORE + name for name in ("int", "float", "bool", "null")))
    return Scalar(line, text, kind if plain else "string")


def _one_line(text: str) -> str:
    return " ".join(text.split())[:100]


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


def parse_mended(text: str, first_line: int = 1) -> tuple[Node, list[int]]:
    """Return the tree, and the lines that had to be quoted. Raises DocumentError if quoting does not help."""
    try:
        return parse(text, first_line), []
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
                tree = parse("\n".join(self.lines), self.first)
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
            start = _begin_of(self.written, at)
            for candidate, whole in ((start, False), (_sentence_around(self.written, start), True)):
                if candidate is not None and self.quote(candidate, whole=whole):
                    return True
        return False

    def quote(self, start: int, *, whole: bool) -> bool:
        """Put a value and its continuation lines in double quotes. Return False if there is no value, or it was tried before."""
        line = _parts_of(self.written[start])
        column = line.content if whole else line.value
        rest = line.text[column:]
        if (start, whole) in self.tried or not rest.strip() or rest.startswith("#"):
            return False
        self.tried.add((start, whole))
        end = _last_deeper(self.written, start, line.content if line.has_key and not whole else line.indent)
        if end == start and len(rest := rest.strip()) > 1 and rest[0] == rest[-1] and rest[0] in "\"'":
            rest = rest[1:-1]
        self.lines[start] = line.text[:column] + '"' + _escaped(rest)
        for below in range(start + 1, end + 1):
            self.lines[below] = _escaped(self.written[below])
        self.lines[end] = self.lines[end].rstrip() + '"'
        self.quoted = {at for at in self.quoted if not start <= at <= end} | {start}
        return True


def _begin_of(lines: list[str], at: int) -> int:
    """Return the line on which the text begins that this line is a part of."""
    here = _parts_of(lines[at])
    if here.is_item:
        return at
    for above in range(at - 1, -1, -1):
        line = _parts_of(lines[above])
        is_silent = not line.text.strip() or line.text.lstrip().startswith("#")
        if is_silent or line.indent >= here.indent or line.content > here.indent:
            continue
        if line.content == here.indent and line.has_key:
            return at
        rest = line.text[line.value :]  # a plain text that begins here may go on in the lines below
        return above if rest and not _OPENS_BLOCK.match(rest) and rest[0] not in "\"'" else at
    return at


def _sentence_around(lines: list[str], at: int) -> int | None:
    """Return the list item around an entry if the item is a sentence, and None if it is a record of fields."""
    indent = _parts_of(lines[at]).indent
    for above in range(at, -1, -1):
        line = _parts_of(lines[above])
        if line.is_item and (line.indent < indent or above == at):
            return None if line.has_key and _NAME.match(line.text, line.content) else above
        if line.text.strip() and line.indent < indent:
            indent = line.indent
    return None


def _last_deeper(lines: list[str], start: int, indent: int) -> int:
    """Return the last of the following lines that are indented deeper than this."""
    told = (below for below in range(start + 1, len(lines)) if lines[below].strip())
    return max(takewhile(lambda below: _parts_of(lines[below]).indent > indent, told), default=start)


def _parts_of(text: str) -> _Line:
    found = _DASHES.match(text)
    indent, content = (found.end(1), found.end()) if found else (0, 0)
    key = _KEY.match(text, content)
    return _Line(indent, content, key.end() if key else content, text)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\t", " ")
