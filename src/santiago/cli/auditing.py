"""Re-checking a run's folder: the chain of the log, what was frozen, the evidence behind every verdict, the result."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from santiago.artifacts.attempts import OUTCOME, VERIFICATION
from santiago.artifacts.files import read_bytes
from santiago.artifacts.reader import Reader
from santiago.artifacts.store import INPUT, LARGEST, LOG, PLAN, RESULT, attempt_folder
from santiago.cli.loading import empty_fold, frozen
from santiago.cli.view.evidence import record_in
from santiago.cli.view.history import History
from santiago.contract import codec
from santiago.contract.errors import SantiagoError
from santiago.contract.events import Event, EventKind
from santiago.contract.phases import ENDED, StoryPhase
from santiago.contract.result import Result
from santiago.executor.result import result as result_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from santiago.contract.fold import Fold
    from santiago.contract.state import RunState

Level = Literal["error", "note"]


class Fault(NamedTuple):
    """One thing that does not fit, or that somebody should know."""

    level: Level
    code: str
    where: str
    message: str


@dataclass(slots=True)
class Audit:
    """Collects faults; `anchors` are places of the chain that are known from outside the log."""

    out_dir: Path
    anchors: dict[int, tuple[str, str]] = field(default_factory=dict)
    """Number of an event → (its hash, who says so)."""
    faults: list[Fault] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    """Those of the run and its stories that evidence hangs on."""
    history: History = field(default_factory=History)
    fold: Fold | None = None
    checked: dict[str, int] = field(default_factory=dict)
    """What was looked at, and how many of each."""
    head: tuple[int, str] = (0, "")
    base: str = ""
    """The commit that the run began on."""

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
        if not self._read(results.get(RESULT)):
            return
        self._frozen()
        for event in self.events:
            self._evidence(event)
        self._done_stories()
        if RESULT not in results and self.state is not None and self.state.phase in ENDED:
            self.error("result_missing", RESULT, f"the run ended as {self.state.phase}, but there is no result")

    def _results(self) -> dict[str, Result]:
        """Read the results, old ones too: each anchors the log's chain."""
        found = {}
        for path in sorted(self.out_dir.glob("result*.json")):
            if path.name == "result.damaged.json":
                continue
            try:
                found[path.name] = codec.decode(Result, read_bytes(path, LARGEST), path.name)
            except SantiagoError as error:
                self.error("result_unreadable", path.name, error.message)
                continue
            self.count("results")
            if (head := found[path.name].head) is not None:
                self.anchors[head.seq] = (head.hash, path.name)
        return found

    def _read(self, result: Result | None) -> bool:
        """Fold the log, checking the chain, each anchor, and the result where it was written."""
        try:
            plan, run_input = frozen(self.out_dir)
        except SantiagoError as error:
            self.error("frozen_unreadable", error.where, error.message)
            return False
        self.fold = empty_fold(plan, run_input)
        reader = Reader(self.out_dir / LOG)
        try:
            for event in reader:
                self.fold.apply(event)
                self._take(event)
                self._anchor(reader)
                if result is not None and result.head is not None and reader.seq == result.head.seq:
                    self._compare(result)
        except SantiagoError as error:
            self.error("log_damaged", f"{LOG}:{error.line}" if error.line else LOG, error.message)
            return False
        except (ValueError, LookupError, TypeError) as error:
            self.error("log_impossible", f"{LOG}:{reader.seq}", f"what it says cannot have happened: {error}")
            return False
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
            self.base = event.context.get("head", "")
        if event.event in _WITH_EVIDENCE:
            self.events.append(event)
        if event.event is EventKind.NOTE and event.context.get("ref", "").startswith("refs/santiago/"):
            self.note("refs_pruned", LOG, f"{event.context.get('text', '')} ({event.timestamp}, by {event.actor})")

    def _anchor(self, reader: Reader) -> None:
        known = self.anchors.get(reader.seq)
        if known is None:
            return
        self.count("anchors")
        if known[0] != reader.hash:
            self.error("log_rewritten", f"{LOG}:{reader.seq}", f"its hash is not the one in {known[1]}")

    def _compare(self, result: Result) -> None:
        """A result is a function of plan and log up to its head; anything else in it was put there."""
        assert self.fold is not None
        if self.fold.state.phase not in ENDED:
            self.error(
                "result_wrong",
                RESULT,
                f"it says {result.status}, but the run had not ended at event {self.fold.state.seq}",
            )
            return
        plan, _ = frozen(self.out_dir)
        assert result.head is not None
        wanted = codec.to_data(result_of(plan, self.fold.state, (result.head.seq, result.head.hash)))
        given = codec.to_data(result)
        wrong = [name for name in wanted if wanted[name] != given[name]]
        for name in wrong:
            self.error(
                "result_wrong", RESULT, f"{name} is not what the log says{_difference(wanted[name], given[name])}"
            )

    def _frozen(self) -> None:
        """Compare plan and input with the digests that the log began with."""
        state = self.state
        assert state is not None
        for name, digest in ((INPUT, state.input_digest), (PLAN, state.plan_digest)):
            self.count("frozen files")
            now = sha256(read_bytes(self.out_dir / name, LARGEST)).hexdigest()
            if now != digest:
                self.error("frozen_changed", name, f"its digest was {digest[:16]} when the run began and is {now[:16]}")

    def _evidence(self, event: Event) -> None:
        """Compare the record that an event rests on with the digest in the log, and with the verdict."""
        context = event.context
        path = self._record_of(event)
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
            self.error("evidence_missing", path, f"event {event.seq} rests on it, but {error.message}")
            return
        self.count("records")
        if sha256(content).hexdigest() != digest:
            self.error("evidence_changed", path, f"its digest is not the one of event {event.seq}")
            return
        self._verdict(event, path, record_in(self.out_dir / path), verdict)
        if event.event is EventKind.ATTEMPT_ENDED and event.status in ("ok", "failed"):
            self._outcome(event)

    def _record_of(self, event: Event) -> str:
        if event.story_id is None:
            return f"evidence/run-{event.context.get('step', '').rpartition('/')[2] or 0}.json"
        if event.event is EventKind.CLAIM_JUDGED:
            return f"evidence/{event.story_id}-claim.json"
        if event.event is EventKind.STORY_DONE:
            return f"evidence/{event.story_id}-{event.attempt}-merged.json"
        return f"{attempt_folder(event.story_id, event.attempt or 0)}/{VERIFICATION}"

    def _verdict(self, event: Event, path: str, record: Mapping[str, Any], verdict: str) -> None:
        passed = record.get("passed") is True
        if verdict and passed != (verdict == "pass"):
            self.error(
                "verdict_differs", path, f"it says {'pass' if passed else 'fail'}, event {event.seq} says {verdict}"
            )
        real = [one for one in record.get("results", []) if one.get("verdict") == "pass" and one.get("checks") != 0]
        if verdict == "pass" and not real:
            self.error("nothing_verified", path, "it is a pass without one real check that passed")

    def _outcome(self, event: Event) -> None:
        """The outcome file is for people; where it tells another story than the log, somebody changed it."""
        path = f"{attempt_folder(event.story_id or '', event.attempt or 0)}/{OUTCOME}"
        said = record_in(self.out_dir / path)
        if not said:
            self.note("outcome_missing", path, "there is no outcome file")
            return
        for name, mine in (
            ("status", event.status),
            ("reason", event.context.get("reason")),
            ("commit", event.context.get("commit")),
        ):
            if said.get(name) != mine:
                self.error("outcome_differs", path, f"it says {name} {said.get(name)}, event {event.seq} says {mine}")

    def _done_stories(self) -> None:
        """Every story that is done must have a verdict of its own that passed."""
        state = self.state
        assert state is not None
        passed = {event.story_id for event in self.events if event.context.get("verdict") == "pass" and event.story_id}
        for story in state.stories.values():
            if story.phase is not StoryPhase.DONE:
                continue
            self.count("done stories")
            if story.id not in passed:
                self.error("done_without_verdict", LOG, f"{story.id} is done, but no verdict of it passed")


_WITH_EVIDENCE = frozenset({EventKind.ATTEMPT_ENDED, EventKind.CLAIM_JUDGED, EventKind.STORY_DONE, EventKind.RUN_ENDED})


def _difference(wanted: Any, given: Any) -> str:
    if isinstance(wanted, list) and isinstance(given, list):
        for one, other in zip(wanted, given, strict=False):
            if one != other:
                return f" (of {one.get('id', one) if isinstance(one, dict) else one})"
        return f" ({len(given)} of {len(wanted)})"
    return f": {given!r} instead of {wanted!r}"[:200] if not isinstance(wanted, dict) else ""
