"""Finding the planning sessions of a repository, and reading one without disturbing a process that works on it."""

from __future__ import annotations

import contextlib
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.app.loading import frozen_input, working
from santiago.artifacts import run_locations
from santiago.artifacts.file_errors import possible
from santiago.artifacts.names import LOG
from santiago.artifacts.reader import Reader
from santiago.artifacts.session_files import ASKED, SessionFiles
from santiago.contract import codec
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.ids import is_of_session
from santiago.contract.plan import Plan
from santiago.contract.policy import Agent
from santiago.contract.record import lean
from santiago.contract.session import Drafter, SessionState, apply
from santiago.process.redact import Redactor
from santiago.util.clock import SystemClock

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.contract.policy import RunInput
    from santiago.contract.session import SessionInput


@lean(kw_only=True)
class Planning:
    """Everything that read-only commands need of a session."""

    folder: Path
    files: SessionFiles
    asked: SessionInput
    run_input: RunInput
    state: SessionState
    worker: str | None
    """Who works on it now, in words."""
    plans: dict[int, Plan] = field(default_factory=dict)
    """The revisions that were read. They never change, and large ones take time."""

    @property
    def session_id(self) -> str:
        return self.asked.session_id

    @property
    def root(self) -> Path:
        return Path(self.run_input.repo_path)

    @property
    def title(self) -> str:
        """What the session is about, in a few words."""
        return self.asked.document or " ".join(self.asked.task.split())

    def content(self, revision: int) -> bytes:
        """Return the bytes of a revision."""
        turn = self.state.turn_of(revision)
        if turn is None:
            there = f"1 to {self.state.revision}" if self.state.revision else "none"
            raise SantiagoError(Kind.USAGE, f"{self.session_id} has no revision {revision}", hint=f"There is {there}.")
        return self.files.revision(revision, self.asked.artifact, turn.digest)

    def plan(self, revision: int) -> Plan:
        """Return a revision as a plan. If it is a document, compile it."""
        if revision not in self.plans:
            self.plans[revision] = self._plan(revision)
        return self.plans[revision]

    def _plan(self, revision: int) -> Plan:
        content = self.content(revision)
        if self.asked.artifact == "plan":
            return codec.decode(Plan, content, f"revision {revision}")
        from santiago.planner.compile import compile_plan  # loaded here, since most callers need no compiler
        from santiago.planner.source import Source

        plan = compile_plan(Source(content.decode(), path=self.asked.output)).plan
        assert plan is not None, "a document without a plan is no revision"
        return plan


def load_session(folder: Path) -> Planning:
    """Read a session; damage raises with the line."""
    files = SessionFiles(folder, Redactor(()), SystemClock().utc)
    worker, state = working(folder), SessionState()
    take = possible(folder / LOG, lambda event: apply(state, event))
    for event in Reader(folder / LOG):
        take(event)
    asked = with_drafters(files.asked(state.input_digest), state)
    return Planning(folder=folder, files=files, asked=asked, run_input=frozen_input(folder), state=state, worker=worker)


def with_drafters(asked: SessionInput, state: SessionState) -> SessionInput:
    """Return a session's input with the agents that a person chose since, if any."""
    chosen = [Drafter(label=label, agent=codec.decode(Agent, text.encode(), label)) for label, text in state.drafters]
    return replace(asked, drafters=tuple(chosen)) if chosen else asked


def sessions_of(root: Path) -> list[Path]:
    """Return the folders of a repository's sessions, newest first."""
    folders = sorted((root / run_locations.SESSIONS).glob("*"), key=lambda folder: folder.name, reverse=True)
    return [folder for folder in folders if is_session(folder)]


def is_session(folder: Path) -> bool:
    """Tell whether a session has begun in a folder."""
    with contextlib.suppress(OSError):
        return (folder / ASKED).is_file() and (folder / LOG).stat().st_size > 0
    return False


def sessions_here() -> list[Path]:
    """Return the session folders of the repository around the current folder, newest first."""
    root = run_locations.find_root(Path.cwd())
    return sessions_of(root) if root else []


def names_session(word: str) -> bool:
    """Tell whether a word is the folder or the id of a session."""
    return is_session(run_locations.resolved(Path(word))) or any(one.name == word for one in sessions_here())


def session_here(name: str) -> Path:
    """Return the folder of a session of this repository by its id."""
    for folder in sessions_here():
        if folder.name == name:
            return folder
    raise SantiagoError(Kind.USAGE, f"this repository has no planning session {name[:60]}")


def find_session(name: str | None) -> Path:
    """Return the folder of a session, given its folder or id; without a name, that of the newest in this repository."""
    here = sessions_here()
    if name is None:
        if not here:
            hint = 'Begin one: `santiago plan --with AGENT "what you want"`.'
            raise SantiagoError(Kind.USAGE, "no planning session yet in this repository", hint=hint)
        return here[0]
    own = run_locations.resolved(Path(name))
    if is_session(own):
        return own
    for folder in here:
        if folder.name == name:
            return folder
    there = ", ".join(folder.name for folder in here[:5]) or "none"
    raise SantiagoError(Kind.USAGE, f"there is no planning session {name!r}", hint=f"There is {there}.")


def open_here() -> list[Planning]:
    """Return the sessions of this repository with an open question, newest first. Damaged ones are skipped."""
    found = []
    for folder in sessions_here():
        with contextlib.suppress(SantiagoError):
            planning = load_session(folder)
            if planning.state.open_questions():
                found.append(planning)
    return found


def asking_session(words: Sequence[str]) -> tuple[Path, tuple[str, ...]] | None:
    """Return the session that an answer is meant for, and the answer itself; None if it is meant for a run.

    `words` are `[SESSION] QUESTION ANSWER…`.
    """
    if len(words) > 2 and names_session(words[0]):
        return find_session(words[0]), tuple(words[1:])
    if len(words) < 2 or not is_of_session(words[0]):
        return None
    asking = [one.folder for one in open_here() if any(words[0] == each.id for each in one.state.open_questions())]
    if len(asking) > 1:
        names = ", ".join(folder.name for folder in asking[:5])
        raise SantiagoError(
            Kind.USAGE, f"{words[0]} is a question of {names}", hint="Name the session before the question."
        )
    return (asking[0] if asking else find_session(None), tuple(words))
