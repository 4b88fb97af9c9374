"""What people do with a run on its screen: answer, hint, stop, go on. Each makes the same request as a command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from textual.widgets import Input

from santiago.app import detached, requests
from santiago.app.actor import actor
from santiago.app.finding import unfinished
from santiago.contract.answers import describe
from santiago.contract.counting import count
from santiago.contract.errors import SantiagoError
from santiago.contract.phases import StoryPhase
from santiago.executor.selection import selected
from santiago.report.following import Following
from santiago.report.page import Line
from santiago.report.question import card, meant, question_lines
from santiago.report.run_page import pauses_now
from santiago.tui.base_screen import PlanScreen, ShowSession
from santiago.tui.rows import Rows
from santiago.tui.windows import number_typed
from santiago.util.text import flat, harmless

if TYPE_CHECKING:
    from collections.abc import Callable

    from santiago.app.loading import Run
    from santiago.app.requests import Asked
    from santiago.contract.state import Question
    from santiago.report.consents import Consent
    from santiago.report.question import Card

MOST_ATTEMPTS = 1000


class Wished(NamedTuple):
    """The options of a start."""

    chunks: str = ""
    attempts: int = 0
    consents: tuple[str, ...] = ()


class WatchActions(PlanScreen[Rows]):
    """The actions on a run, and the choice of the run to look at."""

    following: Following
    any_run = False
    """Whether nobody named this run, so that another one that begins is shown in its place."""
    wish: bool | None = None
    """Whether the next start pauses after each chunk; None if nobody chose."""
    _asked_to_stop = ""
    """The run that was asked to stop from here."""
    _wished: Wished = Wished()
    """The options of the latest start."""
    _given: tuple[Consent, ...] = ()
    """The consents that were given for the latest start."""

    @property
    def current(self) -> Run:
        return self.following.run

    @property
    def selection(self) -> str:
        return self.query_one("#selection", Input).value

    def select(self, text: str) -> None:
        self.query_one("#selection", Input).value = text

    @property
    def pauses(self) -> bool:
        return pauses_now(self.current) if self.wish is None or self.current.worker else self.wish

    def open(self, following: Following) -> None:
        raise NotImplementedError

    def _request(self, ask: Callable[[], Asked]) -> None:
        """Make a request, and show its outcome."""
        if (asked := self.tried(ask)) is not None:
            self.say(asked.text, "good" if asked.done else "warn")
        self.paint()

    # Questions

    def action_answer(self) -> None:
        """Answer a question of the story under the cursor, or the first that is open."""
        questions, row = list(self.asked()), self.rows.current
        here = next((one for one in questions if row and row.story and one.story == row.story), None)
        if not questions:
            self.say("no question is open")
        else:
            self.pick_question([here] if here else questions, self._ask)

    def _ask(self, question: Question) -> None:
        run = self.current
        asked = card(run.plan, run.state, question, run.out_dir)

        def understood(typed: str) -> str:
            answer, scope = meant(asked, typed)
            return harmless(describe(answer)) + (f", and the rest of this {scope}" if scope else "")

        lines = question_lines(asked, typed=True)
        lines += [Line(f"$ {command}", "dim") for command in (*asked.trying, f"{asked.command} …")]
        self.ask_line(
            f"{asked.id}  {flat(asked.title)}".rstrip(), lines, understood,
            lambda typed: self._request(lambda: self._answer(asked, typed)), confirmed=True,
        )  # fmt: skip

    def _answer(self, asked: Card, typed: str) -> Asked:
        answer, scope = meant(asked, typed)
        return requests.answer(
            self.current, asked.id, answer.word, actor(), text=answer.text, rest=scope or None, via="screen"
        )

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
        lines = [Line(f"{name}  {flat(self.following.by_id[name].title)}"), Line(effect, "dim")]
        self.ask_line(
            title, lines, lambda typed: f"{kind} for {name}: {flat(typed)}",
            lambda typed: self._request(lambda: ask(self.current, name, typed, actor())), confirmed=True,
        )  # fmt: skip

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

    def _confirm_resume(self, run: Run) -> None:
        stories = [story for story in run.state.stories.values() if not story.parent]
        done = sum(1 for story in stories if story.phase is StoryPhase.DONE)
        left = sum(1 for story in stories if not story.skipped and story.phase is not StoryPhase.DONE)
        gate = f" --gate {self._gate}" if self._gate else ""
        lines = [Line(f"{done} done, {left} to go"), Line(f"$ santiago resume {run.run_id}{gate}", "dim")]
        keys = {"enter": "begin" if not run.begun else "go on"}
        self.decide(f"Go on with {run.run_id}?", lines, keys, lambda _: self.begin())

    def action_grant(self) -> None:
        run = self.current
        if run.worker or not run.resumable:
            self.say(f"{run.run_id} is {'running' if run.worker else 'finished'}; nothing to grant", "warn")
            return

        def understood(typed: str) -> str:
            attempts = number_typed(typed, MOST_ATTEMPTS)
            return f"go on, with {count(attempts, 'more attempt')} for what failed or is spent"

        lines = [Line("failed and spent stories are tried again, up to this many times each")]
        self.ask_line(
            "How many more attempts?",
            lines,
            understood,
            lambda typed: self.begin(Wished(attempts=int(typed))),
            confirmed=True,
        )

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
        self._begin(wished)

    def _begin(self, wished: Wished) -> None:
        out_dir, self._wished, self._asked_to_stop = self.current.out_dir, wished, ""
        self.start(lambda: detached.resume(out_dir, gate=self._gate, **wished._asdict()), "carries it out")

    def recorded(self) -> int:
        return self.current.state.seq

    def take_in_end(self) -> None:
        self.following.ask_worker()
        self.following.catch_up()
        self.rows.update()

    def consents_wanted(self) -> tuple[list[Consent], str]:
        from santiago.report.consents import consents  # loaded only after a refusal, since it loads much

        said, command = set(self._wished.consents), f"santiago resume {self.current.run_id}"
        try:
            found = [one for one in consents(self.current) if one not in self._given and not said.issuperset(one.said)]
        except SantiagoError:
            found = []  # the start says it in its own words
        return found, command

    def agreed_to(self, wanted: list[Consent], *, everything: bool) -> None:
        from santiago.report.consents import give

        run = self.current
        if not everything:
            self.say(f"not agreed to, so {run.run_id} was not started", "warn")
            return
        said = self.tried(lambda: tuple(word for one in wanted for word in give(run, one)))
        if said is not None:
            self._given += tuple(wanted)
            self._begin(self._wished._replace(consents=(*self._wished.consents, *said)))

    # Runs, and leaving

    def action_runs(self) -> None:
        self.list_others(Path(self.current.run_input.repo_path), self.following.utc())

    def show_session(self, folder: Path) -> None:
        self.any_run = False
        self.post_message(ShowSession(self, folder))

    def show_run(self, out_dir: Path) -> None:
        self.any_run = False
        self.go_to(out_dir)

    def go_to(self, out_dir: Path) -> None:
        """Show another run in place of this one."""
        if (following := self.tried(lambda: Following(out_dir))) is not None:
            self.wish = None
            self.open(following)

    def action_leave(self) -> None:
        """Leave the screen. If the run is running, ask first, since it goes on."""
        run = self.current
        if not run.worker and (self.started is None or self.started.ended() is not None):
            self.app.exit("")
            return

        def chosen(key: str) -> None:
            if key == "s":
                requests.stop(run.out_dir, run.run_id, actor(), running=True)
                self.app.exit(f"{run.run_id} was asked to stop at the next safe boundary")
            else:
                self.app.exit(f"{run.run_id} goes on; `santiago watch` shows it again, `santiago stop` stops it")

        lines = [Line("The run is a process of its own, and goes on without this screen.")]
        keys = {"q": "leave, it goes on", "s": "stop it safely, and leave"}
        self.decide(f"Leave {run.run_id}?", lines, keys, chosen)
