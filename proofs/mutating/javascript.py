"""Ways of easing a test of tape or ava, by its title."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BEGINS = re.compile(
    r"^([ \t]*)((?:\w+\.)?test)\((['\"`])(.*)\3, (?:async )?(?:function \w*\((\w*)\)|(\w+) =>|\((\w*)\) =>) \{$"
)
ASSERTS = re.compile(r"^(\s*\w+)\.(?:is|deepEqual|equal|strictEqual|same|throws|notThrows)\((.+)\);$")


class Block(NamedTuple):
    """The lines of one test: `lines[start:end]`, the first with its title, the last with its closing bracket."""

    lines: list[str]
    start: int
    end: int
    speaker: str


def eased(
    kind: str,
    titles: list[str],
    names: list[str],
    now: Callable[[str], str | None],
    before: Callable[[str], str | None],
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the manners of one kind and the new texts of those files that hold the titles."""
    texts = {name: now(name) or "" for name in names}
    if kind == "revert":
        yield "files", {name: before(name) or "" for name in names}
        return
    for manner, edit in MANNERS.get(kind, {}).items():
        new = dict(texts)
        for title in titles:
            new = {name: _ease(text, title, edit) for name, text in new.items()}
        changed = {name: text for name, text in new.items() if text != texts[name]}
        if changed:
            yield manner, changed


def _ease(text: str, title: str, edit: Callable[[Block], list[str]]) -> str:
    block = _find(text.split("\n"), title)
    return "\n".join([*block.lines[: block.start], *edit(block), *block.lines[block.end :]]) if block else text


def _find(lines: list[str], title: str) -> Block | None:
    for start, line in enumerate(lines):
        found = BEGINS.match(line)
        if found and found[4].replace("\\", "") == title:
            ending = f"{found[1]}}});"
            end = next((at for at in range(start, len(lines)) if lines[at] == ending), None)
            return Block(lines, start, end + 1, found[5] or found[6] or found[7]) if end else None
    return None


def _skipped(block: Block) -> list[str]:
    first, *rest = block.lines[block.start : block.end]
    # A part of a tape test is skipped by an option, all others by a method.
    if re.match(r"\s*\w+\.test\(", first):
        return [re.sub(r"(, (?:async )?(?:function|\())", r", { skip: true }\1", first, count=1), *rest]
    return [first.replace("test(", "test.skip(", 1), *rest]


def _emptied(block: Block) -> list[str]:
    return [block.lines[block.start], *_end(block), block.lines[block.end - 1]]


def _ended_first(block: Block) -> list[str]:
    return [block.lines[block.start], *_end(block), "\t\treturn;", *block.lines[block.start + 1 : block.end]]


def _end(block: Block) -> list[str]:
    """Return what a test needs to pass: tape asks for an end, ava for an assertion."""
    ends = any(f"{block.speaker}.end();" in line for line in block.lines[block.start : block.end])
    return [f"\t\t{block.speaker}.{'end' if ends else 'pass'}();"]


def _some_value(block: Block) -> list[str]:
    return [ASSERTS.sub(r"\1.true([\2].length > 0);", line) for line in block.lines[block.start : block.end]]


def _assertions_out(block: Block) -> list[str]:
    inner = [line for line in block.lines[block.start : block.end] if not ASSERTS.match(line)]
    return [inner[0], f"\t\t{block.speaker}.pass();", *inner[1:]]


def _uncalled(block: Block) -> list[str]:
    first, *rest = block.lines[block.start : block.end]
    return [re.sub(r"(\w+\.)?test\(", "void (", first, count=1), *rest]


MANNERS: dict[str, dict[str, Callable[[Block], list[str]]]] = {
    "drop": {"removed": lambda _: []},
    "skip": {"marked": _skipped},
    "empty": {"body": _emptied, "returns first": _ended_first},
    "weaken": {"some value": _some_value, "assertions out": _assertions_out},
    "rename": {"not called": _uncalled},
}
