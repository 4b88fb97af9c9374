"""Finds the rules that may fit a line quickly, by the one key that most rules test."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from santiago.agent.lookup import fits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.agent.profile import Rule

MOST_KNOWN = 500
"""How many values of the key are remembered with their rules."""


class Dispatch:
    """The rules of one profile, grouped by the value of that key, such as `type`."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = tuple(rule for rule in rules if rule.matches is None)
        keys = Counter(path for rule in self.rules for path in rule.when if "." not in path)
        self.key = keys.most_common(1)[0][0] if keys else ""
        self.known: dict[str | None, tuple[Rule, ...]] = {}

    def of(self, document: dict[str, Any]) -> tuple[Rule, ...]:
        """Return, in order, the rules that this document may fit."""
        value = document.get(self.key)
        if value is not None and not isinstance(value, str):
            return self.rules
        found = self.known.get(value)
        if found is None:
            found = tuple(rule for rule in self.rules if self._may_fit(rule, value))
            if len(self.known) < MOST_KNOWN and len(value or "") < MOST_KNOWN:
                self.known[value] = found
        return found

    def _may_fit(self, rule: Rule, value: str | None) -> bool:
        return self.key not in rule.when or fits({self.key: value}, {self.key: rule.when[self.key]})
