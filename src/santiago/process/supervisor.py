"""One supervisor per program: it owns the process tree, enforces the time limit, reads the output, and reports at the end.

It ends the tree when time is up, when too much was printed, when santiago asks over the connection, and when the
connection closes, which is what happens when santiago itself dies.
"""

from __future__ import annotations

import errno
import json
import os
import select
import signal
import socket
import struct
import subprocess
import time
from typing import Any

from santiago.process import keyrings, landlock, tree
from santiago.process.capture import Capture
from santiago.process.command import Command, Report
from santiago.process.redact import Redactor

PIECE = 256 * 1024
DRAIN_MS = 200
"""How long output is still read after the program has ended."""


def send_frame(connection: socket.socket, data: dict[str, Any]) -> None:
    body = json.dumps(data).encode()
    connection.sendall(struct.pack(">I", len(body)) + body)


def read_frame(connection: socket.socket) -> dict[str, Any] | None:
    """Return the next message; None if the other side has closed."""
    head = _exactly(connection, 4)
    body = _exactly(connection, struct.unpack(">I", head)[0]) if head else None
    return json.loads(body) if body else None


def _exactly(connection: socket.socket, size: int) -> bytes | None:
    data = b""
    while len(data) < size:
        piece = connection.recv(size - len(data))
        if not piece:
            return None
        data += piece
    return data


def supervise(connection: socket.socket) -> None:
    """Serve one connection: run the programs that it names, one after the other, and report on each."""
    tree.adopt_orphans()
    while (data := read_frame(connection)) is not None:
        report = _run(Command.from_data(data), connection)
        try:
            send_frame(connection, report.to_data())
        except OSError:
            return  # santiago has ended, so nobody reads the report


def _run(command: Command, connection: socket.socket) -> Report:
    tree.ENDED.clear()  # process ids are reused
    try:
        capture = Capture(command.keep, Redactor(command.secrets), command.log, command.log_keep)
    except OSError as error:
        message = f"its log cannot be written: {error.strerror}: {command.log}"
        return Report(exit_code=None, error=message, errno=errno.EIO)
    return Supervision(command, connection, capture).run()


class Supervision:
    """The life of one program."""

    def __init__(self, command: Command, connection: socket.socket, capture: Capture) -> None:
        self.command = command
        self.connection = connection
        self.capture = capture
        self.began = time.monotonic()
        self.timed_out = self.stopped = self.flooded = False
        self.kill_at: float | None = None

    def run(self) -> Report:
        reader, writer = os.pipe2(os.O_CLOEXEC)
        try:
            process = self.start(writer)
        except (OSError, ValueError) as error:
            os.close(reader)
            return self.failed(error)
        finally:
            os.close(writer)
        os.set_blocking(reader, False)
        self.watch(process, reader)
        self.terminate_rest(process, reader)
        return self.report(process)

    def start(self, writer: int) -> subprocess.Popen[bytes]:
        command = self.command
        stdin = os.open(command.stdin or os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        try:
            return subprocess.Popen(  # noqa: S603  # an argument list, never a shell
                command.argv,
                cwd=command.cwd,
                env=command.env,
                stdin=stdin,
                stdout=writer,
                stderr=writer,
                start_new_session=True,
                preexec_fn=self.fence if command.landlock is not None or command.keyless else None,
            )
        finally:
            os.close(stdin)

    def fence(self) -> None:
        """Restrict the process that becomes the program."""
        if self.command.keyless:
            keyrings.close()
        if self.command.landlock is not None:
            landlock.restrict(self.command.landlock, tcp=self.command.tcp)

    def watch(self, process: subprocess.Popen[bytes], reader: int) -> None:
        """Read output until the program ends, and end it if it must end."""
        ended = os.pidfd_open(process.pid)
        poll = select.poll()
        for handle in (reader, ended, self.connection.fileno()):
            poll.register(handle, select.POLLIN)
        try:
            while process.poll() is None:
                for handle, _ in poll.poll(self.next_tick()):
                    if handle == reader and not self.take(reader):
                        poll.unregister(reader)
                    elif handle == self.connection.fileno():
                        self.asked(poll)
                self.enforce(process)
        finally:
            os.close(ended)

    def next_tick(self) -> int:
        """Return the milliseconds until something is due."""
        due = self.kill_at if self.kill_at is not None else self.began + self.command.timeout_ms / 1000
        return max(0, min(60_000, int((due - time.monotonic()) * 1000) + 1))

    def take(self, reader: int) -> bool:
        """Read a piece of output; False at its end."""
        try:
            piece = os.read(reader, PIECE)
        except BlockingIOError:
            return True
        self.capture.feed(piece)
        return bool(piece)

    def asked(self, poll: select.poll) -> None:
        """Handle a request to stop, or the end of santiago."""
        word = self.connection.recv(16)
        self.stopped = True
        if not word or word.startswith(b"now"):
            self.kill_at = time.monotonic()
        if not word:
            poll.unregister(self.connection.fileno())

    def enforce(self, process: subprocess.Popen[bytes]) -> None:
        """Ask the tree to end if it must, and kill it when the grace is over."""
        now = time.monotonic()
        if self.capture.total > self.command.most:
            self.flooded = True
        if self.kill_at is None and now >= self.began + self.command.timeout_ms / 1000:
            self.timed_out = True
        if self.kill_at is None and (self.timed_out or self.stopped or self.flooded):
            self.kill_at = now + self.command.grace_ms / 1000
            tree.send(tree.without_keepers([process.pid, *tree.descendants(os.getpid())]), signal.SIGTERM)
        elif self.kill_at is not None and now >= self.kill_at:
            tree.kill_all(process.pid)

    def terminate_rest(self, process: subprocess.Popen[bytes], reader: int) -> None:
        """Kill what outlived the program, and read the rest of its output."""
        self.orphans = tree.kill_all(process.pid)
        deadline = time.monotonic() + DRAIN_MS / 1000
        while time.monotonic() < deadline:
            try:
                piece = os.read(reader, PIECE)
            except BlockingIOError:
                break
            if not piece:
                break
            self.capture.feed(piece)
        os.close(reader)

    def report(self, process: subprocess.Popen[bytes]) -> Report:
        kept = self.capture.end()
        status = tree.ENDED.get(process.pid)
        code = process.returncode if status is None else os.waitstatus_to_exitcode(status)
        return Report(
            exit_code=code if code >= 0 else None,
            signal=-code if code < 0 else None,
            ms=self.elapsed(),
            head=kept.head,
            tail=kept.tail,
            dropped=kept.dropped,
            log_dropped=kept.log_dropped,
            total=self.capture.total,
            orphans=self.orphans,
            timed_out=self.timed_out,
            stopped=self.stopped,
            flooded=self.flooded,
        )

    def failed(self, error: OSError | ValueError) -> Report:
        self.capture.end()
        if isinstance(error, OSError):
            message, number = f"{error.strerror}: {self.command.argv[0]}", error.errno or 0
        else:
            message, number = f"cannot be started: {_unusable(self.command) or error}", 0
        return Report(exit_code=None, ms=self.elapsed(), error=message, errno=number)

    def elapsed(self) -> int:
        return int((time.monotonic() - self.began) * 1000)


def _unusable(command: Command) -> str:
    """Return which part of a command is invalid on any system; empty if none is."""
    parts = {
        "an argument": command.argv, "the environment": (*command.env, *command.env.values()), "the folder": (command.cwd,),
    }  # fmt: skip
    return next((f"{name} contains a NUL byte" for name, texts in parts.items() if "\0" in "".join(texts)), "")
