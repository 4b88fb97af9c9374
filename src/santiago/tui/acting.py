"""Actions of people in the browser. Each makes the same request as a command, and shows its outcome."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from santiago.app import requests
from santiago.app.actor import actor
from santiago.contract.answers import describe
from santiago.contract.errors import SantiagoError
from santiago.contract.phases import StoryPhase
from santiago.report.following import Following
from santiago.report.page import Line
from santiago.report.question import card, meant
from santiago.report.run_list import run_rows
from santiago.report.session_list import session_rows
from santiago.tui.dialogs import Choosing, Picking, Reading, Typing
from santiago.tui.keys import WATCH, as_lines
from santiago.tui.starting import Starting
from santiago.util.text import flat, harmless

if TYPE_CHECKING:
    from santiago.app.requests import Asked
    from santiago.contract.state import Question
    from santiago.report.question import Card
    from santiago.report.run_list import RunRow
    from santiago.report.session_list import SessionRow


class Acting(Starting):
    """Actions that talk to a run, and the choice of the run to look at."""

    questions: list[Question]
    any_run = False
    """Whether nobody named this run, so that another one that begins is shown in its place."""

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

    # Words for a story

    def action_hint(self) -> None:
        self._tell("hint", "A hint for the next attempt", "a running attempt is not disturbed")

    def action_change(self) -> None:
        self._tell("change", "What should be different", "a running attempt stops at once, and its work is kept")

    def _tell(self, kind: str, title: str, effect: str) -> None:
        row = self.rows.current
        if row is None or not row.story:
            self.say("go to a story first: a chunk has no next attempt")
            return
        name, story = row.story, self.current.state.stories[row.story]
        if story.skipped or story.phase is StoryPhase.DONE:
            self.say(f"{name} is {'left out' if story.skipped else story.phase}, and that cannot be undone", "bad")
            return
        ask = requests.hint if kind == "hint" else requests.change

        def told(typed: str | None) -> None:
            if typed is not None:
                self._request(lambda: ask(self.current, name, typed, actor()))

        lines = [Line(f"{name}  {flat(self.following.by_id[name].title)}"), Line(effect, "dim")]
        window = Typing(title, lines, lambda typed: f"{kind} for {name}: {flat(typed)}", plain=self.plain)
        self.app.push_screen(window, told)

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
            self.any_run = False
            if place < len(rows):
                self.show_run(rows[place].out_dir)
            else:
                self.show_session(sessions[place - len(rows)].folder)

        options = [*(row.text(now) for row in rows), *(row.text(now) for row in sessions)]
        self.app.push_screen(Picking("Runs and sessions of this repository", [], options, plain=self.plain), chosen)

    def show_session(self, folder: Path) -> None:
        from santiago.tui.review import ReviewScreen  # imported here, since that module imports this one

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
        self.app.push_screen(Reading("Keys, and the commands that do the same", as_lines(WATCH), plain=self.plain))

    def action_leave(self) -> None:
        """Leave the screen. If the run is running, ask first, since it goes on."""
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
    """Return the lines of a question: what to look at, the question, and the words that answer it."""
    lines = [Line(harmless(line)) for line in asked.lines]
    lines += [Line("")] if lines else []
    lines += [Line(harmless(asked.text), "warn"), Line("")]
    lines += [Line(f"{word:<9} {means}") for word, means in asked.words]
    if asked.chunk:
        lines.append(Line(f"{'a':<9} {asked.words[0][0]}, and the rest of chunk {flat(asked.chunk)} too"))
    lines += [Line(f"$ {command}", "dim") for command in (*asked.trying, f"{asked.command} …")]
    return lines
