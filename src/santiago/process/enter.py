"""A separate program, run by its path: enters namespaces, builds a file system, and runs a command in it.

Its first argument is the specification in JSON; the rest is the command. Either it only mounts overlays, for a program that
makes its own namespaces, or it makes everything: a read-only root with layers over it, a process namespace, and no
capabilities. It uses only the standard library, since it starts without any package.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import signal
import sys
from typing import Any, NoReturn

NAME = b"santiago-enter"
"""The process name by which a supervisor recognises these processes. The kernel limits its length."""
SAYS = "santiago-enter: "
"""The prefix of its own error messages. It then ends with `FAILED`."""
FAILED = 125

_BIND, _REC, _PRIVATE, _NOSUID, _NODEV, _NOEXEC = 4096, 16384, 1 << 18, 2, 4, 8
_NEW = {
    "mount": 0x20000,
    "cgroup": 0x2000000,
    "uts": 0x4000000,
    "ipc": 0x8000000,
    "user": 0x10000000,
    "pid": 0x20000000,
}
_NEW_NETWORK = 0x40000000
_DETACH, _RECURSIVE, _HERE = 2, 0x8000, -100
_READ_ONLY = 1
_SET_ATTRIBUTES, _PIVOT = 442, {"x86_64": 155, "aarch64": 41, "riscv64": 41, "ppc64le": 203, "s390x": 217}
_DIE_WITH_PARENT, _SET_NAME, _DROP_BOUND, _NO_NEW_PRIVILEGES, _AMBIENT = 1, 15, 24, 38, 47
_CAPABILITIES_3 = 0x20080522
_OLD, _NEW_ROOT = "/old", "/new"
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_LINKS = {"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2", "ptmx": "pts/ptmx"}

_libc = ctypes.CDLL(None, use_errno=True)


def main(spec: dict[str, Any], argv: list[str]) -> NoReturn:
    """Carry out the specification, then become the command or wait for it."""
    if spec["root"]:
        _run_in_root(spec, argv)
    _unshare(("mount",), network=False)
    _mount("", "/", flags=_REC | _PRIVATE)
    for layer in spec["layers"]:
        _overlay(layer, "", layer["target"])
    os.execvpe(argv[0], argv, os.environ)


def _run_in_root(spec: dict[str, Any], argv: list[str]) -> NoReturn:
    """Run the command as the second process of a namespace. The first one waits, and passes on how it ended."""
    _prctl(_SET_NAME, NAME)
    _prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    _unshare(("mount", "pid", "ipc", "uts", "cgroup"), network=not spec["network"])
    first = os.fork()
    if first:
        os._exit(_ended(first))
    _prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    _put_together(spec)
    if not spec["network"]:
        _open_loopback()
    os.chdir(spec["cwd"])
    drop_capabilities()
    command = os.fork()
    if not command:
        os.execvpe(argv[0], argv, os.environ)
    os._exit(_ended(command))


def _ended(child: int) -> int:
    """Collect ended processes until this child has ended; return its exit code."""
    while True:
        pid, status = os.wait()
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def _unshare(kinds: tuple[str, ...], *, network: bool) -> None:
    """Enter new namespaces. The superuser needs no user namespace, in which other users' files would belong to nobody."""
    flags = sum(_NEW[kind] for kind in kinds) | (_NEW_NETWORK if network else 0)
    if os.geteuid() == 0 and _libc.unshare(ctypes.c_int(flags)) == 0:
        return
    user, group = os.geteuid(), os.getegid()
    _checked("unshare", _libc.unshare(ctypes.c_int(flags | _NEW["user"])))
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)


def _put_together(spec: dict[str, Any]) -> None:
    """Make the file system: everything read-only, and over it the layers that hide, show or allow writing."""
    _mount("", "/", flags=_REC | _PRIVATE)
    base = "/tmp"  # noqa: S108  # only a mount point; it exists everywhere
    _mount("tmpfs", base, "tmpfs", _NOSUID | _NODEV, "mode=755")
    os.mkdir(base + _OLD)
    os.mkdir(base + _NEW_ROOT)
    _pivot(base, base + _OLD)
    os.chdir("/")
    _bind("/", "/", read_only=True)
    _mount("proc", f"{_NEW_ROOT}/proc", "proc", _NOSUID | _NODEV | _NOEXEC)
    _devices(f"{_NEW_ROOT}/dev")
    for layer in spec["layers"]:
        _lay(layer)
    for place, real in spec["links"]:
        if not os.path.lexists(_NEW_ROOT + place):
            os.makedirs(os.path.dirname(_NEW_ROOT + place), exist_ok=True)
            os.symlink(real, _NEW_ROOT + place)
    _checked("umount", _libc.umount2(os.fsencode(_OLD), _DETACH))
    root = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
    os.chdir(_NEW_ROOT)
    _pivot(".", ".")
    os.fchdir(root)
    _checked("umount", _libc.umount2(b".", _DETACH))
    os.close(root)
    os.chdir("/")


def _devices(folder: str) -> None:
    """Make a folder with only the devices that any program may use."""
    _mount("tmpfs", folder, "tmpfs", _NOSUID, "mode=755")
    for name in _DEVICES:
        _touch(f"{folder}/{name}")
        _mount(f"{_OLD}/dev/{name}", f"{folder}/{name}", flags=_BIND)
    for name, leads in _LINKS.items():
        os.symlink(leads, f"{folder}/{name}")
    os.mkdir(f"{folder}/shm")
    _mount("tmpfs", f"{folder}/shm", "tmpfs", _NOSUID | _NODEV, "mode=1777")
    os.mkdir(f"{folder}/pts")
    _mount("devpts", f"{folder}/pts", "devpts", _NOSUID | _NOEXEC, "newinstance,ptmxmode=0666,mode=620")


def _lay(layer: dict[str, Any]) -> None:
    """Mount one layer."""
    how, source, target = layer["how"], layer["source"], layer["target"]
    path = _NEW_ROOT + target
    if how in ("fresh", "over") or os.path.isdir(_OLD + source):
        os.makedirs(path, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        _touch(path)
    if how == "fresh":
        _mount("tmpfs", path, "tmpfs", _NOSUID | _NODEV, "mode=755")
    elif how == "over":
        _overlay(layer, _OLD, path)
    else:
        _bind(source, target, read_only=how == "show")


def _bind(source: str, target: str, *, read_only: bool) -> None:
    path = _NEW_ROOT + target
    _mount(_OLD + source, path, flags=_BIND | _REC)
    attributes = (ctypes.c_uint64 * 4)((_READ_ONLY if read_only else 0) | _NOSUID | _NODEV, 0, 0, 0)
    arguments = (_HERE, os.fsencode(path), _RECURSIVE, ctypes.byref(attributes), ctypes.sizeof(attributes))
    _checked(target, _libc.syscall(_SET_ATTRIBUTES, *arguments))


def _overlay(layer: dict[str, Any], top: str, target: str) -> None:
    lower = ":".join(_escaped(top + folder) for folder in (layer["source"], *layer["beneath"]))
    upper = _escaped(top + layer["upper"])
    options = ["userxattr", f"lowerdir={lower}", f"upperdir={upper}/upper", f"workdir={upper}/work"]
    _mount("overlay", target, "overlay", _NOSUID | _NODEV, ",".join(options))


def _escaped(path: str) -> str:
    return "".join(f"\\{sign}" if sign in "\\,:" else sign for sign in path)


def _open_loopback() -> None:
    """Bring the loopback device up, which tests with a server need in their own network."""
    handle = _libc.socket(2, 2, 0)
    _checked("socket", handle)
    request = b"lo".ljust(16, b"\0") + (1).to_bytes(2, sys.byteorder) + bytes(22)
    _checked("lo", _libc.ioctl(handle, ctypes.c_ulong(0x8914), request))
    os.close(handle)


def drop_capabilities() -> None:
    """Drop all capabilities that came with the namespaces, also for programs that the superuser starts next."""
    _prctl(_AMBIENT, 4)
    number = 0
    while _libc.prctl(_DROP_BOUND, number, 0, 0, 0) == 0:
        number += 1
    head, none = (ctypes.c_uint32 * 2)(_CAPABILITIES_3, 0), (ctypes.c_uint32 * 6)()
    _checked("capset", _libc.capset(ctypes.byref(head), ctypes.byref(none)))
    _prctl(_NO_NEW_PRIVILEGES, 1)


def _touch(path: str) -> None:
    if not os.path.lexists(path):
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o644))


def _mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    words = (os.fsencode(word) if word else None for word in (source, target, kind))
    _checked(target, _libc.mount(*words, ctypes.c_ulong(flags), os.fsencode(options) if options else None))


def _pivot(new: str, old: str) -> None:
    _checked("pivot_root", _libc.syscall(_PIVOT[os.uname().machine], os.fsencode(new), os.fsencode(old)))


def _prctl(option: int, value: int | bytes) -> None:
    _libc.prctl(option, value, 0, 0, 0)


def _checked(what: str, result: int) -> None:
    if result < 0:
        number = ctypes.get_errno() or errno.EIO
        raise OSError(number, os.strerror(number), what)


if __name__ == "__main__":
    try:
        main(json.loads(sys.argv[1]), sys.argv[2:])
    except (OSError, KeyError) as trouble:
        sys.stderr.write(f"{SAYS}{trouble}\n")
        sys.stderr.flush()
        os._exit(FAILED)
