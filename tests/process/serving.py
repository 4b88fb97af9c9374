"""What tests of processes share: a process server, and a way to find everything that a command has started."""

import contextlib
import os
import select
import time
import uuid
import warnings
from pathlib import Path

from santiago.process.command import Command
from santiago.process.server import ProcessServer

MARK = "SANTIAGO_TEST_MARK"
HOSTILE = (
    'sleep 9001 & setsid sleep 9002 & (setsid sh -c "trap \\"\\" TERM HUP; sleep 9003 & wait" &) ; sh -c "(sleep 9004 &) " ;'
    " nohup setsid sleep 9005 >/dev/null 2>&1 & sleep 9006"
)
"""Six kinds of child: plain, own session, own session that ignores signals, orphan, detached from everything, last."""


def start_server() -> ProcessServer:
    """Start a server although the test runner may have threads of its own; santiago starts it before it has any."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return ProcessServer()


def command(script: str, folder: Path, mark: str = "", **more: object) -> Command:
    env = {"PATH": os.environ["PATH"], MARK: mark or new_mark()}
    fields = {"timeout_ms": 60_000, "grace_ms": 5000, **more}
    return Command(argv=("/bin/sh", "-c", script), cwd=str(folder), env=env, **fields)  # type: ignore[arg-type]


def new_mark() -> str:
    return uuid.uuid4().hex


def marked(mark: str, program: bytes = b"") -> list[int]:
    """Return the living processes that carry a mark in their environment, whoever their parents are."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):  # names, not paths
        with contextlib.suppress(OSError):
            environment = Path("/proc", entry, "environ").read_bytes()
            line = Path("/proc", entry, "cmdline").read_bytes()
            if f"{MARK}={mark}".encode() in environment and line.startswith(program):
                found.append(int(entry))
    return found


def await_end(pids: list[int], seconds: float = 60) -> bool:
    """Wait until processes are gone, by the system's own notice of their end."""
    deadline = time.monotonic() + seconds
    for pid in pids:
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            if not select.select([handle], [], [], max(0, deadline - time.monotonic()))[0]:
                return False
        finally:
            os.close(handle)
    return True
