"""Carries out what people say in a review, by a separate process, and shows the outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.screen import Screen

from santiago.app.detached import Detached
from santiago.contract.reasons import ExitCode
from santiago.report.page import Line
from santiago.tui.consenting import ask_each
from santiago.tui.dialogs import Reading

if TYPE_CHECKING:
    from santiago.report.consents import Consent
    from santiago.report.following_session import FollowingSession


class CarryingOut(Screen[None]):
    """A screen of a session that starts processes. Subclasses decide what is shown, and where."""

    plain: bool
    following: FollowingSession
    started: Detached | None = None
    """The process that was started last. It is waited for, so that a refusal is shown."""
    _consents: tuple[str, ...] = ()
    """The consents that were given for the latest start."""
    _seq = 0
    """The last event before the latest start."""

    def say(self, text: str, tone: str = "") -> None:
        raise NotImplementedError

    def paint(self, *, anew: bool = False) -> None:
        raise NotImplementedError

    def carry_out(self, words: tuple[str, ...] = ("--take-up",), consents: tuple[str, ...] = ()) -> None:
        """Carry out what was said, by a process that outlives this screen."""
        folder, self._seq = self.following.folder, self.following.planning.state.seq
        self._consents = consents
        try:
            self.started = Detached(folder, ["review", str(folder), *words, *consents])
        except OSError as error:
            self.say(f"it could not be started: {error.strerror}; t takes it up", "bad")
        else:
            self.say(f"process {self.started.pid} carries it out, and goes on when this screen is left", "busy")
        self.following.ask_worker()
        self.paint()

    def look_after_start(self) -> bool:
        """Ask for the consents that a start lacks, or show why it was refused; return whether a process has ended."""
        if self.started is None or (code := self.started.ended()) is None:
            return False
        started, self.started = self.started, None
        self.following.ask_worker()
        if not code or self.following.planning.state.seq != self._seq:
            return True
        self.say("")
        if code == ExitCode.BLOCKED and not self._consents and (wanted := self._wanted()):
            words = tuple(word for one in wanted for word in one.said)
            command = f"santiago review {self.following.review.session_id} --take-up"
            ask_each(
                self, wanted, command, lambda yes: self.carry_out(consents=words) if yes else None, plain=self.plain
            )
            return True
        lines = [*(Line(text) for text in started.said(12)), Line(""), Line(f"$ {' '.join(started.command)}", "dim")]
        self.app.push_screen(Reading("It was not carried out", lines, plain=self.plain))
        return True

    def _wanted(self) -> list[Consent]:
        from santiago.report.consents import unfenced  # loaded only after a refusal, since it loads much

        planning = self.following.planning
        return unfenced(planning.run_input, *(one.agent for one in planning.asked.drafters))
