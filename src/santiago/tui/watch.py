"""The browser of a run: chunks and stories live, one story in detail, questions answered in place, selections that run."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Static

from santiago.app.finding import running_or_newest
from santiago.app.loading import working
from santiago.contract.errors import SantiagoError
from santiago.executor.selection import numbered, selected
from santiago.report.agent_activity import Doing
from santiago.report.asking import asked
from santiago.report.chunks import chunk_page
from santiago.report.following import Following
from santiago.report.headline import headline, pauses_now, subline
from santiago.report.marks import RUNS
from santiago.report.run_status import word_of
from santiago.report.story import PAGES, page
from santiago.tui.acting import Acting
from santiago.tui.filtering import FilterLine
from santiago.tui.fitting import Fitting
from santiago.tui.keys import WATCH
from santiago.tui.look import TONES, cut, joined, shown
from santiago.tui.looking_on import LookingOn
from santiago.tui.pane import Pane
from santiago.tui.rows import Rows
from santiago.util.text import flat, width

if TYPE_CHECKING:
    from pathlib import Path

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from santiago.app.loading import Run
    from santiago.contract.state import Question

SECONDS = 0.1
"""Seconds between two readings of the log. Nothing is painted more often."""
SLOW = 10
"""Every so many readings, also check what is not in the log: who works on the run, what its agents do, the time."""
WIDE = 100
ROOMY = 50


class WatchScreen(Acting, LookingOn, Fitting):
    """Shows one run. Actions here make the same requests as commands."""

    BINDINGS: ClassVar[list[BindingType]] = [(key.keys, key.action) for key in WATCH if key.action]
    needing, printing = "the browser", "santiago status"
    advice = "space picks a chunk, v draws a range, enter runs it"
    """What is said where there is nothing else to say."""

    def __init__(self, out_dir: Path, *, plain: bool = False, note: str = "", any_run: bool = False) -> None:
        super().__init__()
        self.plain = plain
        self.any_run = any_run
        self.following = Following(out_dir)
        self.page_shown = PAGES[0]
        self.told = (note, "warn")
        self._about: object = None
        """What the last message was about: the run's state and its open questions."""
        self.range_from = 0
        """Number of the chunk at which a range to the cursor begins; 0 if there is no range."""
        self.questions: list[Question] = []
        self._ticks = 0
        self._named: Path | None = None
        """The run that was shown or named last, because it had begun."""
        self._damage = ""
        self._doing: Doing | None = None
        self._asked_in = 0

    @property
    def current(self) -> Run:
        return self.following.run

    def compose(self) -> ComposeResult:
        yield Static(id="head")
        with Horizontal(id="body"):
            yield Rows(plain=self.plain)
            with Vertical(id="side"):
                yield Static(id="pages")
                yield Pane(plain=self.plain)
        yield Static(id="asks")
        yield Static(id="preview")
        yield FilterLine()
        with Horizontal(id="line"):
            yield Static(Text("selection >", style=TONES["dim"]))
            yield Input(id="selection", compact=True, select_on_focus=False)
        yield Static(id="keys")
        yield Static(id="small")

    def on_mount(self) -> None:
        self.rows = self.query_one(Rows)
        self.pane = self.query_one(Pane)
        self.query_one("#selection", Input).cursor_blink = False  # a blinking cursor only distracts
        self.open(self.following)
        self.rows.focus()
        self.set_interval(SECONDS, self.tick)

    def open(self, following: Following) -> None:
        """Show a run from its beginning."""
        self.following, self._damage, self._doing = following, "", None
        self.query_one("#selection", Input).value = ""
        self.query_one(FilterLine).end()
        self._read()
        self.rows.show(following)
        self.paint(anew=True)

    def on_resize(self) -> None:
        self.fit()
        self.set_class(self.size.width >= WIDE, "wide")
        self.paint()

    # Following

    def tick(self) -> None:
        """Take in what was recorded since the last look, and paint what has changed."""
        if not self.app.is_running:
            return
        self._ticks += 1
        grew = self._read()
        late = self._ticks % SLOW == 0
        if late or (grew and not self.current.worker):
            grew = self.following.ask_worker() or grew
        self.look_after_start()
        if late and self.any_run and not self.current.worker:
            self._look_for_another()
        if grew:
            self.rows.update()
        if grew or late:
            self._drop_stale()
            self.paint()
        if self.following.behind and not self._damage:
            self.call_later(self.tick)

    def _read(self) -> bool:
        if self._damage:
            return False
        try:
            return self.following.look()
        except SantiagoError as error:
            self._damage = flat(error.message)
            return True

    def _look_for_another(self) -> None:
        """Show a run that has begun meanwhile; only name it if somebody is busy with this one."""
        try:
            out_dir, _ = running_or_newest(None)
        except SantiagoError:
            return
        if not working(out_dir):
            self._named = None
        if self._named == out_dir or out_dir == self.following.out_dir or not working(out_dir):
            return
        self._named = out_dir
        if self.rows.follows and self.is_current and not self.selection:
            self.show_run(out_dir)
        else:
            self.say(f"{out_dir.name} has begun; o shows it", "warn")

    # Painting

    def paint(self, *, anew: bool = False) -> None:
        """Paint everything about the run except the list."""
        if not self.is_mounted or not hasattr(self, "pane"):
            return
        self._paint_head()
        self._paint_asks()
        self._paint_page(anew=anew)
        self._paint_preview()
        self._paint_keys()
        if self.current.worker:
            self.rows.refresh()

    def _put(self, name: str, text: Text) -> None:
        self.query_one(name, Static).update(text)

    def _paint_head(self) -> None:
        run, columns = self.current, max(10, self.size.width - 2)
        parts = headline(run, self.following.utc())
        word = parts[0]
        head = Text(no_wrap=True, overflow="ellipsis")
        head.append(cut(run.run_id, columns - width(word) - 2), style=TONES["head"])
        head.append(f"  {word}", style=TONES[RUNS.get(word, "")])
        room = columns - width(f"{run.run_id}  {word}") - 3
        if room > 40:
            head.append(f"   {joined(parts[1:], room)}")
        title = flat(run.plan.title)
        second = [*subline(run, pauses=self.pauses), title] if not self._damage else [f"damaged: {self._damage}"]
        if room <= 40:
            head.append("\n" + joined(parts[1:], columns))
        head.append(
            "\n" + shown(joined(second, columns, " · "), plain=self.plain),
            style=TONES["bad" if self._damage else "dim"],
        )
        self._put("#head", head)

    @property
    def pauses(self) -> bool:
        return pauses_now(self.current) if self.wish is None or self.current.worker else self.wish

    def _paint_asks(self) -> None:
        self.questions = asked(self.current.state, self.current.out_dir)[0] if self.current.state.questions else []
        self.set_class(bool(self.questions), "asking")
        if self.questions:
            more = f" (and {len(self.questions) - 1} more)" if len(self.questions) > 1 else ""
            first = self.questions[0]
            text = cut(f"? {first.id} asks{more}, a answers: {flat(first.text)}", self.size.width - 2)
            self._put("#asks", Text(shown(text, plain=self.plain), style=TONES["warn"]))

    def _paint_page(self, *, anew: bool = False) -> None:
        row = self.rows.current
        if row is None:
            return
        if row.story:
            planned = self.following.by_id[row.story]
            doing, live = self._following_agent(row.story), self.changed_live(row.story)
            lines = page(self.current, planned, self.page_shown, doing, self.pane.columns, live)
        else:
            lines = chunk_page(self.current, self.rows.chunk_of(row))
        self.pane.show(lines, anew=anew, at_end=bool(row.story) and self.page_shown == "log")
        names = Text(no_wrap=True, overflow="ellipsis")
        for number, name in enumerate(PAGES, start=1):
            here = bool(row.story) and name == self.page_shown
            names.append(f"{number} ", style=TONES["dim"])
            if here or self.size.width >= ROOMY:
                names.append(f"[{name}]" if here else name, style=TONES["head" if here else "dim"])
                names.append("  ")
        self._put("#pages", names)

    def _following_agent(self, story: str) -> Doing:
        tried = self.current.history.of(story)
        agent = tried[-1].agent if tried else ""
        if self._doing is None or self._asked_in != hash((story, agent)):
            self._doing, self._asked_in = Doing(self.current.out_dir, agent), hash((story, agent))
        return self._doing

    def _paint_preview(self) -> None:
        text, tone = self.preview()
        self._put("#preview", Text(shown(text, plain=self.plain), style=TONES[tone]))

    def preview(self) -> tuple[str, str]:
        """Return what the selection would run, or why it cannot; without a selection, the last message."""
        typed = self.selection
        if not typed.strip():
            return self.told if self.told[0] else (self.advice, "dim")
        try:
            found = selected(self.current.state, typed)
        except SantiagoError as error:
            return f"{flat(error.message)}. {flat(error.hint)}".strip(), "bad"
        if self.current.worker:
            return f"{self.current.run_id} is running; stop it (s) before another selection runs", "warn"
        return f"{flat(found.sentence)}; enter runs it", "good"

    def _paint_keys(self) -> None:
        text, room = Text(no_wrap=True), self.size.width - 2
        for key in sorted((key for key in WATCH if key.label), key=lambda key: key.action not in ("keys", "leave")):
            part = f"{key.shown.split(',')[0]} {key.label}  "
            if width(part) > room:
                break
            room -= width(part)
            text.append(key.shown.split(",")[0], style=TONES["busy"])
            text.append(f" {key.label}  ", style=TONES["dim"])
        self._put("#keys", text)

    def say(self, text: str, tone: str = "") -> None:
        self.told = (flat(text), tone)
        self._about = self._situation()
        self._paint_preview()

    def on_key(self) -> None:
        """Drop the last message: it was about the key before."""
        if self.told[0]:
            self.say("")

    def _drop_stale(self) -> None:
        """Drop the last message once it is about a state of the run that is over."""
        if self.told[0] and self._about is not None and self._about != self._situation():
            self.say("")

    def _situation(self) -> object:
        state = self.current.state
        asking = asked(state, self.current.out_dir)[0] if state.questions else []
        word = word_of(self.current)
        return "running" if word == "stopping" else word, [one.id for one in asking]

    # The selection

    @property
    def selection(self) -> str:
        return self.query_one("#selection", Input).value

    def select(self, text: str) -> None:
        self.query_one("#selection", Input).value = text

    def on_input_changed(self) -> None:
        try:
            labels = selected(self.current.state, self.selection).labels if self.selection.strip() else ()
        except SantiagoError:
            labels = ()
        self.rows.picked = frozenset(row.number for row in self.rows.chunks if row.label in labels)
        self.rows.refresh()
        self._paint_preview()

    def on_input_submitted(self) -> None:
        self.run_selection()

    def on_listing_moved(self) -> None:
        row = self.rows.current
        if self.range_from and row is not None:
            self.select(str(row.chunk) if row.chunk == self.range_from else f"{self.range_from}-{row.chunk}")
        self._paint_page(anew=True)

    def on_listing_clicked(self, event: Rows.Clicked) -> None:
        row = self.rows.current
        if row is not None and not row.story:
            first = self._first_picked() if event.further else 0
            self.select(f"{first}-{row.chunk}" if first and first != row.chunk else str(row.chunk))

    def _first_picked(self) -> int:
        return min(self.rows.picked, default=0)

    def action_pick(self) -> None:
        self.range_from, self.rows.follows = 0, False
        row = self.rows.current
        if row is None:
            return
        picked = self.rows.picked ^ {row.chunk}
        self.select(numbered(sorted(picked)) if self.rows.picked else str(row.chunk))

    def action_follow(self) -> None:
        """Go where something happens, and stay with it."""
        if self.rows.words:
            self.say("esc ends the filter first", "warn")
            return
        self.rows.follow()
        self.say("follows what runs until you move the cursor" if self.current.worker else "nothing runs now")

    def action_range(self) -> None:
        self.rows.follows = False
        row = self.rows.current
        if row is not None:
            self.range_from = 0 if self.range_from else row.chunk
            self.select(str(row.chunk) if self.range_from else self.selection)

    def action_filter(self) -> None:
        self.query_one(FilterLine).begin()

    def action_type_selection(self) -> None:
        self.query_one("#selection", Input).focus()

    def action_back(self) -> None:
        self.range_from = 0
        self.select("")
        self.query_one(FilterLine).end()
        self.say("")
        self.rows.focus()

    def action_enter(self) -> None:
        row = self.rows.current
        if self.selection.strip():
            self.run_selection()
        elif row is not None and row.story:
            self.pane.focus()
        elif row is not None:
            self.rows.action_fold(row.chunk in self.rows.open)

    def action_page(self, name: str) -> None:
        self.page_shown = name
        row = self.rows.current
        if row is not None and not row.story:
            self.say("a chunk has one page; go to one of its stories")
        self._paint_page(anew=True)
