"""Checking the files of a run again: by their digests in the log, or by computing them again from plan and log."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from typing import TYPE_CHECKING

from santiago.app.truth import unknown_files
from santiago.artifacts import beneath, inbox, lock
from santiago.artifacts.attempts import FILES, LASTING, FileAttempts
from santiago.artifacts.details import DETAILS, LISTING
from santiago.artifacts.files import read_bytes
from santiago.artifacts.names import INPUT, LOG, PLAN, REQUEST, SETTINGS, STARTED, attempt_folder
from santiago.artifacts.store import LARGEST, FileStore
from santiago.contract.errors import SantiagoError
from santiago.contract.phases import RunPhase
from santiago.process.redact import Redactor

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from santiago.app.auditing import Audit
    from santiago.app.history import Seal

_EMPTY = sha256(b"").hexdigest()
_AT_WORK = (RunPhase.EXECUTING, RunPhase.RUN_VERIFICATION)


class FileAudit:
    """Looks at every file below the out-dir, once the log has been read."""

    def __init__(self, audit: Audit) -> None:
        self.audit = audit
        self._known = {LOG, INPUT, PLAN, REQUEST, SETTINGS, STARTED, lock.NAME, *audit.known}

    def check(self) -> None:
        assert self.audit.state is not None
        with FileStore(self.audit.out_dir, Redactor(()), lambda: "") as store:
            for found in unknown_files(self.audit.state, FileAttempts(store)):
                self.audit.error(*found)
            for story, tried in self.audit.history.attempts.items():
                for one in tried:
                    if one.files:
                        self._attempt(store, attempt_folder(story, one.number), one.files)
                    else:  # the attempt is still running, or an older santiago wrote it
                        self._known.update(self._below(attempt_folder(story, one.number)))
            for (story, number), seal in self.audit.history.proposals.items():
                self._proposal(store, story, number, seal)
        self._projections()
        for path in sorted({*self._below("")} - self._known):
            self.audit.note("file_unknown", path, "the log does not mention this file, and nothing depends on it")

    def _attempt(self, store: FileStore, folder: str, digest: str) -> None:
        """Compare the files of an attempt with the list of their digests, and the list with its digest in the log."""
        files = self._sealed(store, folder, FILES, digest, LASTING)
        if files is None:
            return
        self.audit.count("files of attempts", len(files))
        for path in sorted({*self._below(folder)} - self._known):
            self._known.add(path)
            self.audit.error("file_unknown", path, "it was put there after the attempt had ended")

    def _proposal(self, store: FileStore, story: str, number: int, seal: Seal) -> None:
        """Compare the files of a detailed plan in the same way; the plan itself is named in the log as well."""
        folder = f"{DETAILS}/{story}"
        there = {path for path in self._below(folder) if path.startswith(f"{folder}/{number}.")}
        if not seal.files:  # santiago was killed meanwhile, or the agent could not be asked
            self._known |= there
            return
        lasting = (f"{number}.json", f"{number}.md")
        files = self._sealed(store, folder, f"{number}.{LISTING}", seal.files, lasting)
        if files is None:
            return
        self.audit.count("files of plans", len(files))
        if files.get(lasting[0], "") != seal.digest:
            self.audit.error("file_changed", f"{folder}/{lasting[0]}", "this plan differs from the one in the log")
        for path in sorted(there - self._known):
            self._known.add(path)
            self.audit.error("file_unknown", path, "it was put there after the plan had been proposed")

    def _sealed(
        self, store: FileStore, folder: str, listing: str, digest: str, lasting: Container[str]
    ) -> dict[str, str] | None:
        """Compare files with the list of their digests, and return the list; None if the list differs from the log."""
        content = self._read(f"{folder}/{listing}")
        self._known.add(f"{folder}/{listing}")
        if content is None or sha256(content).hexdigest() != digest:
            self.audit.error(
                "file_changed", f"{folder}/{listing}", "this list of files differs from the one in the log"
            )
            return None
        files: dict[str, str] = json.loads(content)
        for name, wanted in files.items():
            path = f"{folder}/{name}"
            self._known.add(path)
            now = _digest(store, path)
            if now == wanted:
                continue
            if now in (None, _EMPTY) and name not in lasting:
                self.audit.note("file_lost", path, "it is gone or empty, as after a power cut")
            else:
                self.audit.error("file_changed", path, "it was changed after the log recorded it")
        return files

    def _projections(self) -> None:
        """Compare the files that only show plan and log. A killed start may have left older ones."""
        state = self.audit.state
        assert state is not None
        self._known.update(self.audit.projected)
        for path, wanted in self.audit.projected.items():
            self.audit.count("projections")
            if self._read(path) == wanted:
                continue
            if state.phase in _AT_WORK:
                self.audit.note(
                    "projection_old", path, "it is older than the log's end; the next start writes it again"
                )
            else:
                self.audit.error("projection_wrong", path, "it does not show what plan and log say")

    def _read(self, path: str) -> bytes | None:
        try:
            return read_bytes(self.audit.out_dir / path, LARGEST)
        except SantiagoError:
            return None

    def _below(self, folder: str) -> Iterator[str]:
        """Yield the files below a folder, without letters: what these asked for is in the log."""
        top = str(self.audit.out_dir)
        for place, folders, names in os.walk(self.audit.out_dir / folder):
            folders[:] = [name for name in folders if place != top or name != inbox.FOLDER]
            inside = os.path.relpath(place, top)
            yield from (os.path.normpath(f"{inside}/{name}") for name in names if not beneath.is_temporary(name))


def _digest(store: FileStore, path: str) -> str | None:
    """Return the digest of a file; for anything else, a word that equals no digest."""
    try:
        return store.digest(path)
    except SantiagoError:
        return "not a file"
