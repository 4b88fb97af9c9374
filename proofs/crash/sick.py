"""A disk that fails on command: an interposed library, shared by a run and its git processes, and what the run makes of it."""

import errno
import os
import shutil
import struct
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from mmap import mmap
from pathlib import Path

from tests.crash.world import Story, World, memory_folder

from proofs.crash.checks import Finish, after_all, after_death, finish_of
from proofs.crash.nursery import Nursery, Report
from proofs.crash.sweeps import Tally
from proofs.crash.tracing import built
from santiago.contract.reasons import ExitCode

PLACES = ("out-dir", "repository", "cache", "TMPDIR")
ERRORS = (errno.ENOSPC, errno.EROFS, errno.EIO)
STORIES = (Story("a", failures=1), Story("b", needs="R1"))
"""Few, so that every write of a run can fail in its turn; one is repaired."""
NAMED = frozenset({ExitCode.BLOCKED, ExitCode.TRANSIENT, ExitCode.FAILED})
"""Exit codes by which a run may say that it could not go on."""
_HEAD = struct.Struct("5l")
_PATH = 1024


@dataclass(frozen=True, slots=True)
class Fault:
    """Which write fails, and how."""

    where: str
    number: int
    at: int
    lasting: bool = False
    """Every later one fails too, until the disk is mended."""

    def __str__(self) -> str:
        return f"{self.where} {errno.errorcode[self.number]} at {self.at}{' and later' if self.lasting else ''}"


class Sickness:
    """The small file through which the library is told what to do."""

    def __init__(self, folder: Path, library: str) -> None:
        self.control, self.library = folder / "sick", library
        self.control.write_bytes(bytes(_HEAD.size + 2 * _PATH))
        with self.control.open("r+b") as file:
            self._shared = mmap(file.fileno(), 0)
        self.programs = folder / "bin"
        self.programs.mkdir()
        # Santiago hands nothing of its environment to git, so git's name leads to one that takes the library along.
        git = self.programs / "git"
        git.write_text(
            f'#!/bin/sh\nexport LD_PRELOAD={library} SICK_DISK={self.control}\nexec {shutil.which("git")} "$@"\n'
        )
        git.chmod(0o755)

    def environment(self, temporary: Path) -> dict[str, str]:
        """Return what a process that the disk may fail finds in its environment."""
        path = f"{self.programs}:{os.environ['PATH']}"
        return {
            "LD_PRELOAD": self.library,
            "SICK_DISK": str(self.control),
            "PATH": path,
            "TMPDIR": str(temporary),
        }

    def begin(self, fault: Fault, below: Path) -> None:
        self._shared[:] = _HEAD.pack(fault.number, fault.lasting, fault.at, 0, 0) + bytes(2 * _PATH)
        path = os.fsencode(below)
        self._shared[_HEAD.size : _HEAD.size + len(path)] = path

    def lift(self) -> tuple[int, int, str]:
        """Mend the disk; return how many writes there were, how many failed, and the first of those."""
        _, _, _, count, failed = _HEAD.unpack_from(self._shared)
        where = self._shared[_HEAD.size + _PATH :].split(b"\0")[0].decode()
        self._shared[:] = bytes(len(self._shared))
        return count, failed, where


@dataclass(frozen=True, slots=True, kw_only=True)
class SickPlace:
    """A world on a disk that fails on command, and what an undisturbed run comes to there."""

    nursery: Nursery
    world: World
    sickness: Sickness
    temporary: Path
    reference: Finish

    def folder(self, where: str) -> Path:
        top = self.world.top
        return {
            "out-dir": self.world.out,
            "repository": self.world.repo,
            "cache": top / "cache",
            "TMPDIR": self.temporary,
        }[where]

    def writes(self, where: str, number: int) -> int:
        """Return how many writes an undisturbed run makes at a place that could fail like this."""
        self.world.reset()
        self.sickness.begin(Fault(where, number, 0), self.folder(where))
        report = self.nursery.run(self.world)
        assert report.code == 0, report
        return self.sickness.lift()[0]

    def episode(self, fault: Fault) -> Tally:
        """Run into a fault, mend the disk, run again, and look at both ends."""
        self.world.reset()
        self.sickness.begin(fault, self.folder(fault.where))
        report = self.nursery.run(self.world)
        failed, first = self.sickness.lift()[1:]
        tally = Tally(deaths=int(failed > 0), runs=1)
        wrong = [*_unnamed(report), *after_death(self.world, report.acknowledged)] if failed else []
        if failed:  # also after a good end: it clears away what could not be removed
            report = self.nursery.run(self.world)
            tally.runs += 1
        if report.code:
            wrong.append(f"the same command ended with {report.code} on a mended disk: {report.words[-300:]}")
        else:
            wrong += after_all(self.world, self.reference, kills=1, jobs=1) + self.nursery.audit(self.world)
        tally.violations = [f"{fault} ({first}): {what}" for what in wrong]
        return tally


def _unnamed(report: Report) -> list[str]:
    """A run that cannot go on says so in words, with a reason and what to do."""
    if report.code == 0:
        return []
    if report.code not in NAMED or "Traceback" in report.words or "fix: " not in report.words:
        return [f"ended with {report.code}: {report.words[-300:]}"]
    return []


@contextmanager
def sick_place(library: str) -> Iterator[SickPlace]:
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="sick-", dir=memory_folder()))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        temporary = folder / "temporary"
        temporary.mkdir()
        world = World(folder / "world", STORIES).make(folder / "template")
        sickness = Sickness(folder, library)
        nursery = stack.enter_context(Nursery(sickness.environment(temporary)))
        report = nursery.run(world)
        assert report.code == 0, report
        yield SickPlace(
            nursery=nursery, world=world, sickness=sickness, temporary=temporary, reference=finish_of(world)
        )


def library(folder: Path) -> str:
    """Compile the library and return its path; empty where there is no compiler, or it cannot be used."""
    return built(Path(__file__).with_name("sick.c"), folder / "libsick.so")


def every_write(place: SickPlace, wheres: Sequence[str] = PLACES, *, first: int = 1, step: int = 1) -> Iterator[Fault]:
    """Yield a fault at every write of each place, in every way, or at each `step`-th of them from the `first` on."""
    for where in wheres:
        for number in ERRORS:
            count = place.writes(where, number)
            for lasting in (False, True):
                yield from (Fault(where, number, at, lasting) for at in range(first, count + 1, step))
