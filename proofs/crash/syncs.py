"""Watching the order of writes and syncs: nothing may be acknowledged, or rest on something, before that is on disk.

What a power cut would take away is known without one: what was written and not synced since. A file's name is lost
apart from its bytes, so both are followed.
"""

import os
import stat
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self
from unittest.mock import patch

from santiago.artifacts.log import LIGHT
from santiago.artifacts.store import FileStore
from santiago.contract.events import Event, EventKind
from santiago.workspace import durable, repository
from santiago.workspace.git_processes import Session

WRITING = {"pack-objects"}
"""Git commands that write objects."""


class Watch:
    """Follows one process's files below a folder, and what it tells git to do."""

    def __init__(self, top: str) -> None:
        self.out = f"{top}/out"
        self.findings: list[str] = []
        self.dirty: set[int] = set()
        """Files with bytes that are not on disk."""
        self.names: set[tuple[int, str]] = set()
        """Names in folders that are not on disk."""
        self.refs = 0
        """Refs that were moved and are not on disk."""
        self.stack = ExitStack()

    def __enter__(self) -> Self:
        for name in (
            "open",
            "write",
            "pwrite",
            "ftruncate",
            "fsync",
            "fdatasync",
            "replace",
            "rename",
            "link",
            "mkdir",
        ):
            self.stack.enter_context(patch.object(os, name, getattr(self, f"_{name}")(getattr(os, name))))
        for owner, name in (
            (FileStore, "append"), (FileStore, "put_result"), (repository, "call"),
            (Session, "ask"),
            (durable, "sync"), (durable, "_sync_file_system"),
        ):  # fmt: skip
            self.stack.enter_context(
                patch.object(owner, name, getattr(self, f"_on_{name.lstrip('_')}")(getattr(owner, name)))
            )
        return self

    def __exit__(self, *_: object) -> None:
        self.stack.close()

    def complain(self, what: str) -> None:
        if what not in self.findings:
            self.findings.append(what)

    # The system

    def _open(self, real: Callable[..., int]) -> Callable[..., int]:
        def call(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
            new = bool(flags & os.O_CREAT) and not _exists(path, dir_fd)
            handle = real(path, flags, mode, dir_fd=dir_fd)
            if new:
                self._named(path, dir_fd)
            if flags & os.O_TRUNC:  # what is written to it by a file object of Python is not seen
                self.dirty.add(os.fstat(handle).st_ino)
            return handle

        return call

    def _named(self, path: Any, dir_fd: int | None) -> None:
        folder = f"/proc/self/fd/{dir_fd}" if dir_fd is not None else os.path.dirname(os.path.abspath(path))
        where = os.path.realpath(folder)
        if where == self.out or where.startswith(self.out + "/"):
            self.names.add((os.stat(folder).st_ino, os.path.basename(path)))

    def _write(self, real: Callable[..., int]) -> Callable[..., int]:
        def call(handle: int, *data: Any) -> int:
            self.dirty.add(os.fstat(handle).st_ino)
            return real(handle, *data)

        return call

    _pwrite = _write

    def _ftruncate(self, real: Callable[..., None]) -> Callable[..., None]:
        def call(handle: int, length: int) -> None:
            is_log = os.readlink(f"/proc/self/fd/{handle}").endswith("/progress.ndjson")
            if is_log and (self.names or self.dirty - {os.fstat(handle).st_ino}):
                self.complain("the log was cut before the copy of what is cut off was on disk")
            self._write(real)(handle, length)  # type: ignore[arg-type]

        return call

    def _fsync(self, real: Callable[[int], None]) -> Callable[[int], None]:
        def call(handle: int) -> None:
            real(handle)
            info = os.fstat(handle)
            self.dirty.discard(info.st_ino)
            if stat.S_ISDIR(info.st_mode):
                self.names = {name for name in self.names if name[0] != info.st_ino}

        return call

    _fdatasync = _fsync

    def _replace(self, real: Callable[..., None]) -> Callable[..., None]:
        def call(source: Any, target: Any, *, src_dir_fd: int | None = None, dst_dir_fd: int | None = None) -> None:
            real(source, target, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
            self._named(source, src_dir_fd)  # it is gone, and must not come back
            self._named(target, dst_dir_fd)

        return call

    _rename = _link = _replace

    def _mkdir(self, real: Callable[..., None]) -> Callable[..., None]:
        def call(path: Any, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
            real(path, mode, dir_fd=dir_fd)
            self._named(path, dir_fd)

        return call

    # What rests on it

    def _on_append(self, real: Callable[..., None]) -> Callable[..., None]:
        def call(store: FileStore, events: Sequence[Event]) -> None:
            for event in events:
                self._before(event)
            real(store, events)
            if any(event.event not in LIGHT for event in events) and not self.lasting("progress.ndjson"):
                self.complain("an event was acknowledged before it was on disk")

        return call

    def _before(self, event: Event) -> None:
        if event.event is EventKind.RUN_CREATED:
            for name in ("plan.json", "run-input.json"):
                if not self.lasting(name):
                    self.complain(f"the run began before {name} was on disk")
        record = f"attempts/{event.story_id}/{event.attempt}/verification.json"
        if event.event is EventKind.ATTEMPT_ENDED and "digest" in event.context and not self.lasting(record):
            self.complain("a verdict was recorded before its evidence was on disk")
        if self.refs and ("commit" in event.context or "head" in event.context):
            self.complain("work was recorded before it was on disk")

    def _on_put_result(self, real: Callable[..., None]) -> Callable[..., None]:
        def call(store: FileStore, result: Any) -> None:
            real(store, result)
            if not self.lasting("result.json"):
                self.complain("the result was not on disk when the run ended")
            if not self.lasting("progress.ndjson"):
                self.complain("the result names an event that is not on disk")

        return call

    def _on_call(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(arguments: Sequence[str], *more: Any, **options: Any) -> Any:
            answer = real(arguments, *more, **options)
            if "update-ref" in arguments:
                self.refs += 1
            self._on_writing(arguments)
            return answer

        return call

    def _on_writing(self, arguments: Sequence[str]) -> None:
        if WRITING & set(arguments) and not any("pack-metadata" in argument for argument in arguments):
            self.complain("git wrote objects without bringing them to disk")

    def _on_ask(self, real: Callable[..., None]) -> Callable[..., None]:
        def call(session: Session, *question: Any) -> None:
            real(session, *question)
            self.refs += "update-ref" in session.arguments
            self._on_writing(session.arguments)

        return call

    def _on_sync(self, real: Callable[..., None]) -> Callable[..., None]:
        def call(folder: Path) -> None:
            real(folder)
            self.refs = 0

        return call

    _on_sync_file_system = _on_sync

    def lasting(self, path: str) -> bool:
        """Tell whether a file of the out-dir would survive a power cut now, with its name and its folders' names."""
        place = Path(self.out, path)
        if place.stat().st_ino in self.dirty:
            return False
        while str(place) != self.out:
            if (place.parent.stat().st_ino, place.name) in self.names:
                return False
            place = place.parent
        return True


def _exists(path: Any, dir_fd: int | None) -> bool:
    try:
        os.stat(path, dir_fd=dir_fd, follow_symlinks=False)
    except OSError:
        return False
    return True
