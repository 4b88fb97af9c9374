"""The ports of many machines: a queue that carries ids, and a courier that carries content through git.

The log stays the only truth. A queue never delivers an order twice: whoever claimed it ends it, or it is lost, and the
coordinator makes another order. What a worker brings counts only if the queue names it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from santiago.contract import codec
from santiago.contract.outcomes import AttemptOutcome, ProposalOutcome
from santiago.contract.ports.judge import Examination, Judged
from santiago.contract.record import record
from santiago.contract.steps import Attempt, Order, Propose, Step

Activity = Literal["preparing", "agent", "checks", "sending"]
Method = Literal["examine", "attempt", "tree", "run"]
Fate = Literal["done", "stopped", "declined", "lost", "cancelled"]
"""How an order ended. `done`, `stopped` and `declined` have a result; `cancelled` means that nobody had claimed it."""
POOL = "default"
"""Where orders go whose story asks for no other pool."""


@record
class Address:
    """Where an order stands in the queue."""

    id: str
    """`<run>/<step>`, and the same for ever: putting it again changes nothing."""
    pool: str = POOL
    judges: bool = False
    """For workers that only judge, and never start an agent."""


@record
class Beat:
    """What a worker says of an order while it works on it: numbers and fixed words, never text."""

    worker: str
    doing: Activity
    tokens: int | None = None
    micro_usd: int | None = None


@record
class Ended:
    """The end of an order, as the queue has it: once, and never changed."""

    fate: Fate
    commit: str = ""
    """The commit of the result."""
    token: str = ""
    """Names the claim. The result lies under a ref with this name."""


@record
class Known:
    """What the queue knows of an order."""

    claimed_by: str = ""
    """Empty as long as it waits for a worker."""
    beat: Beat | None = None
    """The latest one."""
    ended: Ended | None = None

    @property
    def sign(self) -> Beat:
        """Return what is known of who works on it. As long as it waits for a worker, that one has no name."""
        return self.beat or Beat(worker=self.claimed_by, doing="preparing")


@record
class WorkerSeen:
    """A worker that is connected to the queue."""

    name: str
    pool: str
    version: str
    jobs: int
    judges: bool
    since: str
    """UTC."""
    beat_at: str
    """When it was last heard of; UTC."""


@record
class Claim:
    """One order that this worker, and no other, is to carry out."""

    address: Address
    commit: str
    """The commit of the order."""
    token: str
    lease_ms: int
    """The worker must end what it started if no beat was answered for this long, by its own clock."""


class LostError(Exception):
    """The queue does not know the claim any more: another attempt may be under way, so what was started must end at once."""


class Serving(Protocol):
    """A worker's end of the queue. `beat` and `end` may be called from any thread."""

    def claim(self, timeout_ms: int) -> Claim | None:
        """Return the next order; None if there was none in that time, or a worker by this name is to drain."""

    def beat(self, claim: Claim, beat: Beat, timeout_ms: int) -> Literal["go on", "stop", "stop now"]:
        """Prolong the lease, and hear whether to stop. Raise LostError if it is over, any other error if nobody answered."""

    def end(self, claim: Claim, ended: Ended) -> bool:
        """End an order; False if it comes too late. Nothing that the worker did counts then."""

    @property
    def draining(self) -> bool:
        """Whether somebody asked this worker to claim nothing more."""

    def close(self) -> None:
        """Let go of the connection. Claims that were not ended are lost after their lease."""


class Queue(Protocol):
    """The coordinator's end. A connection that is lost is waited for: the methods try again and raise only after `patience`."""

    def put(self, address: Address, commit: str, lease_ms: int) -> None:
        """Offer an order to the workers of its pool."""

    def find(self, addresses: Sequence[Address]) -> dict[str, Known]:
        """Return what is known of these orders, by id; what the queue never had is not in it. Expired leases are lost now."""

    def cancel(self, address: Address, *, now: bool) -> None:
        """Ask for an order's end: at once if nobody has claimed it, else its worker hears it at its next beat."""

    def workers(self) -> list[WorkerSeen]:
        """Return the workers of this repository that are connected now."""

    def drain(self, worker: str) -> None:
        """Ask a worker to claim nothing more, and to end when its orders have ended."""

    def serve(self, worker: WorkerSeen) -> Serving:
        """Begin to work as this worker."""

    def close(self) -> None:
        """Release the connection. Orders stay as they are."""


@record
class Judging:
    """A call of the judge port, for workers that judge: the method's name, and its arguments as canonical JSON."""

    method: Method
    arguments: str
    commits: tuple[str, ...] = ()
    """The commits that the arguments name. They travel with the order."""


@record
class Sent:
    """What is sent to a worker: `order.json` of the order's commit."""

    order: Order
    judging: Judging | None


@record
class Report:
    """What a worker says about an order that it ended: `report.json` of the result's commit."""

    worker: str
    host: str
    version: str
    outcome: AttemptOutcome | ProposalOutcome | None = None
    """Of an agent's step: without a verdict, since a worker that runs agents is not believed. Its commit is the work."""
    judged: Judged | Examination | None = None
    """Of a judging order, and of an agent's step whose worker is trusted."""
    why: str = ""
    """Why it was declined."""
    left_behind: tuple[str, ...] = ()
    """Files that were too large to be sent, in words."""

    @property
    def tests(self) -> str | None:
        """The commit of the tests that a verdict names."""
        return self.judged.tests if isinstance(self.judged, Judged) else None

    @property
    def commits(self) -> tuple[str, ...]:
        """The parents of the result's commit: the work, then the tests, each if there is one."""
        work = self.outcome.commit if isinstance(self.outcome, AttemptOutcome) else None
        return tuple(filter(None, (work, self.tests)))


# What the commits of orders and results hold. Both ends read this, and nothing else says it.

ORDER, REPORT = "order.json", "report.json"
"""Names in the trees, beside those of files of the run's out-dir.

An order's tree: order.json, files. Its parents: all commits that its worker needs.
A result's tree: report.json, files. Its parents: the commits that the report names.
"""
ORDERS, INBOX, LEAD = "refs/santiago-order", "refs/santiago-inbox", "refs/santiago-lead"
MOST_FILE = 20 * 2**20
"""The largest file that a result brings, in bytes. A larger one stays with the worker, and the report says so."""
TOKEN = "[A-Za-z0-9][A-Za-z0-9_-]{0,127}"  # noqa: S105  # what a claim's token may look like


def sent_as(order: Order, judging: Judging | None) -> str:
    """Return the id of the step that an order is sent as. A judging order has one of its own, by its content."""
    return order.id if judging is None else f"judge/{codec.digest((order.anchor, judging))[:24]}"


def filed(path: str) -> str:
    """Return the name that a file of the out-dir has in a tree, which has no folders."""
    return f"files+{path.replace('/', '+')}"


def order_ref(run: str, step: str) -> str:
    return f"{ORDERS}/{run}/{step}"


def result_ref(run: str, step: str, token: str) -> str:
    return f"{INBOX}/{run}/{step}/{token}"


def taken_along(order: Order) -> tuple[str, ...]:
    """Return the files of the out-dir that an order brings to its worker, where they exist."""
    paths = ["plan.json", "run-input.json", "tasks/plan.json", "tasks/planning_docs/full_plan.json"]
    if isinstance(order.step, Attempt):
        folder, earlier = f"attempts/{order.step.story}", range(1, order.step.number)
        paths += [f"{folder}/{n}/{name}" for n in earlier for name in ("critique.md", "outcome.json", "ending.json")]
    paths += [f"details/{ref.story}/{ref.revision}.json" for ref in order.details]
    return tuple(paths)


def brought_back(step: Step) -> tuple[str, ...]:
    """Return the files of the out-dir that a result may bring. Everything else about a step is in the report."""
    if isinstance(step, Attempt):
        return tuple(f"attempts/{step.story}/{step.number}/{name}" for name in ("prompt.md", "agent.log"))
    if isinstance(step, Propose):
        return tuple(f"details/{step.story}/{step.number}.{end}" for end in ("prompt.md", "log"))
    return ()


@record
class Parcel:
    """An order as its worker receives it."""

    order: Order
    judging: Judging | None
    files: dict[str, bytes]
    """Path in the out-dir → content."""


class Courier(Protocol):
    """Carries content between coordinator and workers, through a git remote. Whatever it writes there, it writes as long as this
    start leads the run, and raises if another coordinator has taken the lead since.
    """

    def send(self, order: Order, judging: Judging | None = None) -> str:
        """Push an order with all that its worker needs; return its commit. Sending it again changes nothing."""

    def sent(self, step: str) -> Order | None:
        """Return an order that was sent by this start or an earlier one."""

    def take(self, step: str, ended: Ended) -> Report:
        """Fetch a result and keep its work and its files; raise if anything in it is not what it must be. Repeatable."""

    def forget(self, steps: Sequence[str]) -> None:
        """Delete the refs of steps whose end is on disk. It may be done later, with the next order."""

    def resign(self) -> None:
        """Give up the lead. Nothing of the run may be left on the remote; what comes too late in this moment is deleted."""

    def sweep(self, keep: Sequence[str]) -> dict[str, Report]:
        """Delete all refs of the run but those of these steps; return the reports of results that came too late, by step."""
