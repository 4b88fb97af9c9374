"""A program that is run inside a sandbox, by its path: it tries to break out in every way of its table, each in a child of its own.

What it is given (`world.json`) names things outside: files, processes, sockets, a terminal. A try that goes through marks what
it reached with its own name, so that who looks from outside sees it; what cannot be marked without harm is only opened. It
uses the standard library alone.
"""

from __future__ import annotations

import ctypes
import glob
import json
import os
import signal
import socket
import struct
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    Try = Callable[[str], Any]

ARM = os.uname().machine == "aarch64"
NUMBERS = {  # of system calls, on x86-64 and arm64
    "add_key": (248, 217), "keyctl": (250, 219), "unshare": (272, 97), "setns": (308, 268), "pivot_root": (155, 41),
    "fsopen": (430, 430), "open_tree": (428, 428), "mount_setattr": (442, 442), "move_mount": (429, 429), "ptrace": (101, 117),
    "process_vm_readv": (310, 270), "pidfd_open": (434, 434), "pidfd_getfd": (438, 438), "pidfd_send_signal": (424, 424),
    "init_module": (175, 105), "finit_module": (313, 273), "bpf": (321, 280), "perf_event_open": (298, 241),
    "open_by_handle_at": (304, 265), "acct": (163, 89), "swapon": (167, 224), "syslog": (103, 116),
    "shmget": (29, 194), "shmat": (30, 196), "kexec_load": (246, 104), "userfaultfd": (323, 282), "iopl": (172, -1),
}  # fmt: skip
LIBC = ctypes.CDLL(None, use_errno=True)
NEW_MOUNTS, NEW_USER, NEW_PIDS, NEW_NET, NEW_CGROUP = 0x20000, 0x10000000, 0x20000000, 0x40000000, 0x2000000
READ_ONLY, REMOUNT, BIND, REC, MOVE = 1, 32, 4096, 16384, 8192


def words(text: str) -> list[str]:
    return text.split()


def call(name: str, *arguments: Any) -> int:
    number = NUMBERS[name][ARM]
    result = int(LIBC.syscall(ctypes.c_long(number), *map(_plain, arguments)))
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")
    return result


def _plain(argument: Any) -> Any:
    return ctypes.c_long(argument) if isinstance(argument, int) else argument


def checked(result: int) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    words = (word.encode() if word else None for word in (source, target, kind))
    checked(LIBC.mount(*words, ctypes.c_ulong(flags), options.encode() or None))


def unmount(path: str) -> None:
    checked(LIBC.umount2(path.encode(), 2))


def mark(path: str) -> Try:
    """Write the try's name to the end of a file that exists."""

    def go(name: str) -> None:
        handle = os.open(path, os.O_WRONLY | os.O_APPEND)
        os.write(handle, f"{name}\n".encode())

    return go


def make(folder: str) -> Try:
    """Make a file with the try's name."""
    return lambda name: os.close(os.open(f"{folder}/santiago-try-{name}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))


def opens(*paths: str, flags: int = os.O_WRONLY) -> Try:
    """Open the first of some paths that exists. Nothing is written."""

    def go(_: str) -> str:
        found = [path for pattern in paths for path in glob.glob(pattern)]
        if not found:
            raise FileNotFoundError(paths[0])
        os.close(os.open(found[0], flags | os.O_NONBLOCK | os.O_NOCTTY))
        return CLAIMED

    return go


def steals(*paths: str) -> Try:
    """Return what is in a file; the secret of the world may be there."""

    def go(_: str) -> str:
        found = []
        for path in (one for pattern in paths for one in glob.glob(pattern)):
            with open(path, "rb") as file:
                found.append(file.read(1 << 20).decode("utf-8", "replace"))
        return "\n".join(found)

    return go


CLAIMED = "done"
"""What a try returns whose success is not seen from outside."""


def talks(kind: int, address: Any, how: int = socket.SOCK_STREAM) -> Try:
    def go(name: str) -> None:
        with socket.socket(kind, how) as one:
            one.settimeout(1)
            one.connect(address)
            one.send(f"{name}\n".encode())

    return go


def nested(then: Callable[[str], Any], more: int = NEW_MOUNTS) -> Try:
    """Do something with all rights in a user namespace of one's own."""

    def go(name: str) -> Any:
        user, group = os.geteuid(), os.getegid()
        call("unshare", NEW_USER | more)
        for file, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{file}", "w", encoding="ascii") as one:
                one.write(text)
        if not more & NEW_PIDS:
            return then(name)
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            try:
                os.write(writer, str(then(name)).encode()[:60_000])
                os._exit(0)
            except BaseException as error:
                os.write(writer, str(error).encode()[:60_000])
                os._exit(1)
        os.close(writer)
        told = os.read(reader, 60_000).decode("utf-8", "replace")
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
            raise OSError(told)
        return told

    return go


def both(*steps: Try) -> Try:
    """Do one thing after the other; what the last one returns counts."""

    def go(name: str) -> Any:
        told = None
        for step in steps:
            told = step(name)
        return told

    return go


def mounts(*arguments: Any) -> Try:
    return lambda _: mount(*arguments)


def unmounts(*paths: str) -> Try:
    def go(_: str) -> None:
        for path in paths:
            unmount(path)

    return go


def claims(*steps: Callable[[], Any]) -> Try:
    """Do something whose success the kernel tells."""

    def go(_: str) -> str:
        for step in steps:
            step()
        return CLAIMED

    return go


def runs(*words: str) -> Try:
    def go(_: str) -> str:
        return subprocess.run(
            words, capture_output=True, text=True, timeout=4, check=True, stdin=subprocess.DEVNULL
        ).stdout

    return go


def setuid_copy(_: str) -> str:
    subprocess.run(["/bin/sh", "-c", "cp /usr/bin/id ./id && chmod 6755 ./id"], check=True)
    told = subprocess.run(["./id"], capture_output=True, text=True, check=True).stdout
    return CLAIMED if "euid=" in told else told


def capabilities(_: str) -> str:
    with open("/proc/self/status", encoding="ascii") as file:
        status = dict(line.split(":", 1) for line in file)
    kept = [name for name in ("CapInh", "CapPrm", "CapEff", "CapAmb") if int(status[name], 16)]
    return CLAIMED if kept or status["NoNewPrivs"].strip() != "1" else "none"


def linked(victim: str) -> Try:
    def go(name: str) -> None:
        os.link(victim, f"link-{name}")
        mark(f"link-{name}")(name)

    return go


def pointed(victim: str) -> Try:
    def go(name: str) -> None:
        os.symlink(victim, f"pointer-{name}")
        mark(f"pointer-{name}")(name)

    return go


def table(world: dict[str, Any]) -> dict[str, Callable[[str], Any]]:
    """Return every try by its name. A name never changes what it is about, since the log of a world is by names."""
    found: dict[str, Any] = {}
    victim, secret_file, pid, own = world["victim"], world["secret_file"], world["pid"], world["santiago"]
    folders = words(
        "/ /etc /etc/cron.d /etc/profile.d /usr/bin /usr/lib /usr/local/bin /opt /srv /var /var/lib /var/spool /var/tmp /var/log"
        " /boot /mnt /media /run /home /root /tmp /dev /sys /sys/kernel /sys/fs/cgroup /proc /lib"
    )
    for path in (
        *folders,
        os.path.dirname(victim),
        world["outdir"],
        world["git"],
        world["home"],
        world["package"],
        sys.prefix,
    ):
        found[f"file in {path}"] = make(path)
    found["file in /dev/shm"] = make("/dev/shm")
    for path in (victim, world["rc"], world["log"], f"{world['git']}/config"):
        found[f"write {path}"] = mark(path)
    for path in ("/etc/passwd", "/etc/hosts", "/etc/ld.so.cache", "/etc/shadow", "/bin/sh", "/etc/resolv.conf"):
        found[f"open {path}"] = opens(path)
    found |= {
        "truncate": lambda _: os.truncate(victim, 0),
        "rename": lambda _: os.rename(victim, f"{victim}.moved"),
        "unlink": lambda _: os.unlink(victim),
        "replace": both(make("."), lambda name: os.replace(f"santiago-try-{name}", victim)),
        "hard link": linked(victim),
        "symbolic link": pointed(victim),
        "through /proc/self/root": mark(f"/proc/self/root{victim}"),
        "through /proc/self/cwd": mark(f"/proc/self/cwd/../../../../../..{victim}"),
        "through /proc/1/root": mark(f"/proc/1/root{victim}"),
        "mode": lambda _: os.chmod(victim, 0o600),
        "times": lambda _: os.utime(victim, (1, 1)),
        "attribute": lambda _: os.setxattr(victim, "user.santiago", b"x"),
        "rename the folder": lambda _: os.rename(os.path.dirname(victim), os.path.dirname(victim) + ".moved"),
        "unix socket in place of a file": lambda _: socket.socket(socket.AF_UNIX).bind(f"{victim}.sock"),
        "fifo beside": lambda _: os.mkfifo(f"{victim}.fifo"),
        "folder beside": lambda _: os.mkdir(f"{victim}.folder"),
    }
    for name in words(
        "kernel/core_pattern kernel/modprobe kernel/panic kernel/randomize_va_space kernel/sysrq kernel/dmesg_restrict"
        " kernel/hostname kernel/unprivileged_bpf_disabled kernel/kptr_restrict kernel/yama/ptrace_scope vm/drop_caches"
        " vm/overcommit_memory vm/panic_on_oom fs/suid_dumpable fs/protected_symlinks fs/file-max fs/binfmt_misc/register"
        " net/ipv4/ip_forward net/core/somaxconn user/max_user_namespaces"
    ):
        found[f"open /proc/sys/{name}"] = opens(f"/proc/sys/{name}")
    for path in words(
        "/proc/sysrq-trigger /proc/irq/default_smp_affinity /proc/irq/[0-9]*/smp_affinity /proc/bus/pci/*/* /proc/mtrr"
        " /proc/acpi/* /proc/scsi/scsi /proc/dynamic_debug/control /proc/latency_stats /proc/fs/*/* /sys/kernel/uevent_helper"
        " /sys/kernel/mm/ksm/run /sys/kernel/debug/* /sys/kernel/tracing/trace /sys/power/state /sys/fs/cgroup/*/cgroup.procs"
        " /sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/*/release_agent /sys/fs/cgroup/*/notify_on_release /sys/module/*/parameters/*"
        " /sys/block/*/queue/scheduler /sys/class/net/*/tx_queue_len /sys/bus/pci/rescan /sys/devices/system/cpu/cpu1/online"
        " /sys/firmware/efi/efivars/*"
    ):
        found[f"open {path}"] = opens(path)
    for path in words(
        "mem kmem port kmsg vda sda nvme0n1 loop-control loop0 fuse tty tty0 tty1 console ttyS0 vcs vcsa input/event0 userfaultfd"
        " net/tun zram0 rtc0 hwrng btrfs-control autofs cpu_dma_latency kvm dri/card0 snapshot vga_arbiter mapper/control"
        " vhost-net"
    ):
        found[f"open /dev/{path}"] = opens(f"/dev/{path}", flags=os.O_RDWR)
        found[f"read /dev/{path}"] = opens(f"/dev/{path}", flags=os.O_RDONLY)
    found |= {
        "terminal, to write": both(mark(world["terminal"]), lambda _: CLAIMED),
        "terminal, to read": opens(world["terminal"], flags=os.O_RDONLY),
        "terminal, by its number": opens("/dev/pts/[0-9]*", flags=os.O_RDWR),
        "device made here": claims(
            partial(os.mknod, "node", 0o60600, os.makedev(254, 0)), partial(os.open, "node", os.O_RDONLY)
        ),
        "character device made here": claims(
            partial(os.mknod, "char", 0o20600, os.makedev(1, 1)), partial(os.open, "char", os.O_RDONLY)
        ),
    }
    for who, number in (("victim", pid), ("santiago", own), ("its server", world["server"])):
        for part in ("environ", "mem", "maps", "fd/0", "root/etc/hostname", "cwd/world.json", "stack", "auxv"):
            found[f"/proc of {who}: {part}"] = (
                steals(f"/proc/{number}/{part}") if part == "environ" else _of(number, part)
            )
        meet = partial(_meet, number)
        found[f"signal to {who}"] = claims(meet, partial(os.kill, number, signal.SIGURG))
        found[f"pidfd of {who}"] = _pidfd(number)
        found[f"trace {who}"] = claims(meet, partial(call, "ptrace", 16, number, 0, 0))
        found[f"read memory of {who}"] = claims(meet, partial(_peek, number))
        found[f"limits of {who}"] = claims(meet, partial(_limit, number))
        found[f"priority of {who}"] = claims(meet, partial(os.setpriority, os.PRIO_PROCESS, number, 15))
    found |= {
        "secret in the home folder": steals(secret_file),
        "secret in the run's log": steals(world["log"]),
        "secret in another checkout": steals(world["other"]),
        "secret in an environment": steals(f"/proc/{pid}/environ", f"/proc/{own}/environ"),
        "/etc/shadow": _starts("/etc/shadow", "root:"),
        "/etc/gshadow": _starts("/etc/gshadow", "root:"),
        "host keys": _starts("/etc/ssh/ssh_host_*_key", "-----BEGIN"),
        "root's keys": _starts("/root/.ssh/*", "-----BEGIN"),
        "kernel memory": opens("/proc/kcore", flags=os.O_RDONLY),
        "kernel messages": opens("/proc/kmsg", flags=os.O_RDONLY),
        "abstract socket": talks(socket.AF_UNIX, f"\0{world['abstract']}"),
        "socket in /run": talks(socket.AF_UNIX, world["run_socket"]),
        "socket in /tmp": talks(socket.AF_UNIX, world["tmp_socket"]),
        "socket in the home folder": talks(socket.AF_UNIX, world["home_socket"]),
        "docker": opens("/run/docker.sock", "/var/run/docker.sock", flags=os.O_RDONLY),
        "bus of the session": opens("/run/user/*/bus", flags=os.O_RDONLY),
        "TCP on loopback": talks(socket.AF_INET, ("127.0.0.1", world["tcp"])),
        "TCP6 on loopback": talks(socket.AF_INET6, ("::1", world["tcp6"])),
        "TCP by the host's address": talks(socket.AF_INET, (world["address"], world["tcp"])),
        "UDP on loopback": talks(socket.AF_INET, ("127.0.0.1", world["udp"]), socket.SOCK_DGRAM),
        "raw socket": claims(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)),
        "packet socket": claims(lambda: socket.socket(17, socket.SOCK_RAW, 0x300)),
        "shared memory": lambda name: _shared(world["shared"], name),
        "posix shared memory": mark(f"/dev/shm/{world['posix']}"),
        "key of the user": lambda _: _key(-4, world["key"]),
        "key of the session": lambda _: _key(-3, world["key"]),
        "key left for others": lambda name: call("add_key", b"user", f"santiago-try-{name}".encode(), b"x", 1, -4),
    }
    fresh = f"{os.getcwd()}/fresh"
    os.makedirs(fresh, exist_ok=True)
    folder = os.path.dirname(victim)
    settings, there = f"{fresh}/sys/kernel/core_pattern", f"{fresh}/{os.path.basename(victim)}"
    ways: dict[str, tuple[Any, int]] = {
        "remount /": (both(mounts("", "/", "", REMOUNT | BIND), mark(victim)), NEW_MOUNTS),
        "remount everything": (both(_writable, mark(victim)), NEW_MOUNTS),
        "bind over": (both(mounts(folder, fresh, "", BIND | REC), mark(there)), NEW_MOUNTS),
        "bind writable": (both(mounts(folder, fresh, "", BIND | REC), mounts("", fresh, "", REMOUNT | BIND), mark(there)), NEW_MOUNTS),
        "uncover the home folder": (both(unmounts(world["home"]), steals(secret_file)), NEW_MOUNTS),
        "uncover /tmp": (both(unmounts("/tmp"), talks(socket.AF_UNIX, world["tmp_socket"])), NEW_MOUNTS),
        "uncover /run": (both(unmounts("/run"), talks(socket.AF_UNIX, world["run_socket"])), NEW_MOUNTS),
        "uncover /proc": (both(unmounts("/proc"), steals(f"/proc/{pid}/environ")), NEW_MOUNTS),
        "uncover /proc/sys": (both(unmounts("/proc/sys"), opens("/proc/sys/kernel/core_pattern")), NEW_MOUNTS),
        "uncover the checkout": (both(unmounts(os.getcwd()), make(os.getcwd())), NEW_MOUNTS),
        "fresh proc": (both(mounts("proc", fresh, "proc"), opens(settings)), NEW_MOUNTS | NEW_PIDS),
        "fresh proc, read-only": (both(mounts("proc", fresh, "proc", READ_ONLY), mounts("", fresh, "", REMOUNT), opens(settings)), NEW_MOUNTS | NEW_PIDS),
        "fresh sys": (both(mounts("sysfs", fresh, "sysfs"), opens(f"{fresh}/kernel/uevent_helper", f"{fresh}/kernel/mm/ksm/run")), NEW_MOUNTS | NEW_NET),
        "fresh devices": (both(mounts("devtmpfs", fresh, "devtmpfs"), opens(f"{fresh}/kmsg", flags=os.O_RDONLY)), NEW_MOUNTS),
        "fresh disk": (both(mounts("/dev/vda", fresh, "ext4", READ_ONLY), steals(f"{fresh}/etc/hostname")), NEW_MOUNTS),
        "fresh cgroups": (both(mounts("cgroup2", fresh, "cgroup2"), opens(f"{fresh}/cgroup.procs")), NEW_MOUNTS | NEW_CGROUP),
        "fresh old cgroups": (both(mounts("cgroup", fresh, "cgroup", 0, "memory"), opens(f"{fresh}/cgroup.procs")), NEW_MOUNTS | NEW_CGROUP),
        "fresh debug files": (both(mounts("debugfs", fresh, "debugfs"), opens(f"{fresh}/*", flags=os.O_RDONLY)), NEW_MOUNTS),
        "overlay": (both(_overlay(folder, fresh), mark(there), lambda name: _see(victim, name)), NEW_MOUNTS),
        "pivot_root": (both(mounts("tmpfs", fresh, "tmpfs"), lambda _: call("pivot_root", fresh.encode(), fresh.encode()), mark(victim)), NEW_MOUNTS),
        "chroot": (both(lambda _: os.chroot(fresh), lambda _: os.chdir("../../../../.."), mark(victim[1:])), NEW_MOUNTS),
        "new mount calls": (both(lambda _: _clone_writable(folder), mark(victim)), NEW_MOUNTS),
    }  # fmt: skip
    for name, (way, more) in ways.items():
        found[f"{name}, as we are"] = way
        found[f"{name}, in a user namespace"] = nested(way, more)
    for kind in ("mnt", "pid", "net", "user", "ipc", "cgroup"):
        found[f"enter the {kind} namespace of 1"] = both(_enter(f"/proc/1/ns/{kind}", world), mark(victim))
        found[f"enter the {kind} namespace of the victim"] = both(_enter(f"/proc/{pid}/ns/{kind}", world), mark(victim))
    found |= {
        "capabilities": capabilities,
        "set-user-id copy": setuid_copy,
        "become root": claims(partial(os.setresuid, 0, 0, 0))
        if os.geteuid()
        else claims(partial(os.setresuid, 1, 1, 1)),
        "sudo": runs("sudo", "-n", "touch", f"{victim}.sudo"),
        "su": runs("su", "-c", f"touch {victim}.su"),
        "pkexec": runs("pkexec", "touch", f"{victim}.pkexec"),
        "mount program": runs("mount", "-o", "remount,rw", "/"),
        "at": runs("sh", "-c", f"echo touch {victim}.at | at now"),
        "crontab": runs("sh", "-c", f"echo '* * * * * touch {victim}.cron' | crontab -"),
        "systemd-run": runs("systemd-run", "--user", "touch", f"{victim}.systemd"),
        "load a module": claims(lambda: _beyond_rights("init_module", b"x", 1, b"")),
        "load a module from a file": claims(lambda: _beyond_rights("finit_module", -1, b"", 0)),
        "program in the kernel": claims(lambda: call("bpf", 0, struct.pack("IIII", 1, 4, 4, 1) + bytes(100), 72)),
        "watch the whole machine": claims(
            lambda: call("perf_event_open", struct.pack("IIQ", 1, 112, 0) + bytes(100), -1, 0, -1, 0)
        ),
        "file by its number": claims(lambda: _by_handle()),
        "accounting": claims(lambda: _beyond_rights("acct", b"/nowhere/at/all")),
        "swap": claims(lambda: _beyond_rights("swapon", b"/nowhere/at/all", 0)),
        "clear the kernel's messages": claims(lambda: call("syslog", 6, 0, 0)),
        "another kernel": claims(lambda: _beyond_rights("kexec_load", 0, 999, 0, 0)),
        "ports of the machine": claims(lambda: call("iopl", 3)),
        "host name": lambda name: checked(LIBC.sethostname(f"try-{len(name)}".encode(), 6)),
        "core dump outside": lambda _: _crash_in(folder),
        "priority of everybody": claims(lambda: os.setpriority(os.PRIO_PROCESS, 0, -5)),
        "real time": claims(lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))),
    }
    return found


def _of(number: int, part: str) -> Try:
    """Reach for a file of another process. That it exists is told by opening it; inside, the number is another process's."""

    def go(_: str) -> str:
        _meet(number)
        with open(f"/proc/{number}/{part}", "rb") as file:
            file.read(1)
        return CLAIMED

    return go


def _meet(number: int) -> None:
    """Raise if this is the number of another process here than outside."""
    with open(f"/proc/{number}/comm", "rb") as file:
        if not file.read().startswith(b"outside"):
            raise ProcessLookupError


def _starts(pattern: str, words: str) -> Try:
    return lambda name: CLAIMED if words in steals(pattern)(name)[:200] else ""


def _pidfd(number: int) -> Try:
    def go(_: str) -> str:
        _meet(number)
        handle = call("pidfd_open", number, 0)
        call("pidfd_getfd", handle, 0, 0)
        return CLAIMED

    return go


def _peek(number: int) -> None:
    buffer = ctypes.create_string_buffer(8)
    local = (ctypes.c_ulong * 2)(ctypes.addressof(buffer), 8)
    remote = (ctypes.c_ulong * 2)(0x400000, 8)
    try:
        call("process_vm_readv", number, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
    except OSError as error:
        if error.errno != 14:  # a wrong address is only told to those who may look
            raise


def _limit(number: int) -> None:
    limits = ctypes.create_string_buffer(16)
    checked(LIBC.prlimit(number, 7, None, limits))


def _shared(key: int, name: str) -> None:
    place = call("shmget", key, 0, 0)
    LIBC.shmat.restype = ctypes.c_void_p
    address = LIBC.shmat(place, None, 0)
    if address in (None, ctypes.c_void_p(-1).value):
        raise OSError(ctypes.get_errno(), "shmat")
    ctypes.memmove(address, name.encode()[:60].ljust(60, b"\0"), 60)


def _key(ring: int, name: str) -> str:
    found = call("keyctl", 10, ring, b"user", name.encode(), 0)
    buffer = ctypes.create_string_buffer(100)
    call("keyctl", 11, found, buffer, 100)
    return buffer.value.decode()


def _writable(_: str) -> None:
    attributes = struct.pack("QQQQ", 0, 1, 0, 0)
    call("mount_setattr", -100, b"/", 0x8000, attributes, len(attributes))


def _clone_writable(folder: str) -> None:
    handle = call("open_tree", -100, folder.encode(), 1 | 0x80000 | 0x8000)
    attributes = struct.pack("QQQQ", 0, 1, 0, 0)
    call("mount_setattr", handle, b"", 0x1000, attributes, len(attributes))
    call("move_mount", handle, b"", -100, folder.encode(), 4)


def _overlay(folder: str, fresh: str) -> Try:
    def go(name: str) -> None:
        for part in ("upper", "work"):
            os.makedirs(f"{part}-{name}", exist_ok=True)
        here = os.getcwd()
        mount(
            "overlay",
            fresh,
            "overlay",
            0,
            f"lowerdir={folder},upperdir={here}/upper-{name},workdir={here}/work-{name},userxattr",
        )

    return go


def _see(path: str, name: str) -> str:
    return CLAIMED if name in steals(path)(name) else ""


def _enter(path: str, world: dict[str, Any]) -> Try:
    def go(_: str) -> None:
        if os.stat(path).st_ino in world["own_spaces"]():
            raise OSError("it is our own")
        call("setns", os.open(path, os.O_RDONLY), 0)

    return go


def _beyond_rights(name: str, *arguments: Any) -> None:
    """Call something that must be refused for lack of rights; any other error means that the rights were there."""
    try:
        call(name, *arguments)
    except OSError as error:
        if error.errno in (1, 38, 13):
            raise


def _by_handle() -> None:
    handle = struct.pack("Ii", 8, 1) + struct.pack("II", 2, 0)
    here = os.open("/", os.O_RDONLY)
    _beyond_rights("open_by_handle_at", here, handle, 0)


def _crash_in(folder: str) -> str:
    before = set(os.listdir(folder))
    child = os.fork()
    if not child:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2) if os.geteuid() == 0 else None
        os.chdir(folder)
        os.abort()
    os.waitpid(child, 0)
    return CLAIMED if set(os.listdir(folder)) - before else ""


def attempt(name: str, one: Callable[[str], Any]) -> tuple[bool, str]:
    """Carry out one try in a child; return whether it went through, and what it brought."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        signal.alarm(5)
        try:
            told, code = str(one(name)), 0
        except BaseException as error:
            told, code = f"{type(error).__name__}: {error}", 1
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(told.encode("utf-8", "replace")[:100_000])
        os._exit(code)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        told = pipe.read().decode("utf-8", "replace")
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, told


def token(mark: str, name: str) -> str:
    """Return the name of a try as it is written where the try gets to; worlds side by side have marks of their own."""
    return f"{mark}-{name.replace('/', '_').replace(' ', '-')}"


def main() -> None:
    with open("world.json", encoding="utf-8") as file:
        world = json.load(file)
    spaces = {os.stat(f"/proc/self/ns/{kind}").st_ino for kind in os.listdir("/proc/self/ns")}
    world["own_spaces"] = lambda: spaces
    found = {}
    for name, one in table(world).items():
        if world["only"] in name:
            found[name] = attempt(token(world["mark"], name), one)
    with open("results.json", "w", encoding="utf-8") as file:
        json.dump(found, file)


if __name__ == "__main__":
    main()
