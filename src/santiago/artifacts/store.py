"""The out-dir of one run: everything that santiago writes into it goes through here."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Self, TypeVar

from santiago.artifacts import beneath, writable_folders
from santiago.artifacts.file_errors import corrupt, possible, refused
from santiago.artifacts.files import LARGEST
from santiago.artifacts.log import Log
from santiago.artifacts.names import ATTEMPTS, INPUT, LOG, PLAN, RESULT
from santiago.artifacts.reader import Reader
from santiago.contract import codec
from santiago.contract.counting import few
from santiago.contract.errors import SantiagoError
from santiago.contract.events import Event, EventKind
from santiago.contract.plan import Plan
from santiago.contract.policy import RunInput
from santiago.contract.result import LogHead, Result
from santiago.util.disk import guarding

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from santiago.contract.events import Event
    from santiago.contract.plan import Plan
    from santiago.contract.policy import RunInput
    from santiago.process.redact import Redactor


_MOST = 5
"""How many fields one message names."""

T = TypeVar("T", RunInput, Plan)


class FileStore:
    """The files of one run. Reading needs nothing; writing needs the lock, and `start` before the first event."""

    def __init__(self, out_dir: Path, redactor: Redactor, utc: Callable[[], str]) -> None:
        self.path = out_dir
        self.notices: list[str] = []
        """What was repaired at the start, in words for people."""
        self._redactor = redactor
        self._utc = utc
        self._log: Log | None = None
        self._root = -1
        self._synced: set[str] = set()
        """Folders whose names are known to be synced."""
        self._guard = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        log, self._log = self._log, None
        root, self._root = self._root, -1
        try:
            if log is not None:
                log.close()
        finally:
            if root >= 0:
                os.close(root)

    # The beginning of a run, or of its continuation

    def preflight(self) -> list[str]:
        """Make the out-dir; raise if it cannot be used; return warnings."""
        return writable_folders.check(self.path)

    def freeze(self, run_input: RunInput, plan: Plan) -> tuple[str, str]:
        """Write plan and input, and return their digests, input first. If they are already written, only compare."""
        wanted = {INPUT: codec.canonical(run_input), PLAN: codec.canonical(plan)}
        if self.has_log():
            refuse_difference(self.path / INPUT, self.frozen(RunInput), run_input)
            refuse_difference(self.path / PLAN, self.frozen(Plan), plan)
        else:
            for name, content in wanted.items():  # not redacted, since that would make it another plan
                if self.get(name) != content:
                    self._replace(name, content, sync=True)
            self._make_attempt_folders([story.id for story in plan.stories])
        return codec.digest(run_input), codec.digest(plan)

    def frozen(self, kind: type[T]) -> T:
        """Return the run's frozen plan or input."""
        name = PLAN if kind is Plan else INPUT
        content = self.get(name)
        if content is None:
            raise refused(self.path / name, "there is no such file", "Name the out-dir of a run.")
        return codec.decode(kind, content, str(self.path / name))

    def has_log(self) -> bool:
        """Tell whether the run has begun. Raise if there is a result but no log: such a run is damaged, not new."""
        with guarding(self.path / LOG):
            try:
                size = (self.path / LOG).lstat().st_size
            except FileNotFoundError:
                size = 0
        if not size and (self._is_result_damaged() or self._anchor() is not None):
            raise corrupt(self.path / LOG, "there is a result, but the log is missing")
        return size > 0

    def start(self, take: Callable[[Event], None] = lambda _: None) -> LogHead:
        """Remove what a crash left, open the log for writing, and pass every event in it to `take`."""
        anchor = self._anchor()
        self._remove_temporaries()
        if self._is_result_damaged():  # the log is the truth; the result will be written again
            self._replace("result.damaged.json", self.get(RESULT) or b"", sync=True)
            self.notices.append(f"{RESULT} could not be read; it is kept as result.damaged.json")
        head = self._open_log(anchor, self._checked(take))
        with guarding(self.path / ATTEMPTS), beneath.opened(self._folder(), [ATTEMPTS], make=True) as handles:
            os.fsync(handles[1])
            os.fsync(handles[0])
            names = os.listdir(handles[1])  # noqa: PTH208  # by handle, so that no link is followed
            self._synced |= {ATTEMPTS, *(f"{ATTEMPTS}/{name}" for name in names)}
        return head

    def _open_log(self, anchor: LogHead | None, take: Callable[[Event], None]) -> LogHead:
        self._log = Log.open(self.path / LOG, self._utc, anchor=anchor, take=take)
        if self._log.mended:
            self.notices.append(
                f"the last line of {LOG} was incomplete; it was moved to progress.torn.* beside the log"
            )
        return self._log.head

    def _checked(self, take: Callable[[Event], None]) -> Callable[[Event], None]:
        def checked(event: Event) -> None:
            if event.event is EventKind.RUN_CREATED:
                self._check_frozen(event)
            take(event)

        return possible(self.path / LOG, checked)

    def _check_frozen(self, event: Event) -> None:
        for name, digest in ((INPUT, event.context.get("input_digest")), (PLAN, event.context.get("plan_digest"))):
            now = sha256(self.get(name) or b"").hexdigest()
            if digest and now != digest:
                message = f"it was changed after the run began: its digest was {digest[:16]} and is {now[:16]}"
                raise refused(self.path / name, message, "Restore the file, or start a new run.")

    # The log

    def events(self) -> Iterator[Event]:
        """Yield the log from its beginning. An unfinished last line is left out; other damage raises."""
        if self.has_log():
            yield from Reader(self.path / LOG, self._anchor())

    def append(self, events: Sequence[Event]) -> None:
        """Record events, in order; on return they are on disk, unless all of them are light."""
        if self._log is None:
            raise RuntimeError("the log is not open")
        self._log.append([self.redacted(event) for event in events])

    def redacted(self, event: Event) -> Event:
        """Return an event as it will be recorded: without secrets."""
        context: Any = {name: _clean(self._redactor, value) for name, value in event.context.items()}
        return event if context == event.context else replace(event, context=context)

    @property
    def head(self) -> LogHead:
        if self._log is None:
            raise RuntimeError("the log is not open")
        return self._log.head

    def anchor(self) -> str:
        """Sync the log and return the position of its last event, to be named outside the log."""
        if self._log is not None:
            self._log.sync()
        return f"{self.head.seq}:{self.head.hash}"

    # Files

    def get(self, path: str) -> bytes | None:
        """Return a file of the out-dir, or None where there is none."""
        *folders, name = beneath.parts_of(path)
        with self._honest(path):
            try:
                with beneath.opened(self._folder(), folders) as handles:
                    return beneath.read(handles[-1], name, LARGEST)
            except FileNotFoundError:
                return None

    def digest(self, path: str) -> str | None:
        """Return the digest of a file of the out-dir, whatever its size; None where there is none."""
        *folders, name = beneath.parts_of(path)
        with self._honest(path):
            try:
                with beneath.opened(self._folder(), folders) as handles:
                    return beneath.digest(handles[-1], name)
            except FileNotFoundError:
                return None

    def digests(self, folder: str, *, without: Collection[str]) -> dict[str, str]:
        """Return the digests of a folder's files by name, without files that are unreadable or not regular."""
        found: dict[str, str] = {}
        with (
            self._honest(folder),
            contextlib.suppress(FileNotFoundError),
            beneath.opened(self._folder(), beneath.parts_of(folder)) as handles,
        ):
            for name in os.listdir(handles[-1]):  # noqa: PTH208  # by handle, so that no link is followed
                if name not in without and not beneath.is_temporary(name):
                    with contextlib.suppress(OSError, beneath.PlantedError):
                        found[name] = beneath.digest(handles[-1], name) or ""
        return found

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder of the out-dir; empty if there is no such folder."""
        with (
            self._honest(folder),
            contextlib.suppress(FileNotFoundError),
            beneath.opened(self._folder(), beneath.parts_of(folder)) as handles,
        ):
            return os.listdir(handles[-1])  # noqa: PTH208  # by handle, so that no link is followed
        return []

    def harmless(self, path: str, content: bytes) -> bytes:
        """Return the content of a file as it will be written: without secrets; what is JSON stays JSON."""
        cleaned = self._redactor.whole(content)
        if cleaned == content or not path.endswith(".json"):
            return cleaned
        try:
            data = json.loads(content)
        except ValueError:
            return cleaned
        text = json.dumps(_clean(self._redactor, data), indent=2, ensure_ascii=False)
        return text.encode("utf-8", "backslashreplace") + b"\n"

    def put(self, path: str, content: bytes, *, sync: bool = True) -> None:
        """Replace a file completely or not at all. It is on disk on return, except with `sync=False`."""
        self._replace(path, self.harmless(path, content), sync=sync)

    def sync(self, path: str) -> None:
        """Sync a file that was written without a sync."""
        *folders, name = beneath.parts_of(path)
        with self._honest(path), beneath.opened(self._folder(), folders) as handles:
            beneath.sync(handles[-1], name)

    def put_many(
        self, folder: str, files: Mapping[str, bytes], *, sync: Collection[str] = (), clean: Collection[str] = ()
    ) -> None:
        """Write the files of an attempt, without replacing them atomically. Those named in `sync` are on disk on return.

        Nothing depends on a file before its event is in the log, so none of them must be replaced atomically.
        Files named in `clean` hold no secrets: they were redacted when they were captured.
        """
        with self._honest(folder), self._into(folder, sync=bool(sync)) as handle:
            for name, content in files.items():
                (plain,) = beneath.parts_of(name)
                safe = content if name in clean else self.harmless(name, content)
                beneath.write(handle, plain, safe, sync=name in sync)
            if sync:
                os.fsync(handle)

    def drop(self, path: str) -> None:
        """Remove a file whose writing failed, if that is possible."""
        *folders, name = beneath.parts_of(path)
        with contextlib.suppress(OSError), beneath.opened(self._folder(), folders) as handles:
            os.unlink(name, dir_fd=handles[-1])

    def put_result(self, result: Result) -> None:
        """Write result.json. An older, different one is kept beside it under the number of its last event."""
        content = self.harmless(RESULT, codec.canonical(result))
        if self._log is not None:
            self._log.sync()  # the result names the log's last event, which must not be lost
        old = self.get(RESULT)
        if old is not None and old != content:
            anchor = self._anchor()
            self._replace(f"result.{anchor.seq if anchor else 0}.json", old, sync=True)
        if old != content:
            self._replace(RESULT, content, sync=True)

    # How it is done

    def _folder(self) -> int:
        """Return the handle of the out-dir itself, kept open."""
        with self._guard:
            if self._root < 0:
                self._root = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            return self._root

    @contextlib.contextmanager
    def _honest(self, path: str) -> Iterator[None]:
        with guarding(f"{self.path}/{path}"):
            try:
                yield
            except beneath.PlantedError as error:
                message = f"{error} is a link, a device or far too large; santiago did not make it"
                raise corrupt(self.path / path, message, hint="Find out who put it there and remove it.") from None

    @contextlib.contextmanager
    def _into(self, folder: str, *, sync: bool) -> Iterator[int]:
        """Yield the handle of a folder, which is made if needed. Its name and those of its parents are synced once."""
        names = beneath.parts_of(folder) if folder else ()
        with beneath.opened(self._folder(), names, make=True) as handles:
            for depth in range(len(names)):
                path = "/".join(names[: depth + 1])
                if sync and path not in self._synced:
                    os.fsync(handles[depth])
                    self._synced.add(path)
            yield handles[-1]

    def _replace(self, path: str, content: bytes, *, sync: bool) -> None:
        *folders, name = beneath.parts_of(path)
        with self._honest(path), self._into("/".join(folders), sync=sync) as handle:
            beneath.replace(handle, name, content, sync=sync)

    def _make_attempt_folders(self, stories: Sequence[str]) -> None:
        """Make every story's folder at once, so that one sync serves them all."""
        with self._honest(ATTEMPTS), self._into(ATTEMPTS, sync=True) as handle:
            for story in stories:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(story, 0o755, dir_fd=handle)

    def _remove_temporaries(self) -> None:
        """Remove files that were being written when an earlier santiago died."""
        with guarding(self.path):
            for folder, folders, names, handle in os.fwalk(".", dir_fd=self._folder(), follow_symlinks=False):
                if folder == ".":  # not in the inbox: senders of letters write there without the lock
                    folders[:] = [name for name in folders if name != "inbox"]
                for name in names:
                    if beneath.is_temporary(name):
                        with contextlib.suppress(FileNotFoundError):
                            os.unlink(name, dir_fd=handle)

    def _anchor(self) -> LogHead | None:
        """Return the position of the log that result.json names; None if result.json is missing or damaged."""
        content = self.get(RESULT)
        with contextlib.suppress(SantiagoError):
            return None if content is None else codec.decode(Result, content, RESULT).head
        return None

    def _is_result_damaged(self) -> bool:
        content = self.get(RESULT)
        try:
            return content is not None and codec.decode(Result, content, RESULT) is None
        except SantiagoError:
            return True


def refuse_difference(path: Path, frozen: RunInput | Plan, given: RunInput | Plan) -> None:
    """Raise if a document differs from the frozen one. The error names both digests and the fields that differ."""
    old, new = codec.digest(frozen), codec.digest(given)
    if old == new:
        return
    fields = sorted(_differences(codec.to_data(frozen), codec.to_data(given)))
    raise refused(
        path,
        f"this differs from what the run began with: {few(fields, _MOST)} (digest {old[:16]} then, {new[:16]} now)",
        "Use a new out-dir; limits are raised with `santiago resume --add-attempts N` (--add-minutes, --add-cost, --add-tokens).",
    )


def _differences(old: Any, new: Any, path: str = "") -> Iterator[str]:
    """Yield the fields in which two documents differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in old.keys() | new.keys():
            yield from _differences(old.get(name), new.get(name), f"{path}.{name}" if path else name)
    elif old != new:
        yield path


def _clean(redactor: Redactor, value: Any) -> Any:
    if isinstance(value, str):
        return redactor.text(value)
    if isinstance(value, dict):
        return {name: _clean(redactor, item) for name, item in value.items()}
    return [_clean(redactor, item) for item in value] if isinstance(value, list) else value
