"""Starting, stopping and resuming a run from the browser. Every start is a separate process."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from textual.screen import Screen

from santiago.app import detached, requests
from santiago.app.actor import actor
from santiago.app.finding import unfinished
from santiago.contract.counting import count
from santiago.contract.errors import SantiagoError
from santiago.contract.phases import StoryPhase
from santiago.contract.reasons import ExitCode
from santiago.executor.selection import selected
from santiago.report.following import Following
from santiago.report.page import Line
from santiago.tui.consenting import ask_each
from santiago.tui.dialogs import Choosing, Reading, Typing

if TYPE_CHECKING:
    from collections.abc import Callable

    from santiago.app.detached import Detached
    from santiago.app.loading import Run
    from santiago.app.requests import Asked
    from santiago.report.consents import Consent
    from santiago.tui.rows import Rows

MOST_ATTEMPTS = 1000


class Wished(NamedTuple):
    """The options of a start."""

    chunks: str = ""
    attempts: int = 0
    consents: tuple[str, ...] = ()


class Starting(Screen[None]):
    """The actions. Subclasses decide what is shown, and where."""

    plain: bool
    following: Following
    rows: Rows
    started: Detached | None = None
    """The latest start from here. It is waited for, so that a refusal is shown."""
    _asked_to_stop = ""
    """The run that was asked to stop from here."""
    _seq = 0
    """The last event before the latest start."""
    _wished: Wished = Wished()
    """The options of the latest start."""
    _given: tuple[Consent, ...] = ()
    """The consents that were given for the latest start."""
    wish: bool | None = None
    """Whether the next start pauses after each chunk; None if nobody chose."""

    @property
    def current(self) -> Run:
        raise NotImplementedError

    @property
    def selection(self) -> str:
        raise NotImplementedError

    @property
    def pauses(self) -> bool:
        raise NotImplementedError

    def say(self, text: str, tone: str = "") -> None:
        raise NotImplementedError

    def select(self, text: str) -> None:
        raise NotImplementedError

    def open(self, following: Following) -> None:
        raise NotImplementedError

    def paint(self, *, anew: bool = False) -> None:
        raise NotImplementedError

    def _request(self, ask: Callable[[], Asked]) -> None:
        """Make a request, and show its outcome."""
        try:
            asked = ask()
        except SantiagoError as error:
            self.say(f"{error.message}. {error.hint}".strip(), "bad")
        else:
            self.say(asked.text, "good" if asked.done else "warn")
        self.paint()

    # Stopping and going on

    def action_stop(self) -> None:
        """Stop at a safe boundary; the second time, stop at once."""
        run = self.current
        again = run.state.stop_requested or self._asked_to_stop == run.run_id
        self._asked_to_stop = run.run_id if run.worker else ""
        self._request(
            lambda: requests.stop(run.out_dir, run.run_id, actor(), running=bool(run.worker), now=bool(again))
        )

    def action_pause(self) -> None:
        """Switch the pause after each chunk, for the running run or for the next start."""
        on = not self.pauses
        if self.current.worker:
            self._request(lambda: requests.pause(self.current, actor(), on=on))
            return
        self.wish = on
        self.say(f"the next start {'pauses' if on else 'goes on by itself'} after each chunk", "good")
        self.paint()

    def action_resume(self) -> None:
        """Go on with this run; if it is finished, with the latest unfinished run of the repository."""
        run = self.current
        if run.worker:
            self.say(f"{run.run_id} is running already", "warn")
        elif run.resumable:
            self._confirm_resume(run)
        else:
            self._resume_latest(run)

    def _resume_latest(self, run: Run) -> None:
        try:
            _, left = unfinished()
        except SantiagoError:
            left = None
        if left is None:
            self.say(f"{run.run_id} is finished; nothing to resume")
            return
        self.open(Following(left.out_dir))
        self.following.catch_up()
        self.rows.update()
        self.say(f"{run.run_id} is finished; this is {left.run_id}, the latest that is not")
        if not self.current.worker:
            self._confirm_resume(self.current)

    def _confirm_resume(self, run: Run, attempts: int = 0) -> None:
        stories = [story for story in run.state.stories.values() if not story.parent]
        done = sum(1 for story in stories if story.phase is StoryPhase.DONE)
        left = sum(1 for story in stories if not story.skipped and story.phase is not StoryPhase.DONE)
        more = f" --add-attempts {attempts}" if attempts else ""
        gate = f" --gate {self._gate}" if self._gate else ""
        lines = [
            Line(f"{done} done, {left} to go"),
            Line(f"$ santiago resume {run.run_id}{gate}{more}", "dim"),
        ]

        def chosen(key: str | None) -> None:
            if key == "enter":
                self.begin(Wished(attempts=attempts))

        keys = {"enter": "begin" if not run.begun else "go on"}
        self.app.push_screen(Choosing(f"Go on with {run.run_id}?", lines, keys, plain=self.plain), chosen)

    def action_grant(self) -> None:
        run = self.current
        if run.worker or not run.resumable:
            self.say(f"{run.run_id} is {'running' if run.worker else 'finished'}; nothing to grant", "warn")
            return

        def understood(typed: str) -> str:
            if not (
                typed.strip().isascii() and typed.strip().isdigit() and 0 < int(typed.strip()[:6]) <= MOST_ATTEMPTS
            ):
                raise ValueError(f"a number from 1 to {MOST_ATTEMPTS}, please")
            return f"go on, with {count(int(typed), 'more attempt')} for what failed or is spent"

        def granted(typed: str | None) -> None:
            if typed is not None:
                self.begin(Wished(attempts=int(typed)))

        lines = [Line("failed and spent stories are tried again, up to this many times each")]
        self.app.push_screen(Typing("How many more attempts?", lines, understood, plain=self.plain), granted)

    def run_selection(self) -> None:
        """Run the selection that the preview line shows. If the line shows an error, do nothing."""
        run, typed = self.current, self.selection
        try:
            selected(run.state, typed)
        except SantiagoError:
            return
        if run.worker:
            return
        self.begin(Wished(chunks=typed))
        self.select("")
        self.rows.focus()

    @property
    def _gate(self) -> str:
        """The option of the next start for pauses after chunks; empty if the run's own settings decide."""
        if self.wish is None:
            return "chunk" if self.current.state.pauses else ""
        return "chunk" if self.wish else "auto"

    def begin(self, wished: Wished = Wished()) -> None:  # noqa: B008
        self._given = ()
        self._start(wished)

    def _start(self, wished: Wished) -> None:
        run = self.current
        try:
            self.started = detached.resume(run.out_dir, gate=self._gate, **wished._asdict())
        except OSError as error:
            self.say(f"it could not be started: {error.strerror}", "bad")
            return
        self._asked_to_stop, self._seq, self._wished = "", run.state.seq, wished
        self.say(f"started, as process {self.started.pid}, which goes on when this screen is left", "good")

    def look_after_start(self) -> None:
        """Ask for the consents that a start lacks; or show why it was refused, in its own words."""
        if self.started is None or (code := self.started.ended()) is None:
            return
        started, self.started = self.started, None
        self.following.ask_worker()
        if not code or self.following.catch_up().state.seq != self._seq:
            return
        self.say("")
        if code == ExitCode.BLOCKED and (wanted := self._wanted()):
            self._ask_consents(wanted)
            return
        lines = [*(Line(text) for text in started.said(12)), Line(""), Line(f"$ {' '.join(started.command)}", "dim")]
        self.app.push_screen(Reading("It did not start", lines, plain=self.plain))

    def _wanted(self) -> list[Consent]:
        """Return the consents that a start needs and that nobody gave here."""
        from santiago.report.consents import consents  # loaded only after a refusal, since it loads much

        said = set(self._wished.consents)
        try:
            return [one for one in consents(self.current) if one not in self._given and not said.issuperset(one.said)]
        except SantiagoError:
            return []  # the start says it in its own words

    def _ask_consents(self, wanted: list[Consent]) -> None:
        from santiago.report.consents import give

        run = self.current

        def agreed(everything: bool) -> None:
            if not everything:
                self.say(f"not agreed to, so {run.run_id} was not started", "warn")
                return
            try:
                said = tuple(word for one in wanted for word in give(run, one))
            except SantiagoError as error:
                self.say(f"{error.message}. {error.hint}", "bad")
                return
            self._given += tuple(wanted)
            self._start(self._wished._replace(consents=(*self._wished.consents, *said)))

        ask_each(self, wanted, f"santiago resume {run.run_id}", agreed, plain=self.plain)
