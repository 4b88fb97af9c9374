"""Reading makefiles and justfiles: which recipe a target stands for, what they include, which names are no files."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_HEAD = re.compile(r"([\w./$(){}-]+(?: +[\w./$(){}-]+)*) *::?(?!=)\s*([^=#;]*)(?:;(.*))?$")
_VARIABLE = re.compile(r"(?:override |export )*\s*(\w+)\s*(?:[:?+]|::)?=\s*(.*)$")
_INCLUDE = re.compile(r"\s*(-include|sinclude|include|import\??)\s+(.*)$")
_USE = re.compile(r"\$\((\w+)\)|\$\{(\w+)\}")
_LONGEST = 200_000
_MOST_LINES = 2_000
_LONGEST_LINE = 1_000
_LONGEST_VALUE = 500


@dataclass(slots=True)
class Rule:
    needs: list[str]
    recipe: list[str]


@dataclass(slots=True)
class Rules:
    """What makefiles say together."""

    rules: dict[str, Rule] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=lambda: {"MAKE": "make", "CURDIR": "."})
    phony: set[str] = field(default_factory=set)
    included: list[str] = field(default_factory=list)
    """Files that must be there."""
    optional: list[str] = field(default_factory=list)
    """Files that are taken if they are there."""

    def add(self, text: str) -> None:
        """Take in one more file."""
        current: Rule | None = None
        for line in text[:_LONGEST].replace("\\\n", " ").splitlines()[:_MOST_LINES]:
            if line.startswith(("\t", "    ")) and current is not None:
                current.recipe.append(line.strip().lstrip("@-+"))
            elif included := _INCLUDE.match(line):
                self._include(included[1], self.filled(included[2]).partition("#")[0].replace("'", "").split())
            elif variable := _VARIABLE.match(line):
                self.variables.setdefault(variable[1], self.filled(variable[2].strip())[:_LONGEST_VALUE])
            elif head := _HEAD.match(self.filled(line)):
                current = Rule(head[2].split(), [head[3].strip()] if head[3] else [])
                self._head(head[1].split(), current)

    def _include(self, word: str, paths: list[str]) -> None:
        plain = [path.rstrip(")") for path in paths if path != "$(wildcard"]
        (self.included if word in {"include", "import"} else self.optional).extend(plain)

    def _head(self, targets: list[str], rule: Rule) -> None:
        if ".PHONY" in targets:
            self.phony |= set(rule.needs)
        for target in targets:
            known = self.rules.get(target)
            # A later line may only name more of what a target needs.
            self.rules[target] = (
                rule if known is None or not known.recipe else Rule(known.needs + rule.needs, known.recipe)
            )

    def filled(self, text: str) -> str:
        """Return a text with the values of plain variables."""
        text = text[:_LONGEST_LINE]
        for _ in range(3):
            shorter = _USE.sub(lambda use: self.variables.get(use[1] or use[2], use[0]), text)[:_LONGEST_LINE]
            if shorter == text:
                break
            text = shorter
        return text

    def reached(self, targets: Iterable[str]) -> Iterator[tuple[str, Rule]]:
        """Yield the rules that making these targets runs; the first one where none is named."""
        waiting = list(targets) or [name for name in self.rules if not name.startswith(".")][:1]
        seen: set[str] = set()
        while waiting:
            target = waiting.pop(0)
            if target in self.rules and target not in seen:
                seen.add(target)
                waiting += self.rules[target].needs
                # Make puts in the variables last of all, when every file is read.
                recipe = [self.filled(line).replace("$$", "$") for line in self.rules[target].recipe]
                yield target, Rule(self.rules[target].needs, recipe)

    def names_only(self, targets: Iterable[str]) -> set[str]:
        """Return reached targets whose recipe makes no file of their name: were there one, it would not be run."""
        return {
            target
            for target, rule in self.reached(targets)
            if rule.recipe and target not in self.phony and not any(_makes(line, target) for line in rule.recipe)
        }


def _makes(line: str, target: str) -> bool:
    made = re.escape(target)
    return (
        "$@" in line
        or re.search(rf"(?:-o ?|> ?|\b(?:touch|mkdir|install|cp|mv|ar|ln)\b.*[ /]){made}\b", line) is not None
    )
