"""A tree of values with line numbers. Both JSON and YAML are parsed into it.

A scalar keeps its text as written, so that ids such as 003, 1.10 and NO survive.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

from santiago.contract.lazy_regex import pattern
from santiago.contract.record import lean
from santiago.planner.draft import DocumentError

MAX_DEPTH = 200
MAX_NODES = 2_000_000
MAX_DIGITS = 1_000
"""The most characters of one number. A longer one is no priority and no id, and int() takes quadratic time for it."""

ScalarKind = Literal["string", "number", "bool", "null"]


@lean()
class Scalar:
    line: int
    text: str
    kind: ScalarKind = "string"
    literal: bool = False
    """A YAML block scalar that keeps its line ends. Its text begins on the line after `line`."""


@lean()
class Array:
    line: int
    items: list[Node] = field(default_factory=list)


class Field(NamedTuple):
    """One entry of an object."""

    key: str
    line: int
    """Line of the key."""
    value: Node


@lean()
class Object:
    line: int
    fields: dict[str, Field] = field(default_factory=dict)
    """In document order, by key as written."""
    _folded: dict[str, Field] | None = field(default=None, repr=False, compare=False)

    def field(self, key: str, *aliases: str) -> Field | None:
        """Return the entry with the first of these names that the object has. `dependsOn` and `depends_on` are the same name."""
        folded = self._folded or self._fold()
        for name in (key, *aliases):
            if (found := folded.get(fold_key(name))) is not None:
                return found
        return None

    def pick(self, names: tuple[str, ...]) -> list[Field]:
        """Return the entries with one of these folded names, in the order of the names."""
        folded, ranks = self._folded or self._fold(), _ranks(names)
        found = [(ranks[name], entry) for name, entry in folded.items() if name in ranks]
        return [entry for _, entry in sorted(found)] if len(found) > 1 else [entry for _, entry in found]

    def said(self, names: tuple[str, ...]) -> Field | None:
        """Return the first of these entries that has a text."""
        return next((entry for entry in self.pick(names) if as_text(entry.value)), None)

    def _fold(self) -> dict[str, Field]:
        self._folded = {fold_key(name): entry for name, entry in reversed(self.fields.items())}
        return self._folded

    def get(self, key: str, *aliases: str) -> Node | None:
        found = self.field(key, *aliases)
        return found.value if found else None

    def text(self, key: str, *aliases: str) -> str:
        """Return the text of a scalar entry, stripped; empty if there is none."""
        return as_text(self.get(key, *aliases))


Node: TypeAlias = "Scalar | Array | Object"


class Builder:
    """A tree that grows value by value. It limits depth and size, and refuses a key that an object has twice."""

    def __init__(self) -> None:
        self.count = 0
        self.stack: list[Array | Object] = []
        """The open lists and objects."""
        self.keys: list[tuple[str, int] | None] = []
        """For each of them, the key whose value comes next, with its line."""
        self.roots: list[Node] = []

    def open(self, node: Array | Object) -> None:
        if len(self.stack) >= MAX_DEPTH:
            raise DocumentError(node.line, f"nested deeper than {MAX_DEPTH} levels", "Flatten the document.")
        self.add(node)
        self.stack.append(node)
        self.keys.append(None)

    def close(self) -> None:
        self.stack.pop()
        self.keys.pop()

    def awaits_key(self) -> Object | None:
        """Return the innermost open object if its next key comes here, else None."""
        parent = self.stack[-1] if self.stack else None
        return parent if isinstance(parent, Object) and self.keys[-1] is None else None

    def key(self, parent: Object, name: str, line: int) -> None:
        if before := parent.fields.get(name):
            message = f'the key "{shortened(name)}" is there twice (also on line {before.line})'
            raise DocumentError(line, message, "Remove one of the two.")
        self.keys[-1] = (name, line)

    def add(self, node: Node) -> None:
        self.count += 1
        if self.count > MAX_NODES:
            raise DocumentError(node.line, f"more than {MAX_NODES} values", "Split the document.")
        parent = self.stack[-1] if self.stack else None
        if parent is None:
            self.roots.append(node)
        elif isinstance(parent, Array):
            parent.items.append(node)
        elif waiting := self.keys[-1]:
            parent.fields[waiting[0]] = Field(*waiting, node)
            self.keys[-1] = None


def shortened(text: str) -> str:
    """Return the first characters of a text, with unprintable ones replaced."""
    line = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text[:40])
    return line + ("…" if len(text) > 40 else "")


_JOINTS = pattern(r"[\s_.\-]+")
_CAMEL = pattern(r"(?<=[a-z0-9])(?=[A-Z])|[_\-]+")


@lru_cache(maxsize=256)
def _ranks(names: tuple[str, ...]) -> dict[str, int]:
    return {name: rank for rank, name in reversed(list(enumerate(names)))}


@lru_cache(maxsize=4096)
def fold_key(name: str) -> str:
    """Return one form for all spellings of a key: `filesToModify` = `files_to_modify`."""
    return _JOINTS.sub("", name).lower()


def spoken(name: str) -> str:
    """Return a key as words: `out of scope` for `outOfScope` and `out_of_scope`."""
    return _CAMEL.sub(" ", name).strip().lower()


def as_text(node: Node | None) -> str:
    """Return the text of a scalar, stripped; empty for null, lists and objects."""
    return node.text.strip() if isinstance(node, Scalar) and node.kind != "null" else ""


def as_bool(node: Node | None) -> bool | None:
    """Return a truth value, even if it is a word in quotes; None if the value is something else."""
    word = as_text(node).lower()
    return {"true": True, "yes": True, "false": False, "no": False}.get(word)


def items(node: Node | None) -> list[Node]:
    """Return the elements of a list. A single value is a list of one; null and empty texts give an empty list."""
    if isinstance(node, Array):
        return node.items
    if node is None or (isinstance(node, Scalar) and (node.kind == "null" or not node.text.strip())):
        return []
    return [node]


def objects(node: Node | None) -> list[Object]:
    return [each for each in items(node) if isinstance(each, Object)]


def text_lines(node: Scalar) -> Iterator[tuple[str, int]]:
    """Yield the lines of a text with their line numbers. In a text that keeps no line ends, all have the first number."""
    for offset, text in enumerate(node.text.split("\n")):
        yield text, node.line + 1 + offset if node.literal else node.line


def flat(node: Node | None) -> str:
    """Return any value as plain text, one line per scalar, indented by depth; empty if there is no text in it."""
    lines: list[str] = []
    stack: list[tuple[str, Node | None, int]] = [("", node, 0)]
    while stack:
        label, value, depth = stack.pop()
        if isinstance(value, Scalar) or value is None:
            if text := as_text(value):
                lines.append("  " * depth + label + text)
        elif isinstance(value, Object) and label.endswith("- "):
            leads = [label, *["  " * (len(label) // 2)] * len(value.fields)]
            entries = zip(leads, value.fields.values(), strict=False)
            stack += reversed([(f"{lead}{entry.key}: ", entry.value, depth) for lead, entry in entries])
        else:
            if label:
                lines.append(("  " * depth + label).rstrip())
                depth += 1 + (len(label) - len(label.lstrip(" -"))) // 2
            named = value.fields.values() if isinstance(value, Object) else ()
            stack += reversed([(f"{entry.key}: ", entry.value, depth) for entry in named])
            stack += reversed([("- ", each, depth) for each in value.items] if isinstance(value, Array) else [])
    return "\n".join(lines)
