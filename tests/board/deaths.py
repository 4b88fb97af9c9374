"""A program that has the board's commands die, or meet a sick disk, at one moment after another, each in a fork of its own.

`python -m tests.board.deaths FOLDER kill|sick|layout STEP [LIBRARY]` prints what was wrong as JSON. It is a process of its own,
since a fork of one that has imported everything costs least, and since an interposed library must be there from the start.
"""

import ctypes
import errno
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from mmap import mmap
from pathlib import Path
from typing import NamedTuple

from proofs.crash.sick import Fault, Sickness

from santiago.board import tsv
from santiago.board.board_handle import BoardHandle, open_board
from santiago.board.board_layout import prepare
from santiago.board.board_place import find
from santiago.board.board_store import Store
from santiago.board.rules import Move
from santiago.contract.board import FIELDS, QUEUES, Card, evolve
from santiago.contract.errors import SantiagoError
from tests.board.project import project, ticket

ENDS = ("nowhere", "developer-todo", "planner-review", "done")
"""Where the ticket of these commands may be found, in this order."""


class Swept(NamedTuple):
    """How often the commands died, what was wrong then, and where the ticket was found."""

    deaths: int
    wrong: list[str]
    ends: set[str]


def lay_out(folder: Path) -> None:
    with open_board(folder, {}) as opened:
        opened.begin("me")


def work(folder: Path, mend: Callable[[], object] = lambda: None) -> None:
    """One command after another, each with its files: add, claim, hand over, accept."""
    with open_board(folder, {}) as opened:
        try:
            _steps(opened)
        except SantiagoError:
            mend()
            try:
                with opened.store.writing():  # a process that met a full disk goes on once there is room
                    pass
            except SantiagoError:
                raise RuntimeError("the process cannot go on") from None
            raise


def _steps(opened: BoardHandle) -> None:
    opened.board.add(ticket("T-1"), "me")
    opened.projections.flush()
    card = opened.board.claim("developer-todo", "w", "w").card
    assert card is not None
    opened.projections.flush()
    opened.board.move("T-1", "developer-todo", Move(to="planner-review", evidence="x.log"), "w", lease=card.lease)
    opened.projections.flush()
    opened.board.accept("T-1", "planner", 1, "all is well")
    opened.projections.flush()


class Ground:
    def __init__(self, top: Path, begin: Callable[[Path], None] | None) -> None:
        self.folder, self.template = top / "project", top / "template"
        project(self.template)
        if begin is not None:
            begin(self.template)

    def reset(self) -> Path:
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.template, self.folder)
        return self.folder


def wrong(folder: Path) -> list[str]:
    """Return what is wrong with a board after a death: with its store as it is, and with its files once they are synced."""
    found = torn_files(folder)
    with open_board(folder, {}) as opened:
        with opened.store.reading() as at:
            cards = [card for queue in QUEUES for card in at.cards(queue)]
            folded: Card | None = None
            for event in at.events(ticket="T-1"):
                folded = evolve(folded, event)
        if cards != ([] if folded is None else [folded]):
            found.append(f"the events say {folded}, the board {cards}")
        notices = opened.projections.exact()
        found += notices
        with opened.store.reading() as at:
            for queue in QUEUES:
                shown = [] if queue == "done" else [_row(card) for card in at.cards(queue)]
                if _rows(opened.projections.path(f"queues/{queue}.tsv")) != shown:
                    found.append(f"{queue}.tsv is not what the store says")
    return found


def torn_files(folder: Path) -> list[str]:
    """Every file is whole: it has its header, and lines of that many values."""
    torn = []
    for path in (folder / ".santiago/.runtime/orchestration").rglob("*.tsv"):
        if path.name.startswith("."):
            continue
        lines = path.read_text().split("\n")
        fields = {"queues": 14, "archive": 16, "history": 12}[path.parent.name]
        if (
            lines[0].split("\t")[0] not in ("id", "ts_utc")
            or lines[-1]
            or {len(one.split("\t")) for one in lines[:-1]} != {fields}
        ):
            torn.append(f"{path.name} is torn")
    return torn


def names(folder: Path) -> list[str]:
    """Return what a board's layout consists of, apart from its store and what locks left."""
    found = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*"))]
    return [
        name
        for name in found
        if not name.startswith(".git/") and name != ".git" and "sqlite3" not in name and ".lock" not in name
    ]


def _row(card: Card) -> list[str]:
    return tsv.line(getattr(card, name) for name in FIELDS).rstrip("\n").split("\t")


def _rows(path: Path) -> list[list[str]]:
    return [one.split("\t") for one in path.read_text().splitlines()[1:]]


def place_of(folder: Path) -> str:
    store = Store(folder / ".santiago/.runtime/orchestration/board.sqlite3")
    with store.reading() as at:
        card = at.card("T-1")
    store.close()
    return card.queue if card else "nowhere"


def _forked(child: Callable[[], None]) -> int:
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            child()
            code = 0
        except SantiagoError as error:
            code = error.exit_code
        except BaseException:  # reported by its code
            import traceback

            traceback.print_exc()
            code = 99
        finally:
            os._exit(code)
    return pid


class Attached(Sickness):
    """The sickness that this process was started with; its file must not be made anew under the library."""

    def __init__(self) -> None:
        self.control = Path(os.environ["SICK_DISK"])
        with self.control.open("r+b") as file:
            self._shared = mmap(file.fileno(), 0)


def working(folder: Path) -> None:
    work(folder, Attached().lift)


def at_calls(ground: Ground, library: str, step: int) -> Swept:
    """Die at every `step`-th system call of the commands."""
    trace = ctypes.CDLL(library).trace_until

    def once(number: int) -> tuple[int, int]:
        folder, seen = ground.reset(), ctypes.c_long()

        def child() -> None:
            ctypes.CDLL(None).ptrace(0, 0, 0, 0)
            os.kill(os.getpid(), signal.SIGSTOP)
            work(folder)

        return trace(_forked(child), ctypes.c_long(number), ctypes.byref(seen)), seen.value

    code, count = once(0)
    if code == 255:
        return Swept(0, [], set())
    return _sweep(ground, lambda number: once(number)[0], range(1, count, step), 137)


def at_writes(ground: Ground, commands: Callable[[Path], None], step: int) -> Swept:
    """Have the disk be full at every `step`-th write, for once and from there on."""
    sickness, total = Attached(), Swept(0, [], set())
    for number, lasting in ((errno.ENOSPC, False), (errno.ENOSPC, True)):

        def once(at: int, number: int = number, lasting: bool = lasting) -> int:
            project = ground.reset()
            sickness.begin(Fault("project", number, at, lasting), project)
            code = _code(_forked(lambda: commands(project)))
            failed = sickness.lift()[1]
            return code if failed or code else -1

        swept = _sweep(ground, once, range(1, 3000, step), 20, pristine=commands is lay_out)
        total = Swept(total.deaths + swept.deaths, total.wrong + swept.wrong, total.ends | swept.ends)
    return total


def _code(pid: int) -> int:
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return 128 - code if code < 0 else code


def _sweep(
    ground: Ground, once: Callable[[int], int], numbers: range, expected: int, *, pristine: bool = False
) -> Swept:
    """Die at each of these moments, and look at what is left; a run to the end ends it."""
    faults: list[str] = []
    ends: list[str] = []
    whole: list[list[str]] = [[]]
    if pristine:
        prepare(find(ground.reset(), {}))
        whole.append(names(ground.folder))
    for number in numbers:
        code = once(number)
        if code == -1 or (expected == 137 and code == 0):
            break
        if code not in (0, expected):
            faults.append(f"{number}: ended with {code}")
        if pristine and names(ground.folder) not in whole:
            faults.append(f"{number}: half made: {names(ground.folder)}")
        faults += [f"{number}: {what}" for what in wrong(ground.folder)]
        ends.append(place_of(ground.folder))
    return Swept(len(ends), faults, set(ends))


def main(folder: Path, how: str, step: int, library: str) -> None:
    ground = Ground(folder, None if how == "layout" else lay_out)
    dies = at_calls(ground, library, step) if how == "kill" else None
    result = dies or at_writes(ground, lay_out if how == "layout" else working, step)
    sys.stdout.write(json.dumps(result._asdict() | {"ends": sorted(result.ends, key=ENDS.index)}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4] if len(sys.argv) > 4 else "")
