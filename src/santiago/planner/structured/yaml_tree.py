"""Parse YAML into a tree of values with line numbers, from parser events: no recursion, no constructors, text kept as written.

What makes YAML dangerous or surprising is refused: aliases that multiply a document, tags that build objects, duplicate keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isinf
from typing import Any

from santiago.contract.patterns import pattern
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
        self.anchors: dict[str, Node] = {}

    def take(self, event: Any) -> None:
        line = event.start_mark.line + self.first
        match type(event).__name__:
            case "ScalarEvent":
                self.check_tag(event.tag, line)
                scalar = _scalar(event, line)
                self.scalar(scalar)
                self.anchored(event.anchor, scalar)
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
        self.anchored(event.anchor, node)

    def awaits_key(self) -> Object | None:
        """Return the innermost open object if its next key comes here, else None."""
        parent = self.stack[-1] if self.stack else None
        return parent if isinstance(parent, Object) and self.keys[-1] is None else None

    def anchored(self, anchor: str | None, node: Node) -> None:
        if anchor is not None:
            self.anchors[anchor] = node

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
    plain = not event.style and event.tag in (None, *(_CORE + name for name in ("int", "float", "bool", "null")))
    return Scalar(line, text, _kind(text) if plain else "string")


def _kind(text: str) -> ScalarKind:
    if text in _NULL:
        return "null"
    if text in _BOOL:
        return "bool"
    if len(text) <= MAX_DIGITS and _NUMBER.match(text) and not isinf(float(text)):
        return "number"
    return "string"


def _one_line(text: str) -> str:
    return " ".join(text.split())[:100]
