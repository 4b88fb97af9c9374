"""The board's rules once more, written down as tables, for tests to hold the code against."""

from santiago.contract.board import Card, Phase, Queue, Status

TODO = ("scientist-todo", "developer-todo")
PENDING = "pending"

STANDS: dict[Queue, dict[Status, tuple[Phase, ...]]] = {
    "planner-inbox": {"pending": ("planned", "ready"), "in_progress": ("running",)},
    "scientist-todo": {"pending": ("planned", "ready"), "in_progress": ("running",)},
    "developer-todo": {"pending": ("planned", "ready"), "in_progress": ("running",)},
    "planner-review": {"review": ("evidence_collected", "verified")},
    "blocked": {"blocked": ("planned", "ready", "running", "evidence_collected", "verified")},
    "done": {"done": ("done",)},
}
"""Which status a ticket has in each queue, and in which phases it can stand there."""

WAYS: dict[Queue, str] = {
    "planner-inbox":  "inbox scientist developer review blocked     ",
    "scientist-todo": "inbox scientist developer review blocked     ",
    "developer-todo": "inbox scientist developer review blocked     ",
    "planner-review": "inbox scientist developer review blocked     ",
    "blocked":        "inbox scientist developer        blocked     ",
    "done":           "                                             ",
}  # fmt: skip
"""Where a move leads from each queue. To done leads no move: the done gate accepts, from the review alone."""

ARRIVES: dict[Phase, dict[str, str]] = {
    # from                   to the inbox      to a worker's queue   to the review                  to blocked
    "planned":            {"inbox": "planned ready", "todo": "ready", "review": "", "blocked": "planned ready"},
    "ready":              {"inbox": "planned ready", "todo": "ready", "review": "", "blocked": "ready"},
    "running":            {"inbox": "planned ready", "todo": "ready", "review": "evidence_collected",
                           "blocked": "running evidence_collected ready"},
    "evidence_collected": {"inbox": "planned ready", "todo": "ready", "review": "evidence_collected verified",
                           "blocked": "evidence_collected verified ready"},
    "verified":           {"inbox": "planned ready", "todo": "ready", "review": "verified", "blocked": "verified ready"},
}  # fmt: skip
"""In which phases a ticket may arrive. A claim alone makes one running; who holds it may also leave it so in its queue."""

_SHORT: dict[Queue, str] = {
    "planner-inbox": "inbox", "scientist-todo": "scientist", "developer-todo": "developer", "planner-review": "review",
    "blocked": "blocked", "done": "done",
}  # fmt: skip


def is_way(start: Queue, to: Queue) -> bool:
    return _SHORT[to] in WAYS[start].split()


def arrivals(card: Card, to: Queue) -> list[str]:
    """Return the phases in which a ticket may arrive in a queue, by the tables."""
    phases = ARRIVES[card.phase]["todo" if to in TODO else _SHORT[to]].split()
    return [*phases, "running"] if card.held and card.queue == to and to in TODO else phases
