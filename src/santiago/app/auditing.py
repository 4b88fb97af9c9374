"""Checking a run's folder again: the log's hash chain, the frozen files, the evidence behind every verdict, the result."""

from __future__ import annotations

import json
import os
from dataclasses import field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from santiago.app.loading import History, empty_fold, frozen, record_in
from santiago.app.start.start_events import unknown_files
from santiago.artifacts import beneath, inbox, lock
from santiago.artifacts.attempts import LASTING, FileAttempts
from santiago.artifacts.files import LARGEST, read_bytes
from santiago.artifacts.names import (
    DETAILS,
    FILES,
    INPUT,
    LOG,
    PLAN,
    REPORT,
    REQUEST,
    RESULT,
    SETTINGS,
    STARTED,
    VERIFICATION,
    attempt_folder,
)
from santiago.artifacts.projections import Projector
from santiago.artifacts.reader import Reader
from santiago.artifacts.store import FileStore
from santiago.contract import codec
from santiago.contract.errors import SantiagoError
from santiago.contract.events import Event, EventKind
from santiago.contract.phases import ENDED, RunPhase, StoryPhase
from santiago.contract.record import lean
from santiago.contract.result import Result
from santiago.executor.tally import result as result_of
from santiago.process.redact import Redactor
from santiago.util.clock import moment

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping

    from santiago.app.loading import Seal
    from santiago.contract.fold import Fold
    from santiago.contract.plan import Plan
    from santiago.contract.state import RunState

AHEAD = "evidence/ahead-"
Level = Literal["error", "note"]


class Fault(NamedTuple):
    """One thing that is wrong, or that a person should know."""

    level: Level
    code: str
    where: str
    message: str


@lean()
class Audit:
    """Collects faults. `anchors` are hashes of events that are recorded outside the log."""

    out_dir: Path
    anchors: dict[int, tuple[str, str]] = field(default_factory=dict)
    """Number of an event → (its hash, where that is recorded)."""
    faults: list[Fault] = field(default_factory=list)
    records: dict[str, Event] = field(default_factory=dict)
    """Files of evidence, each with the last event that refers to it."""
    known: set[str] = field(default_factory=set)
    """Files that were checked, as paths below the out-dir."""
    projected: dict[str, bytes] = field(default_factory=dict)
    """The projections of plan and log, as they should be."""
    history: History = field(default_factory=History)
    fold: Fold | None = None
    attested: dict[str, str] = field(default_factory=dict)
    """Stories that a person accepted, and who that was."""
    checked: dict[str, int] = field(default_factory=dict)
    """Kinds of things that were checked, with their numbers."""
    head: tuple[int, str] = (0, "")
    base: str = ""
    """The commit that the run began on."""
    settings: str = ""
    """The digest of the settings that the run was made with. Logs of older versions have none."""

    @property
    def state(self) -> RunState | None:
        return self.fold.state if self.fold else None

    @property
    def clean(self) -> bool:
        return not any(fault.level == "error" for fault in self.faults)

    def error(self, code: str, where: str, message: str) -> None:
        self.faults.append(Fault("error", code, where, message))

    def note(self, code: str, where: str, message: str) -> None:
        self.faults.append(Fault("note", code, where, message))

    def count(self, what: str, number: int = 1) -> None:
        self.checked[what] = self.checked.get(what, 0) + number

    # Files

    def run(self) -> None:
        """Check everything that lies in the folder."""
        results = self._results()
        if not self._read(results):
            return
        self._frozen()
        for path, event in self.records.items():
            self._evidence(path, event)
        self._done_stories()
        if RESULT not in results.values() and self.state is not None and self.state.phase in ENDED:
            self.error("result_missing", RESULT, f"the run ended as {self.state.phase}, but there is no result")
        FileAudit(self).check()

    def _results(self) -> dict[int, str]:
        """Read all results, also old ones, since each records a hash of the log. Return their names by their last event."""
        found = {}
        for path in sorted(self.out_dir.glob("result*.json")):
            self.known.add(path.name)
            if path.name == "result.damaged.json":
                continue
            try:
                result = codec.decode(Result, read_bytes(path, LARGEST), path.name)
            except SantiagoError as error:
                self.error("result_unreadable", path.name, error.message)
                continue
            self.count("results")
            if (head := result.head) is not None:
                self.anchors[head.seq] = (head.hash, path.name)
                found[head.seq] = path.name
        return found

    def _read(self, results: Mapping[int, str]) -> bool:
        """Fold the log, and check the chain, each anchor, and each result at its event."""
        try:
            plan, run_input = frozen(self.out_dir)
        except SantiagoError as error:
            self.error("frozen_unreadable", error.where, error.message)
            return False
        self.fold = empty_fold(plan, run_input)
        projector = Projector(plan, self.projected.get, self.projected.__setitem__)
        reader = Reader(self.out_dir / LOG)
        try:
            for event in reader:
                self.fold.apply(event)
                self._take(event)
                projector.take(event)
                self._anchor(reader)
                if reader.seq in results:
                    self._compare(plan, results[reader.seq], reader)
        except SantiagoError as error:
            self.error("log_damaged", f"{LOG}:{error.line}" if error.line else LOG, error.message)
            return False
        except (ValueError, LookupError, TypeError) as error:
            self.error("log_impossible", f"{LOG}:{reader.seq}", f"what it says cannot have happened: {error}")
            return False
        projector.write(self.fold.state)
        self.head = (reader.seq, reader.hash)
        self.count("events", reader.seq)
        for seq, (_, who) in self.anchors.items():
            if seq > reader.seq:
                self.error("log_cut", LOG, f"it ends with event {reader.seq}, but {who} knows of event {seq}")
        if reader.torn:
            self.note(
                "log_torn", LOG, f"{reader.torn} bytes of an unfinished line follow; the next start sets them aside"
            )
        return True

    def _take(self, event: Event) -> None:
        self.history.take(event)
        if event.event is EventKind.RUN_CREATED:
            self.base, self.settings = event.context.get("head", ""), event.context.get("settings_digest", "")
        if event.event in _WITH_EVIDENCE:
            self.records[self._record_of(event)] = event
        if event.event is EventKind.LOG_REPAIRED:
            self._torn(event)
        said_done = event.event is EventKind.QUESTION_ANSWERED and event.phase is StoryPhase.DONE
        if event.event is EventKind.STORY_ACCEPTED or said_done:
            self.attested[event.story_id or ""] = event.actor
        if event.event is EventKind.NOTE and event.context.get("ref", "").startswith("refs/santiago/"):
            self.note(
                "refs_pruned", LOG, f"{event.context.get('text', '')} ({moment(event.timestamp)}, by {event.actor})"
            )

    def _anchor(self, reader: Reader) -> None:
        known = self.anchors.get(reader.seq)
        if known is None:
            return
        self.count("anchors")
        if known[0] != reader.hash:
            self.error("log_rewritten", f"{LOG}:{reader.seq}", f"its hash is not the one in {known[1]}")

    def _torn(self, event: Event) -> None:
        """Compare a torn line that a start set aside with its digest in the log."""
        path = f"progress.torn.{event.context.get('offset', 0)}"
        self.known.add(path)
        if not self._is(path, event.context.get("digest", "")):
            self.error("file_changed", path, f"it is not the torn line that event {event.seq} set aside")

    def _is(self, path: str, digest: str) -> bool:
        try:
            return sha256(read_bytes(self.out_dir / path, LARGEST)).hexdigest() == digest
        except SantiagoError:
            return False

    def _compare(self, plan: Plan, name: str, reader: Reader) -> None:
        """Compare a result with the one that follows from plan and log; any difference was put there by somebody."""
        assert self.fold is not None
        content = read_bytes(self.out_dir / name, LARGEST)
        given = codec.decode(Result, content, name)
        if self.fold.state.phase not in ENDED:
            message = f"it says {given.status}, but the run had not ended at event {self.fold.state.seq}"
            self.error("result_wrong", name, message)
            return
        wanted = result_of(plan, self.fold.state, (reader.seq, reader.hash))
        if content == codec.canonical(wanted):
            return
        its = json.loads(content)
        mine = _as_far_as(its, codec.to_data(wanted))
        # An earlier version told less, and in other words.
        is_older = mine != codec.to_data(wanted)
        told = [key for key in mine if key != "message" or not is_older]
        wrong = [
            f"{key} differs from the log{_difference(mine[key], its[key])}" for key in told if mine[key] != its[key]
        ]
        if not wrong and (not is_older or content != codec.canonical(its)):
            wrong = ["it is not written as santiago wrote it"]
        for message in wrong:
            self.error("result_wrong", name, message)
        if is_older and not wrong:
            self.note("result_older", name, "an earlier version of santiago wrote it; what it tells was compared")

    def _frozen(self) -> None:
        """Compare plan, input and settings with the digests that the log began with."""
        state = self.state
        assert state is not None
        for name, digest in ((INPUT, state.input_digest), (PLAN, state.plan_digest)):
            self.count("frozen files")
            now = sha256(read_bytes(self.out_dir / name, LARGEST)).hexdigest()
            if now != digest:
                self.error("frozen_changed", name, f"its digest was {digest[:16]} when the run began and is {now[:16]}")
        if self.settings:
            self.count("frozen files")
            if not self._is(SETTINGS, self.settings):
                self.error("frozen_changed", SETTINGS, "it is not the file that the run began with")

    def _evidence(self, path: str, event: Event) -> None:
        """Compare the record that an event refers to with the digest in the log, and with the verdict."""
        context = event.context
        self.known.add(path)
        verdict = "pass" if event.event is EventKind.RUN_ENDED and event.status == "ok" else context.get("verdict", "")
        digest = context.get("digest")
        if digest is None:
            if verdict == "pass":
                self.error(
                    "evidence_missing", path, f"event {event.seq} is a pass without a record of what was checked"
                )
            return
        try:
            content = read_bytes(self.out_dir / path, LARGEST)
        except SantiagoError as error:
            self.error("evidence_missing", path, f"event {event.seq} refers to it, but {error.message}")
            return
        self.count("records")
        if sha256(content).hexdigest() != digest:
            self.error("evidence_changed", path, f"its digest differs from the one in event {event.seq}")
            return
        if event.event is not EventKind.BASE_EXAMINED:
            self._verdict(event, path, record_in(self.out_dir / path), verdict)

    def _record_of(self, event: Event) -> str:
        if event.event is EventKind.BASE_EXAMINED:
            return "evidence/base.json"
        if event.story_id is None:
            return f"evidence/run-{event.context.get('step', '').rpartition('/')[2] or 0}.json"
        if event.event is EventKind.CLAIM_JUDGED:
            return f"evidence/{event.story_id}-claim.json"
        if event.event in (EventKind.STORY_DONE, EventKind.STORY_INTEGRATED):
            ahead = event.context.get("step", "")  # which gave its verdict before the story's turn
            return (
                f"{AHEAD}{ahead[6:].replace('/', '-')}.json"
                if ahead
                else f"evidence/{event.story_id}-{event.attempt}-merged.json"
            )
        return f"{attempt_folder(event.story_id, event.attempt or 0)}/{VERIFICATION}"

    def _verdict(self, event: Event, path: str, record: Mapping[str, Any], verdict: str) -> None:
        passed = record.get("passed") is True
        if verdict and passed != (verdict == "pass"):
            self.error(
                "verdict_differs", path, f"it says {'pass' if passed else 'fail'}, event {event.seq} says {verdict}"
            )
        real = [one for one in record.get("results", []) if _is_real(one)]
        if verdict == "pass" and not real:
            self.error("nothing_verified", path, "it is a pass without one real check that passed")

    def _done_stories(self) -> None:
        """Check that every story that is done has a passing verdict of its own, or was accepted by a person."""
        state = self.state
        assert state is not None
        passed = {event.story_id for event in self.records.values() if event.context.get("verdict") == "pass"}
        for story in state.stories.values():
            if story.phase is not StoryPhase.DONE:
                continue
            self.count("done stories")
            if story.id in self.attested:
                self.note("attested", LOG, f"{story.id} is done on the word of {self.attested[story.id]}")
            elif story.id not in passed:
                self.error("done_without_verdict", LOG, f"{story.id} is done, but no verdict of it passed")


_WITH_EVIDENCE = frozenset(
    {
        EventKind.BASE_EXAMINED, EventKind.ATTEMPT_ENDED, EventKind.CLAIM_JUDGED, EventKind.STORY_DONE,
        EventKind.STORY_INTEGRATED, EventKind.RUN_ENDED,
    }
)  # fmt: skip


def _as_far_as(given: Any, wanted: Any) -> Any:
    """Return a value with only those fields that another one has, too, at every level."""
    if isinstance(given, dict) and isinstance(wanted, dict):
        return {key: _as_far_as(given[key], value) for key, value in wanted.items() if key in given}
    if isinstance(given, list) and isinstance(wanted, list) and len(given) == len(wanted):
        return [_as_far_as(one, other) for one, other in zip(given, wanted, strict=True)]
    return wanted


def _difference(wanted: Any, given: Any) -> str:
    if isinstance(wanted, list) and isinstance(given, list):
        for one, other in zip(wanted, given, strict=False):
            if one != other:
                return f" (of {one.get('id', one) if isinstance(one, dict) else one})"
        return f" ({len(given)} of {len(wanted)})"
    return f": {given!r} instead of {wanted!r}"[:200] if not isinstance(wanted, dict) else ""


def _is_real(result: Mapping[str, Any]) -> bool:
    """Tell whether a check shows anything: it passed, or all its failures were there before and other tests of it pass."""
    checks = result.get("checks")
    return (result.get("verdict") == "pass" and checks != 0) or (result.get("verdict") == "inherited" and bool(checks))


_EMPTY = sha256(b"").hexdigest()
_AT_WORK = (RunPhase.EXECUTING, RunPhase.RUN_VERIFICATION)


class FileAudit:
    """Looks at every file below the out-dir, once the log has been read."""

    def __init__(self, audit: Audit) -> None:
        self.audit = audit
        own = {LOG, INPUT, PLAN, REPORT, REQUEST, SETTINGS, STARTED, lock.NAME, *audit.known}
        # What a courier notes of the orders that are out; verdicts ahead, on which nothing depends if no story is done by them.
        unused = {path for path in self._below("evidence") if path.startswith(AHEAD)}
        self._known = own | unused | {*self._below("remote")}

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
        files = self._sealed(store, folder, f"{number}.{FILES}", seal.files, lasting)
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
