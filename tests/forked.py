"""Santiago as a process of its own, without the wait for its imports: each is forked from one that has them already.

Half of the processor time of a small run is importing. A server, one for each process of the tests, imports everything
once; whoever connects hands over arguments, folder, environment and the three standard streams, and is told the exit code.
What the fork cannot give (a locale, a terminal of its own, settings of the interpreter) is started the ordinary way.
"""

import atexit
import gc
import json
import os
import select
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from tests.forked_client import HEADER, give, read

ROOT = Path(__file__).parents[1]
CLIENT = Path(__file__).with_name("forked_client.py")
NEEDS_AN_INTERPRETER = ("PYTHON", "LC_", "LANG", "MALLOC_", "LD_")
"""Variables that are heeded when an interpreter starts, and never again."""
NEEDS_NONE = {"PYTHONPATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"}
"""Of these, what only concerns the programs that it starts, or is seen to here."""


class Process:
    """A santiago beside the test, with as much of `subprocess.Popen` as tests need. Nothing is on its standard input."""

    def __init__(
        self, arguments: list[str], cwd: Path, env: Mapping[str, str], out: int, err: int, modules: tuple[str, ...] = ()
    ) -> None:
        """`modules` are imported beforehand, beside those that every command needs."""
        self.returncode: int | None = None
        self.wire = socket.socket(socket.AF_UNIX)
        self.wire.connect(server(*modules))
        with open(os.devnull, "rb") as nothing:
            give(self.wire, {"argv": arguments, "cwd": str(cwd), "env": dict(env)}, [nothing.fileno(), out, err])
        self.pid = int.from_bytes(read(self.wire, HEADER), "big")

    def poll(self) -> int | None:
        return self._ended(0)

    def wait(self, seconds: float = 60) -> int:
        code = self._ended(seconds)
        if code is None:
            raise TimeoutError
        return code

    def _ended(self, seconds: float) -> int | None:
        if self.returncode is None and select.select([self.wire], [], [], seconds)[0]:
            self.returncode = int.from_bytes(read(self.wire, HEADER), "big", signed=True)
            self.wire.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


def run(
    arguments: list[str], *, cwd: Path | None, env: dict[str, str], seconds: float, binary: bool = False
) -> subprocess.CompletedProcess[Any]:
    """Do what `subprocess.run([python, "-m", "santiago", *arguments], capture_output=True)` does."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = Process(arguments, cwd or Path.cwd(), env, out.fileno(), err.fileno())
        try:
            code = process.wait(seconds)
        except TimeoutError:
            process.send_signal(signal.SIGKILL)
            raise subprocess.TimeoutExpired(arguments, seconds) from None
        told = []
        for stream in (out, err):
            stream.seek(0)
            told.append(stream.read() if binary else stream.read().decode().replace("\r\n", "\n"))
    return subprocess.CompletedProcess(arguments, code, *told)


def program() -> str:
    """Return a shell script that is `santiago`: forked where nobody sits at a terminal, started the ordinary way otherwise."""
    python = shlex.quote(sys.executable)
    client = f"exec {python} -I -S {shlex.quote(str(CLIENT))} {shlex.quote(server())}"
    return f'#!/bin/sh\nif [ -t 0 ] || [ -t 1 ]; then exec {python} -m santiago "$@"; fi\n{client} "$@"\n'


def fits(env: dict[str, str]) -> bool:
    """Whether a process with these variables can be forked: they ask nothing of an interpreter that ours does not do."""
    return _asked(env) == _asked(os.environ)


def _asked(env: Mapping[str, str]) -> dict[str, str]:
    found = {name: env[name] for name in env if name.startswith(NEEDS_AN_INTERPRETER) and name not in NEEDS_NONE}
    return {"LANG": "C.UTF-8", **found}  # which is what an interpreter takes where nobody says anything


@cache
def server(*modules: str) -> str:
    """Start a server of this process that has these modules as well, and return where it listens."""
    folder = tempfile.mkdtemp(prefix="forked-")
    path = f"{folder}/socket"
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.forked", path, *modules], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"

    atexit.register(_end, process, os.getpid(), path)
    return path


def _end(process: subprocess.Popen[bytes], owner: int, path: str) -> None:
    if os.getpid() == owner:  # not a child that this process forked
        assert process.stdin is not None
        process.stdin.close()
        process.wait()
        with suppress(OSError):
            os.unlink(path)
            os.rmdir(os.path.dirname(path))


def preload() -> None:
    """Import what commands need, and have validators and expressions built, so that no command pays for it."""
    from santiago.cli.options import body_at
    from santiago.contract import codec, lazy_regex
    from santiago.contract.outcomes import AgentEnding, AttemptOutcome
    from santiago.contract.plan import Plan
    from santiago.contract.policy import RunInput
    from santiago.contract.result import Result, Session
    from tests.commands import every_command

    for name in ("app.git_audit", "app.auditing", "cli.view.shown_errors"):
        import_module(f"santiago.{name}")
    for _, command in every_command():
        if place := getattr(command.callback, "body", ""):
            body_at(place)
    for name in ("yaml", "platformdirs"):
        import_module(name)
    for kind in (Plan, RunInput, Result, Session, AgentEnding, AttemptOutcome):
        with suppress(Exception):
            codec.decode(kind, b"{}", "")
    for one in gc.get_objects():
        if isinstance(one, lazy_regex._Later):
            one.match  # noqa: B018  # asking compiles it


# The server


def _serve(path: str, *modules: str) -> None:
    """Start what is asked for, until whoever started this server is gone."""
    preload()
    for name in modules:
        import_module(name)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen(64)
        print("ready", flush=True)
        while sys.stdin not in select.select([listening, sys.stdin], [], [])[0]:
            wire, _ = listening.accept()
            _reap()
            if os.fork() == 0:
                listening.close()
                _mind(wire)
            wire.close()
    _reap()


def _reap() -> None:
    """Wait for those that have ended: what they used is counted, and nothing of them stays."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _mind(wire: socket.socket) -> NoReturn:
    """Be the parent of one santiago: start it, wait for it, and tell how it ended."""
    size = int.from_bytes(wire.recv(HEADER), "big")
    first, streams, _, _ = socket.recv_fds(wire, size, 3)
    order = json.loads(first + read(wire, size - len(first)))
    pid = os.fork()
    if pid == 0:
        wire.close()
        _become(order, streams)
    for stream in streams:
        os.close(stream)
    with suppress(OSError):
        wire.sendall(pid.to_bytes(HEADER, "big"))
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with suppress(OSError):
        wire.sendall(code.to_bytes(HEADER, "big", signed=True))
    os._exit(0)


def _become(order: dict[str, Any], streams: list[int]) -> NoReturn:
    """Be santiago, as an interpreter that was started for it would be."""
    code = 70
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.closerange(3, 256)
        os.environ.clear()
        os.environ.update(order["env"])
        os.chdir(order["cwd"])
        time.tzset()
        sys.argv = ["santiago", *order["argv"]]
        sys.stdout.reconfigure(write_through=bool(os.environ.get("PYTHONUNBUFFERED")))  # type: ignore[union-attr]
        from santiago.cli.entry import entry

        entry()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        import traceback

        traceback.print_exc()
    threading._shutdown()  # type: ignore[attr-defined]  # what an interpreter does at its end
    atexit._run_exitfuncs()
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    with suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    _serve(*sys.argv[1:])
