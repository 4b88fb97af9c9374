"""The files of a planning session: its log, its input, drafts, revisions, and what its agents read."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from santiago.artifacts.file_errors import corrupt, possible
from santiago.artifacts.names import INPUT
from santiago.artifacts.store import FileStore
from santiago.contract import codec
from santiago.contract.session import SessionInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from santiago.contract.events import Event
    from santiago.contract.policy import RunInput
    from santiago.contract.result import LogHead
    from santiago.contract.session import Artifact, DraftKind

ASKED, SHOWN, SOURCE, TASKS = "session-input.json", "session.json", "source", "tasks"
PROJECT_PLAN = "project_plan.json"


class SessionFiles(FileStore):
    """The folder of one session."""

    def start(self, take: Callable[[Event], None] = lambda _: None) -> LogHead:
        """Clear away what a crash left, open the log for writing, and hand every event in it to `take`."""
        self._remove_temporaries()
        return self._open_log(None, possible(self.path / "progress.ndjson", take))

    def keep_asked(self, asked: SessionInput, run_input: RunInput, source: str) -> str:
        """Write the session's input, which never changes; return its digest."""
        if source:
            self._replace(SOURCE, source.encode(), sync=True)
        self._replace(INPUT, codec.canonical(run_input), sync=True)
        self._replace(ASKED, codec.canonical(asked), sync=True)
        return codec.digest(asked)

    def asked(self, digest: str = "") -> SessionInput:
        """Return the session's input; raise if its digest differs from the one in the log."""
        content = self.get(ASKED)
        if content is None or (digest and sha256(content).hexdigest() != digest):
            raise corrupt(self.path / ASKED, "this file is missing, or was changed after the session began")
        return codec.decode(SessionInput, content, str(self.path / ASKED))

    def source(self) -> str:
        """Return the document that the session began with; empty where there was none."""
        return (self.get(SOURCE) or b"").decode("utf-8", "replace")

    def show(self, content: bytes) -> None:
        """Write the session's state for other programs. Santiago never reads it back."""
        self.put(SHOWN, content, sync=False)

    def show_plan(self, content: bytes) -> None:
        """Write the latest revision where other programs look for a plan. Santiago never reads it back."""
        if self.get(PROJECT_PLAN) != content:
            self.put(PROJECT_PLAN, content, sync=False)

    # Turns

    def lay_out(self, name: str, content: bytes) -> None:
        """Write a file for the agents, which they only read."""
        self.put(f"{TASKS}/{name}", content, sync=False)

    def clear_away(self, name: str) -> None:
        self.drop(f"{TASKS}/{name}")

    def paths_of(self, turn: int, agent: str, kind: DraftKind, start: int) -> tuple[str, str]:
        """Return the files for an agent's prompt and output."""
        stem = f"drafts/{turn:04}/{_name(agent, kind)}.{start}"
        return str(self.path / f"{stem}.prompt.md"), str(self.path / f"{stem}.log")

    def keep_prompt(self, turn: int, agent: str, kind: DraftKind, start: int, prompt: str) -> None:
        self.put(f"drafts/{turn:04}/{_name(agent, kind)}.{start}.prompt.md", prompt.encode())

    def keep_draft(self, turn: int, agent: str, kind: DraftKind, artifact: Artifact, text: str) -> str:
        """Write what an agent drafted and return its digest."""
        name = f"drafts/{turn:04}/{_name(agent, kind)}{_ending(artifact)}"
        content = self.harmless(name, text.encode("utf-8", "backslashreplace"))
        self._replace(name, content, sync=True)
        return sha256(content).hexdigest()

    def draft(self, turn: int, agent: str, kind: DraftKind, artifact: Artifact, digest: str) -> str:
        """Return a draft; raise if its digest differs from the one in the log."""
        return self._named(f"drafts/{turn:04}/{_name(agent, kind)}{_ending(artifact)}", digest).decode()

    def keep_revision(self, number: int, artifact: Artifact, content: bytes) -> str:
        """Write a revision and return its digest."""
        name = f"revisions/{number:04}{_ending(artifact)}"
        content = self.harmless(name, content)
        self._replace(name, content, sync=True)
        return sha256(content).hexdigest()

    def revision(self, number: int, artifact: Artifact, digest: str) -> bytes:
        """Return a revision; raise if its digest differs from the one in the log."""
        return self._named(f"revisions/{number:04}{_ending(artifact)}", digest)

    def _named(self, path: str, digest: str) -> bytes:
        content = self.get(path)
        if content is None or sha256(content).hexdigest() != digest:
            message = "this file was changed after the session's log recorded it" if content else "this file is missing"
            raise corrupt(self.path / path, message, hint="Put the file back as it was.")
        return content


def _name(agent: str, kind: DraftKind) -> str:
    return agent if kind == "draft" else f"merge-{agent}"


def _ending(artifact: Artifact) -> str:
    return ".json" if artifact == "plan" else ".md"
