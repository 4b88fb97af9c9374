"""Whole runs on six workers, three of them in networks of their own, while workers, networks, server and coordinator fail.

A run's outcome is held against the log, against the engine, against git and against what one process alone makes of it.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections import Counter
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tests.crash.world import Story, git
from tests.engine import networks, servers
from tests.engine.machines import Fleet, Program
from tests.engine.servers import Engine, awaited

from proofs.crash.checks import ENDS
from santiago.contract.ports.queue import Address
from santiago.engine.connect import open_queue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.engine.networks import Network

WORKERS, FENCED = 6, 3
"""Workers, and how many of them have a network of their own."""
TICK_S = 0.05
OUTAGE = 20
"""Exit code of what cannot begin since the server is away."""
COST = 0.01
"""Dollars that each agent says it costs."""
STORIES = tuple(
    Story(
        f"f{number}",
        chunk="AB"[number >= 20],
        needs=f"R{number - 3}" if number % 10 == 5 else "",
        failures=number % 10 == 7,
        shares="log.md" if number % 20 == 3 else "",
        check="grep -q PRD prd.md && ! grep -qvx good f*.txt",  # one for all stories, since each is run on the base by every worker
    )
    for number in range(40)
)
HITS = 0.75
"""The share of faults that wait for a worker which is at work."""
SLOWEST_S = 0.4
"""How long the slowest agent works."""


@dataclass(frozen=True)
class Faults:
    """How many of each kind there are to be."""

    kill: int = 50
    pause: int = 50
    cut: int = 20
    server: int = 10
    coordinator: int = 5

    def drawn(self, draw: Random) -> list[str]:
        found = [kind for kind, count in vars(self).items() for _ in range(count)]
        draw.shuffle(found)
        return found

    def tenth(self) -> Faults:
        return Faults(**{kind: -(-count // 10) for kind, count in vars(self).items()})


@dataclass
class Place:
    """One worker's place. What happens to it ends by itself at `until`."""

    network: Network | None
    program: Program | None = None
    trouble: str = ""
    until: float = 0.0


@dataclass
class Tally:
    """What was counted."""

    faults: Counter[str] = field(default_factory=Counter)
    orders: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    """accepted, lost, and whatever else became of an order."""
    late: int = 0
    """Results that came too late, and were refused."""
    runs: int = 0
    seconds: float = 0.0
    cores: float = 0.0
    """Seconds of processor time, of everything but the server."""
    violations: list[str] = field(default_factory=list)

    def told(self) -> Iterator[str]:
        ends = ", ".join(f"{count:,} {kind}" for kind, count in self.ends.most_common())
        faults = ", ".join(f"{count} {kind}" for kind, count in sorted(self.faults.items()))
        yield f"orders: {self.orders:,} in {self.runs} runs: {ends}"
        yield f"faults: {faults}; {self.late} late results refused"
        each = self.cores / max(1, self.orders)
        yield f"time: {self.seconds:.0f} s, {self.seconds / max(1, self.orders):.2f} s and {each:.2f} core s per order"


class Chaos(Fleet):
    """The machines, and one run after the other on them."""

    forks = False
    """Their processor time is counted, and some are in other networks."""

    def __init__(self, ground: Ground, seed: int, lease_s: int, stories: tuple[Story, ...] = STORIES) -> None:
        self.draw, self.ground, self.engine, self.lease_s = Random(seed), ground, ground.engine, lease_s
        slow = {
            f"R{number}": [
                {**move, "seconds": round(self.draw.random() * SLOWEST_S, 2), "cost_usd": COST} for move in moves
            ]
            for number, moves in ((n, _moves(story)) for n, story in enumerate(stories, 1))
        }
        super().__init__(ground.folder / "chaos", ground.engine.url, stories, slow, lease_s)
        alone: list[Network | None] = [None] * (WORKERS - len(ground.nets))
        self.places = [Place(net) for net in [*ground.nets, *alone]]
        self.tally, self.number, self.told = Tally(), 0, 0
        """What was counted, the number of this run, and how many violations were told."""
        self.waiting: list[str] = []
        self.aims = True
        """Whether the next fault waits for a worker at work. Drawn once for each: most are idle at most moments."""
        self.coming = 0.0
        """When the next fault comes that orders cannot bring on."""
        self.server_back = self.coordinator_back = 0.0
        self.run: Program | None = None
        self.log_at, self.started = 0, 0
        self.usual = 2 * len(stories) * COST
        """Dollars that a run may cost."""
        self.more, self.most = 0.0, self.usual
        """Dollars that the next start is given, and how many the run may cost then."""
        self.tree_alone = ""

    # Workers

    def begin(self, place: Place) -> None:
        far = self.ground.far_engine, f"{self.ground.far_remotes}chaos/remote.git"
        url, remote = far if place.network else (self.url, str(self.remote))
        given = ["work", "--engine", url, "--remote", remote, "--no-sandbox"]
        inside = place.network.inside if place.network else ()
        name = f"worker-{len(self.programs)}.log"
        place.program = self.program([*given, "--insecure"], self.folder, name, inside)
        place.trouble = ""

    def mend(self, place: Place) -> None:
        """End what happened to a place."""
        assert place.program is not None
        if place.trouble == "kill":
            place.program.kill()
            self.begin(place)
        elif place.trouble == "pause":
            os.kill(place.program.process.pid, signal.SIGCONT)
        elif place.trouble == "cut" and place.network:
            place.network.plug()
        place.trouble = ""

    def hurt(self, kind: str) -> bool:
        """Do something to a worker that is well and at work, if there is one."""
        fit = [one for one in self.places if not one.trouble and one.program and _is_ready(one.program)]
        fit = [one for one in fit if kind != "cut" or one.network]
        if not fit:
            return False
        if self.aims:
            fit = [one for one in fit if one.program and one.program.said.rstrip().endswith(" begins")]
        if not fit:
            return False
        place, now = self.draw.choice(fit), time.monotonic()
        assert place.program is not None
        if kind == "kill":
            os.kill(place.program.process.pid, signal.SIGKILL)  # what it started must notice by itself
            place.until = now + self.draw.random()
        elif kind == "pause":
            os.kill(place.program.process.pid, signal.SIGSTOP)
            place.until = now + self.lease_s * self.draw.uniform(1.1, 1.6)
        else:
            assert place.network is not None
            place.network.pull()
            place.until = now + self.lease_s * self.draw.uniform(0.3, 1.6)
        place.trouble = kind
        return True

    # One run after the other

    def carry_out(
        self, orders: int, faults: Faults, tell: Callable[[str], None], alone: dict[tuple[Story, ...], str]
    ) -> Tally:
        """Carry out runs until there were so many orders and all faults; `alone` keeps what one process makes of stories."""
        self.tree_alone = alone.get(self.world.stories) or alone.setdefault(self.world.stories, self._alone())
        for place in self.places:
            self.begin(place)
        for place in self.places:
            assert place.program is not None
            place.program.says("waits for orders")
        self.waiting = faults.drawn(self.draw)
        step, before = orders / (len(self.waiting) + 1), os.times()
        began, self.coming = time.monotonic(), step
        while self.started < orders or self.waiting:
            self.one_run(step)
            self.check()
            found = self.tally.violations
            tell(
                f"run {self.number}: {self.started} orders, {len(self.waiting)} faults to come, {len(found)} violations"
            )
            for words in found[self.told :]:
                tell(words)
            self.told = len(found)
        self.tally.seconds = time.monotonic() - began
        self.end()
        after = os.times()
        self.tally.cores = sum(after[2:4]) - sum(before[2:4])
        return self.tally

    def _alone(self) -> str:
        """Return the tree that one process alone makes."""
        self._write_input()
        self.program([*self._arguments(), "--jobs", "1"], self.world.top, "alone.log").ends(0)
        return self.tree

    def _write_input(self) -> None:
        settings = json.loads((self.world.top / "in.json").read_text())
        settings["run_id"] = f"r{self.number}"
        settings["limits"] |= {"run_max_cost_usd": self.usual}
        (self.world.top / f"in-{self.number}.json").write_text(json.dumps(settings))

    def _arguments(self) -> list[str]:
        top = self.world.top
        return [
            "execute", "--input", str(top / f"in-{self.number}.json"), "--plan", str(top / "plan.json"),
            "--out-dir", str(self.out), "--trust-commands", "--no-input",
        ]  # fmt: skip

    @property
    def out(self) -> Path:
        return self.world.top / f"out-{self.number}"

    @property
    def log(self) -> Path:
        return self.out / "progress.ndjson"

    @property
    def tree(self) -> str:
        return git(self.world.repo, "rev-parse", f"refs/heads/santiago/r{self.number}^{{tree}}")

    def _start(self, *, resumes: bool) -> None:
        given = ["resume", str(self.out), "--no-input"] if resumes else self._arguments()
        given += ["--add-cost", str(self.more)] if self.more else []
        self.more = 0.0
        terms = ["--engine", self.url, "--remote", str(self.remote), "--jobs", "2"]
        self.run = self.program([*given, *terms], self.world.top, f"coordinator-{self.number}.log")

    def one_run(self, step: float) -> None:
        self.number, self.log_at, self.most = self.number + 1, 0, self.usual
        self.world = replace(self.world)
        self._write_input()
        self._start(resumes=False)
        until = time.monotonic() + 600
        while not self._has_ended():
            now = time.monotonic()
            assert now < until, f"run {self.number} does not end: {self.folder}"
            self._heal(now)
            self._count()
            if self.waiting and self.started >= self.coming and self._strike(self.waiting[0]):
                self.tally.faults[self.waiting.pop(0)] += 1
                self.coming, self.aims = self.coming + step, self.draw.random() < HITS
            time.sleep(TICK_S)
        self._count()

    def _has_ended(self) -> bool:
        if self.run is None or self.run.process.poll() is None:
            return False
        if not self._met_an_outage(self.run) and not self._asks_for_money(self.run):
            return True
        self.run, self.coordinator_back = None, time.monotonic() + TICK_S
        return False

    def _met_an_outage(self, program: Program) -> bool:
        """Tell whether it ended since the server was away at its start, as it should."""
        return program.process.returncode == OUTAGE and "does not answer" in program.said

    def _asks_for_money(self, program: Program) -> bool:
        """Give a run what it asks for whose first attempt was lost: nobody knows then what an attempt costs."""
        if "blocked  usage_unknown" not in program.said:
            return False
        self.more, self.most = COST, self.most + COST
        return True

    def _heal(self, now: float) -> None:
        for place in self.places:
            if place.trouble and now >= place.until:
                self.mend(place)
            elif not place.trouble and place.program and place.program.process.poll() is not None:
                if "waits for orders" in place.program.said or not self._met_an_outage(place.program):
                    self.violate(f"a worker ended by itself: {place.program.said[-900:]}")
                self.begin(place)
        server = self.engine.server.process
        assert server is None or server.poll() is None, f"the server ended by itself: {self.engine.server.log}"
        if self.server_back and now >= self.server_back:
            self.engine.server.start()
            self.server_back = 0.0
        if self.coordinator_back and now >= self.coordinator_back and not self.server_back:
            self._start(resumes=self.log.exists())
            self.coordinator_back = 0.0

    def _strike(self, kind: str) -> bool:
        now = time.monotonic()
        if kind == "server":
            if self.server_back:
                return False
            self.engine.server.kill()
            self.server_back = now + self.draw.random() * self.lease_s / 3
            return True
        if kind == "coordinator":
            if self.run is None or not self.log.exists():
                return False
            os.kill(self.run.process.pid, signal.SIGKILL)
            self.run.process.wait()
            self.run = None
            self.coordinator_back = now + self.draw.random() * self.lease_s
            return True
        return self.hurt(kind)

    def _count(self) -> None:
        """Count what the log got since the last look."""
        if self.log.exists():
            with self.log.open("rb") as log:
                log.seek(self.log_at)
                new = log.read()
            whole = new[: new.rfind(b"\n") + 1]
            self.log_at += len(whole)
            self.started += whole.count(b'"event":"attempt_started"')

    def end(self) -> None:
        """Have everybody end in good order."""
        for place in self.places:
            assert place.program is not None
            if place.trouble:
                self.mend(place)
        if self.server_back:
            self.engine.server.start()
        asked = [place.program for place in self.places if place.program and _is_ready(place.program)]
        for program in asked:
            program.process.send_signal(signal.SIGTERM)
        awaited(lambda: all(one.process.poll() is not None for one in asked), f"a worker does not end: {self.folder}")
        for program in asked:
            if program.process.returncode:
                self.violate(f"a worker ended with {program.process.returncode}: {program.said[-900:]}")
        self.tally.orders, self.tally.runs = self.started, self.number
        self.tally.late = sum(one.said.count("too late: ") for one in self.programs if "worker-" in one.log.name)

    # What must be true of a run

    def violate(self, words: str) -> None:
        self.tally.violations.append(f"run {self.number}: {words}")

    def check(self) -> None:
        assert self.run is not None
        if self.run.process.returncode:
            self.violate(f"exit {self.run.process.returncode}: {self.run.said[-600:]}")
        events = [json.loads(line) for line in self.log.read_bytes().split(b"\n")[:-1]]
        self._check_stories(events)
        fates = self._check_attempts(events)
        self._check_engine(fates)
        self._check_money(events)
        if self.tree != self.tree_alone:
            self.violate("its tree is not that of one process alone")
        audit = self.program(["audit", str(self.out)], self.world.top, f"audit-{self.number}.log")
        awaited(lambda: audit.process.poll() is not None, "the audit does not end")
        if audit.process.returncode or "clean" not in audit.said:
            self.violate(f"its audit: {audit.said[-600:]}")
        self._check_remote()

    def _check_remote(self) -> None:
        """Hold up that nothing stays. A worker may still be about to take back what it sent when the run was over."""
        until = time.monotonic() + servers.SECONDS
        while (refs := self.refs()) != ["refs/heads/main"] and time.monotonic() < until:
            self._heal(time.monotonic())
            time.sleep(TICK_S)
        if refs != ["refs/heads/main"]:
            self.violate(f"left on the remote: {refs[:9]}")

    def refs(self) -> list[str]:
        return git(self.remote, "for-each-ref", "--format=%(refname)").split()

    def _check_stories(self, events: list[dict[str, Any]]) -> None:
        done = Counter(one["story_id"] for one in events if one["event"] == "story_done")
        if done != Counter(f"S{number}" for number in range(1, len(self.world.stories) + 1)):
            twice = [story for story, count in done.items() if count > 1]
            self.violate(f"{len(done)} stories are done, {twice} more than once")

    def _check_attempts(self, events: list[dict[str, Any]]) -> dict[str, str]:
        """Hold up that each attempt that began ended once; return how, by its step."""
        begun = Counter(_step(one) for one in events if one["event"] == "attempt_started")
        ended = [one for one in events if one["event"] in ENDS]
        if begun != Counter(map(_step, ended)) or set(begun.values()) - {1}:
            self.violate(f"not every attempt began and ended once: {begun - Counter(map(_step, ended))}")
        fates = {_step(one): _fate(one) for one in ended}
        self.tally.ends += Counter(fates.values())
        return fates

    def _check_engine(self, fates: dict[str, str]) -> None:
        """Ask the engine itself: what was accepted must have ended in time there, and what ended in time must count."""
        root = git(self.world.repo, "rev-list", "--max-parents=0", "main")
        if self.server_back:
            self.engine.server.start()
            self.server_back = 0.0
        self.engine.answers()
        queue = open_queue(self.url, root)
        try:
            found = queue.find([Address(id=f"r{self.number}/{step}") for step in fates])
        finally:
            queue.close()
        for step, fate in fates.items():
            known = found.get(f"r{self.number}/{step}")
            end = known.ended.fate if known and known.ended else "never put" if known is None else "open"
            if fate == "accepted" and end not in ("done", "stopped"):
                self.violate(f"{step} was accepted late: the engine says {end}")
            elif fate in ("lost", "interrupted") and end in ("done", "stopped", "open"):
                self.violate(f"{step} counts as {fate}, and the engine says {end}")

    def _check_money(self, events: list[dict[str, Any]]) -> None:
        """Hold up that no attempt began where what is spent and what is out had reached the limit."""
        spent, out = 0.0, 0
        for one in events:
            if one["event"] == "attempt_started":
                if spent + out * COST >= self.most:
                    self.violate(f"{_step(one)} began beyond the budget")
                out += 1
            elif one["event"] in ENDS:
                spent, out = spent + COST, out - 1
        booked = json.loads((self.out / "result.json").read_bytes())["usage"]
        if (booked.get("cost_usd") or 0) > self.most:
            self.violate(f"it cost {booked}")


def _moves(story: Story) -> list[dict[str, Any]]:
    bad = [{"write": {f"{story.file}.txt": f"bad {n}\n"}} for n in range(story.failures)]
    more = {"append": {story.shares: f"{story.file}\n"}} if story.shares else {}
    return [*bad, {"write": {f"{story.file}.txt": "good\n"}, **more}]


def _is_ready(program: Program) -> bool:
    return program.process.poll() is None and "waits for orders" in program.said


def _step(event: dict[str, Any]) -> str:
    return f"attempt/{event['story_id']}/{event['attempt']}"


def _fate(event: dict[str, Any]) -> str:
    reason = str(event["context"].get("reason") or "")
    if event["status"] == "ok":
        return "accepted"
    return {"worker_lost": "lost"}.get(reason, reason or event["status"])


@dataclass(frozen=True)
class Ground:
    """Where fleets work: a folder, a server, and networks with the addresses of engine and remotes as they are seen there."""

    folder: Path
    engine: Engine
    nets: list[Network]
    far_engine: str
    far_remotes: str


@contextmanager
def ground(kind: str, fenced: int = FENCED) -> Iterator[Ground]:
    """Lend a server, and so many networks."""
    with ExitStack() as stack:
        top = Path(stack.enter_context(TemporaryDirectory(prefix="santiago-")))
        top.chmod(0o711)  # for the server's user
        nets = stack.enter_context(networks.networks(fenced))
        data, folder = top / "server", top / "machines"
        data.mkdir()
        folder.mkdir()
        make = servers.postgres if kind == "postgres" else servers.temporal
        url = "postgresql://santiago@{}/postgres" if kind == "postgres" else "temporal://{}/santiago"
        server = make(data)
        stack.callback(server.kill)
        engine = Engine(server, url.format(f"127.0.0.1:{server.port}"))
        engine.start()
        far = remotes = ""
        if nets:
            daemon, remotes = networks.git_daemon(folder, nets[0].host)
            relay = networks.relay(folder, nets[0].host, server.port)
            for one in (daemon, relay):
                one.start()
                stack.callback(one.kill)
            far = url.format(f"{relay.host}:{relay.port}")
        yield Ground(folder, engine, nets, far, remotes)


# What has to happen within a time


def times(place: Ground, lease_s: int) -> Iterator[tuple[str, float, float]]:
    """Yield what was measured, in words, with its seconds and how many there may be."""
    yield "a loss is known with no other worker alive", _loss(place, lease_s), lease_s + 1
    if place.nets:
        yield "an agent is dead whose machine was cut off", _cut_off(place, lease_s), 1.2 * lease_s
    yield "`stop --now` has reached the worker, with a lease of 60 s", _stopped(place), 6
    yield "attempts that were lost by an outage of half a lease", _outage(place, lease_s), 0


def _fleet(place: Ground, name: str, lease_s: int, move: dict[str, Any]) -> Fleet:
    return Fleet(place.folder / name, place.engine.url, (Story("a"),), {"R1": [move]}, lease_s)


@contextmanager
def _at_work(here: Fleet) -> Iterator[tuple[Program, Program]]:
    """Lend a run whose only worker is at work, and that worker."""
    try:
        worker = here.worker("--no-sandbox")
        run = here.execute()
        worker.says("attempt/S1/1 begins")
        yield run, worker
    finally:
        here.close()


def _until(ready: Callable[[], object], otherwise: str) -> float:
    began = time.monotonic()
    awaited(ready, otherwise)
    return time.monotonic() - began


_FOR_LONG = {"seconds": 300, "cost_usd": COST, "write": {"a.txt": "good\n"}}


def _loss(place: Ground, lease_s: int) -> float:
    here = _fleet(place, "loss", lease_s, _FOR_LONG)
    with _at_work(here) as (_, worker):
        worker.kill()
        return _until(lambda: here.endings("S1"), "the loss is never known")


def _cut_off(place: Ground, lease_s: int) -> float:
    here, net = _fleet(place, "cut", lease_s, _FOR_LONG), place.nets[0]
    here.helper(waits=True)
    try:
        given = ["work", "--engine", place.far_engine, "--remote", f"{place.far_remotes}cut/remote.git", "--no-sandbox"]
        here.program([*given, "--insecure"], here.folder, "worker.log", net.inside).says("waits for orders")
        here.execute("--sandbox", "off")
        awaited(lambda: list(here.begun.glob("a")), "no agent begins")
        agent = Path("/proc", (here.begun / "a").read_text())
        net.pull()
        return _until(lambda: not agent.exists(), "the agent outlives the lease")
    finally:
        net.plug()
        here.close()


def _stopped(place: Ground) -> float:
    here = _fleet(place, "stop", 60, _FOR_LONG)
    with _at_work(here) as (run, worker):
        began = time.monotonic()
        here.types("stop", str(here.world.out), "--now")
        worker.says("attempt/S1/1: stopped")
        seconds = time.monotonic() - began
        run.ends(130)
        ended = [one for one in here.events("", "S1") if one["event"] in ENDS]
        assert [one["context"].get("cost_micro_usd") for one in ended] == [COST * 1e6], (
            f"usage was not recorded: {ended}"
        )
        return seconds


def _outage(place: Ground, lease_s: int) -> float:
    here = _fleet(place, "outage", lease_s, {**_FOR_LONG, "seconds": lease_s / 3})
    with _at_work(here) as (run, _):
        place.engine.server.kill()
        time.sleep(lease_s / 2)
        place.engine.start()
        run.ends(0)
        return sum(reason == "worker_lost" for _, reason in here.endings("S1"))
