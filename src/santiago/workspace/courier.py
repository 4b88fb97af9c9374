"""The courier on git: orders and results as commits that lie on a remote under refs of their own.

Every object is made without git (`stored.py`) or fetched into the run's own store. A push is all or nothing and holds the
lead, so one that another coordinator overtook changes nothing. Refs that nobody needs any more go with the next push.
"""

from __future__ import annotations

import os
import re
import threading
import time
import uuid
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from santiago.contract import codec
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.lazy_regex import pattern
from santiago.contract.outcomes import AttemptOutcome, ProposalOutcome
from santiago.contract.ports import queue as layout
from santiago.contract.ports.judge import Judged
from santiago.contract.ports.queue import Judging, Report, Sent, filed, order_ref, result_ref, sent_as
from santiago.contract.reasons import Reason
from santiago.contract.steps import Attempt, Order, Propose
from santiago.workspace import lfs
from santiago.workspace.repository import checked
from santiago.workspace.snapshot import MOST_BYTES, MOST_FILES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from santiago.contract.ports.artifacts import AttemptFiles
    from santiago.contract.ports.queue import Ended
    from santiago.workspace.remote import Remote
    from santiago.workspace.workspace import GitWorkspace

MOST_FETCHED = 2 * MOST_BYTES
"""Bytes that git may write for one result."""
MOST_DELETED = 500
"""Refs that one push deletes."""
_HELD = "remote/lead"
"""Names the commit by which this out-dir holds the lead, and the one before it."""
_SAYS = pattern(r"epoch ([0-9]{1,9}) on ([\w.-]{1,255}) since ([0-9T:Z-]{1,30})")
_WORK_TO_TAKE = pattern(r"`git checkout ([0-9a-f]{40}|[0-9a-f]{64}) -- ")
"""How a note for the agent names a commit that it is to look at."""


class Files(Protocol):
    """The out-dir, as far as a courier needs it. What is put there is free of secrets."""

    def get(self, path: str) -> bytes | None: ...
    def put(self, path: str, content: bytes) -> None: ...
    def put_many(self, folder: str, files: Mapping[str, bytes]) -> None: ...
    def drop(self, path: str) -> None: ...
    def names(self, folder: str) -> list[str]: ...


class GitCourier:
    """The coordinator's end. `message` gives the message of the commit that keeps an attempt's work.

    Workers get the files in `instead` in place of those of the out-dir.
    """

    def __init__(
        self,
        workspace: GitWorkspace,
        run_id: str,
        remote: Remote,
        files: Files,
        attempts: AttemptFiles,
        message: Callable[[Order], str],
        instead: Mapping[str, bytes] = MappingProxyType({}),
    ) -> None:
        self._workspace, self._run, self._remote = workspace, run_id, remote
        self._files, self._attempts, self._message, self._instead = files, attempts, message, instead
        self._lock = threading.Lock()
        self._lead_ref, self._lead = f"{layout.LEAD}/{run_id}", ""
        """The ref that names the run's coordinator, and the commit that this start has there."""
        self._taken: dict[str, str] = {}
        """Step → the ref of its result, once that was taken."""
        self._unwanted: dict[str, None] = {}
        """Refs that the next push deletes."""

    # The lead

    def lead(self, epoch: int) -> None:
        """Take the run's lead for this start; raise if another coordinator holds it."""
        ref, repository = self._lead_ref, self._workspace.repository
        there = self._refs(ref, "refs/heads/*")
        self._refuse_unfit(there)
        self._fill(there)
        held = there.get(ref, "")
        noted = (self._files.get(_HELD) or b"").decode("ascii", "replace").split()
        if held and held not in noted:
            raise self._lost(held)
        since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        new = self._empty(f"epoch {epoch} on {os.uname().nodename} since {since}\n\n{uuid.uuid4().hex}\n")
        # Noted before it is pushed: whatever of both a crash leaves is known as one's own.
        self._files.put(_HELD, f"{new} {held}\n".encode())
        if refused := self._remote.push(*repository.for_transfers, [f"{new}:{ref}"], [f"{ref}:{held}"]):
            raise self._why_refused(refused, held)
        self._lead = new

    def resign(self) -> None:
        """Give up the lead, where nothing of the run is left on the remote but results that came too late in this moment."""
        transfers, ref = self._workspace.repository.for_transfers, self._lead_ref
        self._remote.push(*transfers, [f":{ref}"], [f"{ref}:{self._lead}"])
        left = self._refs(ref, f"{layout.INBOX}/{self._run}/*")
        if left and ref not in left:
            self._remote.push(*transfers, [f":{late}" for late in left])

    def probe(self) -> None:
        """Write and delete a ref; raise with one sentence if that is not possible."""
        self._refuse_unfit(self._refs("refs/heads/*"))
        ref, transfers = f"{layout.LEAD}/probe-{uuid.uuid4().hex}", self._workspace.repository.for_transfers
        made = self._empty("Santiago tries whether it may write here.\n")
        refused = self._remote.push(*transfers, [f"{made}:{ref}"]) or self._remote.push(*transfers, [f":{ref}"])
        if refused:
            raise self._not_written(refused)

    def _empty(self, message: str) -> str:
        stored = self._workspace.repository.stored
        return stored.commit(stored.tree({}), (), message)

    def _lost(self, held: str = "") -> SantiagoError:
        """Return the error that says who leads the run. What the remote says of it is believed in this form only."""
        ref, who = self._lead_ref, "another coordinator"
        if held := held or self._refs(ref).get(ref, ""):
            self._fetch([held], MOST_FETCHED)
            said = _SAYS.search(self._workspace.repository.message(held))
            who = f"the start with epoch {said[1]} on {said[2]}, since {said[3]}," if said else who
        return SantiagoError(
            Kind.TRANSIENT, f"this run is led by {who} and not by this start", where=ref, reason=Reason.LOCK_HELD,
            hint=f"Stop that one first. If it is gone for good: `git push {self._remote.shown} :{ref}`.",
        )  # fmt: skip

    def _refuse_unfit(self, there: Mapping[str, str]) -> None:
        """Raise if the remote has another history, or this repository what cannot travel."""
        repository, base = self._workspace.repository, self._base
        if repository.found.shallow:
            raise self._unfit("a shallow clone cannot be sent to workers", "`git fetch --unshallow` gets the rest.")
        rules = (path for path in self._workspace.files(base) if path.rpartition("/")[2] == lfs.ATTRIBUTES.decode())
        if using := next((path for path in rules if lfs.gives(self._workspace.read(base, path))), None):
            message = f"{using} gives files to Git LFS, whose objects do not travel to workers"
            raise self._unfit(message, "Run without --engine.")
        heads = [commit for name, commit in there.items() if name.startswith("refs/heads/")]
        if heads and not repository.shares_history(base, heads):
            self._fetch(heads[:1], 0)
            if not repository.shares_history(base, heads[:1]):
                message = "the remote is one of another repository: it shares no commit with this one"
                raise self._unfit(message, "Name a remote of this repository, or an empty one.")

    @property
    def _base(self) -> str:
        return self._workspace.head() or self._workspace.repository.found.head

    def _fill(self, there: Mapping[str, str]) -> None:
        """Have workers find a commit on a remote that is empty."""
        repository = self._workspace.repository
        if not any(name.startswith("refs/heads/") for name in there):
            target = f"refs/heads/{repository.found.branch or 'main'}"
            if refused := self._remote.push(*repository.for_transfers, [f"{self._base}:{target}"]):
                raise self._not_written(refused)

    def _unfit(self, message: str, hint: str) -> SantiagoError:
        return SantiagoError(Kind.INPUT, message, hint=hint, where=self._remote.shown, reason=Reason.INVALID_INPUT)

    # Orders

    def send(self, order: Order, judging: Judging | None = None) -> str:
        step = order.step
        if isinstance(step, Attempt) and judging is None:  # put together here, so that its worker has nothing to choose
            order = replace(
                order, step=replace(step, base=(self._workspace.merged(step.story, step.number, step.base),))
            )
        name, stored = sent_as(order, judging), self._workspace.repository.stored
        found = {filed(path): self._instead.get(path) or self._files.get(path) for path in layout.taken_along(order)}
        tree = {path: content for path, content in found.items() if content is not None}
        tree[layout.ORDER] = codec.canonical(Sent(order=order, judging=judging))
        commit = stored.commit(stored.tree(tree), self._needed(order, judging), f"{name}\n")
        self._files.put(_note(name), tree[layout.ORDER])  # the remote could be changed by others
        self._push([f"+{commit}:{order_ref(self._run, name)}"])
        return commit

    def _needed(self, order: Order, judging: Judging | None) -> list[str]:
        """Return the commits that a worker needs, each once."""
        if judging is not None:
            return list(dict.fromkeys(map(checked, judging.commits)))
        step, found = order.step, [order.head]
        if isinstance(step, Attempt):
            found = [*step.base, step.work]
        found += [named[1] for note in order.notes if (named := _WORK_TO_TAKE.search(note))]
        return list(dict.fromkeys(checked(commit) for commit in found if commit))

    def sent(self, step: str) -> Order | None:
        return found.order if (found := self._sent(step)) else None

    def _sent(self, step: str) -> Sent | None:
        content = self._files.get(_note(step))
        return None if content is None else codec.decode(Sent, content, _note(step))

    def forget(self, steps: Sequence[str]) -> None:
        with self._lock:
            for step in steps:
                self._unwanted[order_ref(self._run, step)] = None
                if step in self._taken:
                    self._unwanted[self._taken.pop(step)] = None
                self._files.drop(_note(step))

    def sweep(self, keep: Sequence[str]) -> dict[str, Report]:
        orders, inbox = f"{layout.ORDERS}/{self._run}/", f"{layout.INBOX}/{self._run}/"
        for name in {f"remote/{name}" for name in self._files.names("remote")} - {_HELD, *map(_note, keep)}:
            self._files.drop(name)
        late: dict[str, Report] = {}
        for ref, commit in self._refs(f"{orders}*", f"{inbox}*").items():
            is_result = ref.startswith(inbox)
            step = ref.removeprefix(inbox).rpartition("/")[0] if is_result else ref.removeprefix(orders)
            if step in keep:
                continue
            if is_result and ref not in self._unwanted:
                late |= self._late(step, commit)
            with self._lock:
                self._unwanted[ref] = None
        while self._unwanted:
            self._push([])
        return late

    def _late(self, step: str, commit: str) -> dict[str, Report]:
        """Return the report of a result that came too late. Only what it says of usage is of interest; a bad one is dropped."""
        try:
            self._fetch([checked(commit)], MOST_FETCHED)
            content = self._workspace.repository.content(commit, layout.REPORT)
            report = codec.decode(Report, content or b"", layout.REPORT)
        except SantiagoError:
            return {}
        return {step: report} if report.outcome is None or report.outcome.step == step else {}

    # Results

    def take(self, step: str, ended: Ended) -> Report:
        sent = self._sent(step)
        if sent is None or re.fullmatch(layout.TOKEN, ended.token) is None:
            raise _refused(step, "nobody here ordered it")
        order, judging = sent.order, sent.judging
        self._fetch([checked(ended.commit)], MOST_FETCHED)
        brought = () if judging else layout.brought_back(order.step)
        held = self._workspace.repository.holding(ended.commit, (layout.REPORT, *map(filed, brought)))
        if held is None or layout.REPORT not in held[0]:
            raise _refused(step, "it lacks its report, or holds files that do not belong there")
        contents, parents = held
        if any(len(content) > layout.MOST_FILE for content in contents.values()):
            raise _refused(step, "a file of it is too large")
        report = codec.decode(Report, contents[layout.REPORT], layout.REPORT)
        if parents != report.commits:
            raise _refused(step, "its commits are not those that its report names")
        if report.tests and isinstance(report.judged, Judged):
            bases = order.step.base if isinstance(order.step, Attempt) else judging.commits if judging else ()
            tests, _ = self._own(report.tests, bases, step, "Tests\n")
            report = replace(report, judged=replace(report.judged, tests=tests))
        if judging is None:
            report = self._worked(report, order)
        elif report.outcome is not None:
            raise _refused(step, "a worker that judges brought work")
        for path in brought:
            if content := contents.get(filed(path)):
                folder, _, name = path.rpartition("/")
                self._files.put_many(folder, {name: content})
        if isinstance(outcome := report.outcome, AttemptOutcome) and outcome.ending:
            # Last, since the next start adopts what has an ending.
            self._attempts.keep_ending(outcome.story, outcome.number, outcome.ending)
        self._taken[step] = result_ref(self._run, step, ended.token)
        return report

    def _worked(self, report: Report, order: Order) -> Report:
        """Keep the work that an agent's step brought, and return the report with the commit that keeps it."""
        step, outcome = order.step, report.outcome
        if outcome is None and report.why:
            return report
        assert isinstance(step, Attempt | Propose)
        kind = AttemptOutcome if isinstance(step, Attempt) else ProposalOutcome
        about = (step.id, step.story, step.number)
        if not isinstance(outcome, kind) or (outcome.step, outcome.story, outcome.number) != about:
            raise _refused(step.id, "its report is about another step")
        if not isinstance(outcome, AttemptOutcome) or not isinstance(step, Attempt):
            return report
        if outcome.ending and outcome.reason is Reason.SECRET_IN_WORK:
            # Only the worker knows that secret, and it kept the work. The ending says so to whoever judges.
            ending = replace(outcome.ending, reason=outcome.reason, message=outcome.message)
            outcome = replace(outcome, ending=ending)
        if outcome.commit:
            made, patch = self._own(outcome.commit, step.base, step.id, self._message(order))
            self._attempts.keep_work(step.story, step.number, patch, outcome.left_out)
            outcome = replace(outcome, commit=self._kept(step.story, step.number, made))
        return replace(report, outcome=outcome)

    def _own(self, commit: str, bases: Sequence[str], step: str, message: str) -> tuple[str, str]:
        """Return a commit of one's own with the files of a worker's, and the patch; raise if it is not what it must be.

        The worker's own commit is left where it is: its message may say anything.
        """
        repository = self._workspace.repository
        header = repository.header(commit)
        if header is None or header[1] not in [(base,) for base in bases]:
            raise _refused(step, "its work does not build on a commit that was sent")
        base = header[1][0]
        changes = repository.changes(self._workspace.tree(base), header[0])
        if len(changes.listed) > MOST_FILES or repository.size(changes.blobs) > MOST_BYTES:
            raise _refused(step, "its work is larger than one attempt may leave")
        return repository.commit(header[0], base, message), changes.patch

    def _kept(self, story: str, attempt: int, made: str) -> str:
        """Keep a commit as the work of an attempt; return the one that an earlier call kept, if there is one."""
        workspace = self._workspace
        try:
            workspace.keep(story, attempt, made)
        except SantiagoError:
            kept = workspace.kept(story, attempt)
            if kept is None or (kept.tree, workspace.base_of(kept.commit)) != (
                workspace.tree(made),
                workspace.base_of(made),
            ):
                raise
            return kept.commit
        return made

    # How it is done

    def _refs(self, *patterns: str) -> dict[str, str]:
        return self._remote.refs(*self._workspace.repository.for_transfers, *patterns)

    def _fetch(self, commits: Sequence[str], most: int) -> None:
        self._remote.fetch(*self._workspace.repository.for_transfers, commits, most=most)

    def _push(self, refspecs: Iterable[str]) -> None:
        """Move refs as long as this start leads the run. Refs that nobody needs any more are deleted on the way."""
        ref = self._lead_ref
        with self._lock:
            unwanted = list(self._unwanted)[:MOST_DELETED]
            all_of_them = [f"{self._lead}:{ref}", *refspecs, *(f":{one}" for one in unwanted)]
            refused = self._remote.push(*self._workspace.repository.for_transfers, all_of_them, [f"{ref}:{self._lead}"])
            if refused:
                raise self._why_refused(refused, self._lead)
            for one in unwanted:
                del self._unwanted[one]

    def _why_refused(self, refused: Mapping[str, str], led: str) -> SantiagoError:
        """Return the error for a push that was refused: somebody else leads the run, or the server lets nobody write."""
        ref = f"{layout.LEAD}/{self._run}"
        held = self._refs(ref).get(ref, "")
        return self._not_written(refused) if held == led else self._lost(held)

    def _not_written(self, refused: Mapping[str, str]) -> SantiagoError:
        ref, why = next(iter(refused.items()))
        return SantiagoError(
            Kind.BLOCKED, f"the remote refuses to write {ref} {why}", where=self._remote.shown, reason=Reason.BLOCKED_DEPENDENCY,
            hint="Give the account that santiago uses the right to write and delete refs below refs/santiago-*.",
        )  # fmt: skip


def _note(step: str) -> str:
    return f"remote/{step.replace('/', '-')}.json"


def _refused(step: str, why: str) -> SantiagoError:
    """Return the error for a result that is not what it must be. Fetching it again would bring the same."""
    return SantiagoError(
        Kind.INPUT, f"the result of {step} is refused: {why}", reason=Reason.INVALID_INPUT,
        hint="See who can write to engine and remote; `santiago log` names the worker.",
    )  # fmt: skip
