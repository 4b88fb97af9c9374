"""Runs of santiago that die on command, each forked from one process that has imported everything once.

The other end, `Nursery`, is in the test: it sends one order per line and gets one report per line back.
"""

import contextlib
import ctypes
import errno
import json
import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import PurePath
from typing import Any, Literal, Self

from tests.crash.world import ROOT, World
from tests.forked import preload

from proofs.crash.power import cut
from santiago.artifacts.log import LIGHT
from santiago.process import tree

SECONDS = 180
When = Literal[
    "", "before", "after", "half", "eio", "syscall", "watch", "unrecorded", "recorded", "uncommitted", "committed"
]
"""Never; before or after an effect; in the middle of a write; not at all, but a sync fails; at a system call; not at
all, but the order of writes and syncs is watched; before or after an event is on disk; before or after a run or the board
records anything."""
STORE = ("freeze", "start", "append", "put", "put_many", "put_result")
WORKSPACE = ("begin", "open", "prepared", "snapshot", "restore", "checkout", "integrate", "advance", "close", "discard")


@dataclass(frozen=True, kw_only=True)
class Order:
    """One run, and how it is to die."""

    top: str
    arguments: list[str]
    when: When = ""
    at: int = 0
    """The number of the effect, event or system call at which it dies; 0 only counts them."""
    kind: str = ""
    """Only effects of this kind count, as `Report.kinds` names them."""
    all: bool = False
    """Everything that it started dies with it, as when a container is stopped."""
    plant: str = ""
    library: str = ""
    folder: str = ""
    """Where it is typed."""
    cut: str = ""
    """A mounted file system whose power is cut at that moment."""


@dataclass(frozen=True, kw_only=True)
class Report:
    code: int
    count: int
    """Effects or system calls up to the end."""
    kinds: dict[str, int]
    """Effects of each kind up to the end, in the order in which they first came."""
    where: str
    """The effect that it died at."""
    acknowledged: int
    """Number of the last event whose recording was confirmed."""
    words: str
    findings: list[str]


class Nursery:
    """The end that gives orders."""

    def __init__(self, more: Mapping[str, str] | None = None) -> None:
        environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", **(more or {})}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "proofs.crash.nursery"],
            cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()

    def run(
        self, world: World, jobs: int = 1, *, when: When = "", at: int = 0, kind: str = "", all: bool = False,
        plant: str = "", library: str = "", cut: str = "",
    ) -> Report:  # fmt: skip
        """Have santiago execute the world's run until it ends or dies."""
        order = Order(
            top=str(world.top), arguments=world.arguments(jobs), when=when, at=at, kind=kind, all=all, plant=plant,
            library=library, cut=cut,
        )  # fmt: skip
        return self._give(order)

    def audit(self, world: World, cut: str = "") -> list[str]:
        """Have `santiago audit` look at a run; return what it says where that is not clean."""
        report = self._give(Order(top=str(world.top), arguments=["audit", str(world.out)], cut=cut))
        return [f"the audit is not clean ({report.code}): {report.words[-400:]}"] if report.code else []

    def _give(self, order: Order) -> Report:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(asdict(order)).encode() + b"\n")
        self.process.stdin.flush()
        if not select.select([self.process.stdout], [], [], SECONDS)[0]:
            self.process.kill()
            raise AssertionError(f"a run did not end: {order}")
        return Report(**json.loads(self.process.stdout.readline()))


# The process that the runs are forked from


class Wire:
    """What a run tells its nursery while it lives: written at once, so that nothing of it dies with the run."""

    def __init__(self, handle: int) -> None:
        self.handle = handle

    def say(self, **data: Any) -> None:
        os.write(self.handle, json.dumps(data).encode() + b"\n")


class Ports:
    """Counts the effects at the ports, and is the death of the process at one of them."""

    def __init__(self, order: Order, wire: Wire) -> None:
        self.order, self.wire = order, wire
        self.kinds: Counter[str] = Counter()
        self.lock = threading.Lock()

    def install(self) -> None:
        from santiago.artifacts import beneath, log, unfinished_line
        from santiago.artifacts.store import FileStore
        from santiago.workspace.workspace import GitWorkspace

        FileStore.append = self._telling(FileStore.append)  # type: ignore[method-assign]
        if self.order.when in ("unrecorded", "recorded"):
            FileStore.append = self._at_event(FileStore.append)  # type: ignore[method-assign]
        elif self.order.when in ("uncommitted", "committed"):
            from santiago.board import board_store

            FileStore.append = self._recording(FileStore.append)  # type: ignore[method-assign]
            board_store._commit = self._recording(board_store._commit)
        elif self.order.when == "half":
            for module in (beneath, log, unfinished_line):
                module.write_all = self._torn(module.write_all)  # type: ignore[attr-defined]
        elif self.order.when == "eio":
            os.fdatasync = self._failing(os.fdatasync)
        else:
            for owner, names in ((FileStore, STORE), (GitWorkspace, WORKSPACE), (os, ("replace",))):
                for name in names:
                    setattr(owner, name, self._wrapped(name, getattr(owner, name)))

    def _is_due(self, kind: str) -> bool:
        """Count an effect; say whether it is the one to die at."""
        with self.lock:
            self.kinds[kind] += 1
            if self.order.kind:
                return kind == self.order.kind and self.kinds[kind] == self.order.at
            return self.kinds.total() == self.order.at

    def _telling(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def append(store: Any, events: Any) -> None:
            real(store, events)
            if any(event.event not in LIGHT for event in events):
                self.wire.say(acknowledged=events[-1].seq)

        return append

    def _at_event(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def append(store: Any, events: Any) -> None:
            due = [self._is_due(event.event) for event in events]
            # Numbers of events go on from start to start.
            hit = any(due) if self.order.kind else any(event.seq == self.order.at for event in events)
            if hit and self.order.when == "unrecorded":
                self.die("append")
            real(store, events)
            if hit:
                self.die("append")

        return append

    def _recording(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def record(*arguments: Any) -> None:
            hit = self._is_due(_record(*arguments))
            if hit and self.order.when == "uncommitted":
                self.die("record")
            real(*arguments)
            if hit:
                self.die("record")

        return record

    def _torn(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def write_all(handle: int, content: bytes) -> None:
            if self._is_due(_file(handle)):
                os.write(handle, content[: len(content) // 2])
                self.die("write")
            real(handle, content)

        return write_all

    def _failing(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def fdatasync(handle: int) -> None:
            if self._is_due(""):
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            real(handle)

        return fdatasync

    def _wrapped(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def effect(*arguments: Any, **options: Any) -> Any:
            hit = self._is_due(_effect(name, arguments))
            if hit and self.order.when == "before":
                self.die(name)
            answer = real(*arguments, **options)
            if hit and self.order.when == "after":
                self.die(name)
            return answer

        return effect

    def die(self, name: str) -> None:
        self.wire.say(where=name, kinds=self.kinds)
        if self.order.cut:
            cut(self.order.cut)
        os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(60)


def _effect(name: str, arguments: Sequence[Any]) -> str:
    """Return the kind of an effect: what is done, and with which event or file."""
    match name:
        case "append":
            return " ".join([name, *(str(event.event) for event in arguments[1])])
        case "put":
            return f"{name} {PurePath(arguments[1]).name}"
    return name


def _record(keeper: Any, events: Sequence[Any] = ()) -> str:
    """Return the kind of what a run records with these events, or the board with the last of its own."""
    if events:
        return _effect("append", (keeper, events))
    return f"board {keeper.execute('SELECT event FROM events ORDER BY seq DESC LIMIT 1').fetchone()[0]}"


def _file(handle: int) -> str:
    """Return the name of an open file, without what a number or its being unfinished adds to it."""
    return re.sub(r"^\.|\.tmp$|\d+", "", PurePath(os.readlink(f"/proc/self/fd/{handle}")).name)


def _output(order: Order) -> str:
    """Return where the run's words go: never onto a disk whose power may be cut."""
    return f"{order.top}/output.txt" if not order.cut else f"{order.cut}.txt"


def _child(order: Order, wire: Wire) -> int:
    """Be the run."""
    output = os.open(_output(order), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.environ["XDG_CACHE_HOME"] = f"{order.top}/cache"
    if order.folder:
        os.chdir(order.folder)
    ports = Ports(order, wire)
    with contextlib.ExitStack() as stack:
        watch = None
        if order.plant:
            from proofs.crash import planted

            stack.enter_context(planted.BUGS[order.plant]())
        if order.when == "watch":
            from proofs.crash.syncs import Watch

            watch = stack.enter_context(Watch(order.top))
        ports.install()
        if order.when == "syscall":
            ctypes.CDLL(None).ptrace(0, 0, 0, 0)
            os.kill(os.getpid(), signal.SIGSTOP)
        from santiago.cli.main import main

        code = main(order.arguments)
        wire.say(kinds=ports.kinds, findings=watch.findings if watch else [])
    return code


def _run(order: Order) -> Report:
    reader, writer = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        code = 99
        try:
            os.close(reader)
            code = _child(order, Wire(writer))
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(writer)
    count = 0
    if order.when == "syscall":
        seen = ctypes.c_long()
        code = ctypes.CDLL(order.library).trace_until(pid, ctypes.c_long(order.at), ctypes.byref(seen))
        count = seen.value
        if order.cut and code == 137:
            cut(order.cut)
    else:
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        code = 128 - code if code < 0 else code
    if order.all or order.cut or code != 137:
        _clear()
    said = _hear(reader)
    words = ""
    with contextlib.suppress(OSError), open(_output(order), encoding="utf-8") as file:
        words = file.read()[-2000:]
    return Report(
        code=code,
        count=count or sum(said.get("kinds", {}).values()),
        kinds=said.get("kinds", {}),
        where=said.get("where", ""),
        acknowledged=said.get("acknowledged", 0),
        words=words if code not in (0, 137) else "",
        findings=said.get("findings", []),
    )


def _hear(reader: int) -> dict[str, Any]:
    """Return the last that was said of each thing; what still lives may hold the pipe, so nobody waits for its end."""
    os.set_blocking(reader, False)
    data = b""
    with contextlib.suppress(BlockingIOError):
        while piece := os.read(reader, 65536):
            data += piece
    os.close(reader)
    said: dict[str, Any] = {}
    for line in data.split(b"\n")[:-1]:
        said |= json.loads(line)
    return said


def _clear() -> None:
    """Kill and collect all that runs left; the nursery is the parent of every orphan of theirs."""
    while below := tree.descendants(os.getpid()):
        for pid in below:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)
        time.sleep(0.001)


def serve() -> None:
    tree.adopt_orphans()
    preload()
    for line in sys.stdin.buffer:
        report = _run(Order(**json.loads(line)))
        sys.stdout.write(json.dumps(asdict(report)) + "\n")
        sys.stdout.flush()
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
    _clear()


if __name__ == "__main__":
    serve()
