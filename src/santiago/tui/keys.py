"""The keys of the browser: what each does, and the command that does the same; help, footer and documentation read this."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from santiago.report.page import Line

if TYPE_CHECKING:
    from collections.abc import Sequence


class Key(NamedTuple):
    """One key, or several that do the same."""

    keys: str
    """As Textual names them, with commas between."""
    shown: str
    """As people read it."""
    action: str
    """The method of the screen without its `action_`."""
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


def table(keys: Sequence[Key]) -> str:
    """Return keys as the table of the documentation."""
    rows = [f"| {key.shown} | {key.does} | `{key.command}` |" for key in keys]
    return "\n".join(["| key | what it does | the command that does the same |", "|---|---|---|", *rows])


def as_lines(keys: Sequence[Key]) -> list[Line]:
    """Return keys as a page, each with its command below it."""
    return [
        line for key in keys for line in (Line(f"{key.shown:<12} {key.does}"), Line(f"{'':12} $ {key.command}", "dim"))
    ]
