"""`stop`, `answer`, `change`, `hint` and `pause`: reach a run from outside, whether it is running or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from santiago.app import requests
from santiago.app.actor import actor as named
from santiago.app.finding import find_run as _find_run
from santiago.app.finding import names_run, naming
from santiago.app.loading import frozen, load, working
from santiago.app.start.identity import refuse_copied
from santiago.cli.named_story import run_and_story
from santiago.cli.view.terminal import say, show_data, show_page
from santiago.contract.ids import is_of_session
from santiago.report.asking import waiting

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from santiago.app.loading import Run
    from santiago.app.requests import Asked


def find_run(name: str | None) -> Path:
    """Return the out-dir of a run; raise if the run belongs to the repository that this one was copied from."""
    out_dir = _find_run(name)
    refuse_copied(out_dir)
    return out_dir


def stop(run: str | None, now: bool, detach: bool, actor: str | None, as_json: bool) -> None:
    """Stop RUN, or the one of this repository that is running, at the next safe boundary."""
    if now and detach:
        raise click.UsageError("--now ends what --detach leaves at work; give one of them.")
    out_dir = find_run(run)
    run_id = frozen(out_dir)[1].run_id or out_dir.name
    running = working(out_dir) is not None
    asked = requests.stop(out_dir, run_id, named(actor), running=running, now=now, detach=detach)
    _tell(run_id, asked, running=running, as_json=as_json)


def answer(
    words: tuple[str, ...], text: str, rest: str | None, revision: int | None, actor: str | None, as_json: bool
) -> int | None:
    """Answer a question of a run or of a planning session, or list what is asked."""
    if (session := _session_meant(words)) is not None:
        from santiago.cli.planning import answer_in

        folder, given = session
        return answer_in(folder, given[0], " ".join(given[1:]), text, named(actor), revision=revision, as_json=as_json)
    name, given = (words[0], words[1:]) if len(words) != 2 and words and names_run(words[0]) else (None, words)
    if not given:
        from santiago.report.open_questions import open_page  # not needed for an answer

        show_page(open_page(name), as_json=as_json)
        return None
    if len(given) < 2:
        raise click.UsageError("Say which question, and the answer; `santiago answer` alone lists them.")
    run = load(find_run(name) if name else _asking(given[0]))
    with naming(run.run_id):
        asked = requests.answer(run, given[0], " ".join(given[1:]), named(actor), text=text, rest=rest, via="terminal")
    _tell(run.run_id, asked, running=bool(run.worker), as_json=as_json)
    return None


def _session_meant(words: tuple[str, ...]) -> tuple[Path, tuple[str, ...]] | None:
    """Return the planning session that an answer is meant for, and the answer itself; None if it is meant for a run."""
    if len(words) < 2 or (len(words) == 2 and not is_of_session(words[0])):
        return None
    from santiago.app.planning.planning_sessions import asking_session  # not needed for most answers to a run

    return asking_session(words)


def _asking(question: str) -> Path:
    """Return the run that asks a question; if none does, the running or newest run."""
    found = [run.out_dir for run, _ in waiting(None) if question in run.state.questions]
    return found[0] if len(found) == 1 else find_run(None)


def change(words: tuple[str, ...], text: str, actor: str | None, as_json: bool) -> None:
    """Ask for a change of a story: a running attempt stops at once, and the text goes into the next one."""
    _tell_story(words, text, requests.change, actor, as_json=as_json)


def hint(words: tuple[str, ...], text: str, actor: str | None, as_json: bool) -> None:
    """Leave a hint for the next attempt of a story; a running attempt is not disturbed."""
    _tell_story(words, text, requests.hint, actor, as_json=as_json)


def _tell_story(
    words: tuple[str, ...], text: str, ask: Callable[[Run, str, str, str], Asked], who: str | None, *, as_json: bool
) -> None:
    if not text.strip():
        raise click.UsageError("Say what should be different.")
    run, story = run_and_story(words)
    refuse_copied(run.out_dir)
    with naming(run.run_id):
        asked = ask(run, story.id, text, named(who))
    _tell(run.run_id, asked, running=bool(run.worker), as_json=as_json)


def pause(run: str | None, off: bool, actor: str | None, as_json: bool) -> None:
    """Pause RUN, or the one of this repository that is running, after each chunk from now on."""
    found = load(find_run(run))
    _tell(found.run_id, requests.pause(found, named(actor), on=not off), running=bool(found.worker), as_json=as_json)


def _tell(run_id: str, asked: Asked, *, running: bool, as_json: bool) -> None:
    """Say what was done, and to which run."""
    if not as_json:
        say(asked.text, err=True)
        return
    letter = asked.letter
    show_data({
        "contract_version": 1, "run_id": run_id, "kind": letter.kind, "subject": letter.subject or None,
        "answer": letter.answer or None, "text": letter.text or None,
        "done": asked.done, "running": running, "message": asked.text,
    })  # fmt: skip
