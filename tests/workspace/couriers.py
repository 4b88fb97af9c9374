"""A run on one clone, a worker on another, and a bare remote between them that both reach over file://."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path

from santiago.artifacts.attempts import FileAttempts
from santiago.artifacts.store import FileStore
from santiago.contract.outcomes import AgentEnding, AttemptOutcome, Usage
from santiago.contract.ports.queue import Address, Claim, Courier, Ended, Report
from santiago.contract.steps import Attempt, Order
from santiago.process.redact import Redactor
from santiago.workspace.courier import GitCourier
from santiago.workspace.delivery import GitDelivery
from santiago.workspace.remote import Remote
from santiago.workspace.workspace import GitWorkspace
from tests.workspace.conftest import git, write

RUN = "r1"


def no_message(order: Order) -> str:
    return f"{order.id}\n"


@dataclass
class Coordinator:
    """One start of a run."""

    repo: Path
    out: Path
    scratch: Path
    url: str

    def __post_init__(self) -> None:
        self.out.mkdir(exist_ok=True)
        self.workspace = GitWorkspace(self.repo, RUN, self.scratch)
        self.store = FileStore(self.out, Redactor(()), lambda: "2026-01-01T00:00:00Z")
        self.attempts = FileAttempts(self.store)
        self.courier = GitCourier(self.workspace, RUN, Remote(self.url), self.store, self.attempts, no_message)
        port: Courier = self.courier
        assert port is self.courier

    def again(self) -> Coordinator:
        """The next start: it remembers nothing, and what no ref names is gone."""
        self.store.close()
        self.workspace.repository.own.clear()
        return Coordinator(self.repo, self.out, self.scratch, self.url)

    @property
    def head(self) -> str:
        return git(self.repo, "rev-parse", "HEAD")

    def order(self, number: int = 1, story: str = "S1", base: tuple[str, ...] = ()) -> Order:
        step = Attempt(story=story, number=number, base=base or (self.head,), timeout_ms=1000)
        return Order(step=step, run_id=RUN, head=self.head, base=self.head, began=self.head, anchor="1:ab")


@dataclass
class Worker:
    repo: Path
    scratch: Path
    url: str
    tokens: int = 0
    claims: list[Claim] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.workspace = GitWorkspace(self.repo, RUN, self.scratch)
        self.delivery = GitDelivery(self.workspace, Remote(self.url), lambda name, content: content)

    def claim(self, step: str, commit: str) -> Claim:
        self.tokens += 1
        return Claim(address=Address(id=f"{RUN}/{step}"), commit=commit, token=f"t{self.tokens}", lease_ms=60_000)

    def work(self, order: Order, text: str = "work\n") -> AttemptOutcome:
        """Do what an agent would do, and say so."""
        step = order.step
        assert isinstance(step, Attempt)
        write(self.workspace.open(step.story, step.number, step.base).folder, **{f"{step.story}.txt": text})
        taken = self.workspace.snapshot(step.story, step.number, "the worker's words\n")
        assert taken is not None
        self.workspace.close(step.story, step.number)
        return outcome_of(order, taken.commit)

    def done(self, step: str, commit: str, text: str = "work\n") -> Ended:
        """Carry out an order from its claim to the end that it would tell the queue."""
        claim = self.claim(step, commit)
        order = self.delivery.fetch(claim).order
        made = self.delivery.deliver(claim, report(self.work(order, text)), files_of(order))
        self.delivery.forget(claim)
        return Ended(fate="done", commit=made, token=claim.token)


def outcome_of(order: Order, commit: str | None) -> AttemptOutcome:
    step = order.step
    assert isinstance(step, Attempt)
    ending = AgentEnding(reason=None, exit_code=0, message="done", usage=Usage(tokens=7), ms=5)
    return AttemptOutcome(
        step=step.id, story=step.story, number=step.number, status="stopped", reason=None, commit=commit, verdict=None,
        ending=ending,
    )  # fmt: skip


def report(outcome: AttemptOutcome | None, why: str = "") -> Report:
    return Report(worker="w1", host="h1", version="1", outcome=outcome, why=why)


def files_of(order: Order) -> dict[str, bytes]:
    folder = f"attempts/{order.step.id.removeprefix('attempt/')}"
    return {f"{folder}/prompt.md": b"do it\n", f"{folder}/agent.log": b"did it\n"}


@dataclass
class Field:
    """Everything that a test of couriers needs."""

    top: Path
    remote: Path
    coordinator: Coordinator

    @property
    def url(self) -> str:
        return f"file://{self.remote}"

    def worker(self, name: str = "w1") -> Worker:
        clone = self.top / name
        git(self.top, "clone", "-q", str(self.remote), name)
        return Worker(clone, self.top / f"{name}-scratch", self.url)

    def copied(self) -> Coordinator:
        """Another coordinator, of a copied out-dir."""
        shutil.copytree(self.coordinator.out, self.top / "copy")
        shutil.copytree(self.coordinator.repo, self.top / "repo2", symlinks=True)
        return Coordinator(self.top / "repo2", self.top / "copy", self.top / "scratch2", self.url)

    def refs(self) -> list[str]:
        """Santiago's refs on the remote."""
        names = git(self.remote, "for-each-ref", "--format=%(refname)").splitlines()
        return [name for name in names if name.startswith("refs/santiago")]


def make_field(top: Path, repo: Path) -> Field:
    git(top, "init", "-q", "--bare", "-b", "main", "remote.git")
    remote = top / "remote.git"
    return Field(top, remote, Coordinator(repo, top / "out", top / "scratch", f"file://{remote}"))
