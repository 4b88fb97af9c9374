"""The keys of the board: what each does, and the command that does the same; help and footer read this."""

from __future__ import annotations

from santiago.tui.keys import Key

BOARD = (
    Key("c", "c", "claim", "claim", "claim the ticket for an hour: one attempt at it begins", "santiago queue claim --queue QUEUE --worker NAME --id ID"),
    Key("m", "m", "move", "move", "move the ticket to another queue, with evidence or a word on why", "santiago queue move --id ID --to QUEUE"),
    Key("a", "a", "accept", "accept", "accept work of the review, where the done gate lets it through", "santiago queue move --id ID --to done --actor NAME"),
    Key("d", "d", "decide", "decide", "replan, bypass or stop a ticket without attempts; drop any other", "santiago queue decide ID replan|bypass|stop|drop"),
    Key("left,right", "left, right", "", "queues", "go to the queue beside", "santiago queue list --queue QUEUE"),
    Key("tab", "tab", "", "", "go between the queues and the ticket", "santiago queue list"),
    Key("question_mark", "?", "keys", "keys", "this list", "santiago board --help"),
    Key("q,ctrl+c", "q", "leave", "quit", "leave; the board stays as it is", "santiago queue stats"),
)  # fmt: skip
