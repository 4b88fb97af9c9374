"""One supervisor per program: it owns the process tree, enforces the time limit, reads the output, and reports at the end.

It ends the tree when time is up, when too much was printed, when santiago asks over the connection, and when the
connection closes, which is what happens when santiago itself dies.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import select
import signal
import socket
import struct
import subprocess
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from santiago.process import landlock, tree
from santiago.process.command import Command, Report
from santiago.process.redact import Redactor

if TYPE_CHECKING:
    from santiago.process.redact import Redactor


_LOAD, _AND, _IS, _AT_LEAST, _ABOVE, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x25, 0x06
_NUMBER, _MACHINE = 0, 4
"""Where a filter finds the number of a system call, and the kind of machine code that makes it."""
_ALLOW, _UNKNOWN_CALL = 0x7FFF0000, 0x00050000 | 38
_NOT_X32 = 0xBFFFFFFF
_FIRST = {0xC000003E: 248, 0x40000003: 286, 0xC00000B7: 217, 0x40000028: 309}
"""Kind of machine code → `add_key`, after which come `request_key` and `keyctl`: x86 with 64 and 32 bits, Arm with 64 and 32."""
_NO_NEW_PRIVILEGES, _SET_FILTER, _FILTER = 38, 22, 2


def refuse_keyrings() -> None:
    """Refuse the system calls of keyrings to this process and all that it starts."""
    code = b"".join(map(_refusing, _FIRST)) + _step(_RETURN, _ALLOW)
    buffer = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    libc.prctl(_SET_FILTER, _FILTER, ctypes.c_char_p(program), 0, 0)


def _refusing(machine: int) -> bytes:
    first = _FIRST[machine]
    return b"".join(
        (
            _step(_LOAD, _MACHINE),
            _step(_IS, machine, otherwise=6),  # past the end of this part
            _step(_LOAD, _NUMBER),
            _step(_AND, _NOT_X32),
            _step(_AT_LEAST, first, otherwise=2),
            _step(_ABOVE, first + 2, then=1),
            _step(_RETURN, _UNKNOWN_CALL),
            _step(_RETURN, _ALLOW),
        )
    )


def _step(code: int, value: int, *, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("HBBI", code, then, otherwise, value)


class Captured(NamedTuple):
    """The kept output, redacted. If nothing was dropped, all of it is in the head."""

    head: str
    tail: str
    dropped: int
    log_dropped: int


class Capture:
    """Takes output piece by piece. It keeps the beginning and the end in memory, and writes more of it to a log file."""

    def __init__(self, keep: int, redactor: Redactor, log: str | None, log_keep: int | None = None) -> None:
        self.keep = keep
        self.redactor = redactor
        self.head = bytearray()
        self.ring = bytearray()
        # More bytes than are shown, so that a secret across the cut is still recognised.
        self.most = keep + redactor.reach
        self.total = 0
        self.log = _Log(log, keep if log_keep is None else log_keep, redactor) if log else None

    def feed(self, piece: bytes) -> None:
        self.total += len(piece)
        if len(self.head) < self.keep:
            self.head += piece[: self.keep - len(self.head)]
        self.ring += piece[-self.most :]
        if len(self.ring) > 2 * self.most:
            del self.ring[: -self.most]
        if self.log is not None:
            self.log.feed(piece)

    def end(self) -> Captured:
        """Return what was kept, and finish the log file."""
        start = max(len(self.ring) - self.most, 0)
        ring = bytes(self.ring[start:])
        log_dropped = self.log.end(ring, self.keep) if self.log is not None else self.total
        dropped = max(self.total - 2 * self.keep, 0)
        if not dropped:
            after = len(self.head) - (self.total - len(ring))
            return Captured(_text(self.redactor.whole(bytes(self.head) + ring[after:])), "", 0, log_dropped)
        # Without `end()`, so that the possible beginning of a secret at the cut is not shown.
        head = self.redactor.fresh().feed(bytes(self.head))
        return Captured(_text(head), _text(last(self.redactor, ring, self.keep)), dropped, log_dropped)


class _Log:
    """A file that grows with the output, up to a limit. The end of the output is added when it is known."""

    def __init__(self, path: str, most: int, redactor: Redactor) -> None:
        self.handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        self.most = most
        self.redactor = redactor
        self.stream = redactor.fresh()
        self.total = 0
        self.taken = 0
        """Bytes of output that were given to the stream."""
        self.failed = False

    def feed(self, piece: bytes) -> None:
        self.total += len(piece)
        part = piece[: self.most - self.taken]
        if part and not self.failed:
            self._write(self.stream.feed(part))
            self.taken += len(part)

    def end(self, ring: bytes, keep: int) -> int:
        """Finish with the last bytes of the output, and return how many are missing in the file."""
        missing = max(self.total - self.taken - keep, 0)
        if missing:
            self._write(f"\n… {missing} bytes dropped …\n".encode() + last(self.redactor, ring, keep))
        else:
            rest = ring[len(ring) - (self.total - self.taken) :]
            self._write(self.stream.feed(rest) + self.stream.end())
        os.close(self.handle)
        return max(missing, 1) if self.failed else missing

    def _write(self, piece: bytes) -> None:
        while piece and not self.failed:
            try:
                piece = piece[os.write(self.handle, piece) :]
            except OSError:
                # Output must be read on even if the disk is full. The coordinator meets the same error where it can act on it.
                self.failed = True


def last(redactor: Redactor, ring: bytes, keep: int) -> bytes:
    """Return the last bytes of an output. The bytes before them only help to recognise a secret that begins earlier."""
    stream = redactor.fresh()
    before = max(len(ring) - keep, 0)
    stream.feed(ring[:before])
    return stream.feed(ring[before:]) + stream.end()


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")


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
            refuse_keyrings()
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
