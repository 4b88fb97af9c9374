"""What the texts of a ticket ask for: its priority, and the kind of developer. Blocked tickets are listed by priority and age."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

from santiago.contract.lazy_regex import pattern
from santiago.contract.moments import ms_of
from santiago.contract.record import record

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from santiago.contract.board import Card

NONE = "NO_BLOCKED_TICKETS"
_TAG = pattern(r"(?<![\w-])p([0-3])(?!-?\w)", re.IGNORECASE)
_DAY_MS = 86_400_000
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


FIELDS = (
    "priority", "age_days", "id", "error_class", "attempt_count", "retry_budget", "updated_at", "title", "next_action",
)  # fmt: skip
"""What is told of a blocked ticket, in the order of the TSV columns."""


def priority(card: Card) -> int:
    """Return 0 (most urgent) to 3: the most urgent tag in title, note or next action, else by the error class."""
    tags = _TAG.findall(f"{card.title}\n{card.note}\n{card.next_action}")
    if tags:
        return int(min(tags))
    if card.error_class == "hard_fail" or card.spent:
        return 1
    return 2 if card.error_class in ("dependency_blocked", "soft_fail") else 3


def label(card: Card) -> str:
    """Return the priority as text: P0 to P3."""
    return f"P{priority(card)}"


def triage(cards: Iterable[Card], now: str) -> list[dict[str, Any]]:
    """Return the blocked tickets that need somebody's attention, by priority, then oldest first."""
    stuck = [card for card in cards if card.queue == "blocked" and not card.decided]
    stuck.sort(key=lambda card: (priority(card), card.updated_at, card.arrival))
    return [
        {"priority": label(card), "age_days": age_days(card.updated_at, now)}
        | {name: getattr(card, name) for name in FIELDS[2:]}
        for card in stuck
    ]


def age_days(since: str, now: str) -> int:
    """Return the whole days between two times; 0 where the clock went back."""
    return max(0, ms_of(now) - ms_of(since)) // _DAY_MS


def as_tsv(rows: Sequence[dict[str, Any]]) -> str:
    """Return the rows as text with a header, or NO_BLOCKED_TICKETS."""
    lines = [
        "\t".join(FIELDS),
        *("\t".join(re.sub(r"[\t\r\n]", " ", str(row[name])) for name in FIELDS) for row in rows),
    ]
    return "\n".join(lines) if rows else NONE


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
