"""The list of chunks and their stories: only the lines that are seen are made, so that thousands cost no more than a few."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.style import Style
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView

from santiago.contract.phases import StoryPhase
from santiago.contract.record import record
from santiago.executor.budget import Budget
from santiago.report.agent_activity import Doing
from santiago.report.chunks import rows_of
from santiago.report.evidence import AttemptEvidence
from santiago.report.marks import mark
from santiago.report.measures import span
from santiago.report.story_status import waits_for
from santiago.tui.look import BASE, RAISED, TONES, cut, sign, strip, tone_of
from santiago.util.text import fit, flat, width

if TYPE_CHECKING:
    from typing import ClassVar

    from textual import events
    from textual.binding import BindingType
    from textual.strip import Strip

    from santiago.contract.state import StoryState
    from santiago.report.chunks import ChunkRow
    from santiago.report.following import Following
    from santiago.tui.look import Part

LABEL = 12
"""Columns that a label has at least."""


@record
class Row:
    """One line of the list: a chunk, or a story of it."""

    chunk: int
    """Number of the chunk."""
    story: str = ""


class Rows(ScrollView, can_focus=True):
    """Chunks with their stories below them, and a cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("up,k", "move(-1)"), ("down,j", "move(1)"), ("pageup", "move(-10)"), ("pagedown", "move(10)"),
        ("home", "move(-1000000)"), ("end", "move(1000000)"), ("left", "fold(True)"), ("right", "fold(False)"),
    ]  # fmt: skip

    class Moved(Message):
        """The cursor is on another row."""

    class Clicked(Message):
        """A row was clicked; the cursor is on it."""

        def __init__(self, *, further: bool) -> None:
            self.further = further
            """Shift was held: the selection reaches to here."""
            super().__init__()

    def __init__(self, *, plain: bool) -> None:
        super().__init__(id="rows")
        self.plain = plain
        self.chunks: list[ChunkRow] = []
        self.rows: list[Row] = []
        self.cursor = 0
        self.open: set[int] = set()
        """Numbers of the chunks whose stories are shown."""
        self.picked: frozenset[int] = frozenset()
        self._following: Following | None = None
        self._doing: tuple[str, Doing] | None = None
        self._members: dict[str, list[str]] = {}
        self._known = 0
        self._ids = 2
        """Columns of the longest id."""
        self._counts = 3
        """Columns of how many stories of a chunk are done."""

    # What is shown

    def show(self, following: Following) -> None:
        """Show another run, with the chunk unfolded that matters now."""
        self._following, self._known, self.cursor, self.picked = following, 0, 0, frozenset()
        self.open = set()
        self.update()
        self.unfold_current()

    def unfold_current(self) -> None:
        """Unfold the chunk that is under way or did not get through, and go there."""
        words = ("current", "failed", "blocked", "next")
        found = next((row for word in words for row in self.chunks if row.mark.word == word), None)
        if found is not None:
            self.open.add(found.number)
            self._flatten()
            self.go(self.rows.index(Row(chunk=found.number)))

    def update(self) -> None:
        """Take over what the run says now; the cursor stays on what it was on."""
        if self._following is None:
            return
        run, here = self._following.run, self.current
        if len(run.stories) != self._known:
            self._known, self._members = len(run.stories), {}
            self._ids = min(14, max(len(story.id) for story in run.stories))
            for story in run.stories:
                self._members.setdefault(story.chunk, []).append(story.id)
        self._counts = max(len(f"{len(chunk.stories)}") for chunk in run.state.chunks.values()) * 2 + 1
        self.chunks = rows_of(run, self._following.utc())
        self._flatten()
        if here is not None and here in self.rows:
            self.cursor = self.rows.index(here)
        self.refresh()

    def _flatten(self) -> None:
        self.rows = []
        for chunk in self.chunks:
            self.rows.append(Row(chunk=chunk.number))
            if chunk.number in self.open:
                self.rows += [Row(chunk=chunk.number, story=name) for name in self._members.get(chunk.label, ())]
        self.cursor = max(0, min(self.cursor, len(self.rows) - 1))
        self.virtual_size = Size(self.size.width, len(self.rows))
        self.refresh()

    @property
    def current(self) -> Row | None:
        return self.rows[self.cursor] if self.rows else None

    def chunk_of(self, row: Row) -> ChunkRow:
        return self.chunks[row.chunk - 1]

    # Moving

    def action_move(self, by: int) -> None:
        self.go(self.cursor + by)

    def go(self, place: int) -> None:
        self.cursor = max(0, min(place, len(self.rows) - 1))
        top, seen = round(self.scroll_offset.y), max(1, self.size.height)
        if not top <= self.cursor < top + seen:
            self.scroll_to(y=self.cursor if self.cursor < top else self.cursor - seen + 1, animate=False)
        self.refresh()
        self.post_message(self.Moved())

    def action_fold(self, fold: bool) -> None:
        row = self.current
        if row is None or (fold and row.chunk not in self.open):
            return
        if fold:
            self.open.discard(row.chunk)
            place = self.rows.index(Row(chunk=row.chunk))
            self._flatten()
            self.go(place)
        else:
            self.open.add(row.chunk)
            self._flatten()

    def on_click(self, event: events.Click) -> None:
        place = round(self.scroll_offset.y) + event.y
        if 0 <= place < len(self.rows):
            self.go(place)
            self.post_message(self.Clicked(further=event.shift))

    def on_resize(self) -> None:
        self.virtual_size = Size(self.size.width, len(self.rows))

    # Lines

    def render_line(self, y: int) -> Strip:
        place, columns = y + round(self.scroll_offset.y), self.size.width
        if place >= len(self.rows) or self._following is None:
            return strip([], columns, plain=self.plain)
        row, here = self.rows[place], place == self.cursor
        under = BASE + RAISED if here else BASE
        before: list[Part] = [
            ("┃" if row.chunk in self.picked else " ", TONES["busy"]),
            ("▸" if here else " ", TONES["head"] if self.has_focus else TONES["dim"]),
        ]
        parts = self._of_story(row.story, columns - 2) if row.story else self._of_chunk(self.chunk_of(row), columns - 2)
        return strip([*before, *parts], columns, plain=self.plain, under=under)

    def _of_chunk(self, chunk: ChunkRow, columns: int) -> list[Part]:
        numbers = max(2, len(str(len(self.chunks))))
        left = f"{chunk.number:>{numbers}} "
        counts = f"{chunk.done}/{chunk.stories}"
        told = f"  {counts:>{self._counts}}  {chunk.mark.word:<9}"
        tail = chunk.note or (span(chunk.ms) if chunk.ms else "")
        room = columns - numbers - 3 - width(told)
        label = min(
            max(LABEL, *(width(flat(one.label)) for one in self.chunks)), max(LABEL, room - (26 if room > 50 else 8))
        )
        label = min(label, max(4, room))
        tail_room = room - label - 2
        style = tone_of(chunk.mark)
        return [
            (left, TONES["dim"]),
            (f"{sign(chunk.mark, plain=self.plain)} ", style),
            (fit(flat(chunk.label), label), Style(bold=True)),
            (told, style),
            (f"  {cut(tail, tail_room)}" if tail_room > 3 and tail else "", TONES["dim"]),
        ]

    def _of_story(self, name: str, columns: int) -> list[Part]:
        assert self._following is not None
        run = self._following.run
        story, planned = run.state.stories[name], self._following.by_id[name]
        look = mark(story, at_rest=run.worker is None)
        indent = "     " if columns > 50 else "  "
        indent += "  " if story.parent else ""
        before = f"{indent}{sign(look, plain=self.plain)} "
        most = Budget(run.run_input.limits, run.state).attempts_of(story)
        tries = f"{story.counted}/{most}" if story.attempts else ""
        room = columns - width(before) - self._ids - 2
        now = max(12, room * 2 // 5)
        title = max(4, room - now - 9) if columns > 50 else max(4, room - 12)
        now = room - title - 9 if columns > 50 else 10
        told = f"  {tries:>5}  {cut(self._now(story), now)}" if columns > 50 else f"  {cut(look.word, 10)}"
        style = tone_of(look)
        return [
            (before, style),
            (f"{name:<{self._ids}}  ", TONES["dim"]),
            (fit(flat(planned.title), title), Style()),
            (told, style),
        ]

    def _agents(self) -> Doing:
        """Return what follows the agents; it is made when the first is seen at work, and anew for another start."""
        assert self._following is not None
        run = self._following.run
        agent = run.history.start.get("agent", "")
        if self._doing is None or (self._doing[0], self._doing[1].out_dir) != (agent, run.out_dir):
            self._doing = agent, Doing(run.out_dir, agent)
        return self._doing[1]

    def _now(self, story: StoryState) -> str:
        """Say the state in a word, and what happens now."""
        assert self._following is not None
        run = self._following.run
        word = mark(story, at_rest=run.worker is None).word
        if story.phase is StoryPhase.RUNNING and run.worker:
            if AttemptEvidence(run.out_dir, story.id, story.attempts).has_ended():
                return "running  verify"
            return f"running  {self._agents().words(story.id, story.attempts)}".rstrip()
        if story.phase is StoryPhase.DONE:
            return f"{word}  {story.proof or ''}".rstrip()
        if story.phase is StoryPhase.READY and story.attempts and story.reason:
            return f"{word}  again after {story.reason}"
        waits = waits_for(run.state, story)
        return waits if waits.startswith("waits") else f"{word}  {waits}".rstrip()
