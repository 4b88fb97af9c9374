"""What the tools do: they leave a person's text for a run, and start commands that ask for every consent themselves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from santiago.app import requests
from santiago.app.actor import actor
from santiago.app.config import user_file, user_lets_start
from santiago.app.detached import Detached
from santiago.app.finding import newest_of, runs_here
from santiago.app.loading import working
from santiago.app.planning import session_word
from santiago.app.planning.planning_sessions import Planning, open_here
from santiago.app.start.identity import refuse_copied
from santiago.app.start.proposals import sentence
from santiago.app.start.risky_settings import waiting as untrusted
from santiago.contract.answers import FREE, KINDS, understood
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.ids import is_of_session
from santiago.mcp.telling import BEGUN, board, compiled, document_here, run_of
from santiago.report.asking import waiting
from santiago.report.question import card, cards_of
from santiago.report.session_review import review_of
from santiago.util.text import first, harmless
from santiago.workspace.ancestry import resolve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from santiago.app.compiling import Job
    from santiago.app.loading import Run
    from santiago.planner.compile import Compilation
    from santiago.report.question import Card

SHOWN = 1_500
"""How many characters of a question a person is shown."""
TEXTS = {**FREE, "plan": "adjust"}
"""Kind of question → the word that a person's text is recorded as. Questions of other kinds take none here."""
_NOT_GIVEN = {"decline": "declined", "cancel": "cancelled"}


def who() -> str:
    """Return the name that is recorded: that of the person whose machine it is, and the way."""
    return actor(f"{actor()} by way of MCP")


# Answers


def message(question: str, run: str) -> str:
    """Return what a person is asked; empty if the question takes no text here."""
    with suppress(SantiagoError):  # `answer` says what is wrong
        asked, whose = _asked(question, run)
        if word := TEXTS.get(asked.kind):
            return (
                f"{asked.id} of {_name(whose)} asks: {first(harmless(asked.text), SHOWN)}\n\n"
                f"What you write is recorded as `{word}` ({KINDS[asked.kind][word]}). It approves nothing."
            )
    return ""


def answer(question: str, run: str, action: str, text: str) -> Iterator[str]:
    """Leave a person's text as the answer to a question; `action` is what their client said of the form, or empty."""
    asked, whose = _asked(question, run)
    word = TEXTS.get(asked.kind)
    if word is None:
        yield f"{question} takes no text here: its words give a consent, which only a person gives, in a terminal."
    elif action == "accept" and _is_text(text):
        yield _left(asked, whose, word, text)
        return
    elif action == "accept":
        yield "Nothing is recorded: a consent or a fixed word is not taken here, only text that says what should be different."
    elif action:
        yield f"Nothing is recorded: the form was {_NOT_GIVEN[action]}, or the client never showed it. Do not answer for the person."
    else:
        yield "Nothing is recorded: this client does not show forms."
    yield f"The person can type: {asked.command} WORD"
    yield from (f"  {name:<9} {does}" for name, does in asked.words)
    # The address of the page holds a key that lets its reader answer, so a model is told the command that prints it.
    screen = "review" if isinstance(whose, Planning) else "watch"
    yield f"or answer on a page (santiago serve) or on the screen (santiago {screen} {quote(_name(whose))})"


def _asked(question: str, run: str) -> tuple[Card, Run | Planning]:
    """Return an open question, and the run or the planning session that asks it; raise where it is not open."""
    found: list[tuple[Card, Run | Planning]]
    if is_of_session(question):
        sessions = [one for one in open_here() if run in ("", one.session_id)]
        found = [(asked, one) for one in sessions for asked in cards_of(review_of(one)) if asked.id == question]
    else:
        name = str(run_of(run).out_dir) if run else None
        runs = [(one, asked) for one, open_ones in waiting(name) for asked in open_ones if asked.id == question]
        found = [(card(one.plan, one.state, asked, one.out_dir), one) for one, asked in runs]
    if len(found) == 1:
        return found[0]
    several = " and ".join(_name(whose) for _, whose in found)
    message = f"{several} ask {question}" if found else f"there is no open question {question}"
    raise SantiagoError(Kind.USAGE, message, hint="`questions` lists them; name the run or the session as well.")


def _name(whose: Run | Planning) -> str:
    return whose.session_id if isinstance(whose, Planning) else whose.run_id


def _left(asked: Card, whose: Run | Planning, word: str, text: str) -> str:
    """Leave a person's text as the answer, and tell what becomes of it."""
    if not isinstance(whose, Planning):
        refuse_copied(whose.out_dir)
        return requests.answer(whose, asked.id, word, who(), text=text).text
    session_word.answer(whose, whose.state.questions[asked.id], word, text, who())
    then = "" if whose.worker else f"; a person has it carried out: santiago review {quote(whose.session_id)} --take-up"
    return f"{whose.session_id}: {asked.id} is answered{then}"


def _is_text(text: str) -> bool:
    """Tell whether a text says what should be different. A consent, and every fixed word, is none, whatever the question."""
    try:
        return understood("detail", text).word == FREE["detail"]
    except SantiagoError:
        return False


# Runs


def start(document: str) -> Iterator[str]:
    """Start a run of a document where its owner allowed that; else tell the command."""
    path = document_here(document)
    command = f"santiago run {quote(document)}"
    if not user_lets_start(Path.cwd()):
        yield f"A person starts it: {command}"
        yield f"`[mcp] start = true` in {user_file()} lets this tool start runs whose plan is certain and whose money is limited."
        return
    found, job = compiled(document)
    if reasons := list(_against(path, found, job)):
        yield "Not started:"
        yield from (f"  {reason}" for reason in reasons)
        yield f"A person decides: {command}"
        return
    _said("plan", "--json", f"--out-dir={job.out_dir}", "--", document)
    out_dir, name = job.out_dir, job.run_input.run_id or job.out_dir.name
    words = ("resume", str(out_dir), "--sandbox", "required", f"--actor={who()}")
    BEGUN[name] = Detached(out_dir, words)
    yield f"{name} is started; `status` with run={name!r} tells the rest."


def _against(path: Path, found: Compilation, job: Job) -> Iterator[str]:
    """Yield what keeps a run from being started without a person."""
    if found.plan is None:
        yield from (f"line {one.line}: {one.message}" for one in found.errors)
    elif not found.plan.certain:
        yield sentence(found.plan)
    if (risky := untrusted(Path.cwd(), job.run_input)) is not None:
        yield risky.sentence
    if job.run_input.limits.run_max_cost_usd is None:
        yield "no limit of money is set: `run_max_cost_usd` under [limits]"
    if job.run_input.policy.sandbox == "off":
        yield "the sandbox is off"
    if (before := newest_of(path)) is not None:
        yield f"{before.run_id} is a run of this document already"
    with suppress(SantiagoError):  # there is no run at all
        yield from (f"{run.run_id} is running" for run in runs_here() if working(run.out_dir))


# Tickets


def enqueue(title: str, document: str = "") -> str:
    """Put a request onto the board."""
    board()
    source = (f"--source=doc:{document_here(document).relative_to(Path.cwd()).as_posix()}",) if document else ()
    return _said("queue", "add", "--json", f"--actor={who()}", f"--title={title}", *source)


def claim(ticket: str = "") -> str:
    """Claim a ticket, or the first that may be claimed."""
    board()
    named = (f"--id={ticket}",) if ticket else ()
    return _said("queue", "claim", "--json", f"--worker={who()}", f"--actor={who()}", *named)


def verify(ticket: str, commit: str = "HEAD") -> str:
    """Have a commit judged as the work on a ticket, by a command that goes on without this server."""
    place = board()
    if (found := resolve(place.project, commit)) is None:
        raise SantiagoError(Kind.USAGE, f"there is no commit {commit[:100]!r} here", hint="Commit the work first.")
    name = f"{ticket}@{found[:12]}"
    if name not in BEGUN or BEGUN[name].ended() is not None:
        words = ("queue", "verify", f"--from={found}", f"--actor={who()}", "--", ticket)
        BEGUN[name] = Detached(_outputs(name), words, alone=())
    return f"{name} is being judged; `status` with ticket={ticket!r} tells the rest."


_FOLDER = TemporaryDirectory(prefix="santiago-mcp-", ignore_cleanup_errors=True)
"""What commands about tickets print, until this server ends. What came of them stands on the board."""


def _outputs(name: str) -> Path:
    folder = Path(_FOLDER.name) / name.replace("/", "_")
    folder.mkdir(exist_ok=True)
    return folder


def _said(*words: str) -> str:
    """Carry out a command of santiago that prints JSON; return that, raise what it refused."""
    command = [sys.executable, "-m", "santiago", *words]
    done = subprocess.run(  # noqa: S603  # our own command, and no shell
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False, env=os.environ
    )
    if done.returncode:
        told = json.loads(done.stdout)["error"]
        raise SantiagoError(Kind.BLOCKED, told["message"], hint=told["hint"])
    return done.stdout
