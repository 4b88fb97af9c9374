"""The review of a planning session: the plan by chunk, one story in detail, what changed, the turns live, and what people do.

Each of their actions leaves the same answer as a command; a separate process carries it out.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from santiago.app.actor import actor
from santiago.app.detached import Detached
from santiago.app.planning import session_word
from santiago.app.planning.planning_sessions import load_session
from santiago.report.following_session import FollowingSession, controls_of
from santiago.report.page import Line
from santiago.report.session_pages import PAGES, finalize_page, page, uncovered
from santiago.report.session_review import TONES
from santiago.tui.base_screen import Head, PlanScreen, ShowRun
from santiago.tui.buttons import Button
from santiago.tui.keys import CONTROLS, REVIEW, bindings
from santiago.tui.listing import FilterLine
from santiago.tui.plan_rows import PlanRows
from santiago.tui.windows import number_typed
from santiago.util.text import flat, harmless

if TYPE_CHECKING:
    from pathlib import Path

    from textual.binding import BindingType

    from santiago.contract.state import Question
    from santiago.report.consents import Consent
    from santiago.report.session_review import Review
    from santiago.tui.windows import Deciding

SECONDS = 0.1
"""Seconds between two readings of the log."""
SLOW = 5
"""Every so many readings, also check what is not in the log: who works on the session, which answers wait, the time."""
LATER = 0.2
"""Seconds before changes are computed, so that something is shown first."""
UNFOLDED = 12
"""A plan with at most this many stories is shown unfolded."""
MOST_TURNS = 1000
CHECK_AGAIN = "check the plan against the commits that came since"
_TITLES = {
    "adjust": ("Continue planning", "another turn of all agents of the session"),
    "edit": ("Quick edit", "a turn of one agent"),
}


class ReviewScreen(PlanScreen[PlanRows]):
    """Shows one session. Actions here do the same as commands."""

    KEYS, CONTROLS, PAGES, WIDE, FORGETS = REVIEW, CONTROLS, PAGES, 72, False
    needing, printing, refused = "the review", "santiago review --plain", "It was not carried out"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(REVIEW), ("right_square_bracket", "revision(1)")]

    def __init__(self, folder: Path, *, plain: bool = False, revision: int | None = None) -> None:
        super().__init__(PlanRows(plain=plain), plain=plain)
        self.following = FollowingSession(folder, compared=False)
        self._consents: tuple[str, ...] = ()
        """The consents that were given for the latest start."""
        self._executes = False
        """Whether the run will begin as soon as it is made."""
        self._leaving: Deciding | None = None
        """The window that asks whether to leave before that."""
        if revision is not None:
            self.following.show(revision)

    def on_mount(self) -> None:
        self.ready = True
        self.open(self.following)
        self.rows.focus()
        self.set_interval(SECONDS, self.tick)
        self.set_timer(LATER, self._compare)

    def _compare(self) -> None:
        """Compute the changes, after something is shown."""
        if not self.following.compared:
            self.following.compare()
            self.paint()

    def open(self, following: FollowingSession) -> None:
        """Show a session from its beginning."""
        self.following, self.damage, self.told = following, "", ("", "")
        self.rows.open, self.rows.cursor = set(), 0
        self.query_one(FilterLine).end()
        self.remove_class("reading")
        self.following.ask_run()
        self.page_shown = "turns" if following.review.state == "drafting" else "story"
        self._unfold_small()
        self.paint(anew=True)

    def _unfold_small(self) -> None:
        plan = self.following.review.plan
        if plan is not None and len(plan.stories) <= UNFOLDED:
            self.rows.open = set(range(1, len(plan.chunks) + 1))

    def on_screen_resume(self) -> None:
        """Come back from a run: read its state again."""
        if self.ready:
            self.following.ask_run()
            self.paint()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Tell whether an action is possible now. If not, it is hidden and its key does nothing."""
        if not super().check_action(action, parameters) or action not in CONTROLS:
            return super().check_action(action, parameters)
        return action in self.offered or (action in ("continue", "edit") and "plan_on" in self.offered)

    # Following

    def tick(self) -> None:
        """Take in what was recorded since the last look, and paint what has changed."""
        if not self.app.is_running:
            return
        self._ticks += 1
        late = self._ticks % SLOW == 0
        before = self.following.review
        grew = self.read(lambda: self._look(late=late))
        grew = self.look_after_start() or grew
        if grew:
            self._took_in(before)
        if grew or (late and self.following.review.worker):
            self.paint()

    def _look(self, *, late: bool) -> bool:
        grew = self.following.look()
        return (self.following.ask_worker() if late or grew else False) or grew

    def _took_in(self, before: Review) -> None:
        """Go to what is new: a turn that begins, the changes of a new revision, the run."""
        now = self.following.planning.state
        if now.turn is not None and len(now.turns) != len(before.turns):
            self.page_shown = "turns"
            self.say(f"turn {now.turn.number} is under way: {', '.join(map(flat, now.turn.agents))}", "busy")
        ended = len(before.turns) == len(now.turns) and before.turns and not before.turns[-1].ended
        if ended and now.turns[-1].revision:
            self._show_new_revision()
        elif ended and now.turns[-1].ended:
            self.page_shown = "turns"
            self.say(
                f"turn {now.turns[-1].number} brought no plan: {now.turns[-1].message or now.turns[-1].reason}", "bad"
            )
        review = self.following.review
        if review.state != before.state and review.state == "finalized":
            self.following.ask_run()
            made = f"revision {review.revision} is final: "
            self.say(
                made + (f"{review.run}; r begins it" if review.run else review.output),
                "good",
            )
            self.begin_run()
        elif review.state != before.state and "cancelled" in review.state:
            self.say("cancelled; t takes it up again", "warn")

    def _show_new_revision(self) -> None:
        self.following.show(0)
        review, diff = self.following.review, self.following.review.diff
        self.page_shown = "story"
        if diff is None:
            self.say(f"revision {review.revision}", "good")
            self._unfold_small()
            return
        numbers = f"{len(diff.new)} new, {len(diff.changed)} changed, {len(diff.removed)} removed"
        self.say(f"revision {review.revision}: {numbers}; 2 shows everything", "good")
        first = next((one for one in review.chunks if one.changed), None)
        if first is not None:
            self.rows.open.add(first.number)
            self.rows.show(review)
            names = {one.id for one in first.stories} & set(review.marks)
            self.rows.cursor = next((at for at, row in enumerate(self.rows.rows) if row.story in names), 0)

    # Painting

    def paint(self, *, anew: bool = False) -> None:
        if self.ready:
            held = self.started is not None and self.started.ended() is None
            self.offered = frozenset() if held or self.damage else controls_of(self.following)
            self.rows.show(self.following.review)
        super().paint(anew=anew)

    def head(self) -> Head:
        review, plan = self.following.review, self.following.review.plan
        second = [review.spent, flat(review.title)]
        if plan is not None:
            second.insert(0, f"{len(uncovered(plan))} uncovered")
        if review.run:
            second.insert(0, f"{review.run} {self.following.ran}")
        elif review.worker:
            second.insert(0, f"held by {flat(review.worker)}")
        return Head(review.session_id, *self._word(), review.counts(), second)

    def _word(self) -> tuple[str, str]:
        review, latest = self.following.review, self.following.planning.state.revision
        if review.run:
            return f"frozen rev {review.revision}" + (f" of {latest}" if self.following.earlier else ""), "busy"
        rev = f"rev {review.revision}" if review.revision else ""
        if self.following.earlier:
            return f"rev {review.revision} of {latest}, read-only", "warn"
        state = "answered" if self.following.waiting and not review.worker and self.started is None else review.state
        return f"{rev}  {state}".strip(), TONES.get(state, "")

    def asked(self) -> list[Question]:
        return self.following.asked

    def page(self) -> list[Line]:
        return page(self.following, self.page_shown, self.rows.chunk, self.rows.story)

    def acts(self) -> list[Button]:
        plans_on = [Button("c", "Plan on", "continue")] if "plan_on" in self.offered else []
        return [*plans_on, *super().acts()]

    def advice(self) -> str:
        review = self.following.review
        if self.following.earlier:
            return "an earlier revision, read-only; ] goes on, esc goes to the latest"
        if "begin" in self.offered:
            return "the run is made and has not begun; r begins it, w looks at it"
        if review.run:
            return self.frozen
        if "more_turns" in self.offered:
            return "all turns are used; m allows more, f makes it final"
        if "finalize" in self.offered:
            return "f makes it final; c and e take one line of what should be different"
        if "take_up" in self.offered:
            return "nobody works on it; t takes it up"
        return f"{flat(review.worker)} works on it; this is read-only until it is done" if review.worker else ""

    # Browsing

    def on_listing_moved(self) -> None:
        if self.page_shown != "story" and self.following.review.state != "drafting":
            self.page_shown = "story"
        self.paint_page(anew=True)

    def on_listing_clicked(self) -> None:
        if self.rows.story is None:
            self.action_enter()

    def action_enter(self) -> None:
        row = self.rows.current
        if row is None:
            return
        if row.story:
            self.add_class("reading")
            self.pane.focus()
        else:
            self.rows.action_fold(row.chunk in self.rows.open)
            self.paint_page(anew=True)

    def action_revision(self, by: int) -> None:
        """Look at the revision before, or the next one."""
        wanted, latest = self.following.review.revision + by, self.following.planning.state.revision
        if not 1 <= wanted <= latest:
            self.say(f"revision {self.following.review.revision} is the {'first' if by < 0 else 'latest'}")
            return
        if self.tried(lambda: self.following.show(wanted)):
            self.told = ("", "")
            self.paint(anew=True)

    def action_back(self) -> None:
        reading = self.has_class("reading") or self.pane.has_focus
        self.remove_class("reading")
        self.rows.focus()
        if reading:
            return
        self.query_one(FilterLine).end()
        self.following.show(0)
        self.told = ("", "")
        self.paint(anew=True)

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
        lines = [Line(f"used: {self.following.review.spent}", "dim")]
        take = partial(number_typed, most=MOST_TURNS)
        self.ask_line("How many more turns?", lines, take, lambda text: self.carry_out(("--add-turns", text)))

    @property
    def frozen(self) -> str:
        """The message on how to plan on after a plan is final."""
        run = self.following.review.run
        return f"the plan is frozen; planning on is a new session: santiago plan --with AGENT .santiago/runs/{run}/plan.json"

    def _leave_word(self, wish: str, text: str = "", *, moved: bool = False) -> bool:
        """Leave an answer on the shown revision."""
        planning, looked_at = load_session(self.following.folder), self.following.review.revision
        session_word.say_on_plan(planning, wish, text, actor(), revision=looked_at, moved=moved, via="screen")
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

        self.decide(f"Finalize revision {review.revision}?", finalize_page(self.following, moved, "y"), keys, chosen)

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
        self.pick_question(self.following.asked, self._ask)

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
            lambda text: session_word.answer(load_session(folder), question, text, "", actor(), "screen"),
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
