"""The courier's end at a worker: orders in, results out. It writes no ref of the remote but those of its own results."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from santiago.contract import codec
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.ports import queue as layout
from santiago.contract.ports.queue import Parcel, Sent, filed, order_ref, result_ref, sent_as
from santiago.contract.reasons import Reason
from santiago.workspace.repository import checked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from santiago.contract.ports.queue import Claim, Report
    from santiago.workspace.remote import Remote
    from santiago.workspace.workspace import GitWorkspace


class GitDelivery:
    """One run's orders at a worker. `harmless` takes the worker's secrets out of a file with this name."""

    def __init__(self, workspace: GitWorkspace, remote: Remote, harmless: Callable[[str, bytes], bytes]) -> None:
        self._workspace, self._remote, self._harmless = workspace, remote, harmless

    def fetch(self, claim: Claim) -> Parcel:
        """Fetch an order with all commits that it needs; raise if it is not the one that the claim names."""
        run, _, step = claim.address.id.partition("/")
        repository, commit = self._workspace.repository, checked(claim.commit)
        # Into the clone itself, under a ref: history that was fetched once is there for all later orders.
        wanted = f"+{commit}:{order_ref(run, step)}"
        self._remote.fetch(*repository.for_refs, [wanted], doubted=False)
        sent = codec.decode(Sent, repository.content(commit, layout.ORDER) or b"", layout.ORDER)
        paths = layout.taken_along(sent.order)
        held = repository.holding(commit, (layout.ORDER, *map(filed, paths)))
        if held is None or (sent.order.run_id, sent_as(sent.order, sent.judging)) != (run, step):
            raise SantiagoError(
                Kind.INPUT, "this is not the order that the queue names", where=claim.address.id,
                hint="See who can write to engine and remote.", reason=Reason.INVALID_INPUT,
            )  # fmt: skip
        files = {path: held[0][filed(path)] for path in paths if filed(path) in held[0]}
        return Parcel(order=sent.order, judging=sent.judging, files=files)

    def deliver(self, claim: Claim, report: Report, files: Mapping[str, bytes]) -> str:
        """Push a result, and return its commit. `report` names the work, and the tests if there are any."""
        run, _, step = claim.address.id.partition("/")
        repository = self._workspace.repository
        small = {path: content for path, content in files.items() if len(content) <= layout.MOST_FILE}
        large = {path: len(files[path]) / 2**20 for path in files if path not in small}
        behind = (
            f"{path} is too large to be sent ({size:,.0f} MB) and stays at its worker" for path, size in large.items()
        )
        report = replace(report, left_behind=(*report.left_behind, *behind))
        tree = {filed(path): content for path, content in small.items()}
        tree[layout.REPORT] = self._harmless(layout.REPORT, codec.canonical(report))
        stored = repository.stored
        commit = stored.commit(stored.tree(tree), map(checked, report.commits), f"{claim.token}\n")
        refused = self._remote.push(*repository.for_transfers, [f"+{commit}:{result_ref(run, step, claim.token)}"])
        if refused:
            raise SantiagoError(
                Kind.TRANSIENT, f"the remote refuses the result: {next(iter(refused.values()))}", where=self._remote.shown,
                hint="Give this worker the right to write below refs/santiago-inbox/.", reason=Reason.IO_ERROR,
            )  # fmt: skip
        return commit

    def is_awaited(self, claim: Claim) -> bool:
        """Tell whether a coordinator leads the run. Where none does, nobody would delete what comes too late."""
        return bool(self._found(_lead(claim)))

    def withdraw(self, claim: Claim) -> None:
        """Delete a result that came too late, if its run's last coordinator left without having seen it."""
        run, _, step = claim.address.id.partition("/")
        mine = result_ref(run, step, claim.token)
        if [*self._found(_lead(claim), mine)] == [mine]:
            self._remote.push(*self._workspace.repository.for_transfers, [f":{mine}"])

    def forget(self, claim: Claim) -> None:
        """Let go of an order's commits."""
        run, _, step = claim.address.id.partition("/")
        self._workspace.repository.on_refs("update-ref", "-d", order_ref(run, step))

    def _found(self, *refs: str) -> dict[str, str]:
        return self._remote.refs(*self._workspace.repository.for_transfers, *refs)


def _lead(claim: Claim) -> str:
    return f"{layout.LEAD}/{claim.address.id.partition('/')[0]}"
