"""Letters from outside to a run. They are files made with link(2): the first letter wins, and the second is told so."""

from __future__ import annotations

import contextlib
import json
import os
from itertools import count, islice
from threading import get_native_id
from typing import TYPE_CHECKING, Any, get_args
from urllib.parse import quote

from santiago.artifacts import beneath
from santiago.artifacts.files import sync_folder
from santiago.contract.answers import Letter, LetterKind, Via
from santiago.contract.ids import is_story_id, story_order
from santiago.contract.lazy_regex import pattern
from santiago.contract.moments import text_of
from santiago.util.disk import guarding

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

FOLDER, DONE = "inbox", "done"
LARGEST = 1 << 18
"""Bytes of one letter; an answer is a few sentences."""

MOST = 1000
"""How many letters are read at one time."""

_ORDER: tuple[LetterKind, ...] = ("stop-now", "stop", "stop-detach", "answer", "change", "hint", "pause")
_STOPS = ("stop-now.json", "stop.json", "stop-detach.json")
_NUMBERED = pattern(r"(?:(?P<kind>change|hint)-(?P<subject>.+)|pause)-[0-9]{1,9}\.json")
_LONGEST_NAME = 200


class Inbox:
    """The inbox of one out-dir, for those who drop letters and for the coordinator who collects them."""

    def __init__(self, out_dir: Path) -> None:
        self.path = out_dir / FOLDER

    def drop(self, letter: Letter) -> bool:
        """Leave a letter; return False if the same was asked before, or the question was already answered."""
        with guarding(self.path), self._folders() as (inbox, done):
            for name in _names(letter):
                if self._link(inbox, name, letter):
                    # The first answer may have been collected meanwhile; its name is then in `done`.
                    if letter.kind == "answer" and _exists(done, name):
                        with contextlib.suppress(FileNotFoundError):  # the coordinator may have moved it
                            os.unlink(name, dir_fd=inbox)
                        return False
                    return True
        return False

    def left(self, question: str) -> Letter | None:
        """Return the answer that waits to be collected; None if there is none, or it is unreadable."""
        found = (one for one in self.collect() if one.kind == "answer" and one.subject == question and not one.fault)
        return next(found, None)

    def answered(self, question: str) -> tuple[str, str] | None:
        """Return who left the answer that counts, and when (UTC); None if there is none or it is unreadable."""
        name = _answer_name(question)
        with guarding(self.path), self._folders() as folders:
            for folder in folders:  # in the order in which letters move
                letter = _read(folder, name)
                with contextlib.suppress(FileNotFoundError):
                    made = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mtime_ns // 1_000_000
                    if not letter.fault:
                        return letter.actor, text_of(made)
        return None

    def collect(self) -> list[Letter]:
        """Return what waits: stops first, then answers, then changes, each in natural order; faulty ones last.

        If there are very many letters, only some are returned, so that they cannot keep the run from its work.
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
        return sorted(found, key=lambda one: (bool(one.fault), _ORDER.index(one.kind), story_order(one.name)))

    def put_away(self, letters: Sequence[Letter], void: Collection[str] = ()) -> None:
        """Move letters to `done`, once their events are in the log.

        Letters in `void` answered nothing. They get another name in `done`, so that their question can still be answered.
        """
        with guarding(self.path), self._folders() as (inbox, done):
            for letter in letters:
                wanted = f"void-{letter.name}" if letter.name in void else letter.name
                free = next(name for name in _numbered(wanted) if not _exists(done, name))
                with contextlib.suppress(FileNotFoundError):
                    os.rename(letter.name, free, src_dir_fd=inbox, dst_dir_fd=done)
            if letters:  # a letter that was obeyed must not come back after a power cut
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

    def _link(self, inbox: int, name: str, letter: Letter) -> bool:
        # With the thread, since the server of the pages leaves letters of several people at once.
        temporary = beneath.temporary_of(f"{os.getpid()}-{get_native_id()}-{name}")
        data = {name: getattr(letter, name) for name in ("kind", "subject", "answer", "text", "scope", "actor", "via")}
        beneath.write(inbox, temporary, json.dumps(data, indent=2).encode() + b"\n", sync=True)
        try:
            os.link(temporary, name, src_dir_fd=inbox, dst_dir_fd=inbox)
        except FileExistsError:
            return False
        finally:
            os.unlink(temporary, dir_fd=inbox)
        os.fsync(inbox)
        sync_folder(self.path.parent)  # this may be the letter that the inbox was made for
        return True


def _waiting(inbox: int) -> list[str]:
    """Return the names of letters. A request to stop is always among them, however many letters there are."""
    stops = [name for name in _STOPS if _exists(inbox, name)]
    with os.scandir(inbox) as entries:  # by handle, so that no link is followed
        others = (entry.name for entry in entries if entry.name not in (DONE, *_STOPS))
        return stops + list(islice((name for name in others if not beneath.is_temporary(name)), MOST))


def _names(letter: Letter) -> Iterator[str]:
    """Yield the file names that a letter may get, in order. Hints and changes for a story may be sent more than once."""
    match letter.kind:
        case "stop" | "stop-now" | "stop-detach":
            yield f"{letter.kind}.json"
        case "answer":
            yield _answer_name(letter.subject)
        case "change" | "hint":
            if not is_story_id(letter.subject):
                raise ValueError(f"not a story: {letter.subject!r}")
            yield from (f"{letter.kind}-{letter.subject}-{number}.json" for number in count(1))
        case "pause":
            yield from (f"pause-{number}.json" for number in count(1))


def _answer_name(question: str) -> str:
    name = f"answer-{quote(question, safe='')}.json"
    if not question or len(name) > _LONGEST_NAME:
        raise ValueError(f"not a question: {question!r}")
    return name


def _read(inbox: int, name: str) -> Letter:
    """Return the letter in a file; whatever it holds, this does not raise."""
    try:
        content = beneath.read(inbox, name, LARGEST)
        data = json.loads(content or b"")
        letter = _letter(name, data)
    except beneath.PlantedError:
        return _faulty(name, "it is not a regular file, or far too large")
    except TypeError as error:
        return _faulty(name, str(error))
    except (ValueError, RecursionError, OSError):
        return _faulty(name, "it is not JSON that can be read")
    return letter or _faulty(name, "what it asks for does not fit its name")


def _letter(name: str, data: Any) -> Letter | None:
    """Return the letter if the file has the name that such a letter gets; else None."""
    if not isinstance(data, dict):
        raise TypeError("it is not a JSON object")
    kind: Any = _text(data, "kind", None)
    letter = Letter(
        kind=kind,
        subject=_text(data, "subject"),
        answer=_text(data, "answer", None if kind in ("answer", "pause") else ""),
        text=_text(data, "text", None if kind in ("change", "hint") else ""),
        scope=_text(data, "scope"),
        actor=_text(data, "actor", "user"),
        via=_known(_text(data, "via")),
        name=name,
    )
    if letter.kind in ("change", "hint"):
        match = _NUMBERED.fullmatch(name)
        named = match is not None and (match["kind"], match["subject"]) == (letter.kind, letter.subject)
        return letter if named and is_story_id(letter.subject) else None
    if letter.kind == "pause":
        return letter if _NUMBERED.fullmatch(name) and letter.answer in ("on", "off") else None
    return letter if letter.kind in _ORDER and name in _names(letter) else None


def _text(data: dict[str, Any], field: str, default: str | None = "") -> str:
    value = data.get(field, default)
    if not isinstance(value, str):
        raise TypeError(f'its "{field}" is {"not text" if field in data else "missing"}')
    return value


def _known(via: str) -> str:
    return via if via in get_args(Via) else ""


def _faulty(name: str, why: str) -> Letter:
    kind: LetterKind = next((kind for kind in _ORDER if name.startswith(kind)), "change")
    return Letter(kind=kind, name=name, fault=why)


def _exists(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _numbered(name: str) -> Iterator[str]:
    """Yield a name, then that name with numbers, since a run can be stopped many times."""
    yield name
    stem, _, ending = name.rpartition(".")
    yield from (f"{stem}.{number}.{ending}" for number in count(2))
