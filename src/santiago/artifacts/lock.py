"""One coordinator at a time: a lock that the system releases when its holder dies, however it dies."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import stat
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

from santiago import __version__
from santiago.artifacts.file_errors import refused
from santiago.contract.codec import read_plain
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.ports.engine import Sign
from santiago.contract.ports.queue import Beat
from santiago.contract.reasons import Reason
from santiago.util import regular
from santiago.util.clock import moment
from santiago.util.disk import guarding

NAME = "lock"
SIGNATURE = 65_536
"""How many bytes of the lock file are read: enough for the signature, and for what 256 workers do."""
_LET_GO = 0.8
"""Seconds that a dead holder's lock is waited for."""
_PATIENCE = 20
"""How often we look again at a lock that its holder has not signed yet, or whose file was replaced meanwhile."""
_IN_USE = "it is in use by "


class Lock:
    """A lock in a folder, such as that of a run. The file is never removed.

    Its first line says who holds it, and stays as it is while it is held. The second one is the latest sign of life. It may be
    half old and half new when it is read; then it counts as none.
    """

    def __init__(self, folder: Path, *, since: str, name: str = NAME) -> None:
        self.path = folder / name
        self._signer = {"pid": os.getpid(), "host": os.uname().nodename, "since": since, "version": __version__}
        self._handle = -1
        self._longest = 0

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
                os.close(handle)  # the file was removed and made anew, so our lock protects nothing
        raise refused(self.path, "the lock file is being replaced again and again", "Find out which program does that.")

    def release(self) -> None:
        if self._handle < 0:
            return
        with contextlib.suppress(OSError):
            os.ftruncate(self._handle, 0)
        os.close(self._handle)
        self._handle = -1

    def beat(self, sign: Sign) -> None:
        """Leave a sign of life, from which the next start sees how long this one lasted."""
        workers = {step: asdict(beat) for step, beat in sign.workers.items()}
        signs = {"used_ms": sign.used_ms, "steps": sign.steps, **({"workers": workers} if workers else {})}
        content = json.dumps(signs).encode()
        # Never shorter than before, since it may be read at any moment.
        self._longest = max(self._longest, len(content))
        if len(self._signature) + self._longest < SIGNATURE:
            with contextlib.suppress(OSError):
                os.pwrite(self._handle, content.ljust(self._longest) + b"\n", len(self._signature))

    def _sign(self) -> None:
        with contextlib.suppress(OSError):  # the lock works without a signature, as on a full disk
            os.ftruncate(self._handle, 0)
            os.pwrite(self._handle, self._signature, 0)

    @property
    def _signature(self) -> bytes:
        return json.dumps(self._signer).encode() + b"\n"


class RunLock(Lock):
    """The lock of a run in its repository. It is needed since a copy of the out-dir would share the run's refs and checkouts.

    Its file exists only while the lock is held. A crash leaves the file, which does no harm. After taking the lock,
    `acquire` checks that the file still has its name.
    """

    def __init__(self, path: Path, out_dir: Path, *, since: str) -> None:
        super().__init__(out_dir, since=since)
        self.path = path
        self._signer["out_dir"] = str(out_dir)

    def acquire(self) -> None:
        with guarding(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            super().acquire()
        except SantiagoError as error:
            if error.reason is Reason.LOCK_HELD:
                error.where = f"the run {self.path.stem}"
                error.hint = "Only one copy of a run's folder can be worked on: wait for it, or stop it there."
            raise

    def release(self) -> None:
        with contextlib.suppress(OSError):
            if self._handle >= 0 and _is_same(self._handle, self.path):
                self.path.unlink()
        super().release()


def last_sign(out_dir: Path) -> Sign | None:
    """Return the last sign of life of a holder that lives, or that died with the lock; None if there is none."""
    try:
        found = json.loads((regular.content(out_dir / NAME, SIGNATURE, follow=False) or b"").splitlines()[-1])
        workers = {step: read_plain(Beat, beat) for step, beat in found.get("workers", {}).items()}
        steps = {name: int(ms) for name, ms in found["steps"].items()}
        return Sign(used_ms=int(found["used_ms"]), steps=steps, workers=workers)
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError):
        return None


def signed_by(content: bytes) -> Any:
    """Return who signed a lock; raise where nobody did."""
    return json.loads(content.partition(b"\n")[0])


def holder(out_dir: Path) -> str | None:
    """Return who holds the lock of an out-dir, in words; None if nobody does."""
    path = out_dir / NAME
    try:
        os.close(_locked(path, make=False))
    except FileNotFoundError:
        return None
    except SantiagoError as error:
        return error.message.removeprefix(_IN_USE) if error.reason is Reason.LOCK_HELD else None
    return None


def _locked(path: Path, *, make: bool = True) -> int:
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    handle = os.open(path, flags | (os.O_CREAT if make else 0), 0o644)
    if not stat.S_ISREG(os.fstat(handle).st_mode):  # it could not be signed
        os.close(handle)
        raise refused(path, "it is not a regular file", "Remove it; santiago makes a lock file in its place.")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        if _let_go(handle):
            return handle
        who = _wait_for_signature(handle)
        os.close(handle)
        hint = "Wait for it, or stop it: `santiago stop`. What it asks can be answered from here: `santiago answer`."
        raise SantiagoError(
            Kind.TRANSIENT, f"{_IN_USE}{who}", where=str(path.parent), hint=hint, reason=Reason.LOCK_HELD
        ) from None
    except BaseException:
        os.close(handle)
        raise
    return handle


def _let_go(handle: int) -> bool:
    """Wait for a lock whose holder is dead. A child process of the holder may keep it until it starts its own program."""
    deadline = time.monotonic() + _LET_GO
    while time.monotonic() < deadline and _is_of_a_dead_one(handle):
        time.sleep(0.005)
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    return False


def _is_of_a_dead_one(handle: int) -> bool:
    """Tell whether the lock was signed on this machine by a process that is dead."""
    try:
        found = signed_by(os.pread(handle, SIGNATURE, 0))
        if found["host"] != os.uname().nodename:
            return False
        os.kill(int(found["pid"]), 0)
        state = Path(f"/proc/{int(found['pid'])}/stat").read_bytes().rpartition(b")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return True
    except (OSError, ValueError, TypeError, LookupError, OverflowError, RecursionError):
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
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError, OverflowError, RecursionError):
            found = signed_by(os.pread(handle, SIGNATURE, 0))
            where = f", in {found['out_dir']}" if "out_dir" in found else ""
            return f"process {int(found['pid'])} on {found['host']} since {moment(str(found['since']))} (santiago {found['version']}){where}"
        time.sleep(0.005)
    return "another santiago"
