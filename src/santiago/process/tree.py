"""Owning a process tree: every descendant can be found and killed, even if it left its session or lost its parent."""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import sys
import time
from pathlib import Path

from santiago.process import enter

_SUBREAPER, _DUMPABLE = 36, 4
LINUX = sys.platform == "linux"
ENDED: dict[int, int] = {}
"""Child → how it ended, for children that were collected here. A later wait for one of them would find nothing."""


def adopt_orphans() -> bool:
    """Make this process the parent of all orphans below it; return False if the system cannot do that."""
    if not LINUX:
        return False
    return bool(ctypes.CDLL(None, use_errno=True).prctl(_SUBREAPER, 1, 0, 0, 0) == 0)


def shield() -> None:
    """Protect this process from other programs of the same user: its memory, its open files, its core dump.

    An agent without a sandbox could otherwise take a supervisor's connection and report in its name.
    """
    if LINUX:
        ctypes.CDLL(None, use_errno=True).prctl(_DUMPABLE, 0, 0, 0, 0)


def descendants(root: int) -> list[int]:
    """Return all living processes below one, by the parents that the system names."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):  # noqa: PTH208  # a thousand Path objects per look would be felt
        if not entry.isdigit():
            continue
        with contextlib.suppress(OSError, IndexError, ValueError):
            rest = Path("/proc", entry, "stat").read_bytes().rpartition(b")")[2].split()
            if rest[0] != b"Z":
                children.setdefault(int(rest[1]), []).append(int(entry))
    found: list[int] = []
    waiting = [root]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def send(pids: list[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


_KEEPERS = frozenset({b"bwrap", enter.NAME})


def without_keepers(pids: list[int]) -> list[int]:
    """Leave out the sandbox's own processes. If asked to end, they would kill the program inside at once, without grace."""
    found = []
    for pid in dict.fromkeys(pids):
        with contextlib.suppress(OSError):
            if Path("/proc", str(pid), "comm").read_bytes().strip() in _KEEPERS:
                continue
        found.append(pid)
    return found


def reap() -> bool:
    """Collect the children that have died; return False if there are no children left."""
    try:
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            ENDED[ended[0]] = ended[1]
    except ChildProcessError:
        return False
    return True


def kill_all(group: int, seconds: float = 10.0) -> int:
    """Kill everything below this process and return how many there were. All are stopped first, so that none forks away."""
    if not LINUX:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
        return 0
    killed: set[int] = set()
    if not reap():
        return 0  # orphans become our own children, so no child means no descendant
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = descendants(os.getpid())
        if not found:
            reap()
            return len(killed)
        killed.update(found)
        send(found, signal.SIGSTOP)
        send(descendants(os.getpid()), signal.SIGKILL)
        reap()
        time.sleep(0.001)
    return len(killed)


def kill_below(supervisor: int) -> None:
    """Kill everything below another process, once, and continue that process if it was stopped."""
    send(descendants(supervisor), signal.SIGSTOP)  # so that nothing forks away or stops the supervisor again
    send(descendants(supervisor), signal.SIGKILL)
    send([supervisor], signal.SIGCONT)


def kill_strays(keepers: set[int], seconds: float = 10.0) -> None:
    """Kill everything below this process, except the keepers and what is below them; return when it has ended."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        # A dying keeper has already closed its files, but its children become ours only a moment later.
        living = {keeper for keeper in keepers if not _is_dying(keeper)}
        kept = {pid for keeper in living for pid in (keeper, *descendants(keeper))}
        found = [pid for pid in descendants(os.getpid()) if pid not in kept]
        if not found and all(keeper in living or not is_alive(keeper) for keeper in keepers):
            return
        send(found, signal.SIGSTOP)
        send(found, signal.SIGKILL)
        time.sleep(0.001)


_EXITING = 0x4
"""The flag with which the kernel marks a process that is exiting."""


def _is_dying(pid: int) -> bool:
    try:
        rest = Path("/proc", str(pid), "stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return True
    return rest[0] in (b"Z", b"X") or bool(int(rest[6]) & _EXITING)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def await_end(child: int, milliseconds: int) -> None:
    """Wait until a child has ended; kill it if it does not end in time."""
    if not LINUX:
        return
    with contextlib.suppress(OSError):
        handle = os.pidfd_open(child)
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        if not poll.poll(milliseconds):
            send([child], signal.SIGKILL)
        os.close(handle)
