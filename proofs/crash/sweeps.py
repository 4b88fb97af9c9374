"""Deaths, one after the other: kill a run, look, resume it (and perhaps kill it again), look again at its end."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Protocol, TypeVar

from tests.crash.world import SMALL, Story, World, memory_folder

from proofs.crash.checks import Finish, after_all, after_death, finish_of
from proofs.crash.nursery import Nursery, Report, When
from proofs.crash.power import Disk

MOST_STARTS = 60
"""Starts of one run until it must have come to its end."""


@dataclass(frozen=True)
class Death:
    """Where one start dies."""

    when: When
    at: int
    all: bool = False
    kind: str = ""
    """Only effects of this kind count."""

    def __str__(self) -> str:
        return f"{self.when} {self.kind or 'number'} {self.at}{' with all' if self.all else ''}"


@dataclass
class Tally:
    """What a sweep came to."""

    deaths: int = 0
    runs: int = 0
    violations: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.deaths += other.deaths
        self.runs += other.runs
        self.violations += other.violations


@dataclass(kw_only=True)
class Place:
    """A nursery and a world of its own, and what an undisturbed run comes to there."""

    nursery: Nursery
    world: World
    jobs: int
    reference: Finish
    kinds: dict[str, int]
    """Its effects, by kind."""
    library: str = ""
    plant: str = ""
    disk: Disk | None = None
    """Where each death is a power cut."""

    @property
    def effects(self) -> int:
        return sum(self.kinds.values())

    def start(self, death: Death | None) -> Report:
        top = str(self.disk.top) if self.disk else ""
        if death is None:
            return self.nursery.run(self.world, self.jobs, plant=self.plant, cut=top)
        report = self.nursery.run(
            self.world, self.jobs, when=death.when, at=death.at, kind=death.kind, all=death.all,
            plant=self.plant, library=self.library, cut=top,
        )  # fmt: skip
        if self.disk and report.code == 137:
            self.disk.power_up()
            for note in self.world.top.glob("cache/**/own/*/boot"):  # the machine itself was not started anew
                note.unlink()
        return report

    def new(self) -> None:
        """Begin anew."""
        self.world.reset()
        if self.disk:
            self.disk.settle()

    def end(self) -> None:
        """What a run that has ended leaves must survive a power cut, too."""
        if self.disk:
            self.disk.cut()
            self.disk.power_up()

    def episode(self, deaths: Sequence[Death]) -> Tally:
        """Run from the beginning through these deaths to the end."""
        self.new()
        tally, acknowledged, told = Tally(), 0, ""
        waiting = [*deaths]
        for _ in range(MOST_STARTS):
            death = waiting.pop(0) if waiting else None
            report = self.start(death)
            tally.runs += 1
            acknowledged = max(acknowledged, report.acknowledged)
            told += f" {death} ({report.where})" if death else ""
            if report.code == 137:
                tally.deaths += 1
                tally.violations += [f"{told.strip()}: {what}" for what in after_death(self.world, acknowledged)]
                continue
            if report.code != 0:
                tally.violations.append(f"{told.strip()}: ended with {report.code}: {report.words[-400:]}")
                return tally
            if not waiting:
                break
        self.end()
        wrong = after_all(self.world, self.reference, kills=tally.deaths, jobs=self.jobs)
        wrong += self.nursery.audit(self.world, str(self.disk.top) if self.disk else "")
        tally.violations += [f"{told.strip()}: {what}" for what in wrong]
        return tally


@contextmanager
def place(
    stories: tuple[Story, ...] = SMALL, jobs: int = 1, *, library: str = "", plant: str = "", power: bool = False
) -> Iterator[Place]:
    """Make a place; where there is memory to keep files in, it is there. With `power`, on a disk of its own."""
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="crash-", dir=memory_folder()))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        disk = stack.enter_context(Disk(folder)) if power else None
        world = World((disk.top if disk else folder) / "world", stories).make(folder / "template")
        nursery = stack.enter_context(Nursery())
        report = nursery.run(world, jobs)
        assert report.code == 0, report
        yield Place(
            nursery=nursery, world=world, jobs=jobs, reference=finish_of(world), kinds=report.kinds,
            library=library, plant=plant, disk=disk,
        )  # fmt: skip


E = TypeVar("E")
E_contra = TypeVar("E_contra", contravariant=True)


class Passing(Protocol[E_contra]):
    """A place where one episode after the other can be gone through."""

    def episode(self, episode: E_contra, /) -> Tally: ...


def many(
    places: Sequence[Passing[E]],
    episodes: Iterable[E],
    *,
    enough: int = 0,
    told: Callable[[Tally], None] = lambda _: None,
) -> Tally:
    """Go through episodes in several places at once, to their end or until there were enough deaths."""
    waiting = iter(episodes)
    total, lock = Tally(), threading.Lock()

    def work(one: Passing[E]) -> None:
        while True:
            with lock:
                deaths = next(waiting, None) if not enough or total.deaths < enough else None
            if deaths is None:
                return
            try:
                tally = one.episode(deaths)
            except Exception as error:  # a broken episode is a finding, not the end of the others
                tally = Tally(violations=[f"{deaths}: {error!r}"])
            with lock:
                total.add(tally)
                told(total)

    threads = [threading.Thread(target=work, args=(one,)) for one in places]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return total


def at_every_port(effects: int, when: When, *, step: int = 1) -> list[tuple[Death, ...]]:
    return [(Death(when, number),) for number in range(1, effects + 1, step)]


def of_each_kind(kinds: Iterable[str], whens: Sequence[When]) -> list[Death]:
    """Return a death at the first effect of each kind, by turns before and after it; both at the first of each port."""
    found: list[Death] = []
    ports: set[str] = set()
    for number, kind in enumerate(kinds):
        port = kind.split()[0]
        chosen = whens if port not in ports else (whens[number % len(whens)],)
        found += [Death(when, 1, all=number % 2 == 0, kind=kind) for when in chosen]
        ports.add(port)
    return found


def together(deaths: Sequence[Death], each: int) -> list[Sequence[Death]]:
    """Return episodes of so many deaths each, which lie as far apart as they can."""
    count = -(-len(deaths) // each)
    return [deaths[first::count] for first in range(count)]


def twice(effects: int, random: Random, count: int) -> list[tuple[Death, ...]]:
    """Return episodes in which the resumed run dies as well, up to three times."""
    whens: tuple[When, ...] = ("before", "after")

    def death(most: int) -> Death:
        return Death(random.choice(whens), random.randint(1, most), all=random.random() < 0.5)

    return [(death(effects), *(death(30) for _ in range(random.randint(1, 3)))) for _ in range(count)]


def at_calls(calls: int, random: Random) -> Iterator[tuple[Death, ...]]:
    """Yield episodes of deaths at random system calls, most of them with deaths during the resume, without end."""
    while True:
        ats = [
            random.randint(1, calls),
            *(random.randint(1, calls // 3) for _ in range(random.choice((0, 1, 1, 2, 3)))),
        ]
        yield tuple(Death("syscall", at, all=random.random() < 0.5) for at in ats)
