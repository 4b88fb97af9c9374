"""One line of the log: an event as ASCII JSON with its place in the hash chain, and back with every check."""

from __future__ import annotations

import json
import re
from functools import cache, partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, cast, get_args, get_type_hints

from santiago.contract.events import UTC, Context, Event, EventKind, EventStatus
from santiago.contract.ids import RUN_ID, STORY_ID
from santiago.contract.phases import RunPhase, SessionPhase, StoryPhase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

LOG_VERSION = 1
GENESIS = "0" * 32
"""Stands for the hash of the line before in the first line."""
MAX_LINE = 1 << 20
"""Largest line in bytes. Larger data must go into a file, with its digest in the event."""

FEW = 1000
"""Up to this many lines, loading the fast parser would take longer than parsing without it."""

_KEYS = ["seq", "timestamp", "run_id", "story_id", "chunk", "event", "phase", "attempt", "status", "actor", "context", "prev", "h"]  # fmt: skip
_EVENT_KEYS = _KEYS[:-2]
_END = len(',"h":""}\n') + 32
_KINDS = {kind.value: kind for kind in EventKind}
_RUN_PHASES: dict[Any, RunPhase | SessionPhase | None] = {
    None: None,
    **dict.fromkeys(("planning", "plan_review"), RunPhase.CREATED),  # of runs that were planned in their own log
    **{phase.value: phase for phase in (*SessionPhase, *RunPhase)},
}
"""Phases of events without a story. The log's first event tells whether they belong to a run or to a session."""
_STORY_PHASES: dict[Any, StoryPhase | None] = {None: None, **{phase.value: phase for phase in StoryPhase}}
_STATUSES = frozenset({None, *get_args(EventStatus)})
_DETAILS: dict[str, Any] = get_type_hints(Context)
_is_time = re.compile(UTC).fullmatch
_is_run = re.compile(RUN_ID).fullmatch
_is_story = re.compile(STORY_ID).fullmatch


class BrokenLineError(ValueError):
    """The bytes are not those that were written: their hash does not fit."""


class WrongLineError(ValueError):
    """The bytes are whole, but what they say is not allowed."""


def encode(event: Event, prev: str) -> tuple[bytes, str]:
    """Return an event's line and its hash; raise if the reader would refuse the event."""
    data = {name: getattr(event, name) for name in _EVENT_KEYS}
    text = _dump(data)
    if "\\ud" in text:  # half a surrogate pair could not be read again
        text = _dump(_whole_text(data))
    body = f'{text[:-1]},"prev":"{prev}"'.encode("ascii")
    digest = _hash(prev, body)
    line = body + f',"h":"{digest}"}}\n'.encode("ascii")
    if len(line) > MAX_LINE:
        raise WrongLineError(
            f"event {event.seq} takes {len(line)} bytes, more than the {MAX_LINE} that a line may have"
        )
    _, fault = decode([line], event.seq - 1, prev, event.run_id, set())
    if fault is not None:
        raise fault
    return line, digest


def decode(
    lines: Iterable[bytes], seq: int, prev: str, run_id: str, stories: set[str]
) -> tuple[list[tuple[Event, str]], ValueError | None]:
    """Return the events of lines with the hashes of these lines, up to the first faulty line; and that line's fault.

    `seq`, `prev` and `run_id` are those of the line before; `run_id` is empty before the first one. `stories` are names that
    were already checked. Long logs are read here, many lines at once, so usual lines are checked in a few steps, and only
    unusual ones in detail.
    """
    found: list[tuple[Event, str]] = []
    parse, keys = (_parse, _KEYS) if seq < FEW else _quick()
    try:
        for line in lines:
            data = parse(line)
            number, time, run, story, chunk, name, phase, attempt, status, actor, context, before, digest = (
                data.values()
            )
            if (
                sha256(prev.encode() + line[:-_END]).hexdigest()[:32] != digest
                or before != prev
                or [*data] != keys
                or not line.isascii()
            ):
                return found, _wrong(line, prev, "its keys are not those of an event")
            seq += 1
            usual = (
                run == run_id != ""
                and (story in stories or story is None or _is_story(story))
                and (attempt is None or (type(attempt) is int and 1 <= attempt <= _LARGEST))
                and type(number) is int
                and number == seq
                and type(actor) is str
                and (chunk is None or type(chunk) is str)
                and status in _STATUSES
                and _is_time(time)
            )
            kind, entered = _KINDS[name], (_RUN_PHASES if story is None else _STORY_PHASES)[phase]
            for key, value in context.items():
                if type(value) is not _DETAILS[key]:
                    _check_list(key, value)
            if not usual and (fault := _fault(data, run_id, seq)):
                return found, WrongLineError(fault)
            stories.add(story)
            found.append((_event(seq, time, run, kind, story, chunk, entered, attempt, status, actor, context), digest))
            run_id = run
            prev = digest
    except (ValueError, TypeError, LookupError, AttributeError):
        return found, _wrong(line, prev)
    return found, None


def _event(*given: Any) -> Event:
    """Return an event. This is faster than its constructor, which makes it frozen field by field."""
    event: Any = _Draft()
    (
        event.seq, event.timestamp, event.run_id, event.event, event.story_id, event.chunk, event.phase, event.attempt,
        event.status, event.actor, event.context,
    ) = given  # fmt: skip
    event.__class__ = Event
    return cast("Event", event)


def _parse(line: bytes) -> Any:
    """Return a line's JSON, as strictly as the fast parser does."""
    try:
        data = json.loads(line.decode("ascii"))
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if b"\\ud" in line.lower():
        json.dumps(data, ensure_ascii=False).encode()  # raises at half a surrogate pair, which is not text
    return data


@cache
def _quick() -> tuple[Callable[[bytes], Any], list[str]]:
    """Return the fast parser, and the keys as it caches them, so that comparing them only compares addresses."""
    from pydantic_core import from_json

    parse = partial(from_json, cache_strings="keys")
    return parse, [*parse(json.dumps(dict.fromkeys(_KEYS)))]


def _wrong(line: bytes, prev: str, why: str = "") -> ValueError:
    """Return the fault of a line. A hash that does not fit comes first, since changed bytes explain all other faults."""
    digest = _hash(prev, line[:-_END])
    if line[-_END:] != b',"h":"%b"}\n' % digest.encode("ascii"):
        return BrokenLineError("its hash does not fit")
    try:
        data = _parse(line)
    except ValueError as error:
        return WrongLineError(f"it is not JSON ({error})")
    if not isinstance(data, dict) or list(data) != _KEYS:
        return WrongLineError("its keys are not those of an event")
    return WrongLineError(_fault(data) or why or "it does not follow the line before")


_LARGEST = 2**53


class _Draft:
    """An event that is not frozen yet. Making a frozen one, field by field, would cost more than parsing its line."""

    __slots__ = Event.__slots__  # type: ignore[attr-defined]


def _check_list(key: str, value: Any) -> None:
    """Raise where a detail that must be a list of texts, or of rows of texts, is anything else."""
    rows = value if _DETAILS[key] == list[list[str]] and type(value) is list else [value]
    if _DETAILS[key] in {str, int} or not all(
        type(row) is list and all(type(one) is str for one in row) for row in rows
    ):
        raise TypeError(key)


def _fault(data: dict[str, Any], run_id: str = "", seq: int = 0) -> str:
    """Return what is wrong with a line, also compared with the one before; empty if it is only unusual."""
    texts: tuple[tuple[str, Any], ...] = (("timestamp", _is_time), ("run_id", _is_run), ("story_id", _is_story))
    story, status, attempt = data["story_id"], data["status"], data["attempt"]
    for name, matches in texts:
        value = data[name]
        if not (value is None and name == "story_id") and not (isinstance(value, str) and matches(value)):
            return f"the {name} cannot be {_shown(value)}"
    if run_id and data["run_id"] != run_id:
        return f"it belongs to the run {data['run_id']}"
    if type(data["event"]) is not str or data["event"] not in _KINDS:
        return f"there is no event {_shown(data['event'])}"
    phases = _RUN_PHASES if story is None else _STORY_PHASES
    if isinstance(data["phase"], dict | list) or data["phase"] not in phases:
        return f"there is no phase {_shown(data['phase'])} of a {'run' if story is None else 'story'}"
    if isinstance(status, dict | list) or status not in _STATUSES:
        return f"there is no status {_shown(status)}"
    if type(data["seq"]) is not int:
        return f"the seq cannot be {_shown(data['seq'])}"
    if seq and data["seq"] != seq:
        return f"its number is {data['seq']}"
    if attempt is not None and not (type(attempt) is int and 1 <= attempt <= _LARGEST):
        return f"the attempt cannot be {_shown(attempt)}"
    if type(data["actor"]) is not str or not (data["chunk"] is None or type(data["chunk"]) is str):
        return "its actor or chunk is not text"
    return _context_fault(data["context"])


def _context_fault(context: Any) -> str:
    if type(context) is not dict:
        return "its context is not an object"
    for key, value in context.items():
        if key not in _DETAILS:
            return f"there is no detail {_shown(key)}"
        if type(value) is not _DETAILS[key]:
            try:
                _check_list(key, value)
            except TypeError:
                return f"the detail {key} cannot be {_shown(value)}"
    return ""


def _shown(value: Any) -> str:
    return ascii(value)[:80]


def version_of(line: bytes) -> int | None:
    """Return the format version that a first line claims, whatever else is in it."""
    try:
        version = _parse(line)["context"]["log"]
    except (ValueError, TypeError, LookupError):
        return None
    return version if type(version) is int else None


def _dump(data: dict[str, Any]) -> str:
    return json.dumps(data, separators=(",", ":"), allow_nan=False)


def _hash(prev: str, body: bytes) -> str:
    return sha256(prev.encode("ascii") + body).hexdigest()[:32]


def _whole_text(value: Any) -> Any:
    """Return a value whose texts can be written as UTF-8. Characters that cannot be are escaped."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {name: _whole_text(item) for name, item in value.items()}
    return [_whole_text(item) for item in value] if isinstance(value, list) else value
