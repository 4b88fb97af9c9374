"""Questions at the terminal: shown when they are in the log, answered by a typed line, and sent as a letter."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import termios
import threading
import tty
from collections import deque
from contextlib import nullcontext, suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING

from santiago.artifacts.inbox import Inbox
from santiago.cli.view.terminal import columns_of, in_foreground, paint, painted, say
from santiago.contract.answers import Letter, describe
from santiago.contract.errors import SantiagoError
from santiago.contract.event_effects import EXPIRED, LASTING, OVERTAKEN
from santiago.contract.events import EventKind
from santiago.report.question import TEST, card, meant, question_lines
from santiago.util.text import fit, harmless, width

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from santiago.contract.answers import Understood
    from santiago.contract.events import Event
    from santiago.contract.plan import Plan
    from santiago.contract.state import Question, RunState
    from santiago.report.question import Card

LONGEST = 4096
"""Bytes of one line; a terminal takes no longer ones."""
MOST_HELD = 1000
"""How many lines are kept back while a question is open. The log has all of them."""
MOST_ENDS = 3
"""How often the input may end (ctrl-d) before it counts as closed."""
_OVER = frozenset({EventKind.STOP_REQUESTED, EventKind.RUN_ENDED, EventKind.RUN_PAUSED})
"""Events after which nothing is asked any more. Open questions stay open."""
ENTER = (b"\n", b"\r")


class TerminalDesk:
    """Asks the person at the terminal, one question after the other, in a thread of its own.

    It only reads what was recorded, and leaves letters. An answer from elsewhere closes the question here too.
    """

    def __init__(self, plan: Plan, out_dir: Path, actor: str) -> None:
        self.plan, self.inbox, self.out_dir, self.actor = plan, Inbox(out_dir), out_dir, actor
        self.waiting: SimpleQueue[Card | None] = SimpleQueue()
        self.asking: set[str] = set()
        """Questions that are still open, as far as is known here."""
        self.answered: dict[str, str] = {}
        """Question → how it was closed, in words."""
        self.closing = False
        self.prompting = False
        """Whether a question is on the screen, so that somebody may be typing."""
        self.held: deque[str] = deque(maxlen=MOST_HELD)
        """Lines of the run that are kept back meanwhile."""
        self.turn = threading.RLock()
        """Lock for writing to the terminal."""
        self.aside: Callable[[], AbstractContextManager[None]] = nullcontext
        """Takes the live table off the terminal while a question is asked."""
        self.terminal = sys.stdin.fileno()
        self.settings = termios.tcgetattr(self.terminal)
        self.woken, self.wake = os.pipe()
        self.thread = threading.Thread(target=self._serve, name="desk", daemon=True)

    def open(self) -> None:
        self.thread.start()

    def close(self) -> None:
        """Stop asking, and restore the terminal."""
        self.closing = True
        self.waiting.put(None)
        os.write(self.wake, b"\0")
        self.thread.join(1)
        self._catch_up(over=True)
        with suppress(termios.error):  # the terminal may be closed
            if not in_foreground(self.terminal):
                return  # where this would stop the process
            termios.tcsetattr(self.terminal, termios.TCSADRAIN, self.settings)

    def take(self, events: Sequence[Event], state: RunState) -> None:
        """Take in events: a new question, or one that was closed by an answer or in another way."""
        for event in events:
            if event.event is EventKind.QUESTION_ASKED:
                self._put(state.questions[event.context["question"]], state)
        for name in [one for one in self.asking if state.questions[one].answer is not None]:
            self.asking.discard(name)
            self.answered[name] = _fate(state.questions[name])
            os.write(self.wake, b"\0")
        if any(event.event in _OVER for event in events):
            self.closing = True
            os.write(self.wake, b"\0")

    def tell(self, line: str) -> None:
        """Print a line of the run, from any thread. While somebody may be typing, it is kept back.

        The terminal itself holds what is typed until Enter, so santiago could not draw it again below such a line.
        """
        with self.turn:
            if self.prompting:
                self.held.append(line)
            else:
                say(line, err=True)

    def _catch_up(self, *, over: bool) -> None:
        """Print the lines that were kept back. `over` means that nobody is typing any more."""
        with self.turn, suppress(OSError):
            self.prompting = not over
            while self.held:
                say(self.held.popleft(), err=True)

    def ask_open(self, state: RunState) -> None:
        """Ask the questions that an earlier start left open, or that were open when another agent took over."""
        self.closing = False
        for question in state.open_questions():
            self._put(question, state)

    def _put(self, question: Question, state: RunState) -> None:
        if question.kind in LASTING:
            return  # nobody waits for it; the end of the run lists all of these together
        self.asking.add(question.id)
        self.waiting.put(card(self.plan, state, question, self.out_dir))

    def _serve(self) -> None:
        while (asked := self.waiting.get()) is not None:
            with suppress(OSError, termios.error, SantiagoError), self.aside():  # the terminal or the run may be gone
                if not self.closing:
                    self._ask(asked)
            self._catch_up(over=True)

    def _ask(self, asked: Card) -> None:
        if asked.id in self.answered:
            return
        self._catch_up(over=False)
        self._show(asked)
        ended = 0
        while asked.id not in self.answered and not self.closing and ended < MOST_ENDS:
            self._catch_up(over=False)
            line = self._line(asked)
            if not line.strip():  # neither Enter alone nor ctrl-d is an answer
                ended += not line
                continue
            if line.strip() == TEST and asked.trying:
                self._try(asked)
            elif (given := self._meant(asked, line)) and self._confirmed(*given):
                self._send(asked, *given)
                return
        if ended == MOST_ENDS:
            say(
                f"\nThe input has ended, and {asked.id} stays open; ctrl-c stops the run, and this answers it:",
                err=True,
            )
            say(f"  $ {asked.command} …", err=True, verbatim=True)
        elif self.closing and asked.id not in self.answered:
            say("", err=True)  # so that what follows begins on a new line
        if asked.id in self.answered:
            say(f"\n{asked.id} {harmless(self.answered[asked.id])}", err=True)

    def _show(self, asked: Card) -> None:
        termios.tcflush(self.terminal, termios.TCIFLUSH)  # drop what was typed before the question was shown
        columns = min(columns_of(stderr=True) or 80, 100)
        head = fit(f"── {asked.id} ── {asked.title} " if asked.title else f"── {asked.id} ", columns).rstrip()
        say("", err=True)
        say(paint(f"{head} {'─' * (columns - width(head) - 1)}".rstrip(), "head"), err=True)
        for line in question_lines(asked, typed=True):
            say(painted(line), err=True)
        if asked.trying:
            say(
                f"  {TEST:<9} let me test: a shell with the work and its dependencies; the question stays open",
                err=True,
            )

    def _try(self, asked: Card) -> None:
        """Open a shell in which the person tries the work, and come back to the question."""
        for command in asked.trying:
            say(f"  $ {command}", err=True, verbatim=True)
        subprocess.run([sys.executable, "-m", "santiago", "try", str(self.out_dir), asked.story], check=False)  # noqa: S603  # our own words
        if asked.id not in self.answered:
            say(f"{harmless(asked.text)}", err=True)

    def _meant(self, asked: Card, line: str) -> tuple[Understood, str] | None:
        """Return the meaning of a line and its scope; if it has none, print why and return None."""
        try:
            return meant(asked, line)
        except SantiagoError as error:
            say(f"{harmless(error.message)}", err=True)
            return None

    def _confirmed(self, answer: Understood, scope: str) -> bool:
        """Show how the answer was understood. Enter sends it; Escape or any other key discards it."""
        reach = f", and the rest of this {scope}" if scope else ""
        sys.stderr.write(f"understood: {harmless(describe(answer))}{reach}; Enter to send, Esc to change ")
        sys.stderr.flush()
        tty.setcbreak(self.terminal, termios.TCSANOW)
        try:
            key = self._read(lambda: False)
        finally:
            termios.tcsetattr(self.terminal, termios.TCSANOW, self.settings)
        say("", err=True)
        return key[:1] in ENTER

    def _send(self, asked: Card, answer: Understood, scope: str) -> None:
        letter = Letter(
            kind="answer",
            subject=asked.id,
            answer=answer.word,
            text=answer.text,
            scope=scope,
            actor=self.actor,
            via="terminal",
        )
        if not self.inbox.drop(letter):
            say(f"{asked.id} was answered before; the first answer counts", err=True)

    def _line(self, asked: Card) -> str:
        """Return the next typed line; empty if the question was closed, or the input ended."""
        sys.stderr.write("> ")
        sys.stderr.flush()
        typed = self._read(lambda: asked.id in self.answered).decode("utf-8", "replace")
        return "".join(
            one for one in typed if one.isprintable() or one.isspace()
        )  # without stray control characters such as Escape

    def _read(self, over: Callable[[], bool]) -> bytes:
        while True:
            ready, _, _ = select.select([self.terminal, self.woken], [], [])
            if self.woken in ready:
                os.read(self.woken, 1)
                if over() or self.closing:
                    return b""
            if self.terminal in ready:
                return os.read(self.terminal, LONGEST)


def _fate(question: Question) -> str:
    """Return how a question was closed that was not answered at this terminal."""
    if question.answer == EXPIRED:
        return "has expired; the next start asks again"
    if question.answer == OVERTAKEN:
        return f"is no longer asked: {question.actor} decided otherwise"
    return f"was answered: {question.answer}, by {question.actor}"
