"""Actions of people in the review. Each leaves the same answer as a command; a separate process carries it out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.app.actor import actor
from santiago.app.planning import session_word
from santiago.app.planning.planning_sessions import load_session
from santiago.contract.errors import SantiagoError
from santiago.report.following_session import FollowingSession
from santiago.report.page import Line
from santiago.report.run_list import run_rows
from santiago.report.session_list import session_rows
from santiago.report.session_pages import finalize_page
from santiago.tui.carrying_out import CarryingOut
from santiago.tui.deciding import Deciding, Saying
from santiago.tui.dialogs import Picking, Reading
from santiago.tui.keys import as_lines
from santiago.tui.review_keys import REVIEW
from santiago.tui.run_screen import RunScreen
from santiago.tui.starting import Wished
from santiago.util.text import flat, harmless

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from santiago.contract.state import Question
    from santiago.report.controls import Control

MOST_TURNS = 1000
CHECK_AGAIN = "check the plan against the commits that came since"
_TITLES = {
    "adjust": ("Continue planning", "another turn of all agents of the session"),
    "edit": ("Quick edit", "a turn of one agent"),
}


class Reviewing(CarryingOut):
    """Actions on a plan, and the choice of the session to look at."""

    controls: frozenset[Control]
    _executes = False
    """Whether the run will begin as soon as it is made."""
    _leaving: Deciding | None = None
    """The window that asks whether to leave before that."""

    def open(self, following: FollowingSession) -> None:
        raise NotImplementedError

    # Planning on

    def action_continue(self) -> None:
        self._plan_on("adjust")

    def action_edit(self) -> None:
        self._plan_on("edit")

    def _plan_on(self, wish: str, value: str = "") -> None:
        if "plan_on" in self.controls:
            self.say(self.frozen, "warn")
            return
        title, effect = _TITLES[wish]
        agents = [flat(one.label) for one in self.following.planning.asked.drafters]
        who = ", ".join(agents if wish == "adjust" else agents[:1])
        revision = self.following.review.revision
        lines = [Line(f"What should be different in revision {revision}?"), Line(f"{effect}: {who}", "dim")]
        window = Saying(title, lines, lambda text: self._leave_word(wish, text), plain=self.plain, value=value)
        self.app.push_screen(window, lambda text: self.carry_out() if text is not None else None)

    def action_more_turns(self) -> None:
        def wrong(text: str) -> str:
            is_number = text.isascii() and text.isdigit() and 0 < int(text[:6]) <= MOST_TURNS
            return "" if is_number else f"a number from 1 to {MOST_TURNS}, please"

        def allowed(text: str | None) -> None:
            if text is not None:
                self.carry_out(("--add-turns", text))

        lines = [Line(f"used: {self.following.review.spent}", "dim")]
        self.app.push_screen(Saying("How many more turns?", lines, wrong, plain=self.plain), allowed)

    @property
    def frozen(self) -> str:
        """The message on how to plan on after a plan is final."""
        run = self.following.review.run
        return f"the plan is frozen; planning on is a new session: santiago plan --with AGENT .santiago/runs/{run}/plan.json"

    def _leave_word(self, wish: str, text: str = "", *, moved: bool = False) -> str:
        """Leave an answer on the shown revision; return why that failed, or an empty text."""
        try:
            planning, looked_at = load_session(self.following.folder), self.following.review.revision
            session_word.say_on_plan(planning, wish, text, actor(), revision=looked_at, moved=moved)
        except SantiagoError as error:
            return f"{error.message}. {error.hint}".rstrip(" .") + "."
        return ""

    # Finalizing

    def action_finalize(self) -> None:
        planning, review = self.following.planning, self.following.review
        try:
            moved = session_word.moved_since(planning) if review.artifact == "plan" else ""
        except SantiagoError as error:
            self.say(f"{error.message}. {error.hint}", "bad")
            return
        keys = {"y": "finalize and execute", "n": "finalize, start nothing"}
        if review.artifact == "document":
            keys = {"y": f"write {flat(review.output)}"}
        elif moved:
            again = {"v": "have it checked again first"}
            keys = again | {
                "y": "finalize although it moved, and execute",
                "n": "finalize although it moved, start nothing",
            }

        def chosen(key: str | None) -> None:
            if key == "v":
                self._plan_on("edit", CHECK_AGAIN)
            elif key is not None:
                self._finalize(executes=key == "y" and review.artifact == "plan", moved=bool(moved))

        title = f"Finalize revision {review.revision}?"
        self.app.push_screen(Deciding(title, finalize_page(self.following, moved), keys, plain=self.plain), chosen)

    def _finalize(self, *, executes: bool, moved: bool) -> None:
        if wrong := self._leave_word("approve", moved=moved):
            self.say(wrong, "bad")
            return
        self._executes = executes
        self.carry_out()

    def begin_run(self) -> None:
        """Begin the run of a finalized plan, if that was chosen, and go to it."""
        if self._executes:
            self._executes = False
            if self._leaving is not None and self._leaving.is_current:
                self._leaving.dismiss(None)
            self.action_begin(("--trust-commands",))  # the window of finalize listed them all

    def action_begin(self, consents: tuple[str, ...] = ()) -> None:
        if self.following.run_dir is not None:
            self.show_run(self.following.run_dir, begins=Wished(consents=consents))

    def action_run(self) -> None:
        if self.following.run_dir is not None:
            self.show_run(self.following.run_dir)

    def show_run(self, out_dir: Path, *, begins: Wished | None = None) -> None:
        try:
            screen = RunScreen(out_dir, plain=self.plain, begins=begins)
        except SantiagoError as error:
            self.say(f"{error.message}. {error.hint}", "bad")
            return
        self.app.push_screen(screen)

    # Cancelling and taking up

    def action_cancel(self) -> None:
        name = self.following.review.session_id
        lines = [
            Line("Nothing is carried out. The session is kept, with all its revisions and what was said."),
            Line(f"$ santiago review {name} --take-up   takes it up again", "dim"),
        ]

        what = "turn" if self.following.review.state == "drafting" else "review"

        def chosen(key: str | None) -> None:
            if key is None:
                return
            if wrong := self._leave_word("cancel"):
                self.say(wrong, "bad")
            elif what == "turn":  # the working process is told
                self.say("the turn is being cancelled", "warn")
            else:
                self.carry_out()

        keys = {"y": f"cancel the {what}"}
        self.app.push_screen(Deciding(f"Cancel the {what}?", lines, keys, plain=self.plain), chosen)

    def action_take_up(self) -> None:
        try:
            session_word.take_up(load_session(self.following.folder), actor())
        except SantiagoError as error:
            self.say(f"{error.message}. {error.hint}", "bad")
        else:
            self.carry_out()

    # Questions of agents

    def action_answer(self) -> None:
        asked = self.following.asked
        if len(asked) == 1:
            self._ask(asked[0])
            return
        options = [f"{one.id}   {flat(one.text)}" for one in asked]
        window = Picking("Which question?", [], options, plain=self.plain)
        self.app.push_screen(window, lambda place: self._ask(asked[place]) if place is not None else None)

    def _ask(self, question: Question) -> None:
        def send(text: str) -> str:
            try:
                session_word.answer(load_session(self.following.folder), question, text, "", actor())
            except SantiagoError as error:
                return error.message
            return ""

        def answered(text: str | None) -> None:
            if text is None:
                return
            if self.following.review.worker or "take_up" in self.controls:
                self.say("answered; the next turn knows it", "good")
                self.following.ask_worker()
                self.paint()
            else:
                self.carry_out()

        lines = [Line(harmless(line)) for line in question.text.splitlines()]
        self.app.push_screen(Saying(f"{question.id} asks", lines, send, plain=self.plain), answered)

    # Sessions, keys, leaving

    def action_sessions(self) -> None:
        self.run_worker(self._list_sessions, thread=True, exclusive=True)

    def _list_sessions(self) -> None:
        now = self.following.utc()
        sessions = session_rows(self.following.planning.root)
        try:
            runs = run_rows()
        except SantiagoError:
            runs = []
        options: list[tuple[str, Callable[[], None]]] = []
        options += [(row.text(now), lambda folder=row.folder: self.show_session(folder)) for row in sessions]  # type: ignore[misc]
        options += [(row.text(now), lambda place=row.out_dir: self.show_run(place)) for row in runs]  # type: ignore[misc]
        self.app.call_from_thread(self._pick, options)

    def _pick(self, options: list[tuple[str, Callable[[], None]]]) -> None:
        window = Picking("Sessions and runs of this repository", [], [text for text, _ in options], plain=self.plain)
        self.app.push_screen(window, lambda place: options[place][1]() if place is not None else None)

    def show_session(self, folder: Path) -> None:
        try:
            following = FollowingSession(folder)
        except SantiagoError as error:
            self.say(f"{error.message}. {error.hint}", "bad")
            return
        self._executes = False
        self.open(following)

    def action_keys(self) -> None:
        self.app.push_screen(Reading("Keys, and the commands that do the same", as_lines(REVIEW), plain=self.plain))

    def action_leave(self) -> None:
        """Leave the screen. Nothing is lost, and what was started goes on."""
        review = self.following.review
        if self._executes:
            self._leave_unbegun()
        elif review.worker or self.started is not None:
            self.app.exit(f"{review.session_id} goes on; `santiago review {review.session_id}` shows it again")
        elif review.question:
            self.app.exit(f"the review stays open: `santiago review {review.session_id}`")
        else:
            self.app.exit("")

    def _leave_unbegun(self) -> None:
        """Ask before leaving a run that this screen was about to begin, and tell how to begin it later."""
        name = self.following.review.session_id
        lines = [Line("The run is being made, and then begins. If you leave now, it is made but does not begin.")]
        offered = f"the run of {name} is made and not begun; `santiago review {name}` offers to begin it"

        def chosen(key: str | None) -> None:
            if key is not None:
                self.app.exit(offered)

        self._leaving = Deciding("Leave before the run begins?", lines, {"q": "leave it so"}, plain=self.plain)
        self.app.push_screen(self._leaving, chosen)
