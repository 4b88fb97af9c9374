"""Notifying the user's own command and web address of a question, a stop, a failure or a success."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import time
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

from santiago.app.config import load
from santiago.app.page_address import address
from santiago.app.start.leaks import without_secrets
from santiago.contract.answers import KINDS
from santiago.contract.events import EventKind
from santiago.contract.phases import RunPhase
from santiago.contract.reasons import MEANINGS, Reason
from santiago.util.text import first, harmless

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from urllib.request import OpenerDirector

    from santiago.contract.events import Event
    from santiago.contract.state import RunState

SECONDS: float = 10
"""How long one notice may take, and how long the end of a run waits for those under way."""
GRACE = 1.0
"""Extra seconds in which a notice that ran out of time can still report that."""
LONGEST = 2000
"""How many characters of a text are passed on."""
_EVENTS = {RunPhase.SUCCESS: "success", RunPhase.FAILED: "failure"}
"""Run phase → the word for it in a notice. Other phases are a stop, after which the run can go on."""

Message = dict[str, Any]


class Notice:
    """The command and the address of `[notify]`. They are read before anything runs, so that no agent can change them.

    Notices are sent in the background, in order. Failures are reported at the end, and do not make the run fail.
    """

    def __init__(self, repo: Path, run_id: str = "", out_dir: Path | None = None) -> None:
        settings = load(repo)
        command, self._url = settings["notify.command"].value, settings["notify.webhook"].value
        self._argv = list(map(str, command)) if isinstance(command, list) else shlex.split(str(command or ""))
        self._repo, self._run_id, self._out_dir = repo, run_id, out_dir
        told = {"command": self._tell_command} if self._argv and not self.missing else {}
        told |= {"webhook": self._tell_webhook} if self._url else {}
        self._channels = [_Channel(name, tell, SECONDS) for name, tell in told.items()]

    @property
    def missing(self) -> str:
        """Return a warning if the program does not exist; empty if it does, or if none is set."""
        there = not self._argv or shutil.which(self._argv[0])
        return "" if there else f"[notify] command names {self._argv[0]}, which does not exist; nobody would be told"

    def take(self, events: Sequence[Event], _: RunState) -> None:
        """Send a notice for each recorded question."""
        for event in events:
            # Nobody waits for a word on unproven work before the end, which tells of all of it.
            if event.event is EventKind.QUESTION_ASKED and event.context.get("kind") != "unproven":
                name, kind = event.context.get("question", ""), event.context.get("kind", "agent")
                words = f"Answers: {', '.join(KINDS.get(kind, ()))}" if kind in KINDS else ""
                self.question(name, f"{event.context.get('text', '')}\n{words}".strip(), self._answer(name))

    def question(self, name: str, text: str, command: str) -> None:
        """Send a notice of a question, and how to answer it."""
        self._tell("question", text, name, command)

    def give(self, state: RunState, out_dir: Path) -> str:
        """Send a notice that the run ended or paused; return a message on notices that failed."""
        self._run_id, self._out_dir = state.run_id, out_dir
        asked = next((one.id for one in state.open_questions()), "")
        text = MEANINGS[state.reason].sentence if state.reason else f"The run stopped: {state.phase}."
        more = {"phase": state.phase, "reason": state.reason}
        command = self._answer(asked) if asked else ""
        if state.reason is Reason.UNPROVEN:
            text = f"{text} ({', '.join(story.id for story in state.stories.values() if story.is_unproven)})"
            command = f'santiago accept {shlex.quote(self._run_id)} --unproven --why "YOUR REASON"'
        self._tell(_EVENTS.get(state.phase, "stop"), text, asked, command, **more)
        until = time.monotonic() + SECONDS
        failed = [f"{channel.name} {why}" for channel in self._channels if (why := channel.close(until))]
        return f"[notify] {', '.join(failed)}" if failed else ""

    def _answer(self, question: str) -> str:
        return f'santiago answer {shlex.quote(self._run_id)} {shlex.quote(harmless(question))} "YOUR ANSWER"'

    def _tell(self, event: str, text: str, question: str, command: str, **more: Any) -> None:
        message = {
            "run_id": self._run_id, "event": event, "text": first(without_secrets(harmless(text)), LONGEST),
            "question": harmless(question), "answer_command": command,
        }  # fmt: skip
        page = address(self._repo, self._run_id, question) if self._channels else ""
        for channel in self._channels:
            channel.put({**message, **more, "out_dir": str(self._out_dir), **({"page": page} if page else {})})

    def _tell_command(self, message: Message) -> str:
        """Start the command with a line of JSON on its input; return why that failed, or an empty text."""
        try:
            done = subprocess.run(  # noqa: S603  # the user's own command
                self._argv,
                input=json.dumps(message) + "\n",
                text=True,
                timeout=SECONDS,
                check=False,
                stdout=subprocess.DEVNULL,  # a pipe would stay open as long as any child of the command lives
                stderr=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            return f"took longer than {SECONDS} s and was ended"
        except (OSError, ValueError) as error:
            return f"could not be started: {error}"
        return f"ended with exit {done.returncode}" if done.returncode else ""

    def _tell_webhook(self, message: Message) -> str:
        """Send the parts of a message that reveal nothing about this machine; return why that failed, or an empty text."""
        kept = ["run_id", "event", "text", "question", "answer_command"]
        if message.get("page", "").startswith("https:"):  # a name that others can reach, too
            kept.append("page")
        return post(str(self._url), {key: message[key] for key in kept}, SECONDS)


class _Channel:
    """One way to send notices. Its own thread starts at the first message, so that nothing waits for it before the end."""

    def __init__(self, name: str, tell: Callable[[Message], str], seconds: float) -> None:
        self.name, self._tell, self._seconds = name, tell, seconds
        self._waiting: SimpleQueue[Message | None] = SimpleQueue()
        self._thread: Thread | None = None
        self._failures: list[str] = []

    def put(self, message: Message) -> None:
        self._waiting.put(message)
        if self._thread is None:  # not earlier, since there must be no thread when processes are forked
            thread = Thread(target=self._work, name=f"notify {self.name}", daemon=True)
            try:
                thread.start()
            except RuntimeError as error:  # no thread is left on the machine; the run must not fail for that
                self._failures.append(f"could not be told: {error}")
            else:
                self._thread = thread

    def _work(self) -> None:
        while (message := self._waiting.get()) is not None:
            if why := self._tell(message):
                self._failures.append(why)

    def close(self, until: float) -> str:
        """Wait at most until that time; return the failures in one line."""
        self._waiting.put(None)
        if self._thread is not None:
            self._thread.join(max(0.0, until - time.monotonic()) + GRACE)
        is_late = self._thread is not None and self._thread.is_alive()
        failures = self._failures or ([f"took longer than {self._seconds:g} s"] if is_late else [])
        more = f" ({len(failures)} times)" if len(failures) > 1 else ""
        return f"{failures[-1]}{more}" if failures else ""


TRIES = 3
"""How often it is sent at most, if the server cannot be reached or reports an error of its own."""
PAUSE = 1.0
"""Seconds before it is sent again."""


def post(url: str, message: Mapping[str, Any], seconds: float) -> str:
    """Send a message; return why it failed, or an empty text. All tries share the seconds.

    Only the head of the answer is read. No redirection is followed, since the message is meant for this address only.
    """
    from http.client import HTTPException
    from urllib.error import HTTPError
    from urllib.request import Request

    content = json.dumps(message).encode()
    request = Request(url, content, {"Content-Type": "application/json", "User-Agent": "santiago"}, method="POST")  # noqa: S310  # http or https
    opener, until, why = _opener(), time.monotonic() + seconds, ""
    for number in range(TRIES):
        if number:
            time.sleep(PAUSE)
        if (left := until - time.monotonic()) <= 0:
            break
        try:
            opener.open(request, timeout=left).close()
        except HTTPError as error:
            error.close()
            why = f"answered {error.code}"
            if error.code < 500:
                break
        except TimeoutError:
            return f"took longer than {seconds:g} s"
        except (OSError, HTTPException, ValueError) as error:
            reason = getattr(error, "reason", error)
            if isinstance(reason, TimeoutError):
                return f"took longer than {seconds:g} s"
            why = f"could not be reached: {getattr(reason, 'strerror', None) or type(reason).__name__}"
        else:
            return ""
    return why


def _opener() -> OpenerDirector:
    from urllib.request import HTTPRedirectHandler, build_opener

    class Nowhere(HTTPRedirectHandler):
        def redirect_request(self, *_: Any) -> None:
            return None

    return build_opener(Nowhere)
