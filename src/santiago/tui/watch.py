"""The browser of a run: chunks and stories live, one story in detail, questions answered in place, selections that run."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.containers import Horizontal
from textual.widgets import Input, Static

from santiago.app.finding import running_or_newest
from santiago.app.loading import working
from santiago.contract.errors import SantiagoError
from santiago.executor.selection import numbered, selected
from santiago.report.agent_activity import Doing
from santiago.report.asking import asked
from santiago.report.chunks import chunk_page
from santiago.report.following import Following
from santiago.report.marks import RUNS
from santiago.report.run_page import headline, subline
from santiago.report.run_status import word_of
from santiago.report.story import PAGES, page
from santiago.tui.base_screen import Head
from santiago.tui.keys import WATCH, bindings
from santiago.tui.listing import FilterLine
from santiago.tui.look import TONES
from santiago.tui.rows import Rows
from santiago.tui.watch_actions import WatchActions, Wished
from santiago.tui.windows import sentence
from santiago.util.text import flat

if TYPE_CHECKING:
    from pathlib import Path

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from santiago.contract.state import Question
    from santiago.report.page import Line

SECONDS = 0.1
"""Seconds between two readings of the log. Nothing is painted more often."""
SLOW = 10
"""Every so many readings, also check what is not in the log: who works on the run, what its agents do, the time."""
AGAIN = 2.0
"""Least seconds between two readings of what a running attempt has changed."""
SHARE = 10
"""After a slow one, wait this many times its duration."""


class WatchScreen(WatchActions):
    """Shows one run. Actions here make the same requests as commands."""

    KEYS, PAGES, needing, printing = WATCH, PAGES, "the browser", "santiago status"
    BINDINGS: ClassVar[list[BindingType]] = bindings(WATCH)

    def __init__(self, out_dir: Path, *, plain: bool = False, note: str = "", any_run: bool = False) -> None:
        super().__init__(Rows(plain=plain), plain=plain)
        self.any_run = any_run
        self.following = Following(out_dir)
        self.told = (note, "warn")
        self._about: object = None
        """What the last message was about: the run's state and its open questions."""
        self.range_from = 0
        """Number of the chunk at which a range to the cursor begins; 0 if there is no range."""
        self._named: Path | None = None
        """The run that was shown or named last, because it had begun."""
        self._doing: Doing | None = None
        self._asked_in = 0
        self._seen: tuple[tuple[str, int], str | None] = ("", 0), None
        """The running attempt whose changes were read last, and what it had changed."""
        self._again = 0.0
        """When they are read next."""
        self._forecast, self._foreseen = "", -1
        """What is left of the run, and after how many attempts that was computed."""

    def below(self) -> ComposeResult:
        yield FilterLine()
        with Horizontal(id="line"):
            yield Static(Text("selection >", style=TONES["dim"]))
            yield Input(id="selection", compact=True, select_on_focus=False)

    def on_mount(self) -> None:
        self.query_one("#selection", Input).cursor_blink = False  # a blinking cursor only distracts
        self.ready = True
        self.open(self.following)
        self.rows.focus()
        self.set_interval(SECONDS, self.tick)

    def open(self, following: Following) -> None:
        """Show a run from its beginning."""
        self.following, self.damage, self._doing = following, "", None
        self.query_one("#selection", Input).value = ""
        self.query_one(FilterLine).end()
        self.read(self.following.look)
        self.rows.show(following)
        self._forecast, self._foreseen = "", -1
        self.paint(anew=True)

    # Following

    def tick(self) -> None:
        """Take in what was recorded since the last look, and paint what has changed."""
        if not self.app.is_running:
            return
        self._ticks += 1
        grew = self.read(self.following.look)
        late = self._ticks % SLOW == 0
        if late or (grew and not self.current.worker):
            grew = self.following.ask_worker() or grew
        self.look_after_start()
        if late and self.any_run and not self.current.worker:
            self._look_for_another()
        self._foresee()
        if grew:
            self.rows.update()
        if grew or late:
            self._drop_stale()
            self.paint()
        if self.following.behind and not self.damage:
            self.call_later(self.tick)

    def _foresee(self) -> None:
        """Have the rest of the run simulated in the background whenever an attempt has ended."""
        state = self.current.state
        ended = state.attempts - len(state.running)
        if self.following.behind or ended == self._foreseen:
            return
        self._foreseen = ended
        self.run_worker(lambda: self._simulate(self.following), thread=True, group="forecast", exclusive=True)

    def _simulate(self, following: Following) -> None:
        from santiago.report.forecast_page import rest_of  # loads the loop, so only in the background

        told = rest_of(following.out_dir)
        if following is self.following:
            self.app.call_from_thread(self._foretold, told)

    def _foretold(self, told: str) -> None:
        if told != self._forecast:
            self._forecast = told
            self.paint()

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
            self.go_to(out_dir)
        else:
            self.say(f"{out_dir.name} has begun; o shows it", "warn")

    # Painting

    def paint(self, *, anew: bool = False) -> None:
        super().paint(anew=anew)
        if self.current.worker:
            self.rows.refresh()

    def head(self) -> Head:
        run = self.current
        word, *first = headline(run, self.following.utc())
        second = [
            *subline(run, pauses=self.pauses),
            *([self._forecast] if self._forecast else []),
            flat(run.plan.title),
        ]
        return Head(run.run_id, word, RUNS.get(word, ""), first, second)

    def asked(self) -> list[Question]:
        return asked(self.current.state, self.current.out_dir)[0] if self.current.state.questions else []

    def page(self) -> list[Line]:
        row = self.rows.current
        if row is None:
            return []
        if not row.story:
            return chunk_page(self.current, self.rows.chunk_of(row))
        doing, live = self._following_agent(row.story), self._changed_live(row.story)
        return page(self.current, self.following.by_id[row.story], self.page_shown, doing, self.pane.columns, live)

    def page_named(self) -> str:
        return self.page_shown if self.rows.current is not None and self.rows.current.story else ""

    def _following_agent(self, story: str) -> Doing:
        tried = self.current.history.of(story)
        agent = tried[-1].agent if tried else ""
        if self._doing is None or self._asked_in != hash((story, agent)):
            self._doing, self._asked_in = Doing(self.current.out_dir, agent), hash((story, agent))
        return self._doing

    def _changed_live(self, story: str) -> str | None:
        """Return what the running attempt of a story had changed at the last reading; read again if it is time."""
        run = self.current
        if self.page_shown != "changes" or story not in run.state.running or not run.worker:
            return None
        attempt = story, run.state.stories[story].attempts
        if self._seen[0] != attempt:
            self._seen, self._again = (attempt, None), 0.0
        if monotonic() >= self._again:
            self._again = float("inf")  # until this reading has ended
            self.run_worker(lambda: self._look_at(*attempt), thread=True, group="changes")
        return self._seen[1]

    def _look_at(self, story: str, attempt: int) -> None:
        from santiago.report.live_changes import changed_so_far  # loads git and more, so only when needed

        begun = monotonic()
        found = changed_so_far(self.current, story, attempt)
        self.app.call_from_thread(self._took, (story, attempt), found, monotonic() - begun)

    def _took(self, attempt: tuple[str, int], found: str | None, seconds: float) -> None:
        if self._seen[0] == attempt:
            is_new, self._seen = found != self._seen[1], (attempt, found)
            self._again = monotonic() + max(AGAIN, SHARE * seconds)
            if is_new:
                self.paint()

    def preview(self) -> tuple[str, str]:
        """Return what the selection would run, or why it cannot; without a selection, the last message."""
        typed = self.selection
        if not typed.strip():
            return super().preview()
        try:
            found = selected(self.current.state, typed)
        except SantiagoError as error:
            return sentence(error), "bad"
        if self.current.worker:
            return f"{self.current.run_id} is running; stop it (s) before another selection runs", "warn"
        return f"{flat(found.sentence)}; enter runs it", "good"

    def advice(self) -> str:
        return "space picks a chunk, v draws a range, enter runs it"

    def say(self, text: str, tone: str = "") -> None:
        super().say(text, tone)
        self._about = self._situation()

    def _drop_stale(self) -> None:
        """Drop the last message once it is about a state of the run that is over."""
        if self.told[0] and self._about is not None and self._about != self._situation():
            self.say("")

    def _situation(self) -> object:
        word = word_of(self.current)
        return "running" if word == "stopping" else word, [one.id for one in self.asked()]

    # The selection

    def on_input_changed(self) -> None:
        try:
            labels = selected(self.current.state, self.selection).labels if self.selection.strip() else ()
        except SantiagoError:
            labels = ()
        self.rows.picked = frozenset(row.number for row in self.rows.chunks if row.label in labels)
        self.rows.refresh()
        self._put_preview()

    def on_input_submitted(self) -> None:
        self.run_selection()

    def on_listing_moved(self) -> None:
        row = self.rows.current
        if self.range_from and row is not None:
            self.select(str(row.chunk) if row.chunk == self.range_from else f"{self.range_from}-{row.chunk}")
        self.paint_page(anew=True)

    def on_listing_clicked(self, event: Rows.Clicked) -> None:
        row = self.rows.current
        if row is not None and not row.story:
            first = min(self.rows.picked, default=0) if event.further else 0
            self.select(f"{first}-{row.chunk}" if first and first != row.chunk else str(row.chunk))

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
        if self.rows.current is not None and not self.rows.current.story:
            self.say("a chunk has one page; go to one of its stories")
        super().action_page(name)


class RunScreen(WatchScreen):
    """The browser of a run, opened from the review of its plan, with a key that goes back there."""

    BINDINGS: ClassVar[list[BindingType]] = [("b", "plan")]

    def __init__(self, out_dir: Path, *, plain: bool, consents: tuple[str, ...] | None) -> None:
        """`consents` are those of the start that begins as soon as the run is shown; None to begin nothing."""
        super().__init__(out_dir, plain=plain)
        self.consents = consents

    def on_mount(self) -> None:
        if self.consents is not None:
            self.call_after_refresh(self.begin, Wished(consents=self.consents))

    def advice(self) -> str:
        return f"b goes back to the plan; {super().advice()}"

    def action_plan(self) -> None:
        self.app.pop_screen()
