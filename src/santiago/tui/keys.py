"""The keys of the screens: what each does, and the command that does the same; help, footer and documentation read this."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from santiago.report.page import Line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.binding import BindingType


class Key(NamedTuple):
    """One key, or several that do the same."""

    keys: str
    """As Textual names them, with commas between."""
    shown: str
    """As people read it."""
    action: str
    """The method of the screen without its `action_`, with what it is given."""
    label: str
    """One word for the footer; empty if it is not shown there."""
    does: str
    command: str
    """The command that does the same."""


WATCH = (
    Key("enter", "enter", "enter", "run", "run the selection; without one, unfold a chunk or read a story", "santiago resume RUN --chunks 4-6"),
    Key("space", "space, click", "pick", "pick", "put the chunk into the selection; runs nothing", "santiago resume RUN --chunks 4 --dry-run"),
    Key("v", "v", "range", "range", "select from here to wherever the cursor goes", "santiago resume RUN --chunks 4-6 --dry-run"),
    Key("c", "c", "type_selection", "", 'type a selection: 4-6, 6-4, 4..6, 4,5, "a label"', "santiago resume RUN --chunks 4-6 --dry-run"),
    Key("a", "a", "answer", "answer", "answer an open question", "santiago answer RUN QUESTION ANSWER"),
    Key("s", "s", "stop", "stop", "stop at the next safe boundary; again, at once", "santiago stop RUN [--now]"),
    Key("r", "r", "resume", "resume", "go on with this run, or with the latest that is not finished", "santiago resume RUN"),
    Key("g", "g", "grant", "", "go on with more attempts for what failed or is spent", "santiago resume RUN --add-attempts 2"),
    Key("p", "p", "pause", "pause", "pause after each chunk, on or off", "santiago pause RUN [--off]"),
    Key("h", "h", "hint", "hint", "leave a hint for the story's next attempt", "santiago hint RUN STORY --text TEXT"),
    Key("e", "e", "change", "change", "ask for a change: a running attempt stops at once", "santiago change RUN STORY --text TEXT"),
    Key("f", "f", "follow", "follow", "go to what runs or failed, and stay with it until the cursor is moved", "santiago log RUN --follow"),
    Key("o", "o", "runs", "runs", "choose another run, or a planning session", "santiago watch RUN"),
    Key("slash", "/", "filter", "filter", "only stories with these words in them, or in this state", "santiago status RUN --stories"),
    Key("left,right", "left, right", "", "", "fold and unfold a chunk", "santiago status RUN --stories"),
    Key("1", "1", "page('story')", "", "page: how the story stands, its attempts, its budget", "santiago show RUN STORY"),
    Key("2", "2", "page('agent')", "", "page: what its agent does, its to-do list", "santiago show RUN STORY"),
    Key("3", "3", "page('log')", "", "page: what its agent printed", "santiago show RUN STORY --log"),
    Key("4", "4", "page('changes')", "", "page: what it changed", "santiago show RUN STORY --patch"),
    Key("5", "5", "page('criteria')", "", "page: criteria with their evidence, checks, findings", "santiago show RUN STORY"),
    Key("tab", "tab", "", "", "go between the list and the page", "santiago show RUN STORY"),
    Key("escape", "esc", "back", "", "end the filter, empty the selection, go back to the list", "santiago status RUN"),
    Key("question_mark", "?", "keys", "keys", "this list", "santiago watch --help"),
    Key("q,ctrl+c", "q", "leave", "quit", "leave; the run goes on", "santiago log RUN --follow"),
)  # fmt: skip
REVIEW = (
    Key("c", "c", "continue", "Continue planning", "plan on: a turn of all agents, with a line of what you say", "santiago review SESSION --continue TEXT"),
    Key("e", "e", "edit", "Quick edit", "a turn of one agent, with a line of what you say", "santiago review SESSION --edit TEXT"),
    Key("f", "f", "finalize", "Finalize + execute", "make it final, and carry it out or not yet", "santiago review SESSION --finalize --revision N"),
    Key("x", "x", "cancel", "Cancel", "end the review without a run, after asking; it can be taken up again", "santiago review SESSION --cancel"),
    Key("t", "t", "take_up", "Take up", "go on with a turn that was interrupted, or a review that was cancelled", "santiago review SESSION --take-up"),
    Key("m", "m", "more_turns", "More turns", "allow more turns, where all are used", "santiago review SESSION --add-turns N"),
    Key("a", "a", "answer", "Answer", "answer what an agent asks", "santiago answer SESSION QUESTION ANSWER"),
    Key("r", "r", "begin", "Begin the run", "begin the run that the plan became, where it has not begun", "santiago resume RUN"),
    Key("w", "w", "run", "Watch the run", "go to the run that the plan became; b comes back", "santiago watch RUN"),
    Key("slash", "/", "filter", "filter", "only stories with these words in them", "santiago review SESSION --plain"),
    Key("left_square_bracket", "[, ]", "revision(-1)", "revisions", "the revision before, or the next one", "santiago review SESSION --revision N"),
    Key("1", "1", "page('story')", "", "page: the story, with criteria, files, checks, and what changed in it", "santiago review SESSION --json"),
    Key("2", "2", "page('changes')", "", "page: everything that the revision changed", "santiago review SESSION --plain"),
    Key("3", "3", "page('turns')", "", "page: turns, what was said, and what each agent does", "santiago review SESSION --plain"),
    Key("4", "4", "page('findings')", "", "page: findings of the plan, requirements that no story covers", "santiago review SESSION --plain"),
    Key("left,right", "left, right", "", "", "fold and unfold a chunk", "santiago review SESSION --plain"),
    Key("enter", "enter, click", "enter", "", "unfold a chunk, or read a story; decides nothing", "santiago review SESSION --json"),
    Key("tab", "tab", "", "", "go between the list and the page", "santiago review SESSION --plain"),
    Key("escape", "esc", "back", "", "end the filter, go back to the list and to the latest revision", "santiago review SESSION"),
    Key("o", "o", "sessions", "open", "choose another session, or a run", "santiago review SESSION, santiago watch RUN"),
    Key("question_mark", "?", "keys", "keys", "this list", "santiago review --help"),
    Key("q,ctrl+c", "q", "leave", "quit", "leave; the review stays open, and what runs goes on", "santiago status"),
)  # fmt: skip
CONTROLS = frozenset({"continue", "edit", "finalize", "cancel", "take_up", "answer", "run", "begin", "more_turns"})
"""Actions of the review that are shown only while the session allows them. Hidden actions have no key."""
BOARD = (
    Key("c", "c", "claim", "claim", "claim the ticket for an hour: one attempt at it begins", "santiago queue claim --queue QUEUE --worker NAME --id ID"),
    Key("m", "m", "move", "move", "move the ticket to another queue, with evidence or a word on why", "santiago queue move --id ID --to QUEUE"),
    Key("a", "a", "accept", "accept", "accept work of the review, where the done gate lets it through", "santiago queue move --id ID --to done --actor NAME"),
    Key("d", "d", "decide", "decide", "replan, bypass or stop a ticket without attempts; drop any other", "santiago queue decide ID replan|bypass|stop|drop"),
    Key("right", "left, right", "beside(1)", "queues", "go to the queue beside", "santiago queue list --queue QUEUE"),
    Key("tab", "tab", "", "", "go between the queues and the ticket", "santiago queue list"),
    Key("question_mark", "?", "keys", "keys", "this list", "santiago board --help"),
    Key("q,ctrl+c", "q", "leave", "quit", "leave; the board stays as it is", "santiago queue stats"),
)  # fmt: skip


def table(keys: Sequence[Key]) -> str:
    """Return keys as the table of the documentation."""
    rows = [f"| {key.shown} | {key.does} | `{key.command}` |" for key in keys]
    return "\n".join(["| key | what it does | the command that does the same |", "|---|---|---|", *rows])


def as_lines(keys: Sequence[Key]) -> list[Line]:
    """Return keys as a page, each with its command below it."""
    return [
        line for key in keys for line in (Line(f"{key.shown:<12} {key.does}"), Line(f"{'':12} $ {key.command}", "dim"))
    ]


def bindings(keys: Sequence[Key]) -> list[BindingType]:
    """Return what Textual binds to keys. Of two that go to and fro, the screen itself binds the other one."""
    return [(key.keys, key.action) for key in keys if key.action]
