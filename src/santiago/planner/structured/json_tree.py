"""JSON as a value tree with lines, strict where the standard library is lenient and without recursion.

One pass: the line number grows with the white space between tokens (a JSON string holds no line end), open lists and
objects stand on a stack, so that a hostile document costs no more than its length.
"""

from __future__ import annotations

import re
from json.decoder import JSONDecodeError, scanstring  # type: ignore[attr-defined]  # there, but not in the stubs
from math import isinf

from santiago.contract.patterns import pattern
from santiago.planner.errors import DocumentError
from santiago.planner.structured.tree import Array, Field, Node, Object, Scalar

MAX_DEPTH = 200
MAX_NODES = 2_000_000
MAX_DIGITS = 1_000
"""Characters of one number; a longer one is no priority and no id, and int() of it takes quadratic time."""

_WS = r"[ \t\n\r]*+"
_PLAIN = r"\"([^\"\\\x00-\x1f]*+)\""
_VALUE = pattern(
    _WS + r"(?:" + _PLAIN + r"|(\")|(-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?)(?![\w.+-])"
    r"|(true|false|null)\b|([\[{])|(\]))"
)
_PLAIN_VALUE, _STRING, _NUMBER, _WORD, _OPEN, _CLOSE = range(1, 7)
_KEY = pattern(_WS + r"(?:" + _PLAIN + r"|(\")|(}))")
_PLAIN_KEY, _QUOTE, _NO_KEY = range(1, 4)
_COLON = pattern(_WS + r":")
_NEXT = pattern(_WS + r"([,\]}])")
_SPACE = pattern(_WS)
_SURROGATE = pattern("[\ud800-\udfff]")

VALUE, FIRST_ITEM, KEY, FIRST_KEY, COLON, NEXT, END = range(7)
_EXPECTED = {
    VALUE: "a value",
    FIRST_ITEM: "a value or ]",
    KEY: "a key in double quotes",
    FIRST_KEY: "a key in double quotes or }",
    COLON: "a colon behind the key",
    NEXT: "a comma or the end of the list or object",
    END: "the end of the document",
}
_HINT = "Check it with a JSON tool; JSON has no comments, no trailing commas and only double quotes."


def parse(text: str, first_line: int = 1) -> Node:
    """Return the tree of a JSON text; raises DocumentError with the line of the first mistake."""
    return _Parser(text, first_line).run()


def parse_lines(text: str) -> Array:
    """Return the objects of a JSON Lines text as one list."""
    found = Array(1)
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            found.items.append(parse(line, number))
    return found


def is_lines(text: str) -> bool:
    """Tell whether a text is JSON Lines: a whole object on its first line, and another one begins behind it."""
    head = text.lstrip()
    end = head.find("\n")
    first, rest = head[:end].rstrip(), head[end:].lstrip()
    return end > 0 and first[:1] == "{" and first[-1:] == "}" and rest[:1] == "{"


class _Parser:
    """`state` is what may come next, `stack` holds the open lists and objects, `key` waits for its value."""

    def __init__(self, text: str, first_line: int) -> None:
        self.source = text
        self.at = 0
        self.line = first_line
        self.state = VALUE
        self.stack: list[Array | Object] = []
        self.key = ("", 0)
        self.root: Node | None = None
        self.count = 0

    def run(self) -> Node:
        while self.state != END:
            if self.state == NEXT:
                self.next()
            elif self.state in (VALUE, FIRST_ITEM):
                self.value()
            else:
                self.read_key()
        self.skip()
        if self.at < len(self.source) or self.root is None:
            raise self.unexpected()
        return self.root

    def value(self) -> None:
        token = _VALUE.match(self.source, self.at)
        if token is None:
            raise self.unexpected()
        kind = token.lastindex or 0
        self.line += self.source.count("\n", self.at, token.start(kind))
        self.at = token.end()
        if kind == _PLAIN_VALUE:
            self.add(Scalar(self.line, self.checked(token[kind])))
        elif kind == _STRING:
            self.add(Scalar(self.line, self.string()))
        elif kind == _NUMBER:
            self.add(Scalar(self.line, self.number(token[kind]), "number"))
        elif kind == _WORD:
            self.add(Scalar(self.line, token[kind], "null" if token[kind] == "null" else "bool"))
        elif kind == _OPEN:
            self.open(token[kind])
        elif self.state == FIRST_ITEM:
            self.close()
        else:
            self.at -= 1
            raise self.unexpected()

    def read_key(self) -> None:
        token = _KEY.match(self.source, self.at)
        if token is None:
            raise self.unexpected()
        kind = token.lastindex or 0
        self.line += self.source.count("\n", self.at, token.start(kind))
        self.at = token.end()
        if kind == _NO_KEY:
            if self.state != FIRST_KEY:
                self.at -= 1
                raise self.unexpected()
            self.close()
            return
        self.key = (self.checked(token[kind]) if kind == _PLAIN_KEY else self.string(), self.line)
        self.state = COLON
        colon = _COLON.match(self.source, self.at)
        if colon is None:
            raise self.unexpected()
        self.line += self.source.count("\n", self.at, colon.end())
        self.at = colon.end()
        self.state = VALUE

    def next(self) -> None:
        token = _NEXT.match(self.source, self.at)
        is_object = isinstance(self.stack[-1], Object)
        if token is None or token[1] == ("]" if is_object else "}"):
            raise self.unexpected()
        self.line += self.source.count("\n", self.at, token.end())
        self.at = token.end()
        if token[1] == ",":
            self.state = KEY if is_object else VALUE
        else:
            self.close()

    def open(self, mark: str) -> None:
        if len(self.stack) >= MAX_DEPTH:
            raise DocumentError(self.line, f"nested deeper than {MAX_DEPTH} levels", "Flatten the document.")
        node = Object(self.line) if mark == "{" else Array(self.line)
        self.add(node)
        self.stack.append(node)
        self.state = FIRST_KEY if mark == "{" else FIRST_ITEM

    def close(self) -> None:
        self.stack.pop()
        self.state = NEXT if self.stack else END

    def string(self) -> str:
        """A string with escapes, or a broken one: `at` stands behind its opening quote."""
        try:
            text, self.at = scanstring(self.source, self.at, True)
        except JSONDecodeError as error:
            message = error.msg[:1].lower() + error.msg[1:].removesuffix(" at").removesuffix(" starting")
            raise DocumentError(self.line, f"broken text in quotes: {message}", _HINT) from None
        return self.checked(text)

    def checked(self, text: str) -> str:
        if not text.isascii() and _SURROGATE.search(text):
            raise DocumentError(self.line, "half a surrogate pair in a text", "Write the character itself.")
        return text

    def number(self, text: str) -> str:
        if len(text) > MAX_DIGITS:
            raise DocumentError(self.line, f"a number of {len(text)} characters", "Put long digits in quotes.")
        if ("e" in text or "E" in text) and isinf(float(text)):
            raise DocumentError(self.line, f"{text} is larger than any number", "Put it in quotes.")
        return text

    def add(self, node: Node) -> None:
        self.count += 1
        if self.count > MAX_NODES:
            raise DocumentError(self.line, f"more than {MAX_NODES} values", "Split the document.")
        if not self.stack:
            self.root, self.state = node, END
            return
        self.state = NEXT
        parent = self.stack[-1]
        if isinstance(parent, Array):
            parent.items.append(node)
            return
        key, line = self.key
        if key in parent.fields:
            before = parent.fields[key].line
            raise DocumentError(line, f'the key "{_short(key)}" stands twice (line {before})', "Remove one of the two.")
        parent.fields[key] = Field(key, line, node)

    def skip(self) -> None:
        space = _SPACE.match(self.source, self.at)
        end = space.end() if space else self.at
        self.line += self.source.count("\n", self.at, end)
        self.at = end

    def unexpected(self) -> DocumentError:
        """What stands here instead of what the state asks for."""
        self.skip()
        found = self.source[self.at : self.at + 40].split("\n")[0]
        if not found:
            return DocumentError(self.line, f"the JSON ends where {_EXPECTED[self.state]} should follow", _HINT)
        if word := re.match(r"-?(?:NaN|Infinity)\b", found):
            return DocumentError(self.line, f"{word[0]} is no JSON number", "Use null or a text in quotes.")
        return DocumentError(self.line, f"expected {_EXPECTED[self.state]}, found {_short(found)}", _HINT)


def _short(text: str) -> str:
    line = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text[:40])
    return line + ("…" if len(text) > 40 else "")
