"""The courier's end at a worker: orders in, results out. It writes no ref of the remote but those of its own results."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from santiago.contract import codec
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.outcomes import AttemptOutcome
from santiago.contract.ports import queue as layout
from santiago.contract.ports.judge import Judged
from santiago.contract.ports.queue import Judging, Parcel, filed, order_ref, result_ref, sent_as
from santiago.contract.reasons import Reason
from santiago.contract.steps import Order
from santiago.workspace.repository import checked
from santiago.workspace.stored import Stored

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from santiago.contract.ports.queue import Claim, Report
    from santiago.workspace.remote import Remote
    from santiago.workspace.workspace import GitWorkspace


class GitDelivery:
    """One run's orders at a worker. `harmless` takes the worker's secrets out of a file with this name."""

    def __init__(self, workspace: GitWorkspace, remote: Remote, harmless: Callable[[str, bytes], bytes]) -> None:
        self._workspace, self._remote, self._harmless = workspace, remote, harmless
        self._orders: dict[str, Order] = {}

    def fetch(self, claim: Claim) -> Parcel:
        """Fetch an order with all commits that it needs; raise if it is not the one that the claim names."""
        run, _, step = claim.address.id.partition("/")
        repository, commit = self._workspace.repository, checked(claim.commit)
        # Into the clone itself, under a ref: history that was fetched once is there for all later orders.
        wanted = f"+{commit}:{order_ref(run, step)}"
        self._remote.fetch(*repository.for_refs, [wanted], doubted=False)
        header, read = repository.header(commit), partial(repository.content, commit)
        ordered, asked = read(layout.ORDER) or b"", read(layout.JUDGING)
        order = codec.decode(Order, ordered, layout.ORDER)
        judging = codec.decode(Judging, asked, layout.JUDGING) if asked is not None else None
        found = {path: read(filed(path)) for path in layout.taken_along(order)}
        files = {path: content for path, content in found.items() if content is not None}
        tree = {filed(path): content for path, content in files.items()} | {layout.ORDER: ordered}
        tree |= {layout.JUDGING: asked} if asked is not None else {}
        whole = header is not None and Stored(None, repository.found.object_format).tree(tree) == header[0]
        if not whole or (order.run_id, sent_as(order, judging)) != (run, step):
            raise SantiagoError(
                Kind.INPUT, "this is not the order that the queue names", where=claim.address.id,
                hint="See who can write to engine and remote.", reason=Reason.INVALID_INPUT,
            )  # fmt: skip
        self._orders[claim.token] = order
        return Parcel(order=order, judging=judging, files=files)

    def deliver(self, claim: Claim, report: Report, files: Mapping[str, bytes]) -> str:
        """Push a result, and return its commit. `report` names the work, and the tests if there are any."""
        run, _, step = claim.address.id.partition("/")
        repository, order = self._workspace.repository, self._orders.get(claim.token)
        may = layout.brought_back(order.step) if order else ()
        small = {path: content for path, content in files.items() if path in may and len(content) <= layout.MOST_FILE}
        behind = (f"{path} ({len(files[path]) / 2**20:,.0f} MB)" for path in files if path in may and path not in small)
        report = replace(report, left_behind=(*report.left_behind, *behind))
        tree = {filed(path): content for path, content in small.items()}
        tree[layout.REPORT] = self._harmless(layout.REPORT, codec.canonical(report))
        stored = repository.stored
        commit = stored.commit(stored.tree(tree), _parents(report), f"{claim.token}\n")
        refused = self._remote.push(*repository.for_transfers, [f"+{commit}:{result_ref(run, step, claim.token)}"])
        if refused:
            raise SantiagoError(
                Kind.TRANSIENT, f"the remote refuses the result: {next(iter(refused.values()))}", where=self._remote.shown,
                hint="Give this worker the right to write below refs/santiago-inbox/.", reason=Reason.IO_ERROR,
            )  # fmt: skip
        return commit

    def forget(self, claim: Claim) -> None:
        """Let go of what `fetch` kept of an order."""
        self._orders.pop(claim.token, None)
        run, _, step = claim.address.id.partition("/")
        self._workspace.repository.on_refs("update-ref", "-d", order_ref(run, step))


def _parents(report: Report) -> list[str]:
    work = report.outcome.commit if isinstance(report.outcome, AttemptOutcome) else None
    tests = report.judged.tests if isinstance(report.judged, Judged) else None
    return [checked(commit) for commit in (work, tests) if commit]
