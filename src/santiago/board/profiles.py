"""Which kind of developer a ticket asks for, by `profile=<slug>` in its next action or its note."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from santiago.contract.patterns import pattern
from santiago.contract.record import record

if TYPE_CHECKING:
    from santiago.contract.board import Card

GENERALIST = "generalist"
_ALIASES = {
    GENERALIST: ("general", "default"),
    "backend-api": ("backend", "api", "server", "backendapi"),
    "frontend-ui": ("frontend", "ui", "web"),
    "data-engineering": ("data", "data-eng", "pipeline"),
    "infra-automation": ("infra", "devops", "platform"),
    "refactoring-specialist": ("refactor", "refactoring", "cleanup", "cleanup-specialist"),
}
_KNOWN = {alias: slug for slug, aliases in _ALIASES.items() for alias in (slug, *aliases)}
_HINT = pattern(r"(?<![\w-])profile\s{0,8}[:=]\s{0,8}([A-Za-z0-9_-]{1,60})", re.IGNORECASE)


@record
class Hint:
    """A profile, and the field that named it."""

    profile: str
    source: Literal["next_action", "note", "default"]


def hint(card: Card) -> Hint:
    """Return the profile that a ticket asks for. Unknown slugs are ignored."""
    if found := _named(card.next_action):
        return Hint(profile=found, source="next_action")
    if found := _named(card.note):
        return Hint(profile=found, source="note")
    return Hint(profile=GENERALIST, source="default")


def claim_lines(card: Card) -> tuple[str, ...]:
    """Return what a claim prints before the ticket itself."""
    if card.queue != "developer-todo":
        return ()
    found = hint(card)
    return f"CLAIM_PROFILE_HINT:{found.profile}", f"CLAIM_PROFILE_SOURCE:{found.source}"


def _named(text: str) -> str | None:
    slugs = (match[1].lower().replace("_", "-") for match in _HINT.finditer(text))
    return next((_KNOWN[slug] for slug in slugs if slug in _KNOWN), None)
