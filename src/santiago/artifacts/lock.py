"""One coordinator at a time: a lock that the system itself lets go when its holder dies, however it dies."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import time
from pathlib import Path
from typing import Self

from santiago import __version__
from santiago.artifacts.faults import guarding, refused
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason

NAME = "lock"
_LET_GO = 0.8
"""Seconds that a dead holder's lock is waited for."""
_PATIENCE = 20
"""Looks at a lock that its holder has not signed yet, and at one that was replaced under our hands."""


class Lock:
    """The lock of one out-dir. The file is never removed; what stands in it is for people only."""

    def __init__(self, out_dir: Path, *, since: str) -> None:
        self.path = out_dir / NAME
        self._since = since
        self._handle = -1

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def acquire(self) -> None:
        """Take the lock, or raise one error that names who has it."""
        with guarding(self.path):
            for _ in range(_PATIENCE):
                handle = _locked(self.path)
                if _is_same(handle, self.path):
                    self._handle = handle
                    self._sign()
                    return
                os.close(handle)  # somebody removed the file and made it anew: what we hold guards nothing
        raise refused(self.path, "the lock file is being replaced again and again", "Find out which program does that.")

    def release(self) -> None:
        if self._handle < 0:
            return
        with contextlib.suppress(OSError):
            os.ftruncate(self._handle, 0)
        os.close(self._handle)
        self._handle = -1

    def _sign(self) -> None:
        mine = {"pid": os.getpid(), "host": socket.gethostname(), "since": self._since, "version": __version__}
        with contextlib.suppress(OSError):  # a full disk makes the lock no weaker
            os.ftruncate(self._handle, 0)
            os.pwrite(self._handle, (json.dumps(mine) + "\n").encode(), 0)


def holder(out_dir: Path) -> str | None:
    """Return who holds the lock of an out-dir, in words; None where nobody does."""
    path = out_dir / NAME
    try:
        os.close(_locked(path, make=False))
    except FileNotFoundError:
        return None
    except SantiagoError as error:
        return error.message.removeprefix("it is in use by ")
    return None


def _locked(path: Path, *, make: bool = True) -> int:
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    handle = os.open(path, flags | (os.O_CREAT if make else 0), 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        if _let_go(handle):
            return handle
        who = _wait_for_signature(handle)
        os.close(handle)
        message = f"it is in use by {who}"
        hint = "Wait for it, or stop it: `santiago stop`."
        raise SantiagoError(
            Kind.TRANSIENT, message, where=str(path.parent), hint=hint, reason=Reason.LOCK_HELD
        ) from None
    except BaseException:
        os.close(handle)
        raise
    return handle


def _let_go(handle: int) -> bool:
    """Wait for a lock whose holder is dead: a child of its that has not begun its own program keeps it for a moment."""
    deadline = time.monotonic() + _LET_GO
    while time.monotonic() < deadline and _is_of_a_dead_one(handle):
        time.sleep(0.005)
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    return False


def _is_of_a_dead_one(handle: int) -> bool:
    """Tell whether the lock was signed on this machine by a process that is not alive."""
    try:
        found = json.loads(os.pread(handle, 1000, 0))
        if found["host"] != socket.gethostname():
            return False
        os.kill(int(found["pid"]), 0)
        state = Path(f"/proc/{int(found['pid'])}/stat").read_bytes().rpartition(b")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return True
    except (OSError, ValueError, TypeError, KeyError, IndexError):
        return False
    return state == b"Z"


def _is_same(handle: int, path: Path) -> bool:
    try:
        there = path.lstat()
    except FileNotFoundError:
        return False
    mine = os.fstat(handle)
    return (there.st_dev, there.st_ino) == (mine.st_dev, mine.st_ino)


def _wait_for_signature(handle: int) -> str:
    """Read who holds the lock; the holder signs within a moment of taking it."""
    for _ in range(_PATIENCE):
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
            found = json.loads(os.pread(handle, 1000, 0))
            return (
                f"process {int(found['pid'])} on {found['host']} since {found['since']} (santiago {found['version']})"
            )
        time.sleep(0.005)
    return "another santiago"
