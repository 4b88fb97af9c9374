"""Parse JSON into a tree of values with line numbers. It is stricter than the standard library and uses no recursion.

It makes one pass. Line ends occur only between tokens, so counting them there gives the line number. Open lists and objects
are on a stack, so a hostile document takes linear time.
"""

from __future__ import annotations

import re
from json.decoder import JSONDecodeError, scanstring  # type: ignore[attr-defined]  # there, but not in the stubs
from math import isinf
from typing import NamedTuple

from santiago.contract.lazy_regex import pattern
from santiago.planner.draft import DocumentError
from santiago.planner.structured.tree import MAX_DIGITS, Array, Builder, Node, Object, Scalar, ScalarKind, shortened

_TOKEN = pattern(
    r"[ \t\n\r]*+(?:\"([^\"\\\x00-\x1f]*+)\"|(\")|(-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?)(?![\w.+-])"
    r"|(true|false|null)\b|([\[\]{},:]))"
)
_PLAIN, _ESCAPED, _NUMBER, _WORD, _MARK = range(1, 6)
_SPACE = pattern(r"[ \t\n\r]*+")
_SURROGATE = pattern("[\ud800-\udfff]")


class _State(NamedTuple):
    """A place between two tokens: what may come next, in words and as first characters."""

    expected: str
    marks: str
    value: bool = False


_VALUE = _State("a value", "[{", value=True)
_FIRST_ITEM = _State("a value or ]", "[{]", value=True)
_KEY = _State("a key in double quotes", '"')
_FIRST_KEY = _State("a key in double quotes or }", '"}')
_COLON = _State("a colon behind the key", ":")
_IN_LIST = _State("a comma or the end of the list or object", ",]")
_IN_OBJECT = _State("a comma or the end of the list or object", ",}")
_END = _State("the end of the document", "")
_HINT = "Check it with a JSON tool; JSON has no comments, no trailing commas and only double quotes."


def parse(text: str, first_line: int = 1) -> Node:
    """Return the tree of a JSON text. Raises DocumentError with the line of the first mistake."""
    return _Parser(text, first_line).run()


def parse_lines(text: str) -> Array:
    return Array(1, [parse(line, number) for number, line in enumerate(text.split("\n"), 1) if line.strip()])


def is_lines(text: str) -> bool:
    """Tell whether a text is JSON Lines: its first line is an object, and another object begins behind it."""
    first, _, rest = text.lstrip().partition("\n")
    return first[:1] == "{" and first.rstrip()[-1:] == "}" and rest.lstrip()[:1] == "{"


class _Parser(Builder):
    """`state` says what may come next."""

    def __init__(self, text: str, first_line: int) -> None:
        super().__init__()
        self.source = text
        self.at = 0
        self.line = first_line
        self.state = _VALUE

    def run(self) -> Node:
        while self.state is not _END:
            self.step()
        self.skip()
        if self.at < len(self.source):
            raise self.unexpected()
        return self.roots[0]

    def step(self) -> None:
        """Read one token. Raises DocumentError if it may not stand here."""
        token = _TOKEN.match(self.source, self.at)
        if token is None:
            raise self.unexpected()
        kind = token.lastindex or _MARK
        text: str = token[kind]
        fits = self.state.value or (kind in (_PLAIN, _ESCAPED) and '"' in self.state.marks)
        if not (text in self.state.marks if kind == _MARK else fits):
            raise self.unexpected()
        self.line += self.source.count("\n", self.at, token.start(kind))
        self.at = token.end()
        if kind == _MARK:
            self.mark(text)
        elif kind == _NUMBER:
            self.value(self.number(text), "number")
        elif kind == _WORD:
            self.value(text, "null" if text == "null" else "bool")
        else:
            self.string(self.checked(text if kind == _PLAIN else self.escaped()))

    def mark(self, mark: str) -> None:
        if mark in "[{":
            self.open(Array(self.line) if mark == "[" else Object(self.line))
            self.state = _FIRST_ITEM if mark == "[" else _FIRST_KEY
        elif mark in "]}":
            self.close()
            self.go_on()
        elif mark == ":":
            self.state = _VALUE
        else:
            self.state = _VALUE if isinstance(self.stack[-1], Array) else _KEY

    def go_on(self) -> None:
        """Set the state to what may follow a value."""
        self.state = _END if not self.stack else _IN_LIST if isinstance(self.stack[-1], Array) else _IN_OBJECT

    def value(self, text: str, kind: ScalarKind = "string") -> None:
        self.add(Scalar(self.line, text, kind))
        self.go_on()

    def string(self, text: str) -> None:
        if (parent := self.awaits_key()) is not None:
            self.key(parent, text, self.line)
            self.state = _COLON
        else:
            self.value(text)

    def escaped(self) -> str:
        """Read a string with escapes, or report a broken one. `at` is behind its opening quote."""
        try:
            text, self.at = scanstring(self.source, self.at, True)
        except JSONDecodeError as error:
            message = error.msg[:1].lower() + error.msg[1:].removesuffix(" at").removesuffix(" starting")
            raise DocumentError(self.line, f"broken text in quotes: {message}", _HINT) from None
        return str(text)

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

    def skip(self) -> None:
        begins = self.at
        self.at = _SPACE.match(self.source, begins).end()  # type: ignore[union-attr]  # it matches nothing, too
        self.line += self.source.count("\n", begins, self.at)

    def unexpected(self) -> DocumentError:
        """Return the error about the text here, which is not what the state expects."""
        self.skip()
        found = self.source[self.at : self.at + 40].split("\n")[0]
        if not found:
            return DocumentError(self.line, f"the JSON ends where {self.state.expected} should follow", _HINT)
        if word := re.match(r"-?(?:NaN|Infinity)\b", found):
            return DocumentError(self.line, f"{word[0]} is not a JSON number", "Use null or a text in quotes.")
        return DocumentError(self.line, f"expected {self.state.expected}, found {shortened(found)}", _HINT)
