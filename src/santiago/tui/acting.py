"""What people do in the browser: each is a request that a command makes as well, and says what became of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from textual.screen import Screen

from santiago.app import detached, requests
from santiago.app.actor import actor
from santiago.app.finding import unfinished
from santiago.contract.answers import describe
from santiago.contract.errors import SantiagoError
from santiago.contract.phases import StoryPhase
from santiago.executor.selection import selected
from santiago.report.following import Following
from santiago.report.pages import Line
from santiago.report.question import card, meant
from santiago.report.run_list import run_rows
from santiago.report.session_list import session_rows
from santiago.tui.dialogs import Choosing, Picking, Reading, Typing
from santiago.tui.keys import WATCH
from santiago.util.text import flat, harmless

if TYPE_CHECKING:
    from collections.abc import Callable

    from santiago.app.detached import Detached
    from santiago.app.loading import Run
    from santiago.app.requests import Asked
    from santiago.contract.state import Question
    from santiago.report.question import Card
    from santiago.report.run_list import RunRow
    from santiago.report.session_list import SessionRow
    from santiago.tui.rows import Rows

MOST_ATTEMPTS = 1000


class Acting(Screen[None]):
    """The actions; what is shown, and where, is for those who inherit them."""

    plain: bool
    following: Following
    rows: Rows
    questions: list[Question]
    started: Detached | None = None
    """The latest start from here; it is waited for, so that a refusal is told."""
    _asked_to_stop = ""
    """The run that was asked to stop from here."""
    _seq = 0
    """The last event before the latest start."""
    wish: bool | None = None
    """Whether the next start is to rest after each chunk; None where nobody said."""

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

    # Questions

    def action_answer(self) -> None:
        """Answer a question of the story under the cursor, or the first that is open."""
        if not self.questions:
            self.say("no question is open")
            return
        row = self.rows.current
        here = next((one for one in self.questions if row and row.story and one.story == row.story), None)
        if here is not None or len(self.questions) == 1:
            self._ask(here or self.questions[0])
            return
        options = [f"{one.id}   {flat(one.text)}" for one in self.questions]
        shown = list(self.questions)

        def chosen(place: int | None) -> None:
            if place is not None:
                self._ask(shown[place])

        self.app.push_screen(Picking("Which question?", [], options, plain=self.plain), chosen)

    def _ask(self, question: Question) -> None:
        run = self.current
        asked = card(run.plan, run.state, question, run.out_dir)

        def understood(typed: str) -> str:
            try:
                answer, scope = meant(asked, typed)
            except SantiagoError as error:
                raise ValueError(flat(error.message)) from error
            return harmless(describe(answer)) + (f", and the rest of this {scope}" if scope else "")

        def answered(typed: str | None) -> None:
            if typed is not None:
                self._request(lambda: self._answer(asked, typed))

        title = f"{asked.id}  {flat(asked.title)}".rstrip()
        self.app.push_screen(Typing(title, _card_lines(asked), understood, plain=self.plain), answered)

    def _answer(self, asked: Card, typed: str) -> Asked:
        answer, scope = meant(asked, typed)
        return requests.answer(self.current, asked.id, answer.word, actor(), text=answer.text, rest=scope or None)

    def _request(self, ask: Callable[[], Asked]) -> None:
        """Make a request, and say what became of it."""
        try:
            asked = ask()
        except SantiagoError as error:
            self.say(f"{error.message}. {error.hint}".strip(), "bad")
        else:
            self.say(asked.text, "good" if asked.done else "warn")
        self.paint()

    # Words for a story

    def action_hint(self) -> None:
        self._tell("hint", "A word for the next attempt", "one that is running goes on undisturbed")

    def action_change(self) -> None:
        self._tell("change", "What should be different", "a running attempt stops at once, and its work is kept")

    def _tell(self, kind: str, title: str, effect: str) -> None:
        row = self.rows.current
        if row is None or not row.story:
            self.say("go to a story first: a chunk has no next attempt")
            return
        name, story = row.story, self.current.state.stories[row.story]
        if story.skipped or story.phase is StoryPhase.DONE:
            self.say(f"{name} is {'left out' if story.skipped else story.phase}, and that is never undone", "bad")
            return
        ask = requests.hint if kind == "hint" else requests.change

        def told(typed: str | None) -> None:
            if typed is not None:
                self._request(lambda: ask(self.current, name, typed, actor()))

        lines = [Line(f"{name}  {flat(self.following.by_id[name].title)}"), Line(effect, "dim")]
        window = Typing(title, lines, lambda typed: f"{kind} for {name}: {flat(typed)}", plain=self.plain)
        self.app.push_screen(window, told)

    # Stopping and going on

    def action_stop(self) -> None:
        """Stop safely; asked a second time, stop at once."""
        run = self.current
        again = run.state.stop_requested or self._asked_to_stop == run.run_id
        self._asked_to_stop = run.run_id if run.worker else ""
        self._request(
            lambda: requests.stop(run.out_dir, run.run_id, actor(), running=bool(run.worker), now=bool(again))
        )

    def action_pause(self) -> None:
        """Switch the rest after each chunk: of the run that is running, or of the next start."""
        on = not self.pauses
        if self.current.worker:
            self._request(lambda: requests.pause(self.current, actor(), on=on))
            return
        self.wish = on
        self.say(f"the next start {'rests' if on else 'goes on by itself'} after each chunk", "good")
        self.paint()

    def action_resume(self) -> None:
        """Go on with this run; where it is finished, with the latest of the repository that is not."""
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
                self._start(attempts=attempts)

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
            return f"go on, with {int(typed)} more attempts for what failed or is spent"

        def granted(typed: str | None) -> None:
            if typed is not None:
                self._start(attempts=int(typed))

        lines = [Line("failed and spent stories are tried again, up to this many times each")]
        self.app.push_screen(Typing("How many more attempts?", lines, understood, plain=self.plain), granted)

    def run_selection(self) -> None:
        """Run what the preview line names; where it names a refusal, that stays."""
        run, typed = self.current, self.selection
        try:
            selected(run.state, typed)
        except SantiagoError:
            return
        if run.worker:
            return
        self._start(chunks=typed)
        self.select("")
        self.rows.focus()

    @property
    def _gate(self) -> str:
        """What the next start is told about resting after chunks: nothing where the run's own settings say it."""
        if self.wish is None:
            return "chunk" if self.current.state.pauses else ""
        return "chunk" if self.wish else "auto"

    def _start(self, *, chunks: str = "", attempts: int = 0) -> None:
        run = self.current
        try:
            self.started = detached.resume(run.out_dir, chunks=chunks, gate=self._gate, attempts=attempts)
        except OSError as error:
            self.say(f"it could not be started: {error.strerror}", "bad")
            return
        self._asked_to_stop, self._seq = "", run.state.seq
        self.say(f"started, as process {self.started.pid}, which goes on when this screen is left", "good")

    def look_after_start(self) -> None:
        """Tell a start that was refused, with its own words."""
        if self.started is None or (code := self.started.ended()) is None:
            return
        started, self.started = self.started, None
        self.following.ask_worker()
        if code and self.following.catch_up().state.seq == self._seq:
            words = " ".join(started.command)
            lines = [*(Line(text) for text in started.said(12)), Line(""), Line(f"$ {words}", "dim")]
            self.app.push_screen(Reading("It did not start", lines, plain=self.plain))
            self.say("")

    # Runs, keys, leaving

    def action_runs(self) -> None:
        self.run_worker(self._list_runs, thread=True, exclusive=True)

    def _list_runs(self) -> None:
        try:
            rows = run_rows()
        except SantiagoError as error:
            self.app.call_from_thread(self.say, error.message, "warn")
            return
        sessions = session_rows(Path(self.following.run.run_input.repo_path))
        self.app.call_from_thread(self._pick_run, rows, sessions)

    def _pick_run(self, rows: list[RunRow], sessions: list[SessionRow]) -> None:
        now = self.following.utc()

        def chosen(place: int | None) -> None:
            if place is None:
                return
            if place < len(rows):
                self.show_run(rows[place].out_dir)
            else:
                self.show_session(sessions[place - len(rows)].folder)

        options = [*(row.text(now) for row in rows), *(row.text(now) for row in sessions)]
        self.app.push_screen(Picking("Runs and sessions of this repository", [], options, plain=self.plain), chosen)

    def show_session(self, folder: Path) -> None:
        from santiago.tui.review import ReviewScreen  # which itself leads here

        try:
            self.app.push_screen(ReviewScreen(folder, plain=self.plain))
        except SantiagoError as error:
            self.say(f"{error.message}. {error.hint}", "bad")

    def show_run(self, out_dir: Path) -> None:
        try:
            following = Following(out_dir)
        except SantiagoError as error:
            self.say(f"{error.message}. {error.hint}", "bad")
            return
        self.wish = None
        self.open(following)

    def action_keys(self) -> None:
        lines = []
        for key in WATCH:
            lines += [Line(f"{key.shown:<12} {key.does}"), Line(f"{'':12} $ {key.command}", "dim")]
        self.app.push_screen(Reading("Keys, and the commands that do the same", lines, plain=self.plain))

    def action_leave(self) -> None:
        """Leave; a run that somebody works on goes on, which is asked about first."""
        run = self.current
        if not run.worker and (self.started is None or self.started.ended() is not None):
            self.app.exit("")
            return
        goes_on = f"{run.run_id} goes on; `santiago watch` shows it again, `santiago stop` stops it"

        def chosen(key: str | None) -> None:
            if key == "s":
                requests.stop(run.out_dir, run.run_id, actor(), running=True)
                self.app.exit(f"{run.run_id} was asked to stop at the next safe boundary")
            elif key is not None:
                self.app.exit(goes_on)

        lines = [Line("The run is a process of its own, and goes on without this screen.")]
        keys = {"q": "leave, it goes on", "s": "stop it safely, and leave"}
        self.app.push_screen(Choosing(f"Leave {run.run_id}?", lines, keys, plain=self.plain), chosen)


def _card_lines(asked: Card) -> list[Line]:
    """Return a question as it is read: what there is to look at, what is asked, and the words that it takes."""
    lines = [Line(harmless(line)) for line in asked.lines]
    lines += [Line("")] if lines else []
    lines += [Line(harmless(asked.text), "warn"), Line("")]
    lines += [Line(f"{word:<9} {means}") for word, means in asked.words]
    if asked.chunk:
        lines.append(Line(f"{'a':<9} {asked.words[0][0]}, and the rest of chunk {flat(asked.chunk)} too"))
    lines += [Line(f"$ {command}", "dim") for command in (*asked.trying, f"{asked.command} …")]
    return lines
