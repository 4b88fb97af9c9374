"""Starting supervisors cheaply: one small server process, forked before there are threads, forks one per program.

A supervisor is thus a fork of a tiny single-threaded process: about two milliseconds, no new interpreter, and no copy
of santiago's locks or log files, which the server never had.
"""

from __future__ import annotations

import array
import contextlib
import os
import signal
import socket
import threading
from typing import TYPE_CHECKING

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason
from santiago.process import tree
from santiago.process.command import Command, Report
from santiago.process.supervisor import read_frame, send_frame, supervise

if TYPE_CHECKING:
    from collections.abc import Callable

POLL_SECONDS = 0.1
"""How often a waiting caller looks whether it should stop."""


class ProcessServer:
    """Runs programs under supervisors. Start it before any thread and before any file of a run is opened."""

    def __init__(self) -> None:
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.lock = threading.Lock()
        self.pid = os.fork()
        if self.pid == 0:
            self.control.close()
            with contextlib.suppress(BaseException):
                _serve(theirs)
            os._exit(0)
        theirs.close()

    def run(self, command: Command, stopped: Callable[[], str | None] = lambda: None) -> Report:
        """Run a program to its end; `stopped` may say `stop` (with grace) or `now`."""
        with self._ask(b"run") as mine, contextlib.suppress(ConnectionError):
            send_frame(mine, command.to_data())
            self._wait(mine, stopped)
            answer = read_frame(mine)
            if answer is not None:
                return Report.from_data(answer)
        self._sweep()
        return Report(exit_code=None, error="the supervisor was killed", signal=signal.SIGKILL)

    def _ask(self, what: bytes) -> socket.socket:
        """Hand the server one end of a new connection and return the other."""
        mine, theirs = socket.socketpair()
        with theirs, self.lock:
            fds = array.array("i", [theirs.fileno()])
            try:
                self.control.sendmsg([what], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
            except OSError:
                mine.close()
                raise _gone() from None
        return mine

    def _sweep(self) -> None:
        """Have everything killed that a killed supervisor left, and return when it is dead."""
        with self._ask(b"sweep") as mine:
            try:
                done = mine.recv(16)
            except OSError:
                done = b""
        if not done:
            raise _gone()

    def _wait(self, connection: socket.socket, stopped: Callable[[], str | None]) -> None:
        """Wait for the report, passing on the wish to stop, and again where it becomes more urgent."""
        import select

        said = None
        while not select.select([connection], [], [], POLL_SECONDS)[0]:
            word = stopped()
            if word and word != said:
                said = word
                with contextlib.suppress(OSError):
                    connection.sendall(word.encode())

    def close(self) -> bool:
        """End the server; False where somebody else had ended it, so that it could not look after its children."""
        self.control.close()
        with contextlib.suppress(ChildProcessError):
            return os.waitpid(self.pid, 0)[1] == 0
        return False


def _gone() -> SantiagoError:
    message = "the process that starts programs was killed from outside; nothing that was recorded is lost"
    return SantiagoError(
        Kind.TRANSIENT, message, hint="Run the same command again; a sandbox keeps agents from doing this.", reason=Reason.IO_ERROR
    )  # fmt: skip


def _serve(control: socket.socket) -> None:
    """Fork a supervisor for every connection that is handed over, until santiago is gone."""
    os.setsid()
    tree.adopt_orphans()
    supervisors: set[int] = set()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    _keep_only({0, 1, 2, control.fileno()})
    while True:
        message, fds, _, _ = socket.recv_fds(control, 16, 1)
        if not message:
            return
        connection = socket.socket(fileno=fds[0])
        if message == b"sweep":
            tree.kill_strays(supervisors)
            with contextlib.suppress(OSError):
                connection.sendall(b"done")
            connection.close()
            continue
        pid = os.fork()
        if pid == 0:
            control.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
                signal.signal(number, signal.SIG_IGN if number != signal.SIGTERM else signal.SIG_DFL)
            with contextlib.suppress(BaseException):
                supervise(connection)
            os._exit(0)
        supervisors = {other for other in supervisors if tree.is_alive(other)} | {pid}
        connection.close()


def _keep_only(wanted: set[int]) -> None:
    """Close every other file that was open in the parent."""
    limit = max(wanted) + 1
    for handle in range(3, limit):
        if handle not in wanted:
            with contextlib.suppress(OSError):
                os.close(handle)
    os.closerange(limit, os.sysconf("SC_OPEN_MAX") if os.sysconf("SC_OPEN_MAX") < 1 << 20 else 65536)
