"""Bugs planted on purpose, one at a time: a suite of crash tests that does not notice each of them is broken."""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from santiago.artifacts import beneath, files, log, store, unfinished_line
from santiago.artifacts.attempts import FileAttempts
from santiago.artifacts.log import Log
from santiago.artifacts.store import FileStore
from santiago.contract.errors import SantiagoError
from santiago.contract.reasons import Reason
from santiago.workspace.durable import Durability
from santiago.workspace.workspace import GitWorkspace


def no_sync_after_append() -> AbstractContextManager[object]:
    return patch.object(Log, "_sync", lambda self, events=(): None)


class _NoFolderSync:
    """The operating system, but that syncing a folder does nothing."""

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def fsync(self, handle: int) -> None:
        if not stat.S_ISDIR(os.fstat(handle).st_mode):
            os.fsync(handle)


@contextmanager
def no_folder_sync() -> Iterator[None]:
    with ExitStack() as stack:
        for module in (beneath, files, log, unfinished_line, store):
            stack.enter_context(patch.object(module, "os", _NoFolderSync()))
        yield


def result_in_place() -> AbstractContextManager[object]:
    def replace(folder: int, name: str, content: bytes, *, sync: bool = True) -> None:
        beneath.write(folder, name, content, sync=sync)
        if sync:
            os.fsync(folder)

    return patch.object(beneath, "replace", replace)


def torn_tail_stays() -> AbstractContextManager[object]:
    """The next line is written behind the torn one, as if nothing were there."""

    def mended(self: Log, torn: int, *_: object) -> None:
        self._size += torn

    return patch.object(Log, "_mend", mended)


def unreadable_means_empty() -> AbstractContextManager[object]:
    real = Log.open.__func__  # type: ignore[attr-defined]

    def forgiving(cls: type[Log], path: Path, *arguments: Any, **options: Any) -> Log:
        try:
            return real(cls, path, *arguments, **options)  # type: ignore[no-any-return]
        except SantiagoError as error:
            if error.reason is not Reason.ARTIFACT_CORRUPT:
                raise
            path.write_bytes(b"")
            return real(cls, path, *arguments, **{**options, "anchor": None})  # type: ignore[no-any-return]

    return patch.object(Log, "open", classmethod(forgiving))


@contextmanager
def done_before_integrated() -> Iterator[None]:
    """The branch is moved only after the story was recorded as done."""
    owed: list[Callable[[], str]] = []
    advance, append = GitWorkspace.advance, FileStore.append

    def later(self: GitWorkspace, old: str, new: str) -> str:
        owed.append(lambda: advance(self, old, new))
        return new

    def appended(self: FileStore, events: Any) -> None:
        append(self, events)
        if any(event.event == "story_done" for event in events):
            self.path.stat()  # where a death between the two comes
            _between(self)
            while owed:
                owed.pop()()

    with patch.object(GitWorkspace, "advance", later), patch.object(FileStore, "append", appended):
        yield


def _between(opened: FileStore) -> None:
    """An effect, so that a sweep can die here."""
    opened.put("note.txt", b"between\n", sync=False)


@contextmanager
def work_not_synced() -> Iterator[None]:
    nothing = property(lambda self: ("-c", "core.fsync=none"))
    with patch.object(Durability, "options", nothing), patch.object(Durability, "barrier", lambda *_: None):
        yield


def sync_error_swallowed() -> AbstractContextManager[object]:
    def sync(self: Log, events: Any = ()) -> None:
        try:
            os.fdatasync(self._handle)
        except OSError:
            return

    return patch.object(Log, "_sync", sync)


def temporaries_stay() -> AbstractContextManager[object]:
    return patch.object(FileStore, "_remove_temporaries", lambda self: None)


def cut_work_not_disowned() -> AbstractContextManager[object]:
    return patch.object(FileAttempts, "disown", lambda self, story, attempt: None)


BUGS: dict[str, Callable[[], AbstractContextManager[object]]] = {
    bug.__name__: bug
    for bug in (
        no_sync_after_append, no_folder_sync, result_in_place, torn_tail_stays, unreadable_means_empty,
        done_before_integrated, work_not_synced, sync_error_swallowed, temporaries_stay,
        cut_work_not_disowned,
    )
}  # fmt: skip
