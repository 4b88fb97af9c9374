"""The list of a plan's chunks and stories in a review: only the lines that are seen are made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.style import Style
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView

from santiago.tui.look import BASE, RAISED, TONES, strip
from santiago.tui.rows import Row
from santiago.util.text import fit, flat, width

if TYPE_CHECKING:
    from typing import ClassVar

    from textual import events
    from textual.binding import BindingType
    from textual.strip import Strip

    from santiago.contract.plan import Story
    from santiago.report.review import ChunkRow, Review
    from santiago.tui.look import Part

_SIGNS = {"new": ("+", "good"), "changed": ("~", "warn"), "": (" ", "")}


class PlanRows(ScrollView, can_focus=True):
    """Chunks, folded, with their stories below them where they are unfolded; and a cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("up,k", "move(-1)"), ("down,j", "move(1)"), ("pageup", "move(-10)"), ("pagedown", "move(10)"),
        ("home", "move(-1000000)"), ("end", "move(1000000)"), ("left", "fold(True)"), ("right", "fold(False)"),
    ]  # fmt: skip

    class Moved(Message):
        """The cursor is on another row."""

    class Clicked(Message):
        """A row was clicked; the cursor is on it."""

    def __init__(self, *, plain: bool) -> None:
        super().__init__(id="rows")
        self.plain = plain
        self.chunks: tuple[ChunkRow, ...] = ()
        self.rows: list[Row] = []
        self.cursor = 0
        self.open: set[int] = set()
        """Numbers of the chunks whose stories are shown."""
        self.words: tuple[str, ...] = ()
        """What a story must hold to be shown; all of it."""
        self._review: Review | None = None
        self._stories: dict[str, Story] = {}
        self._texts: dict[str, str] = {}
        self._ids = self._labels = 2
        """Columns of the longest id, and of the longest label."""

    # What is shown

    def show(self, review: Review) -> None:
        """Show a plan; what was unfolded stays so, and the cursor stays where it was, as far as that is still there."""
        here, same = self.current, self._review is not None and self._review.plan is review.plan
        self._review, self.chunks = review, review.chunks
        if not same:
            self._stories = {story.id: story for chunk in review.chunks for story in chunk.stories}
            self._ids = min(14, max((len(name) for name in self._stories), default=2))
            self._labels = max((width(flat(one.label)) for one in review.chunks), default=2)
            self._texts = {}
        self._flatten()
        if here is not None and here in self.rows:
            self.cursor = self.rows.index(here)
        self.refresh()

    def unfold(self, numbers: set[int]) -> None:
        self.open |= numbers
        self._flatten()

    def find(self, text: str) -> None:
        """Show only what holds these words; nothing shows all."""
        self.words = tuple(text.casefold().split())
        self.cursor = 0
        self._flatten()
        if self.words and len(self.rows) > 1:
            self.cursor = 1
        self.post_message(self.Moved())

    def _flatten(self) -> None:
        self.rows = []
        for chunk in self.chunks:
            found = [one for one in chunk.stories if self._holds(one)] if self.words else chunk.stories
            if self.words and not found:
                continue
            self.rows.append(Row(chunk=chunk.number))
            if self.words or chunk.number in self.open:
                self.rows += [Row(chunk=chunk.number, story=one.id) for one in found]
        self.cursor = max(0, min(self.cursor, len(self.rows) - 1))
        self.virtual_size = Size(self.size.width, len(self.rows))
        self.refresh()

    def _holds(self, story: Story) -> bool:
        if story.id not in self._texts:
            parts = (story.id, story.title, story.chunk, *story.files, *story.requirements)
            self._texts[story.id] = " ".join(parts).casefold()
        return all(word in self._texts[story.id] for word in self.words)

    @property
    def current(self) -> Row | None:
        return self.rows[self.cursor] if self.rows else None

    @property
    def chunk(self) -> ChunkRow | None:
        """The chunk that the cursor is on or in."""
        return self.chunks[self.current.chunk - 1] if self.current else None

    @property
    def story(self) -> Story | None:
        return self._stories[self.current.story] if self.current and self.current.story else None

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
            self._flatten()
            self.go(self.rows.index(Row(chunk=row.chunk)))
        else:
            self.unfold({row.chunk})

    def on_click(self, event: events.Click) -> None:
        place = round(self.scroll_offset.y) + event.y
        if 0 <= place < len(self.rows):
            self.go(place)
            self.post_message(self.Clicked())

    def on_resize(self) -> None:
        self.virtual_size = Size(self.size.width, len(self.rows))

    # Lines

    def render_line(self, y: int) -> Strip:
        place, columns = y + round(self.scroll_offset.y), self.size.width
        if self._review is None or place >= len(self.rows):
            text = "no plan yet" if not self.chunks else "nothing holds these words"
            return strip(
                [(f"  {text}", TONES["dim"])] if not self.rows and place == 0 else [], columns, plain=self.plain
            )
        row, here = self.rows[place], place == self.cursor
        under = BASE + RAISED if here else BASE
        before: list[Part] = [("▸" if here else " ", TONES["head"] if self.has_focus else TONES["dim"])]
        parts = self._of_story(row.story, columns - 1) if row.story else self._of_chunk(row.chunk, columns - 1)
        return strip([*before, *parts], columns, plain=self.plain, under=under)

    def _of_chunk(self, number: int, columns: int) -> list[Part]:
        assert self._review is not None
        chunk = self.chunks[number - 1]
        sign = "▼" if self.words or number in self.open else "▶"
        told = f"  {len(chunk.stories)}"
        changed = f"  {chunk.changed} changed in rev {self._review.revision}" if chunk.changed else ""
        if self._labels + width(told + changed) + 2 > columns:
            changed = f"  ~{chunk.changed}" if chunk.changed else ""
        room = max(4, columns - 2 - width(told) - width(changed))
        return [
            (f"{sign} ", TONES["dim"]),
            (fit(flat(chunk.label), min(self._labels, room)), Style(bold=True)),
            (told, TONES["dim"]),
            (changed, TONES["warn"]),
        ]

    def _of_story(self, name: str, columns: int) -> list[Part]:
        assert self._review is not None
        sign, tone = _SIGNS[self._review.marks.get(name, "")]
        return [
            (f"  {sign} ", TONES[tone]),
            (f"{name:<{self._ids}}  ", TONES["dim"]),
            (fit(flat(self._stories[name].title), max(4, columns - 6 - self._ids)), TONES[tone]),
        ]
