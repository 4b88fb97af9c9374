"""The ports of the out-dir: the log, and the evidence of attempts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from santiago.contract.events import Event
    from santiago.contract.outcomes import AgentEnding, AttemptOutcome, Verdict
    from santiago.contract.plan import Detail
    from santiago.contract.steps import DetailRef


class AttemptFiles(Protocol):
    """The files of attempts in the out-dir. When a digest is returned, the file that it belongs to is on disk."""

    def log_path(self, story: str, attempt: int) -> str:
        """Return the path of the file for the agent's output. Its folder exists."""

    def prompt_path(self, story: str, attempt: int) -> str:
        """Return the prompt's file."""

    def keep_prompt(self, story: str, attempt: int, prompt: str) -> None:
        """Write the prompt."""

    def keep_ending(self, story: str, attempt: int, ending: AgentEnding) -> None:
        """Note that the agent has ended, so that the next start can judge its work after a crash."""

    def keep_work(self, story: str, attempt: int, patch: str, left_out: Sequence[str]) -> None:
        """Write the patch of what the agent changed, and the list of files that git could not keep."""

    def left_out(self, story: str, attempt: int) -> tuple[str, ...]:
        """Return what git could not keep of an attempt."""

    def ending(self, story: str, attempt: int) -> AgentEnding | None:
        """Return the ending that was noted; None where the agent has not ended, or the note cannot be read."""

    def outcome(self, story: str, attempt: int) -> AttemptOutcome | None:
        """Return the outcome that was written; None where it is missing or unreadable."""

    def critiques(self, story: str, before: int, after: int = 0) -> tuple[str, ...]:
        """Return the critiques of the attempts between two numbers, oldest first."""

    def keep_outcome(self, outcome: AttemptOutcome, record: bytes | None, critique: str) -> tuple[str | None, str]:
        """Write an attempt's outcome, critique and record; return the digests of the record and of the list of its files."""

    def keep_conflict(self, story: str, attempt: int, message: str, verdict: Verdict | None) -> str:
        """Write why verified work did not fit, as the critique of its attempt; return the digest of the list of its files."""

    def keep_record(self, name: str, record: bytes) -> str:
        """Write the record of a verdict that belongs to no single attempt; return its digest."""


class DetailFiles(Protocol):
    """The files of detailed plans in the out-dir; they are on disk when their digests are returned."""

    def log_path(self, story: str, number: int) -> str:
        """Return the file for the agent's output."""

    def prompt_path(self, story: str, number: int) -> str:
        """Return the prompt's file."""

    def keep_prompt(self, story: str, number: int, prompt: str) -> None:
        """Write the prompt."""

    def keep(self, story: str, number: int, detail: Detail | None, text: str) -> tuple[str, str]:
        """Write a proposal as JSON and as readable text; return the digests of the JSON and of the list of its files."""

    def get(self, ref: DetailRef) -> Detail:
        """Return a detailed plan; raise where the file's digest differs from the one in the log."""


class ArtifactStore(Protocol):
    """The run's log. What was appended is never changed or lost."""

    def anchor(self) -> str:
        """Return where the log stands, as `<seq>:<hash>`."""

    def append(self, events: Sequence[Event]) -> None:
        """Record events, in order; on return they are on disk, unless all of them are light."""
