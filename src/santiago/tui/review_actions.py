"""What people do in the review of a plan. Each leaves the same answer as a command; a separate process carries it out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.app.actor import actor
from santiago.app.detached import Detached
from santiago.app.planning import session_word
from santiago.app.planning.planning_sessions import load_session
from santiago.report.following_session import FollowingSession
from santiago.report.page import Line
from santiago.report.session_pages import finalize_page
from santiago.tui.base_screen import PlanScreen, ShowRun
from santiago.tui.plan_rows import PlanRows
from santiago.util.text import flat, harmless

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.contract.state import Question
    from santiago.report.consents import Consent
    from santiago.tui.windows import Deciding

MOST_TURNS = 1000
CHECK_AGAIN = "check the plan against the commits that came since"
_TITLES = {
    "adjust": ("Continue planning", "another turn of all agents of the session"),
    "edit": ("Quick edit", "a turn of one agent"),
}


class ReviewActions(PlanScreen[PlanRows]):
    """Actions on a plan, and the choice of the session to look at."""

    following: FollowingSession
    refused = "It was not carried out"
    _consents: tuple[str, ...] = ()
    """The consents that were given for the latest start."""
    _executes = False
    """Whether the run will begin as soon as it is made."""
    _leaving: Deciding | None = None
    """The window that asks whether to leave before that."""

    def open(self, following: FollowingSession) -> None:
        raise NotImplementedError

    # Carrying out

    def carry_out(self, words: tuple[str, ...] = ("--take-up",), consents: tuple[str, ...] = ()) -> None:
        """Carry out what was said, by a process that outlives this screen."""
        folder, self._consents = self.following.folder, consents
        self.start(lambda: Detached(folder, ["review", str(folder), *words, *consents]), "carries it out")
        self.take_in_end()
        self.paint()

    def recorded(self) -> int:
        return self.following.planning.state.seq

    def take_in_end(self) -> None:
        self.following.ask_worker()

    def consents_wanted(self) -> tuple[list[Consent], str]:
        from santiago.report.consents import unfenced  # loaded only after a refusal, since it loads much

        planning, command = self.following.planning, f"santiago review {self.following.review.session_id} --take-up"
        agents = [one.agent for one in planning.asked.drafters]
        return [] if self._consents else unfenced(planning.run_input, *agents), command

    def agreed_to(self, wanted: list[Consent], *, everything: bool) -> None:
        if everything:
            self.carry_out(consents=tuple(word for one in wanted for word in one.said))

    # Planning on

    def action_continue(self) -> None:
        self._plan_on("adjust")

    def action_edit(self) -> None:
        self._plan_on("edit")

    def _plan_on(self, wish: str, value: str = "") -> None:
        if "plan_on" in self.offered:
            self.say(self.frozen, "warn")
            return
        title, effect = _TITLES[wish]
        agents = [flat(one.label) for one in self.following.planning.asked.drafters]
        who = ", ".join(agents if wish == "adjust" else agents[:1])
        revision = self.following.review.revision
        lines = [Line(f"What should be different in revision {revision}?"), Line(f"{effect}: {who}", "dim")]
        self.ask_line(title, lines, lambda text: self._leave_word(wish, text), lambda _: self.carry_out(), value=value)

    def action_more_turns(self) -> None:
        def take(text: str) -> None:
            if not (text.isascii() and text.isdigit() and 0 < int(text[:6]) <= MOST_TURNS):
                raise ValueError(f"a number from 1 to {MOST_TURNS}, please")

        lines = [Line(f"used: {self.following.review.spent}", "dim")]
        self.ask_line("How many more turns?", lines, take, lambda text: self.carry_out(("--add-turns", text)))

    @property
    def frozen(self) -> str:
        """The message on how to plan on after a plan is final."""
        run = self.following.review.run
        return f"the plan is frozen; planning on is a new session: santiago plan --with AGENT .santiago/runs/{run}/plan.json"

    def _leave_word(self, wish: str, text: str = "", *, moved: bool = False) -> bool:
        """Leave an answer on the shown revision."""
        planning, looked_at = load_session(self.following.folder), self.following.review.revision
        session_word.say_on_plan(planning, wish, text, actor(), revision=looked_at, moved=moved)
        return True

    # Finalizing

    def action_finalize(self) -> None:
        planning, review = self.following.planning, self.following.review
        moved = self.tried(lambda: session_word.moved_since(planning) if review.artifact == "plan" else "")
        if moved is None:
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

        def chosen(key: str) -> None:
            if key == "v":
                self._plan_on("edit", CHECK_AGAIN)
            elif self.tried(lambda: self._leave_word("approve", moved=bool(moved))):
                self._executes = key == "y" and review.artifact == "plan"
                self.carry_out()

        self.decide(f"Finalize revision {review.revision}?", finalize_page(self.following, moved), keys, chosen)

    def begin_run(self) -> None:
        """Begin the run of a finalized plan, if that was chosen, and go to it."""
        if self._executes:
            self._executes = False
            if self._leaving is not None and self._leaving.is_current:
                self._leaving.dismiss(None)
            self.action_begin(("--trust-commands",))  # the window of finalize listed them all

    def action_begin(self, consents: tuple[str, ...] = ()) -> None:
        if self.following.run_dir is not None:
            self.show_run(self.following.run_dir, consents)

    def action_run(self) -> None:
        if self.following.run_dir is not None:
            self.show_run(self.following.run_dir)

    def show_run(self, out_dir: Path, consents: tuple[str, ...] | None = None) -> None:
        self.post_message(ShowRun(self, out_dir, consents))

    # Cancelling and taking up

    def action_cancel(self) -> None:
        name = self.following.review.session_id
        lines = [
            Line("Nothing is carried out. The session is kept, with all its revisions and what was said."),
            Line(f"$ santiago review {name} --take-up   takes it up again", "dim"),
        ]
        what = "turn" if self.following.review.state == "drafting" else "review"

        def chosen(_: str) -> None:
            if not self.tried(lambda: self._leave_word("cancel")):
                return
            if what == "turn":  # the working process is told
                self.say("the turn is being cancelled", "warn")
            else:
                self.carry_out()

        self.decide(f"Cancel the {what}?", lines, {"y": f"cancel the {what}"}, chosen)

    def action_take_up(self) -> None:
        if self.tried(lambda: session_word.take_up(load_session(self.following.folder), actor())) is not None:
            self.carry_out()

    # Questions of agents

    def action_answer(self) -> None:
        asked = self.following.asked
        if len(asked) == 1:
            self._ask(asked[0])
        else:
            options = [f"{one.id}   {flat(one.text)}" for one in asked]
            self.pick("Which question?", options, lambda place: self._ask(asked[place]))

    def _ask(self, question: Question) -> None:
        def answered(_: str) -> None:
            if self.following.review.worker or "take_up" in self.offered:
                self.say("answered; the next turn knows it", "good")
                self.following.ask_worker()
                self.paint()
            else:
                self.carry_out()

        lines = [Line(harmless(line)) for line in question.text.splitlines()]
        folder = self.following.folder
        self.ask_line(
            f"{question.id} asks",
            lines,
            lambda text: session_word.answer(load_session(folder), question, text, "", actor()),
            answered,
        )

    # Sessions, and leaving

    def action_sessions(self) -> None:
        self.list_others(self.following.planning.root, self.following.utc(), sessions_first=True)

    def show_session(self, folder: Path) -> None:
        if (following := self.tried(lambda: FollowingSession(folder))) is not None:
            self._executes = False
            self.open(following)

    def action_leave(self) -> None:
        """Leave the screen. Nothing is lost, and what was started goes on."""
        review = self.following.review
        if not self._executes:
            goes_on = f"{review.session_id} goes on; `santiago review {review.session_id}` shows it again"
            stays = f"the review stays open: `santiago review {review.session_id}`" if review.question else ""
            self.app.exit(goes_on if review.worker or self.started is not None else stays)
            return
        name = review.session_id
        lines = [Line("The run is being made, and then begins. If you leave now, it is made but does not begin.")]
        offered = f"the run of {name} is made and not begun; `santiago review {name}` offers to begin it"
        title = "Leave before the run begins?"
        self._leaving = self.decide(title, lines, {"q": "leave it so"}, lambda _: self.app.exit(offered))
