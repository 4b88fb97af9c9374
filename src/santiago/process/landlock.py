"""The kernel's own sandbox (Landlock): limits writing to given folders if no other sandbox works.

It is weaker than namespaces: everything that the user can read can be read, UDP is allowed, and other processes are visible.
The run's header says so.
"""

from __future__ import annotations

import ctypes
import os
import stat
import sys

from santiago.process.enter import drop_capabilities

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_NO_NEW_PRIVILEGES = 38
_TCP = 1 << 0 | 1 << 1
"""Bind and connect."""
_SCOPES = 1 << 0 | 1 << 1
"""Restrictions on abstract sockets and signals of outside processes."""
_KNOWS_TCP, _KNOWS_SCOPES = 4, 6
"""Versions of the interface that first support these."""
_READ = 1 << 0 | 1 << 2 | 1 << 3
"""Execute, read a file, list a folder."""
_FILE = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15
"""Rights that make sense for a single file: execute, write, read, truncate, ioctl."""
_RIGHTS_BY_ABI = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_LIST = 1 << 3
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/shm")  # noqa: S108  # devices
"""All that there is of /dev. A terminal that can be opened shows what its user types, and one that can be written types itself."""


class _Ruleset(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("access", ctypes.c_uint64), ("parent", ctypes.c_int32))


def abi() -> int:
    """Return the kernel's version of Landlock; 0 if there is none."""
    if sys.platform != "linux":
        return 0
    try:
        return max(0, _call(_CREATE, None, ctypes.c_size_t(0), 1))
    except OSError:
        return 0


def not_held(version: int) -> tuple[str, ...]:
    """Return, in words, what a version of Landlock does not restrict, for the header of a run."""
    return (
        "reading", "the list of processes", "UDP", "sockets with a path", "file modes and times",
        *(() if version >= _KNOWS_TCP else ("TCP of checks",)),
        *(() if version >= _KNOWS_SCOPES else ("abstract sockets", "signals")),
    )  # fmt: skip


def restrict(writable: tuple[str, ...], *, tcp: bool = True) -> None:
    """Restrict this process and its children: they can write only below these folders, and reach no other process.

    The superuser's capabilities are dropped too, since with them it could look into any process.
    """
    version = abi()
    rights = (1 << _RIGHTS_BY_ABI.get(version, 16)) - 1
    network = _TCP if version >= _KNOWS_TCP and not tcp else 0
    attributes = _Ruleset(rights, network, _SCOPES if version >= _KNOWS_SCOPES else 0)
    size = ctypes.sizeof(attributes) if version >= _KNOWS_SCOPES else 16 if version >= _KNOWS_TCP else 8
    ruleset = _call(_CREATE, ctypes.byref(attributes), ctypes.c_size_t(size), 0)
    # A rule cannot take back what one above it allows, so that everything but /dev is allowed by name.
    _allow(ruleset, "/", _LIST & rights)
    for name in os.listdir("/"):  # noqa: PTH208  # between fork and exec, the plain call is the safe one
        if name != "dev":
            _allow(ruleset, f"/{name}", _READ & rights)
    for path in (*writable, *_DEVICES):
        _allow(ruleset, path, rights)
    ctypes.CDLL(None).prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    _call(_RESTRICT, ruleset, 0)
    os.close(ruleset)
    drop_capabilities()


def _allow(ruleset: int, path: str, access: int) -> None:
    """Allow something below a path, if it exists; of a single file, only what makes sense there."""
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        access = access if stat.S_ISDIR(os.fstat(handle).st_mode) else access & _FILE
        _call(_ADD, ruleset, 1, ctypes.byref(_Beneath(access, handle)), 0)
    finally:
        os.close(handle)


def _call(number: int, *arguments: object) -> int:
    result: int = ctypes.CDLL(None, use_errno=True).syscall(number, *arguments)
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result
