"""Requests from outside to a run: files made with link(2), so that the first wins and the second is told."""

from __future__ import annotations

import contextlib
import json
import os
import re
from itertools import count, islice
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from santiago.artifacts import beneath
from santiago.artifacts.faults import guarding
from santiago.contract.ids import is_story_id, story_order
from santiago.contract.record import record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

FOLDER, DONE = "inbox", "done"
LARGEST = 1 << 18
"""Bytes of one request; an answer is a few sentences."""

MOST = 1000
"""Requests that are read at one look."""

RequestKind = Literal["stop-now", "stop", "answer", "change"]
_ORDER: tuple[RequestKind, ...] = ("stop-now", "stop", "answer", "change")
_STOPS = ("stop-now.json", "stop.json")
_CHANGE = re.compile(r"change-(.+)-([0-9]{1,9})\.json")
_LONGEST_NAME = 200


@record
class Request:
    """What somebody outside wants of the run."""

    kind: RequestKind
    subject: str = ""
    """The question that is answered, or the story that is to change."""
    answer: str = ""
    text: str = ""
    actor: str = "user"
    name: str = ""
    """Its file in the inbox."""
    fault: str = ""
    """Why it cannot be understood; it is then only reported and put away."""


class Inbox:
    """The inbox of one out-dir, for those who drop requests and for the coordinator who collects them."""

    def __init__(self, out_dir: Path) -> None:
        self.path = out_dir / FOLDER

    def drop(self, request: Request) -> bool:
        """Leave a request; False where the same was asked, or the question answered, before."""
        with guarding(self.path), self._folders() as (inbox, done):
            for name in _names(request):
                if self._link(inbox, name, request):
                    # The first answer may have been collected meanwhile; its name is then in `done`.
                    if request.kind == "answer" and _exists(done, name):
                        os.unlink(name, dir_fd=inbox)
                        return False
                    return True
        return False

    def collect(self) -> list[Request]:
        """Return what waits: stops first, then answers, then changes, each in natural order; faulty ones last.

        Of very many requests only some, so that nobody can keep the run from its work; the others' turn comes.
        """
        with guarding(self.path):
            try:
                root = self._open()
            except FileNotFoundError:
                return []
            try:
                found = [_read(root, name) for name in _waiting(root)]
            finally:
                os.close(root)
        return sorted(found, key=_place)

    def put_away(self, requests: Sequence[Request]) -> None:
        """Move requests to `done`, once their events are in the log."""
        with guarding(self.path), self._folders() as (inbox, done):
            for request in requests:
                free = next(name for name in _numbered(request.name) if not _exists(done, name))
                with contextlib.suppress(FileNotFoundError):
                    os.rename(request.name, free, src_dir_fd=inbox, dst_dir_fd=done)
            if requests:  # what was obeyed must not come back after a power cut
                os.fsync(done)
                os.fsync(inbox)

    def _open(self) -> int:
        return os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)

    @contextlib.contextmanager
    def _folders(self) -> Iterator[tuple[int, int]]:
        self.path.mkdir(exist_ok=True)
        root = self._open()
        try:
            with beneath.opened(root, [DONE], make=True) as (inbox, done):
                yield inbox, done
        finally:
            os.close(root)

    def _link(self, inbox: int, name: str, request: Request) -> bool:
        temporary = beneath.temporary_of(f"{os.getpid()}-{name}")
        data = {"kind": request.kind, "subject": request.subject, "answer": request.answer, "text": request.text, "actor": request.actor}  # fmt: skip
        beneath.write(inbox, temporary, json.dumps(data, indent=2).encode() + b"\n", sync=True)
        try:
            os.link(temporary, name, src_dir_fd=inbox, dst_dir_fd=inbox)
        except FileExistsError:
            return False
        finally:
            os.unlink(temporary, dir_fd=inbox)
        os.fsync(inbox)
        return True


def _waiting(inbox: int) -> list[str]:
    """Return the names of requests; a wish to stop is among them however many others there are."""
    stops = [name for name in _STOPS if _exists(inbox, name)]
    with os.scandir(inbox) as entries:  # by handle, so that no link is followed
        others = (entry.name for entry in entries if entry.name not in (DONE, *_STOPS))
        return stops + list(islice((name for name in others if not beneath.is_temporary(name)), MOST))


def _place(request: Request) -> tuple[bool, int, object]:
    return bool(request.fault), _ORDER.index(request.kind), story_order(request.name)


def _names(request: Request) -> Iterator[str]:
    """Yield the names that a request may take, in order; only a change can be asked for more than once."""
    match request.kind:
        case "stop" | "stop-now":
            yield f"{request.kind}.json"
        case "answer":
            yield _answer_name(request.subject)
        case "change":
            if not is_story_id(request.subject):
                raise ValueError(f"not a story: {request.subject!r}")
            yield from (f"change-{request.subject}-{number}.json" for number in count(1))


def _answer_name(question: str) -> str:
    name = f"answer-{quote(question, safe='')}.json"
    if not question or len(name) > _LONGEST_NAME:
        raise ValueError(f"not a question: {question!r}")
    return name


def _read(inbox: int, name: str) -> Request:
    """Return the request in a file; whatever it holds, this does not raise."""
    try:
        content = beneath.read(inbox, name, LARGEST)
        data = json.loads(content or b"")
        request = _request(name, data)
    except beneath.PlantedError:
        return _faulty(name, "it is no regular file, or far too large")
    except (ValueError, TypeError, LookupError, RecursionError, OSError) as error:
        return _faulty(name, f"it is no request: {type(error).__name__}")
    return request or _faulty(name, "what it asks for does not fit its name")


def _request(name: str, data: Any) -> Request | None:
    """Return the request if the file's name is the one that this request would have been given."""
    request = Request(
        kind=data["kind"],
        subject=_text(data["subject"]),
        answer=_text(data["answer"]),
        text=_text(data["text"]),
        actor=_text(data["actor"]),
        name=name,
    )
    if request.kind == "change":
        match = _CHANGE.fullmatch(name)
        return request if match and match[1] == request.subject and is_story_id(request.subject) else None
    return request if request.kind in _ORDER and name in _names(request) else None


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("text is expected")
    return value


def _faulty(name: str, why: str) -> Request:
    kind: RequestKind = next((kind for kind in _ORDER if name.startswith(kind)), "change")
    return Request(kind=kind, name=name, fault=why)


def _exists(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _numbered(name: str) -> Iterator[str]:
    """Yield a name and then that name with numbers: a run can be stopped many times."""
    yield name
    stem, _, ending = name.rpartition(".")
    yield from (f"{stem}.{number}.{ending}" for number in count(2))
