"""What stands outside a sandbox for tries to reach: files, a process, sockets, a terminal; and what shows that one was reached.

`python -m proofs.breaking.world KIND ROLE ONLY`, as any user, in a folder that no sandbox hides: it makes a world, has the tries
made inside a sandbox, and prints what it found.
"""

from __future__ import annotations

import ctypes
import json
import os
import pty
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import uuid
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from santiago.process import sandbox
from santiago.process.command import Command
from santiago.process.place import Place
from santiago.process.sandbox import detect
from santiago.process.server import ProcessServer

if TYPE_CHECKING:
    from collections.abc import Iterator

from proofs.breaking import tries

TRIES = Path(tries.__file__)
VICTIM = (
    "import ctypes, time; ctypes.CDLL(None).prctl(15, b'outside', 0, 0, 0); print('ready', flush=True); time.sleep(600)"
)
DOCUMENTED = {
    "landlock": (
        "secret in the", "secret in another", "/etc/shadow", "/etc/gshadow", "host keys", "root's keys", "kernel memory",
        "socket in", "UDP", "docker", "bus of", "mode", "times", "attribute", "limits of", "priority of",
        "shared memory", "posix shared memory", "file in /dev/shm",
    ),
    "bubblewrap": (),
    "namespaces": (),
}  # fmt: skip
"""What docs/security.md says is open in a kind of sandbox, by the beginnings of the names of tries."""
FOR_AGENTS = ("abstract socket", "TCP", "UDP")
"""What is open to agents everywhere, since they share the network; Landlock closes abstract sockets."""


def weaken(kind: str) -> None:
    """Let stronger kinds be missing."""
    if kind != "bubblewrap":
        sandbox._bubblewrap = lambda _: None  # type: ignore[assignment]  # noqa: SLF001  # as if it were not installed
    if kind not in ("bubblewrap", "namespaces"):
        sandbox._namespaces = lambda _: None  # type: ignore[assignment]  # noqa: SLF001  # as if the kernel gave none


class World:
    """One world for one sandbox."""

    def __init__(self) -> None:
        self.secret = f"secret-{uuid.uuid4().hex}"
        os.environ["OUTSIDE_TOKEN"] = self.secret
        ctypes.CDLL(None).prctl(15, b"outside", 0, 0, 0)
        self.top = Path(tempfile.mkdtemp(prefix="santiago-outside-", dir=Path.cwd()))
        self.mark = uuid.uuid4().hex[:8]
        self.received: list[str] = []
        self.sockets: list[socket.socket] = []
        self.made: list[str] = []
        for name in (
            "victims",
            "home/.ssh",
            "repo/.git",
            "repo/.santiago/runs/r1",
            "checkouts/other",
            "checkouts/mine",
            "tmp",
        ):
            (self.top / name).mkdir(parents=True)
        self.victim = self._file("victims/victim", "untouched\n")
        self.before = self.victim.stat()
        self.home = self.top / "home"
        self._file("home/.ssh/id_rsa", self.secret)
        self._file("home/.bashrc", "untouched\n")
        self._file("repo/.git/config", "untouched\n")
        self._file("repo/.santiago/runs/r1/progress.ndjson", f"{self.secret}\n")
        self._file("checkouts/other/file", self.secret)

    def _file(self, name: str, text: str) -> Path:
        path = self.top / name
        path.write_text(text)
        return path

    def _listening(self, kind: int, address: Any, how: int = socket.SOCK_STREAM) -> socket.socket:
        one = socket.socket(kind, how)
        one.bind(address)
        if how == socket.SOCK_STREAM:
            one.listen(50)
        if kind == socket.AF_UNIX and not address.startswith("\0"):
            self.made.append(address)
        self.sockets.append(one)
        threading.Thread(target=self._hear, args=(one,), daemon=True).start()
        return one

    def _hear(self, one: socket.socket) -> None:
        while True:
            try:
                source = one.accept()[0] if one.type == socket.SOCK_STREAM else one
                source.settimeout(5)
                self.received.append(source.recv(1000).decode("utf-8", "replace"))
            except TimeoutError:
                continue
            except OSError:
                return

    def surroundings(self, server: ProcessServer, victim: int, only: str) -> dict[str, Any]:
        """Open the sockets, and return what the tries are told."""
        own = uuid.uuid4().hex[:12]
        run = next(one for one in ("/run", str(self.home)) if os.access(one, os.W_OK))
        named = {
            "run_socket": f"{run}/{own}-run.sock",
            "tmp_socket": f"/tmp/{own}.sock",
            "home_socket": f"{self.home}/{own}.sock",
        }
        for path in named.values():
            self._listening(socket.AF_UNIX, path)
        self._listening(socket.AF_UNIX, f"\0{own}")
        tcp = self._listening(socket.AF_INET, ("0.0.0.0", 0)).getsockname()[1]  # so that it is reached by any address
        tcp6 = self._listening(socket.AF_INET6, ("::1", 0)).getsockname()[1] if socket.has_ipv6 else 1
        udp = self._listening(socket.AF_INET, ("127.0.0.1", 0), socket.SOCK_DGRAM).getsockname()[1]
        self.shared = _shared_memory()
        posix = Path("/dev/shm", own)  # where it is
        posix.write_text("untouched\n")
        self.posix = posix
        self.key = tries.call("add_key", b"user", own.encode(), self.secret.encode(), len(self.secret), -4)
        self.terminal = pty.openpty()
        return {
            **named, "abstract": own, "tcp": tcp, "tcp6": tcp6, "udp": udp, "address": _address(), "shared": self.shared[0],
            "posix": own, "key": own, "terminal": os.ttyname(self.terminal[1]), "victim": str(self.victim), "pid": victim,
            "santiago": os.getpid(), "server": getattr(server, "pid", os.getpid()), "secret_file": f"{self.home}/.ssh/id_rsa",
            "rc": f"{self.home}/.bashrc", "home": str(self.home), "mark": self.mark, "git": f"{self.top}/repo/.git", "only": only,
            "outdir": f"{self.top}/repo/.santiago/runs/r1", "log": f"{self.top}/repo/.santiago/runs/r1/progress.ndjson",
            "other": f"{self.top}/checkouts/other/file", "package": str(Path(sandbox.__file__).parent),
        }  # fmt: skip

    def reached(self, results: dict[str, tuple[bool, str]]) -> Iterator[str]:
        """Yield the names of the tries that went through, each with what shows it."""
        names = {tries.token(self.mark, name): name for name in results}
        for name, (went, told) in results.items():
            if self.secret in told:
                yield f"{name}: it has the secret"
            elif went and told == tries.CLAIMED:
                yield f"{name}: the kernel let it"
        for written, name in names.items():
            path = Path(name.removeprefix("file in "), f"santiago-try-{written}")
            if name.startswith("file in ") and os.access(path, os.F_OK) and not path.is_relative_to(self.top):
                yield f"{name}: {path} exists"
                path.unlink()
        for path in (
            path for path in self.top.rglob("santiago-try-*") if "mine" not in path.parts and "tmp" not in path.parts
        ):
            yield f"{names.get(path.name.removeprefix('santiago-try-'), path.name)}: {path} exists"
        touched = [self.victim, self.home / ".bashrc", self.top / "repo/.git/config", self.posix]
        for path in touched:
            text = path.read_text() if path.exists() else "gone"
            if text != "untouched\n":
                lines = [line for line in text.splitlines() if line != "untouched"] or ["truncate"]
                yield from (f"{names.get(line, line)}: {path} was changed" for line in lines)
        log = (self.top / "repo/.santiago/runs/r1/progress.ndjson").read_text().splitlines()
        yield from (f"{names.get(line, line)}: the log was changed" for line in log if line != self.secret)
        beside = {path.name for path in self.victim.parent.iterdir()} - {self.victim.name}
        yield from (
            f"{name}: it was made beside the victim" for name in sorted(beside) if not name.startswith("santiago-try")
        )
        now = self.victim.stat() if self.victim.exists() else self.before
        if (now.st_mode, int(now.st_mtime)) != (self.before.st_mode, int(self.before.st_mtime)):
            yield "mode or times: those of the victim were changed"
        for line in {one for text in self.received for one in text.split()}:
            yield f"{names.get(line, line)}: a socket received it"
        if not ctypes.string_at(self.shared[1], 60).startswith(b"untouched"):
            yield "shared memory: it was changed"

    def close(self) -> None:
        for one in self.sockets:
            one.close()
        ctypes.CDLL(None).shmctl(self.shared[2], 0, None)
        tries.call("keyctl", 9, self.key, -4)  # unlinks it
        for path in (*self.made, str(self.posix)):
            Path(path).unlink(missing_ok=True)
        shutil.rmtree(self.top, ignore_errors=True)


def _shared_memory() -> tuple[int, int, int]:
    libc = ctypes.CDLL(None, use_errno=True)
    key = uuid.uuid4().int & 0x7FFFFFFF
    place = tries.call("shmget", key, 4096, 0o1600)
    libc.shmat.restype = ctypes.c_void_p
    address = libc.shmat(place, None, 0)
    ctypes.memmove(address, b"untouched", 9)
    return key, address, place


def _address() -> str:
    """Return an address of this machine that is not loopback; loopback where there is none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        try:
            one.connect(("192.0.2.1", 9))  # nothing is sent
            return str(one.getsockname()[0])
        except OSError:
            return "127.0.0.1"


def is_documented(name: str, kind: str, role: str) -> bool:
    """Tell whether docs/security.md names this way as open."""
    open_here = (*DOCUMENTED[kind], *(FOR_AGENTS if role == "agent" else ()))
    if kind == "landlock" and name.startswith("abstract"):
        return False
    return name.startswith(open_here)


def tried(kind: str, role: str, only: str = "") -> tuple[int, list[str], list[str]]:
    """Have every try made in one sandbox; return how many, those that went through, and the documented ones among them."""
    weaken(kind)
    world = World()
    server = ProcessServer()
    try:
        environment = {**os.environ, "HOME": str(world.home)}
        box = detect("auto", environment)
        if box.kind != kind:
            return 0, [], []
        with ExitStack() as stack:
            victim = stack.enter_context(subprocess.Popen([sys.executable, "-c", VICTIM], stdout=subprocess.PIPE))
            stack.callback(victim.kill)
            assert victim.stdout is not None
            assert victim.stdout.readline() == b"ready\n"
            checkout, repo = str(world.top / "checkouts/mine"), str(world.top / "repo")
            told = world.surroundings(server, victim.pid, only)
            Path(checkout, "world.json").write_text(json.dumps(told))
            shutil.copy(TRIES, checkout)
            place = Place(host=checkout, seen=repo if kind != "landlock" else checkout)
            env = {"PATH": os.environ["PATH"], "HOME": str(world.home)}
            plain = Command(argv=(sys.executable, "-I", "-S", "tries.py"), cwd=checkout, env=env, timeout_ms=300_000)
            fenced = box.wrap(
                plain, place=place, hidden=(told["outdir"], f"{world.top}/checkouts"), network=role == "agent",
                temporary=str(world.top / "tmp"),
            )  # fmt: skip
            report = server.run(fenced)
            found = Path(checkout, "results.json")
            if not found.exists():
                return 0, [f"it did not end: {report.head[-500:]} {report.tail[-500:]}"], []
            results = json.loads(found.read_text())
            through = sorted(set(world.reached(results)))
        documented = [one for one in through if is_documented(one.partition(":")[0], kind, role)]
        return len(results), [one for one in through if one not in documented], documented
    finally:
        server.close()
        world.close()


if __name__ == "__main__":
    print(json.dumps(tried(*sys.argv[1:4])))
