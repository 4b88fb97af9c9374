"""What the screens share: the frame with its page, messages, keys and windows, and the processes that are started from it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar, Generic, NamedTuple, TypeVar

from rich.text import Text
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Static

from santiago.contract.errors import SantiagoError
from santiago.contract.reasons import ExitCode
from santiago.report.page import Line
from santiago.report.run_list import run_rows
from santiago.report.session_review import session_rows
from santiago.tui.buttons import Button, Buttons
from santiago.tui.keys import as_lines
from santiago.tui.listing import FilterLine, Listing
from santiago.tui.look import TONES, cut, joined, shown
from santiago.tui.pane import Pane
from santiago.tui.windows import Deciding, Picking, Reading, Saying, sentence
from santiago.util.text import flat, width

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from textual.app import ComposeResult
    from textual.widget import Widget

    from santiago.app.detached import Detached
    from santiago.contract.state import Question
    from santiago.report.consents import Consent
    from santiago.tui.keys import Key

T = TypeVar("T")
Rows = TypeVar("Rows", bound=Listing)
LEAST = (40, 12)
"""Columns and rows that a screen needs."""
ROOMY = 50
"""Columns from which every page is named, and not only the one that is shown."""


class Head(NamedTuple):
    """What stands at the top of a screen."""

    name: str
    word: str
    """The state in a word or two."""
    tone: str
    first: list[str]
    """What stands beside them, as far as there is room."""
    second: list[str]


class BaseScreen(Screen[None]):
    """A screen with a page about what the cursor is on. Subclasses say what its head, its page and its keys are."""

    KEYS: ClassVar[tuple[Key, ...]] = ()
    CONTROLS: ClassVar[frozenset[str]] = frozenset()
    """Actions that are shown only while they are offered. Hidden actions have no key."""
    PAGES: ClassVar[tuple[str, ...]] = ("",)
    WIDE: ClassVar[int] = 100
    """Columns from which everything is shown side by side."""
    FORGETS: ClassVar[bool] = True
    """Whether a message is about the last key, and is dropped with the next one."""
    needing: ClassVar[str] = ""
    """The screen, as the sentence about its size calls it."""
    printing: ClassVar[str] = ""
    """The command that prints the same."""

    def __init__(self, *, plain: bool) -> None:
        super().__init__()
        self.plain = plain
        self.pane = Pane(plain=plain)
        self.page_shown = self.PAGES[0]
        self.told = ("", "")
        """The last message, and its tone."""
        self.damage = ""
        """Why what is shown cannot be read any more."""
        self.offered: frozenset[str] = frozenset()
        """Those of them that are possible now."""
        self.ready = False
        self._focused: Widget | None = None
        """What had the focus before everything was hidden. Nothing has it then, so that no key acts on what is not seen."""
        self._ticks = 0

    def compose(self) -> ComposeResult:
        yield Static(id="head")
        yield from self.body()
        yield Static(id="asks")
        yield Static(id="preview")
        yield from self.below()
        yield Buttons("actions", plain=self.plain, raised=True)
        yield Buttons("keys", plain=self.plain, most=1)
        yield Static(id="small")

    def body(self) -> ComposeResult:
        raise NotImplementedError

    def below(self) -> ComposeResult:
        """Yield the lines to type into."""
        yield from ()

    def head(self) -> Head:
        raise NotImplementedError

    def page(self) -> list[Line]:
        """Return the page that is shown, about what the cursor is on."""
        raise NotImplementedError

    def page_named(self) -> str:
        """Return the name of the page that is shown; empty where what the cursor is on has only one."""
        return self.page_shown

    def asked(self) -> Sequence[Question]:
        """Return the open questions that can be answered here."""
        return ()

    def preview(self) -> tuple[str, str]:
        """Return the line below the page, and its tone: the last message, else what can be done."""
        return self.told if self.told[0] else (self.advice(), "dim")

    def advice(self) -> str:
        return ""

    # Room

    def on_resize(self) -> None:
        """Hide everything if the terminal is too small, or show it again with the focus where it was."""
        columns, rows = self.size
        small = columns < LEAST[0] or rows < LEAST[1]
        if small and not self.has_class("small"):
            self._focused = self.focused
            self.set_focus(None)
        self.set_class(small, "small")
        self.set_class(columns >= self.WIDE, "wide")
        self.set_class(columns < self.WIDE, "narrow")
        need = f"this terminal is {columns}x{rows};\n{self.needing} needs {LEAST[0]}x{LEAST[1]}\nq leaves; `{self.printing}` prints"
        self.query_one("#small", Static).update(Text(need))
        if not small and self._focused is not None:
            self.call_after_refresh(self._focused.focus)
            self._focused = None
        self.paint()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let no key act on what is hidden."""
        if self.has_class("small") and action not in ("leave", "keys"):
            return False
        return super().check_action(action, parameters)

    # Painting

    def paint(self, *, anew: bool = False) -> None:
        """Paint everything but the list; nothing before there is something to paint on, or after the app has left."""
        if not self.ready or not self.app.is_running:
            return
        self._paint_head(self.head())
        self._paint_asks()
        self.paint_page(anew=anew)
        self._put_preview()
        self._paint_buttons()

    def _put(self, name: str, text: str | Text, tone: str = "") -> None:
        text = Text(shown(text, plain=self.plain), style=TONES[tone]) if isinstance(text, str) else text
        self.query_one(name, Static).update(text)

    def _paint_head(self, head: Head) -> None:
        columns = max(10, self.size.width - 2)
        text = Text(no_wrap=True, overflow="ellipsis")
        if head.name:
            text.append(f"{cut(head.name, columns - width(head.word) - 2)}  ", style=TONES["head"])
        text.append(head.word, style=TONES[head.tone])
        room = columns - text.cell_len - 3
        beside = room > LEAST[0] or width("   ".join(head.first)) <= room
        line = joined(head.first, room if beside else columns)
        text.append(shown(f"{'   ' if beside else chr(10)}{line}" if line else "", plain=self.plain))
        second = [f"damaged: {self.damage}"] if self.damage else head.second
        text.append(
            f"\n{shown(joined(second, columns, ' · '), plain=self.plain)}", style=TONES["bad" if self.damage else "dim"]
        )
        self._put("#head", text)

    def _paint_asks(self) -> None:
        asked = self.asked()
        self.set_class(bool(asked), "asking")
        if asked:
            more = f" (and {len(asked) - 1} more)" if len(asked) > 1 else ""
            self._put(
                "#asks",
                cut(f"? {asked[0].id} asks{more}, a answers: {flat(asked[0].text)}", self.size.width - 2),
                "warn",
            )

    def paint_page(self, *, anew: bool = False) -> None:
        """Paint the page; `anew` begins it at its top, or a log at its end."""
        self.pane.show(self.page(), anew=anew, at_end=self.page_named() == "log")

    def _paint_buttons(self) -> None:
        self.query_one("#actions", Buttons).show(self.acts())
        named = [key for key in self.KEYS if key.label and key.action not in self.CONTROLS]
        named.sort(key=lambda key: key.action not in ("keys", "leave"))
        names = [Button(key.shown.removesuffix(", click"), key.label, key.action) for key in named]
        self.query_one("#keys", Buttons).show(names)

    def acts(self) -> list[Button]:
        """Return the buttons of what is offered."""
        return [Button(key.shown, key.label, key.action) for key in self.KEYS if key.action in self.offered]

    def say(self, text: str, tone: str = "") -> None:
        self.told = (flat(text), tone)
        self._put_preview()

    def _put_preview(self) -> None:
        self._put("#preview", *self.preview())

    def on_key(self) -> None:
        """Drop the last message: it was about the key before."""
        if self.told[0] and self.FORGETS:
            self.say("")

    # Keys and windows

    async def on_buttons_pressed(self, event: Buttons.Pressed) -> None:
        await self.run_action(f"page('{event.pressed}')" if event.pressed in self.PAGES else event.pressed)

    def action_keys(self) -> None:
        self.app.push_screen(Reading("Keys, and the commands that do the same", as_lines(self.KEYS), plain=self.plain))

    def decide(
        self, title: str, lines: Sequence[Line], keys: dict[str, str], chosen: Callable[[str], None]
    ) -> Deciding:
        """Have a person choose one of the keys; nothing happens without a choice."""
        window = Deciding(title, lines, keys, plain=self.plain)
        self.app.push_screen(window, lambda key: chosen(key) if key is not None else None)
        return window

    def pick(self, title: str, options: Sequence[str], chosen: Callable[[int], None], *lines: Line) -> None:
        """Have a person choose one of the options."""
        window = Picking(title, lines, options, plain=self.plain)
        self.app.push_screen(window, lambda place: chosen(place) if place is not None else None)

    def pick_question(self, questions: Sequence[Question], chosen: Callable[[Question], None]) -> None:
        """Have a person choose one of the open questions, if there are several."""
        if len(questions) == 1:
            chosen(questions[0])
            return
        options = [f"{one.id}   {flat(one.text)}" for one in questions]
        self.pick("Which question?", options, lambda place: chosen(questions[place]))

    def ask_line(
        self, title: str, lines: Sequence[Line], take: Callable[[str], object], then: Callable[[str], None],
        *, value: str = "", confirmed: bool = False,
    ) -> None:  # fmt: skip
        """Have a person type a line, which is taken when it is sent; with `confirmed` its meaning is shown before that."""
        window = Saying(title, lines, take, plain=self.plain, value=value, confirmed=confirmed)
        self.app.push_screen(window, lambda text: then(text) if text is not None else None)

    def tried(self, act: Callable[[], T]) -> T | None:
        """Do something, and return its outcome; say why where that is not possible."""
        try:
            return act()
        except SantiagoError as error:
            self.say(sentence(error), "bad")
            return None


class ShowRun(Message):
    """Somebody wants to see a run from the review of its plan."""

    def __init__(self, screen: BaseScreen, out_dir: Path, consents: tuple[str, ...] | None) -> None:
        """`consents` are those of the start that begins as soon as the run is shown; None to begin nothing."""
        super().__init__()
        self.screen, self.out_dir, self.consents = screen, out_dir, consents


class ShowSession(Message):
    """Somebody wants to see a planning session from the screen of a run."""

    def __init__(self, screen: BaseScreen, folder: Path) -> None:
        super().__init__()
        self.screen, self.folder = screen, folder


class PlanScreen(BaseScreen, Generic[Rows]):
    """A screen of a plan: the list of its chunks and stories, and a page about one of them; it can start processes."""

    started: Detached | None = None
    """The process that was started last from here. It is waited for, so that a refusal is shown."""
    refused: ClassVar[str] = "It did not start"

    def __init__(self, rows: Rows, *, plain: bool) -> None:
        super().__init__(plain=plain)
        self.rows = rows
        self._seq = 0
        """The last event before the latest start."""

    def body(self) -> ComposeResult:
        with Horizontal(id="body"):
            yield self.rows
            with Vertical(id="side"):
                yield Buttons("pages", plain=self.plain, most=1)
                yield self.pane

    def below(self) -> ComposeResult:
        yield FilterLine()

    def paint_page(self, *, anew: bool = False) -> None:
        super().paint_page(anew=anew)
        here, roomy = self.page_named(), self.size.width >= ROOMY
        named = [(str(at), f"[{name}]" if name == here else name, name) for at, name in enumerate(self.PAGES, 1)]
        self.query_one("#pages", Buttons).show(
            [Button(key, label if roomy or name == here else "", name, name == here) for key, label, name in named]
        )

    def read(self, look: Callable[[], bool]) -> bool:
        """Read on; return whether there was anything new, such as damage."""
        if self.damage:
            return False
        try:
            return look()
        except SantiagoError as error:
            self.damage = flat(error.message)
            return True

    def action_filter(self) -> None:
        self.remove_class("reading")
        self.query_one(FilterLine).begin()

    def action_page(self, name: str) -> None:
        self.page_shown = name
        self.add_class("reading")
        self.paint_page(anew=True)

    # Other runs and sessions

    def list_others(self, root: Path, now: str, *, sessions_first: bool = False) -> None:
        """Offer the runs and sessions of the repository, which are read in the background."""

        def read() -> None:
            found: list[tuple[str, Callable[[], None]]] = []
            try:
                found += [(run.text(now), partial(self.show_run, run.out_dir)) for run in run_rows()]
            except SantiagoError as error:
                self.app.call_from_thread(self.say, error.message, "warn")
            sessions = [(one.text(now), partial(self.show_session, one.folder)) for one in session_rows(root)]
            found = [*sessions, *found] if sessions_first else [*found, *sessions]
            title, names = "Runs and sessions of this repository", [text for text, _ in found]
            self.app.call_from_thread(self.pick, title, names, lambda place: found[place][1]())

        self.run_worker(read, thread=True, exclusive=True)

    def show_run(self, out_dir: Path) -> None:
        raise NotImplementedError

    def show_session(self, folder: Path) -> None:
        raise NotImplementedError

    # Processes that are started from here

    def start(self, begin: Callable[[], Detached], effect: str) -> None:
        """Start a process that outlives this screen."""
        self._seq = self.recorded()
        try:
            self.started = begin()
        except OSError as error:
            self.say(f"it could not be started: {error.strerror}", "bad")
        else:
            self.say(f"process {self.started.pid} {effect}, and goes on when this screen is left", "good")

    def recorded(self) -> int:
        """Return the number of the last event of what is shown."""
        raise NotImplementedError

    def take_in_end(self) -> None:
        """Read what the process that has ended may have recorded."""
        raise NotImplementedError

    def consents_wanted(self) -> tuple[list[Consent], str]:
        """Return the consents that a start lacks, and the command for the same start."""
        raise NotImplementedError

    def agreed_to(self, wanted: list[Consent], *, everything: bool) -> None:
        """Start again with the consents, or say that nothing was started."""
        raise NotImplementedError

    def look_after_start(self) -> bool:
        """Ask for the consents that a start lacks, or show why it was refused; return whether a process has ended."""
        if self.started is None or (code := self.started.ended()) is None:
            return False
        started, self.started = self.started, None
        self.take_in_end()
        if code and self.recorded() == self._seq:
            self.say("")
            wanted, command = self.consents_wanted() if code == ExitCode.BLOCKED else ([], "")
            if wanted:
                self._ask_each(wanted, wanted, command)
                return True
            lines = [Line(text) for text in started.said(12)]
            lines += [Line(""), Line(f"$ {' '.join(started.command)}", "dim")]
            self.app.push_screen(Reading(self.refused, lines, plain=self.plain))
        return True

    def _ask_each(self, wanted: list[Consent], left: Sequence[Consent], command: str) -> None:
        """Ask what a process without a terminal could not ask: one consent after the other, without defaults."""

        def chosen(key: str | None) -> None:
            if key is None or len(left) == 1:
                self.agreed_to(wanted, everything=key is not None)
            else:
                self._ask_each(wanted, left[1:], command)

        first = left[0]
        lines = [*map(Line, first.lines), Line(""), Line(f"$ {command} {' '.join(first.said)}", "dim")]
        self.app.push_screen(Deciding(first.title, lines, {"y": first.yes}, plain=self.plain), chosen)
