"""The files of attempts: `attempts/<story>/<n>/` with prompt, log, patch, verification, critique and outcome."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, TypeVar

from santiago.artifacts import beneath
from santiago.artifacts.names import (
    AGENT_LOG,
    ATTEMPTS,
    CRITIQUE,
    ENDING,
    FILES,
    LEFT_OUT,
    OUTCOME,
    PATCH,
    PROMPT,
    VERIFICATION,
    attempt_folder,
)
from santiago.contract import codec
from santiago.contract.errors import SantiagoError
from santiago.contract.outcomes import AgentEnding, AttemptOutcome
from santiago.contract.reasons import Reason

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from santiago.artifacts.store import FileStore
    from santiago.contract.outcomes import Verdict

T = TypeVar("T")

LASTING = (VERIFICATION, OUTCOME, FILES)
"""Files that are synced before the log refers to them. A power cut may lose the others."""

ROOM = 1 << 15
"""About the largest size of an ending, in bytes."""


class FileAttempts:
    """Attempt files of one run's out-dir."""

    def __init__(self, store: FileStore) -> None:
        self.store = store

    def log_path(self, story: str, attempt: int) -> str:
        return str(self.store.path / attempt_folder(story, attempt) / AGENT_LOG)

    def prompt_path(self, story: str, attempt: int) -> str:
        return str(self.store.path / attempt_folder(story, attempt) / PROMPT)

    def keep_prompt(self, story: str, attempt: int, prompt: str) -> None:
        """Write the prompt. As long as it is missing, no agent was started (`begun`)."""
        folder = attempt_folder(story, attempt)
        # Reserves room for the ending, so that an agent that fills the disk does not lose its work.
        self.store.put_many(folder, {beneath.temporary_of(ENDING): bytes(ROOM)})
        try:
            self.store.put(f"{folder}/{PROMPT}", prompt.encode())
        except SantiagoError:
            self.store.drop(f"{folder}/{PROMPT}")
            raise

    def begun(self, story: str, attempt: int) -> bool:
        """Tell whether an attempt's agent may have been started."""
        return PROMPT in self.store.names(attempt_folder(story, attempt))

    def keep_ending(self, story: str, attempt: int, ending: AgentEnding) -> None:
        self.store.put(f"{attempt_folder(story, attempt)}/{ENDING}", codec.canonical(ending), sync=False)

    def disown(self, story: str, attempt: int, reason: Reason = Reason.INTERRUPTED) -> None:
        """Note that an agent's work will never be judged, although the agent had ended. Its usage stays known."""
        if (ending := self.ending(story, attempt)) is not None:
            ended = replace(ending, reason=reason)
            self.store.put(f"{attempt_folder(story, attempt)}/{ENDING}", codec.canonical(ended))

    def keep_work(self, story: str, attempt: int, patch: str, left_out: Sequence[str]) -> None:
        files = {PATCH: patch.encode("utf-8", "backslashreplace")}
        if left_out:
            files[LEFT_OUT] = "".join(f"{line}\n" for line in left_out).encode("utf-8", "backslashreplace")
        self.store.put_many(attempt_folder(story, attempt), files)

    def left_out(self, story: str, attempt: int) -> tuple[str, ...]:
        found = self.store.get(f"{attempt_folder(story, attempt)}/{LEFT_OUT}") or b""
        return tuple(found.decode("utf-8", "replace").splitlines())

    def latest(self, story: str) -> int:
        """Return the number of the last attempt that has files; 0 if there is none."""
        return max((int(name) for name in self.store.names(f"{ATTEMPTS}/{story}") if name.isdecimal()), default=0)

    def ended(self, story: str, attempt: int) -> bool:
        """Tell whether an attempt's agent had ended normally. Its work must still be verified."""
        ending = self.ending(story, attempt)
        return ending is not None and ending.reason is None

    def ending(self, story: str, attempt: int) -> AgentEnding | None:
        return self._read(AgentEnding, story, attempt, ENDING)

    def outcome(self, story: str, attempt: int) -> AttemptOutcome | None:
        return self._read(AttemptOutcome, story, attempt, OUTCOME)

    def _read(self, kind: type[T], story: str, attempt: int, name: str) -> T | None:
        """Return a file of an attempt; None if it is missing, half written, or from a newer santiago."""
        path = f"{attempt_folder(story, attempt)}/{name}"
        content = self.store.get(path)
        try:
            return codec.decode(kind, content, path) if content is not None else None
        except SantiagoError:
            return None

    def critiques(self, story: str, before: int, after: int = 0) -> tuple[str, ...]:
        found = (self.store.get(f"{attempt_folder(story, n)}/{CRITIQUE}") for n in range(after + 1, before))
        return tuple(text.decode("utf-8", "replace") for text in found if text)

    def keep_outcome(self, outcome: AttemptOutcome, record: bytes | None, critique: str) -> tuple[str | None, str]:
        files = {OUTCOME: codec.canonical(outcome), CRITIQUE: critique.encode()}
        if record is not None:  # redacted first, so that the digest is that of the written bytes
            files[VERIFICATION] = record = self.store.harmless(VERIFICATION, record)
        digest = sha256(record).hexdigest() if record is not None else None
        return digest, self.seal(outcome.story, outcome.number, files)

    def seal(self, story: str, attempt: int, files: Mapping[str, bytes]) -> str:
        """Write these files of an attempt, and a list of all files that it has; return the digest of the list."""
        folder = attempt_folder(story, attempt)
        written = {name: self.store.harmless(name, content) for name, content in files.items()}
        digests = self.store.digests(
            folder, without=(*written, FILES)
        )  # `audit` names files that somebody else put there
        digests |= {name: sha256(content).hexdigest() for name, content in written.items()}
        listing = codec.canonical(digests)
        self.store.put_many(folder, {**written, FILES: listing}, sync=LASTING, clean=(*written, FILES))
        return sha256(listing).hexdigest()

    def keep_conflict(self, story: str, attempt: int, message: str, verdict: Verdict | None) -> str:
        lines = ["# workspace_conflict", "", f"The work was verified, but {message}."]
        for result in verdict.results if verdict else ():
            if result.exit_code:
                lines += ["", f"`{result.command}`: exit code {result.exit_code}", ""]
                lines += [f"    {line}" for line in (result.output.tail or result.output.head).splitlines()[-30:]]
        text = "\n".join(lines) + "\n"
        return self.seal(story, attempt, {CRITIQUE: text.encode("utf-8", "backslashreplace")})

    def keep_record(self, name: str, record: bytes) -> str:
        path = f"evidence/{name}.json"
        record = self.store.harmless(path, record)
        self.store.put(path, record)
        return sha256(record).hexdigest()
