"""A list of chunks and their stories, with a cursor and a filter. Only visible lines are rendered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text
from textual.containers import Horizontal
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.widgets import Input, Static

from santiago.contract.record import record
from santiago.tui.look import BASE, RAISED, TONES, strip

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import ClassVar

    from textual import events
    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.strip import Strip

    from santiago.contract.plan import Story
    from santiago.tui.look import Part


@record
class Row:
    """One line of the list: a chunk, or a story of it."""

    chunk: int
    """Number of the chunk."""
    story: str = ""


class Listing(ScrollView, can_focus=True):
    """A list of chunks, with the stories of unfolded ones. Subclasses decide what the lines show."""

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
            """Whether Shift was held, which extends the selection to here."""
            super().__init__()

    def __init__(self, *, plain: bool) -> None:
        super().__init__(id="rows")
        self.plain = plain
        self.rows: list[Row] = []
        self.cursor = 0
        self.follows = False
        """Whether the cursor goes where something happens. Whoever moves it ends that."""
        self.open: set[int] = set()
        """Numbers of the chunks whose stories are shown."""
        self.words: tuple[str, ...] = ()
        """The words of the filter. A story is shown if it has all of them."""
        self.texts: dict[str, str] = {}
        """Story → the text that the filter searches, cached."""

    def members(self) -> Iterable[tuple[int, Sequence[Story]]]:
        """Return the chunks by number, each with its stories."""
        raise NotImplementedError

    def of_chunk(self, number: int, columns: int) -> list[Part]:
        raise NotImplementedError

    def of_story(self, name: str, columns: int) -> list[Part]:
        raise NotImplementedError

    def before(self, row: Row) -> list[Part]:  # noqa: ARG002  # for those who mark rows
        """Return the parts before a row's text, such as a mark of selection."""
        return []

    def text_of(self, story: Story) -> str:
        """Return the text of a story that the filter searches."""
        if story.id not in self.texts:
            parts = (story.id, story.title, story.chunk, *story.files, *story.requirements)
            self.texts[story.id] = " ".join(parts).casefold()
        return self.texts[story.id]

    # What is shown

    def find(self, text: str) -> None:
        """Show only stories with these words; an empty text shows all."""
        self.words = tuple(text.casefold().split())
        self.cursor, self.follows = 0, False
        self.flatten()
        if self.words and len(self.rows) > 1:
            self.cursor = 1
        self.post_message(self.Moved())

    def flatten(self) -> None:
        """Make the rows again. The cursor stays on its row if that is still there."""
        here, self.rows = self.current, []
        for number, stories in self.members():
            found = [one for one in stories if self._holds(one)] if self.words else stories
            if self.words and not found:
                continue
            self.rows.append(Row(chunk=number))
            if self.words or number in self.open:
                self.rows += [Row(chunk=number, story=one.id) for one in found]
        if here is not None and here in self.rows:
            self.cursor = self.rows.index(here)
        self.cursor = max(0, min(self.cursor, len(self.rows) - 1))
        self.virtual_size = Size(self.size.width, len(self.rows))
        self.refresh()

    def _holds(self, story: Story) -> bool:
        text = self.text_of(story)
        return all(word in text for word in self.words)

    @property
    def current(self) -> Row | None:
        return self.rows[self.cursor] if self.rows else None

    # Moving

    def action_move(self, by: int) -> None:
        self.follows = False
        self.go(self.cursor + by)

    def go(self, place: int) -> None:
        self.cursor = max(0, min(place, len(self.rows) - 1))
        self._reveal()
        self.refresh()
        self.post_message(self.Moved())

    def _reveal(self) -> None:
        """Scroll to the cursor if it is out of sight. A list that was not laid out yet does so with its first size."""
        top, seen = round(self.scroll_offset.y), self.size.height
        if seen and not top <= self.cursor < top + seen:
            self.scroll_to(y=self.cursor if self.cursor < top else self.cursor - seen + 1, animate=False)

    def action_fold(self, fold: bool) -> None:
        row, self.follows = self.current, False
        if row is None or (fold and row.chunk not in self.open):
            return
        if fold:
            self.open.discard(row.chunk)
            self.cursor = self.rows.index(Row(chunk=row.chunk))
            self.flatten()
            self.go(self.cursor)
        else:
            self.open.add(row.chunk)
            self.flatten()

    def on_click(self, event: events.Click) -> None:
        place = round(self.scroll_offset.y) + event.y
        if 0 <= place < len(self.rows):
            self.follows = False
            self.go(place)
            self.post_message(self.Clicked(further=event.shift))

    def on_resize(self) -> None:
        self.virtual_size = Size(self.size.width, len(self.rows))
        self._reveal()

    def render_line(self, y: int) -> Strip:
        place, columns = y + round(self.scroll_offset.y), self.size.width
        if place >= len(self.rows):
            text = "no story has these words in it" if self.words else "no plan yet"
            shown = [(f"  {text}", TONES["dim"])] if not self.rows and place == 0 else []
            return strip(shown, columns, plain=self.plain)
        row, here = self.rows[place], place == self.cursor
        mark = ("▸" if here else " ", TONES["head"] if self.has_focus else TONES["dim"])
        before = [*self.before(row), mark]
        room = columns - len(before)
        parts = self.of_story(row.story, room) if row.story else self.of_chunk(row.chunk, room)
        return strip([*before, *parts], columns, plain=self.plain, under=BASE + RAISED if here else BASE)


class FilterLine(Horizontal):
    """The input line for the filter of a list, shown only while there is a filter. Enter goes to the list."""

    def compose(self) -> ComposeResult:
        yield Static(Text("filter >", style=TONES["dim"]))
        yield Input(id="filter", compact=True, select_on_focus=False)

    def begin(self) -> None:
        self.screen.add_class("filtering")
        self.query_one(Input).focus()

    def end(self) -> None:
        self.query_one(Input).value = ""
        self.screen.remove_class("filtering")

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.screen.query_one(Listing).find(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.screen.query_one(Listing).focus()
