"""A worker: carries out orders of runs that are coordinated elsewhere, with a clone, a sandbox and credentials of its own.

It opens no log. What it brings counts only if the engine still knows its claim, and it is told if that is not so.
"""

from __future__ import annotations

import os
import shutil
import signal
import threading
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from santiago import __version__
from santiago.app.profiles import own_catalog
from santiago.app.start.held_run import check_temporary, kill_leftovers, strays_ignored
from santiago.app.work.clones import lent, root_of
from santiago.app.work.held_claim import HeldClaim, now_ms
from santiago.app.work.served_run import DeclinedError, Machine, ServedRun, StoppedError
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.outcomes import AttemptOutcome, ProposalOutcome
from santiago.contract.ports.queue import POOL, Ended, Report, WorkerSeen, brought_back
from santiago.contract.reasons import OF_ONE_AGENT, ExitCode, Reason
from santiago.contract.record import lean
from santiago.engine.connect import open_queue
from santiago.process import sandbox
from santiago.process.server import ProcessServer
from santiago.util.clock import SystemClock
from santiago.util.text import flat
from santiago.workspace.remote import Remote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from santiago.app.start.engine_terms import Terms
    from santiago.contract.ports.queue import Claim, Fate, Parcel, Serving

CLAIM_MS = 1000
"""How long one call waits for an order. Signals and endings are looked at in between."""
POLL_S = 0.2
REST_S = 60
"""How long a worker rests where its agent's service names no time."""
AGAIN_S = 1.0
PATIENCE_MS = 600_000
"""How long a git remote that fails is tried again."""


@lean(frozen=True, kw_only=True)
class Duty:
    """What a worker was started for."""

    terms: Terms
    jobs: int = 1
    pool: str = POOL
    judges: bool = False
    offered: Path | None = None
    """A checkout with its own ignored folders, to work in instead of a clone of santiago's own."""
    once: bool = False
    idle_ms: int | None = None
    """For how long it waits for an order before it ends; None for ever."""
    unfenced: bool = False


def work(duty: Duty, tell: Callable[[str], None]) -> int:
    """Carry out orders until somebody ends the worker, or it has to decline one; return the exit code."""
    with ExitStack() as stack:
        server = ProcessServer()  # before any thread, lock and connection, since child processes must not have them
        stack.callback(server.close)
        stack.enter_context(strays_ignored())
        check_temporary()
        fence = sandbox.detect("off" if duty.unfenced else "auto")
        if fence.kind == "none" and not duty.unfenced:
            hint = "Install bubblewrap (Debian: apt-get install bubblewrap), or use --no-sandbox on a machine that has nothing else."
            raise SantiagoError(Kind.BLOCKED, "no sandbox works here", hint=hint, reason=Reason.NEEDS_USER_CONFIRMATION)
        remote = Remote(duty.terms.remote, insecure=duty.terms.insecure)
        clone = stack.enter_context(lent(remote, duty.offered))
        for left in (clone.folder / "orders").glob("*"):
            kill_leftovers(left)  # a worker that was killed may have left its agent
            shutil.rmtree(left, ignore_errors=True)
        machine = Machine(
            clone=clone, remote=remote, server=server, fence=fence, secrets=duty.terms.secrets, judges=duty.judges
        )
        queue = open_queue(duty.terms.url, root_of(clone.repo), insecure=duty.terms.insecure)
        stack.callback(queue.close)
        utc = SystemClock().utc()
        name = f"{os.uname().nodename}-{os.getpid()}"
        seen = WorkerSeen(
            name=name, pool=duty.pool, version=__version__, jobs=duty.jobs, judges=duty.judges, since=utc, beat_at=utc
        )
        serving = queue.serve(seen)
        stack.callback(serving.close)
        kind = "judges" if duty.judges else _agents()
        fenced = f"sandbox {fence.name}" if fence.kind != "none" else "no sandbox"
        tell(f"worker {name} waits for orders: pool {duty.pool}, {duty.jobs} at a time, {fenced}, {kind}")
        return Worker(duty, machine, serving, name, tell).run()


def _agents() -> str:
    """Return which agents can work here, in words."""
    found = own_catalog().availabilities(dict(os.environ))
    if ready := [one.profile.name for one in found if one.ready]:
        return f"{'agent' if len(ready) == 1 else 'agents'} {', '.join(ready)}"
    installed = [one.profile for one in found if one.program]
    if not installed:
        return "no agent is installed here, so it will decline every run that needs one"
    commands = " or ".join(f"`{one.sign_in.command}`" for one in installed[:3])
    return f"no agent is signed in here, so it will decline every run that needs one: {commands}"


class Worker:
    """Claims orders and carries each out in a thread."""

    def __init__(self, duty: Duty, machine: Machine, serving: Serving, name: str, tell: Callable[[str], None]) -> None:
        self.duty, self.machine, self.serving, self.name, self.tell = duty, machine, serving, name, tell
        self.held: dict[str, HeldClaim] = {}
        """By token."""
        self.runs: dict[str, ServedRun] = {}
        self.freed = threading.Event()
        self.declined = False
        self.signals = 0
        self.rests_until = 0
        self.lock = threading.Lock()

    def run(self) -> int:
        """Work until there is a reason to end, and all that was begun has ended."""
        heard, claimed = now_ms(), 0
        with self._signals():
            while True:
                if self.held:
                    heard = now_ms()
                if why := self._why_ends(heard, claimed):
                    if not self.held:
                        break
                    self._await_ending()
                elif len(self.held) >= self.duty.jobs or now_ms() < self.rests_until:
                    self._await_ending()
                else:
                    claimed += self._claim()
        self.tell(f"ends: {why}")
        for run in self.runs.values():
            run.close()
        if self.signals > 1:
            return ExitCode.TERMINATED
        return ExitCode.BLOCKED if self.declined else ExitCode.OK

    def _why_ends(self, heard: int, claimed: int) -> str:
        """Return why nothing more is claimed; empty as long as there is no reason."""
        reasons = (
            (self.signals, "a signal asked for it"),
            (self.declined, "it declined an order"),
            (self.serving.draining, "it was drained"),
            (self.duty.idle_ms is not None and now_ms() - heard >= self.duty.idle_ms, "no order came for so long"),
            (self.duty.once and claimed, "its one order has ended"),
        )
        return next((why for holds, why in reasons if holds), "")

    def _claim(self) -> int:
        began = now_ms()
        claim = self.serving.claim(CLAIM_MS)
        if claim is None:
            return 0
        held = self.held[claim.token] = HeldClaim(self.serving, claim, self.name, began)
        threading.Thread(target=self._carry_out, args=(held,), name=claim.address.id, daemon=True).start()
        return 1

    def _await_ending(self) -> None:
        self.freed.wait(POLL_S)
        self.freed.clear()

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """The first request to end lets orders end that are under way, the second ends them at once."""

        def handle(*_: object) -> None:
            self.signals += 1
            if self.signals == 1:
                self.tell("ends when its orders have ended; the same signal again ends it at once")
            for held in tuple(self.held.values()) if self.signals > 1 else ():
                held.left = True

        old = {number: signal.signal(number, handle) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
        try:
            yield
        finally:
            for number, handler in old.items():
                signal.signal(number, handler)

    # One order, in its own thread

    def _carry_out(self, held: HeldClaim) -> None:
        claim, run = held.claim, None
        try:
            with held.beating():
                try:
                    run = self._run(claim)
                    self._serve(run, held)
                except StoppedError:
                    self._end(run, held, "lost" if held.left else "stopped", self._report(why="stopped"))
                except Exception as error:  # a defect of ours must not lose the order either
                    self._end(run, held, "declined", self._report(why=_words(error)))
        finally:
            if run is not None:
                with self.lock:
                    run.orders -= 1
            del self.held[claim.token]
            self.freed.set()

    def _report(self, **said: Any) -> Report:
        return Report(worker=self.name, host=os.uname().nodename, version=__version__, **said)

    def _run(self, claim: Claim) -> ServedRun:
        """Return what is kept of the order's run. Runs of which nothing is under way are let go of first."""
        name = claim.address.id.partition("/")[0]
        with self.lock:
            if name not in self.runs:
                for other in [one for one in self.runs.values() if not one.orders]:
                    other.close()
                    del self.runs[other.run_id]
                self.runs[name] = ServedRun(self.machine, name)
            self.runs[name].orders += 1
            return self.runs[name]

    def _serve(self, run: ServedRun, held: HeldClaim) -> None:
        parcel = self._fetched(run, held)
        self.tell(f"{run.run_id}: {f'judging {parcel.judging.method}' if parcel.judging else parcel.order.id} begins")
        if parcel.judging is not None:
            held.doing = "checks"
            judged = run.judged(parcel, held)
            if judged is None:
                raise StoppedError
            self._end(run, held, "done", self._report(judged=judged))
            return
        if self.duty.judges:
            raise DeclinedError("a worker that judges starts no agent")
        performer, withheld = run.performer(parcel, held)
        outcome = performer.perform(parcel.order, held)
        if not isinstance(outcome, AttemptOutcome | ProposalOutcome):
            raise DeclinedError("a worker carries out nothing but what needs an agent")
        self._rest(outcome)
        if why := _unable(outcome):
            raise DeclinedError(why)
        fate: Fate = "lost" if held.left else "stopped" if held.asked or held.at_once else "done"
        files = run.files(held, brought_back(parcel.order.step))
        self._end(run, held, fate, self._report(outcome=outcome, judged=withheld.judged), files)

    def _fetched(self, run: ServedRun, held: HeldClaim) -> Parcel:
        """Fetch an order. A remote that fails for a while is no reason to decline it."""
        until, said = now_ms() + PATIENCE_MS, False
        while True:
            try:
                return run.delivery.fetch(held.claim)
            except SantiagoError as error:
                if held.soon():
                    raise StoppedError from error
                if error.kind is not Kind.TRANSIENT or now_ms() > until:
                    raise
                if not said:
                    self.tell(f"{held.claim.address.id} is tried again: {flat(error.message)}")
                said = True
            held.wait(AGAIN_S)

    def _rest(self, outcome: AttemptOutcome | ProposalOutcome) -> None:
        """Claim nothing while the agent's service refuses."""
        ending = outcome.ending
        if ending is not None and ending.reason is Reason.AGENT_RATE_LIMITED:
            seconds = ending.wait_seconds or REST_S
            self.rests_until = max(self.rests_until, now_ms() + seconds * 1000)
            self.tell(f"the agent's service refuses; rests for {seconds} s")

    def _end(
        self, run: ServedRun | None, held: HeldClaim, fate: Fate, report: Report,
        files: Mapping[str, bytes] | None = None,
    ) -> None:  # fmt: skip
        """Send a result and end the claim. As long as nobody answers, both are tried again, until the lease is over.

        What cannot be sent although the engine answers is given up in the end, since its beats would hold the order for ever.
        """
        claim, held.doing = held.claim, "sending"
        what = f"{claim.address.id.partition('/')[2]}"
        if fate == "declined":
            self.declined = True
            self.tell(f"declined {claim.address.id}: {flat(report.why)}")
        commit, in_time, began = "", False, now_ms()
        while True:
            try:
                if run is not None and fate != "lost" and (not held.is_lost or run.delivery.is_awaited(claim)):
                    commit = commit or run.delivery.deliver(claim, report, files or {})
                in_time = not held.is_lost and self.serving.end(
                    claim, Ended(fate=fate, commit=commit, token=claim.token)
                )
                break
            except Exception as error:
                if held.is_lost:
                    self.tell(f"{what}: the result could not be sent: {flat(str(error))}")
                    break
                if now_ms() > began + (claim.lease_ms if held.soon() else PATIENCE_MS) and fate != "lost":
                    self.tell(f"{what}: the result cannot be sent, so it is given up: {flat(str(error))}")
                    fate, self.declined = "lost", True
                held.wait(AGAIN_S)
        if run is not None:
            run.forget(held, in_time=in_time)
        if not in_time:
            self.tell(f"too late: {claim.address.id} was given up, and nothing of this work counts")
        elif fate != "declined":
            self.tell(f"{claim.address.id}: {fate}")


def _words(error: Exception) -> str:
    """Return why an order was declined."""
    if isinstance(error, SantiagoError):
        return ": ".join(one for one in (error.where, error.message) if one)
    return str(error) if isinstance(error, DeclinedError) else f"{type(error).__name__}: {error}"


def _unable(outcome: AttemptOutcome | ProposalOutcome) -> str:
    """Return why this machine cannot serve the run, where the outcome shows that: its agent, or what set-up needs."""
    ending = outcome.ending
    if ending is None:
        is_ours = isinstance(outcome, AttemptOutcome) and outcome.reason is Reason.VERIFICATION_UNRUNNABLE
        return outcome.message if is_ours else ""
    if ending.reason in OF_ONE_AGENT - {Reason.AGENT_RATE_LIMITED, Reason.AGENT_DENIED}:
        return f"{ending.reason}: {ending.message.strip() or ending.remedy}"
    return ""
