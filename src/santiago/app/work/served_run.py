"""What a worker keeps of one run that it serves: the workspace in its clone, agents, a judge, and whether the base looks the same."""

from __future__ import annotations

import os
import shutil
import threading
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from santiago.app.start.held_run import marks
from santiago.app.start.judging import JudgeParts, dependency_folders, files_present, ground_of, look_around
from santiago.app.start.means import Means
from santiago.app.start.preflight import Checkout
from santiago.app.work.held_claim import FollowedAgent, WithheldJudge
from santiago.artifacts import registry
from santiago.artifacts.names import INPUT, PLAN
from santiago.artifacts.store import FileStore
from santiago.contract import codec
from santiago.contract.checks import all_commands_of
from santiago.contract.errors import SantiagoError
from santiago.contract.plan import Plan
from santiago.contract.policy import RunInput
from santiago.contract.ports.judge import Examination
from santiago.contract.ports.queue import MOST_FILE
from santiago.contract.record import lean
from santiago.engine.judging import carry_out
from santiago.process.redact import Redactor, to_hide
from santiago.util.clock import SystemClock, WorkClock
from santiago.util.text import first
from santiago.workspace.delivery import GitDelivery
from santiago.workspace.workspace import GitWorkspace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from santiago.app.work.clones import Clone
    from santiago.app.work.held_claim import HeldClaim
    from santiago.contract.ports.agent import AgentBackend
    from santiago.contract.ports.judge import Judge, Judged
    from santiago.contract.ports.queue import Parcel
    from santiago.contract.steps import Order
    from santiago.executor.perform import StepPerformer
    from santiago.process.sandbox import Sandbox
    from santiago.process.server import ProcessServer
    from santiago.workspace.remote import Remote

_NAMED = 5
"""How many tests one message names."""


class DeclinedError(Exception):
    """This worker cannot serve an order, and so no other of the run. The message says why."""


class StoppedError(Exception):
    """The work was to end before it began."""


@lean(kw_only=True)
class Machine:
    """What all runs share that a worker serves."""

    clone: Clone
    remote: Remote
    server: ProcessServer
    fence: Sandbox
    secrets: tuple[str, ...]
    """The engine's password, which no program may print into a file."""
    judges: bool


class ServedRun:
    """One run. Its parts are made when its first order has arrived, which brings plan and input."""

    def __init__(self, machine: Machine, run_id: str) -> None:
        self.run_id = run_id
        self.machine, self.stack, self.lock = machine, ExitStack(), threading.Lock()
        self.orders = 0
        """How many of its orders are under way."""
        clone = machine.clone
        if registry.place_of(registry.common_git_dir(clone.repo) or clone.repo, run_id) is not None:
            raise DeclinedError("this repository is where the run itself is; a worker needs a clone of its own")
        self.folder = clone.folder / "orders" / run_id
        self.workspace = GitWorkspace(
            clone.repo, run_id, clone.folder / "work", marks(self.folder), stores_at=machine.fence.stores
        )
        self.stack.enter_context(self.workspace.working())
        shutil.rmtree(self.workspace.folders.examined, ignore_errors=True)  # the machine may have been mended since
        self.delivery = GitDelivery(self.workspace, machine.remote, self._harmless)
        self._means: Means | None = None
        self._agents: tuple[AgentBackend, AgentBackend] | None = None
        self._judge: Judge | None = None
        self._examined = False

    def close(self) -> None:
        """Let go of the run, and of all that its attempts have left in the clone."""
        self.stack.close()
        with suppress(SantiagoError):
            self.workspace.prune()

    def judge(self, parcel: Parcel) -> Judge:
        """Return the judge of this machine."""
        with self.lock:
            means = self._means = self._means or self._made(parcel)
            self._judge = self._judge or means.judge()
            return self._judge

    def performer(self, parcel: Parcel, held: HeldClaim) -> tuple[StepPerformer, WithheldJudge]:
        """Return what carries an order out, in an out-dir of its own; raise `DeclinedError` if that cannot be done here."""
        judge = self.judge(parcel)
        with self.lock:  # the others wait: nobody works before the base was looked at
            assert self._means is not None
            if self._agents is None:
                agent, writer, _ = self._means.agents()
                self._agents = (agent, writer)
            self._examine(judge, parcel.order, held)
        store = self._unpacked(parcel, held)
        withheld = WithheldJudge(judge, trusted=parcel.order.trusted)
        agent, writer = (FollowedAgent(one, held) for one in self._agents)
        return replace(self._means, store=store).performer(agent, writer, withheld), withheld

    def files(self, held: HeldClaim, paths: Sequence[str]) -> dict[str, bytes]:
        """Return the files of an order that its result brings."""
        places = {path: self.folder / held.claim.token / path for path in paths}
        return {path: place.read_bytes() for path, place in places.items() if place.is_file()}

    def forget(self, held: HeldClaim, *, in_time: bool) -> None:
        """Remove the files of an order, unless one was too large to be sent, and let go of its commits.

        A result that came too late is taken back where nobody is left who would delete it.
        """
        folder = self.folder / held.claim.token
        if not any(path.stat().st_size > MOST_FILE for path in folder.rglob("*") if path.is_file()):
            shutil.rmtree(folder, ignore_errors=True)
        with suppress(SantiagoError):
            self.delivery.forget(held.claim)
        if not in_time:
            with suppress(SantiagoError):
                self.delivery.withdraw(held.claim)

    def _made(self, parcel: Parcel) -> Means:
        machine, workspace = self.machine, self.workspace
        plan = codec.decode(Plan, parcel.files[PLAN], PLAN)
        frozen = codec.decode(RunInput, parcel.files[INPUT], INPUT)
        run_input = self._ours(frozen, parcel.order)
        around = look_around(run_input)
        around = replace(around, secrets=(*around.secrets, *machine.secrets))
        dependencies = dependency_folders(workspace, run_input, around.source)
        present = {*files_present(around.repo, run_input.workspace.copy), *(one.name for one in dependencies)}
        wanted = () if frozen.workspace.setup else (*frozen.workspace.copy, *frozen.workspace.provide)
        if lacking := [name for name in wanted if name not in present]:
            raise DeclinedError(
                f"checkouts of this run get {', '.join(lacking)}, which git ignores, and {around.repo} has none"
            )
        checkout = Checkout(run_input, workspace, dependencies, parcel.order.began)
        seen = frozen.repo_path if machine.clone.is_own else ""
        commands = all_commands_of(plan, run_input)
        return Means(
            plan=plan,
            run_input=run_input,
            store=self._store(self.folder, around.secrets),
            parts=JudgeParts(
                server=machine.server, fence=machine.fence, around=around, workspace=workspace,
                hidden=(str(self.folder.parent), str(workspace.folders.top.parent)),
            ),
            ground=ground_of(machine.fence, workspace, dependencies, around, run_input.workspace.setup, commands, seen),
            clock=WorkClock(SystemClock(), machine.server.worked),
            lacks=checkout.lacks,
            needs_agent=not machine.judges,
        )  # fmt: skip

    def _ours(self, frozen: RunInput, order: Order) -> RunInput:
        """Return the run input for this machine. An order names a profile, never a program; a playbook comes from its commit."""
        machine, agent = self.machine, replace(frozen.agent, command=None, fallback=())
        if frozen.policy.sandbox == "required" and machine.fence.kind == "none":
            raise DeclinedError("the run requires a sandbox, and none works here")
        if agent.playbook is not None and not machine.judges:
            content = self.workspace.read(order.began, agent.playbook)
            if content is None:
                raise DeclinedError(f"the playbook {agent.playbook} is not in the run's first commit")
            place = self.folder / "playbook.yaml"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
            agent = replace(agent, playbook=str(place))
        return replace(frozen, repo_path=str(machine.clone.repo), agent=agent)

    def judged(self, parcel: Parcel, held: HeldClaim) -> Judged | Examination | None:
        """Carry out a judging order; return None if it was stopped before there was a result."""
        assert parcel.judging is not None
        judge = self.judge(parcel)
        if parcel.judging.method != "examine":
            with self.lock:
                self._examine(judge, parcel.order, held)
        found = carry_out(parcel.judging, judge, held)
        if isinstance(found, Examination):
            _refuse_unfit(found)
        return found

    def _examine(self, judge: Judge, order: Order, held: HeldClaim) -> None:
        """Look at the run's base once; raise if a check cannot run here, or if tests fail that passed for the coordinator."""
        if self._examined:
            return
        assert self._means is not None
        found = judge.examine(order.began, self._means.plan.stories, held)
        if found is None:
            raise StoppedError
        _refuse_unfit(found)
        if other := [name for name in found.red if name not in order.red]:
            more = f" and {len(other) - _NAMED} more" if len(other) > _NAMED else ""
            names = ", ".join(first(one, 100) for one in other[:_NAMED])
            raise DeclinedError(f"the base fails here, and not where the run is coordinated: {names}{more}")
        self._examined = True

    def _unpacked(self, parcel: Parcel, held: HeldClaim) -> FileStore:
        """Write an order's files into an out-dir of its own, so that nothing of another order is there."""
        assert self._means is not None
        store = self._store(self.folder / held.claim.token, self._means.parts.around.secrets)
        for path, content in parcel.files.items():
            store.put(path, content, sync=False)
        return store

    def _harmless(self, path: str, content: bytes) -> bytes:
        """Return a file without any secret of this machine."""
        if self._means is None:  # its order could not be read, so nothing was begun for it
            return Redactor((*to_hide(dict(os.environ)), *self.machine.secrets)).whole(content)
        return self._means.store.harmless(path, content)

    def _store(self, folder: Path, secrets: tuple[str, ...]) -> FileStore:
        folder.mkdir(parents=True, exist_ok=True)
        return FileStore(folder, Redactor(secrets), SystemClock().utc)


def _refuse_unfit(found: Examination) -> None:
    if found.reason is not None:
        raise DeclinedError(f"{found.message} {found.hint}".strip())
