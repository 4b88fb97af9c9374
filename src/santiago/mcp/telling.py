"""What the tools tell: the lines and data that every front end shows."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from santiago.app.board.asking_tickets import asking_tickets
from santiago.app.compiling import asked_for, job_of, read_document, roomy
from santiago.app.finding import find_story, running_or_newest, runs_here
from santiago.app.loading import load
from santiago.app.planning.planning_sessions import sessions_here
from santiago.artifacts.run_locations import resolved
from santiago.board import board_clock, board_place
from santiago.board.board_handle import is_on_board
from santiago.board.board_store import Store
from santiago.board.board_telling import verdict_of
from santiago.contract import codec
from santiago.contract.errors import Kind, SantiagoError
from santiago.report import plan_page, run_page, tasks
from santiago.report import story as story_page
from santiago.report.board_pages import board_page, ticket_page
from santiago.report.evidence import AttemptEvidence
from santiago.report.open_questions import open_page
from santiago.report.run_list import run_rows
from santiago.report.whole_board import board_data, ticket_data, ticks_of
from santiago.util.clock import SystemClock

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from santiago.app.compiling import Job
    from santiago.app.detached import Detached
    from santiago.app.loading import AttemptStory, Run
    from santiago.board.board_place import Place
    from santiago.contract.plan import Story
    from santiago.planner.compile import Compilation

TICKETS = 40
BEGUN: dict[str, Detached] = {}
"""What this server started, by the name that its tool answered. What came of it, the log tells; only an early end stands here."""


# Runs and stories


def run_of(name: str) -> Run:
    """Return a run of this repository by its id, else the running or newest one. A path is no id, so no other folder is read."""
    if not name:
        return load(running_or_newest(None)[0])
    found = next((run for run in runs_here() if run.run_id == name), None)
    if found is None:
        raise SantiagoError(
            Kind.USAGE, f"there is no run {name!r}", hint="`status` without a run lists those that there are."
        )
    return load(found.out_dir)


def status(run: str = "", story: str = "", ticket: str = "") -> Iterator[str]:
    """Tell about all runs, one of them, a story or a ticket."""
    if ticket:
        yield from _ticket(ticket)
    elif story:
        yield from story_of(run, story)
    elif run:
        yield from _run(run_of(run), failed=True)
    else:
        yield from _overview()
    about = [name for name in BEGUN if ticket in ("", name.partition("@")[0])]
    for name in about:
        if (code := BEGUN[name].ended()) is None:
            yield f"{name}: under way"
        elif code:
            yield from (f"{name}: ended with exit code {code}", *(f"  {line}" for line in BEGUN[name].said()))


def _overview() -> Iterator[str]:
    now, place = SystemClock().utc(), _board()
    if place is not None:
        yield from (line.whole for line in board_page(_board_data(place)).lines(0))
        yield ""
    try:
        rows = run_rows()
    except SantiagoError as error:
        yield f"{error.message}. {error.hint}"
        return
    for row in rows:
        asks = f"   needs a person: {', '.join(row.questions)}" if row.questions else ""
        yield f"{row.text(now)}{asks}"
    yield from ("", *_run(run_of(""), failed=False))


def _run(run: Run, *, failed: bool) -> Iterator[str]:
    for line in run_page.lines(run, 0, stories=True, failed=failed, board=None, sessions=""):
        yield line.whole


def story_of(run: str, story: str) -> Iterator[str]:
    found = run_of(run)
    planned = find_story(found, story)
    yield from _story(found, planned, _last(found, planned), patch=False)


def evidence_of(run: str, story: str) -> Iterator[str]:
    """Yield all of a story's latest attempt, with what it changed."""
    found = run_of(run)
    planned = find_story(found, story)
    yield from _story(found, planned, _last(found, planned), patch=True)


def critique_of(run: str, story: str) -> Iterator[str]:
    found = run_of(run)
    planned = find_story(found, story)
    last = _last(found, planned)
    text = AttemptEvidence(found.out_dir, planned.id, last.number).critique() if last else ""
    yield from text.splitlines() or [f"{planned.id} has no critique"]


def plan_of(run: str) -> Iterator[str]:
    yield from _as_json(codec.to_data(run_of(run).plan))


def _last(run: Run, planned: Story) -> AttemptStory | None:
    tried = run.history.of(planned.id)
    return tried[-1] if tried else None


def _story(run: Run, planned: Story, last: AttemptStory | None, *, patch: bool) -> Iterator[str]:
    for line in story_page.lines(run, planned, last, 0, patch=patch, with_log=False):
        yield line.whole


def questions(run: str = "") -> Iterator[str]:
    """Tell the open questions of all, of a run or of a planning session, what to look at, and the words that each takes."""
    session = run if any(run == folder.name for folder in sessions_here()) else ""
    name = str(run_of(run).out_dir) if run and not session else None
    yield from (line.whole for line in open_page(name, session).lines(0))
    yield ""
    yield "Only a person answers. `answer` asks for text; every other word is typed as the command says."


# Plans


def document_here(name: str) -> Path:
    """Return a document of this repository; raise if it lies elsewhere, also by a link."""
    path, root = resolved(Path(name)), Path.cwd()
    if not path.resolve().is_relative_to(root.resolve()):
        raise SantiagoError(
            Kind.USAGE, "the document is outside of this repository", where=name, hint="Name one inside."
        )
    return path


def compiled(document: str) -> tuple[Compilation, Job]:
    """Compile a document as `plan` does, and write nothing."""
    job = job_of(document_here(document), None)
    read = read_document(job.document, job.name)
    found = read.compiled(asked_for(job.run_input))
    return found, roomy(job, found.plan) if found.plan else job


def plan(document: str, data: bool = False) -> Iterator[str]:
    """Tell the plan of a document: its stories, what became of every part, what was found; as data, all of it."""
    found, job = compiled(document)
    if found.plan is None:
        yield from (f"{job.name}:{one.line}: {one.message}. {one.hint}" for one in found.errors)
        return
    if data:
        yield from _as_json(codec.to_data(plan_page.as_document(found, found.plan, job, "not written")))
        return
    job = job._replace(findings=True)
    yield from (line.whole for line in plan_page.lines(found, found.plan, job, 0))
    for one in plan_page.told_findings(found.plan, whole=True):
        yield f"{one.level} {one.code}, line {one.line}: {one.message}. {one.hint}"
    yield from (line.whole for line in plan_page.outcome_lines(found.plan, job, "not written"))


def _as_json(data: dict[str, Any]) -> Iterator[str]:
    """Yield JSON with a line for each story, requirement and the like: a model pays for every blank."""
    yield "{"
    for at, (key, value) in enumerate(data.items(), 1):
        comma = "," if at < len(data) else ""
        if isinstance(value, list) and value:
            yield f"{_line(key)}: ["
            yield from (f"{_line(one)}{',' if number < len(value) else ''}" for number, one in enumerate(value, 1))
            yield f"]{comma}"
        else:
            yield f"{_line(key)}: {_line(value)}{comma}"
    yield "}"


def _line(data: object) -> str:
    return json.dumps(data, ensure_ascii=False)


# The board


def _board() -> Place | None:
    """Return where the board of this project is; None where it has none, or within an attempt."""
    with suppress(SantiagoError):
        place = board_place.find(Path.cwd(), os.environ)
        return place if is_on_board(place) else None
    return None


def board() -> Place:
    """Return where the board is; raise where none was begun, since the first ticket would put all work onto one."""
    if (place := _board()) is None:
        hint = "A person begins one: `santiago queue init`."
        raise SantiagoError(Kind.BLOCKED, "this project has no board", hint=hint)
    return place


def _board_data(place: Place) -> dict[str, Any]:
    store = Store(place.store)
    try:
        with store.reading() as at:
            return board_data(at, verdict_of(at, 0, asking_tickets(at, place.project)), board_clock.utc(), TICKETS)
    finally:
        store.close()


def _ticket(name: str) -> Iterator[str]:
    place = board()
    store = Store(place.store)
    try:
        with store.reading() as at:
            card, asking = at.card(name), asking_tickets(at, place.project)
            data = ticket_data(at, card, board_clock.utc(), ticks_of(at)) if card else {}
    finally:
        store.close()
    if not data:
        raise SantiagoError(Kind.USAGE, f"there is no ticket {name!r}", hint="`status` lists those that there are.")
    yield f"queue: {data['queue']}"
    yield from (line.whole for line in ticket_page(data, asking=name in asking))


# Task lists of coding agents


def task_mirror(call: str, arguments: Mapping[str, Any], run: str = "") -> Iterator[str]:
    """Answer a call of an agent's task list with what the log bears out. Nothing is written."""
    found = run_of(run)
    whole = tasks.document(found)
    listed: list[dict[str, Any]] = whole["tasks"]
    yield f"run {found.run_id}: {whole['update_plan']['explanation']}"
    match call:
        case "TaskList":
            yield from map(_line, listed)
        case "TaskCreate":
            yield from _created(listed, str(arguments.get("subject", "")))
        case "TaskUpdate":
            yield from _updated(listed, str(arguments.get("taskId", "")), str(arguments.get("status", "")))
        case _:
            yield from _planned(whole["update_plan"]["plan"], arguments.get("plan"))


def _created(listed: list[dict[str, Any]], subject: str) -> Iterator[str]:
    same = next((task for task in listed if task["subject"] == subject), None)
    if same is None:
        yield "Not created: the tasks of a run are the stories of its document, and only a person changes that."
    else:
        yield from ("It is a task already:", _line(same))


def _updated(listed: list[dict[str, Any]], name: str, wanted: str) -> Iterator[str]:
    task = next((task for task in listed if task["id"] == name), None)
    if task is None:
        raise SantiagoError(Kind.USAGE, f"there is no task {name!r}", hint="TaskList lists those that there are.")
    if wanted in ("", task["status"]):
        yield "The log bears it out:"
    else:
        yield f"Not taken: the log does not bear out {wanted!r}. Only what was verified completes a story. This is true:"
    yield _line(task)


def _planned(true: list[dict[str, str]], said: object) -> Iterator[str]:
    wanted = said if isinstance(said, list) else []
    yield "The log bears it out:" if wanted == true else "Not taken where it differs from the log. This is true:"
    yield from map(_line, true)
