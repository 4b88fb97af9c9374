"""Starting supervisors cheaply: one small server process, forked before there are threads, forks them.

So a supervisor is a fork of a tiny single-threaded process: it needs no new interpreter, and has no copy of santiago's locks
or log files, which the server never had. A supervisor whose program ended by itself and left nothing behind serves the next
program. One that had to kill anything is never used again.
"""

from __future__ import annotations

import array
import contextlib
import os
import resource
import select
import signal
import socket
import sys
import threading
import time
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason
from santiago.process import tree
from santiago.process.command import Command, Report
from santiago.process.supervisor import read_frame, send_frame, supervise

if TYPE_CHECKING:
    from collections.abc import Callable

POLL_MS = 100
"""How often a waiting caller checks whether it should stop."""
PATIENCE_MS = 30_000
"""How long santiago's own processes may take to answer. One that was stopped from outside would never answer."""
_STRAYS = (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
"""Signals that the server and its supervisors ignore: santiago tells them when to end."""
_LIMITS = [getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")]


class Supervisor(NamedTuple):
    """The other end of a connection."""

    connection: socket.socket
    pid: int

    def is_sound(self) -> bool:
        """Tell whether it can be used again: it lives, is idle, and its resource limits are unchanged."""
        if _has_news(self.connection, 0):
            return False
        with contextlib.suppress(OSError, AttributeError):  # not every system can ask
            return all(resource.prlimit(self.pid, one) == resource.getrlimit(one) for one in _LIMITS)
        return sys.platform != "linux"


class ProcessServer:
    """Runs programs under supervisors. Start it before any thread and before any file of a run is opened."""

    def __init__(self) -> None:
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.lock = threading.Lock()
        self.resting: list[Supervisor] = []
        """Idle supervisors."""
        self.waits: set[_Wait] = set()
        self.ended: deque[_Wait] = deque(maxlen=64)
        tree.shield()
        self.pid = os.fork()
        if self.pid == 0:
            self.control.close()
            with contextlib.suppress(BaseException):
                _serve(theirs)
            os._exit(0)
        theirs.close()

    def run(self, command: Command, stopped: Callable[[], str | None] = lambda: None) -> Report:
        """Run a program to its end. `stopped` may return `stop` (with grace) or `now`."""
        supervisor = self._supervisor()
        with contextlib.ExitStack() as stack:
            connection = stack.enter_context(supervisor.connection)
            with contextlib.suppress(ConnectionError):
                send_frame(connection, command.to_data())
                wait = _Wait(supervisor, command)
                self.waits.add(wait)
                stack.callback(self._over, wait)
                while not _has_news(connection, POLL_MS):
                    wait.look(stopped())
                answer = read_frame(connection)
                if answer is not None:
                    report = Report.from_data(answer)
                    wait.seen = wait.began + report.ms / 1000
                    if wait.late:  # the supervisor was stopped, and missed the request or its time limit
                        asked = wait.said is not None
                        report = replace(report, stopped=asked, timed_out=report.timed_out or not asked)
                    if report.calm and not wait.said:
                        stack.pop_all()
                        self._over(wait)
                        self.resting.append(supervisor)
                    return report
        self._sweep()
        return Report(exit_code=None, error="the supervisor was killed", signal=signal.SIGKILL)

    def _over(self, wait: _Wait) -> None:
        self.ended.append(wait)
        self.waits.discard(wait)

    def worked(self, since_ms: int, until_ms: int) -> int:
        """Return for how long programs ran between two readings of `time.monotonic`, while this process was stopped."""
        spans = sorted((wait.began, wait.seen) for wait in (*tuple(self.waits), *tuple(self.ended)))
        ms, last = 0, since_ms
        for began, seen in spans:
            begin, end = max(int(began * 1000), last), min(int(seen * 1000), until_ms)
            if end > begin:
                ms, last = ms + end - begin, end
        return ms

    def _supervisor(self) -> Supervisor:
        """Return an idle supervisor that can be used again, or a new one."""
        with contextlib.suppress(IndexError):
            while not (supervisor := self.resting.pop()).is_sound():
                supervisor.connection.close()
            return supervisor
        connection = self._ask(b"run")
        return Supervisor(connection, int(_answer(connection)))

    def _ask(self, what: bytes) -> socket.socket:
        """Hand the server one end of a new connection and return the other."""
        mine, theirs = socket.socketpair()
        tree.send([self.pid], signal.SIGCONT)  # an agent without a sandbox may have stopped it
        with theirs, self.lock:
            fds = array.array("i", [theirs.fileno()])
            try:
                self.control.sendmsg([what], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
            except OSError:
                mine.close()
                raise _gone() from None
        return mine

    def _sweep(self) -> None:
        """Kill everything that a killed supervisor left; return when it is dead."""
        with self._ask(b"sweep") as mine:
            _answer(mine)

    def close(self) -> bool:
        """End the server; return False if it did not end normally, so that processes may be left."""
        self.control.close()
        for supervisor in self.resting:
            supervisor.connection.close()
        tree.send([self.pid], signal.SIGCONT)
        tree.await_end(self.pid, PATIENCE_MS)
        with contextlib.suppress(ChildProcessError):
            return os.waitpid(self.pid, 0)[1] == 0
        return False


class _Wait:
    """Waits for a report. It passes requests to stop on, and enforces the time limit even if the supervisor was stopped.

    An agent without a sandbox can stop or trace its supervisor, which then enforces no limit. When time and grace are over,
    everything below the supervisor is killed from here, so that it can report. If it does not, it is killed too.
    """

    def __init__(self, supervisor: Supervisor, command: Command) -> None:
        self.supervisor = supervisor
        self.command = command
        self.said: str | None = None
        self.began = self.seen = time.monotonic()
        """When the program began, and the last time at which it was known to run."""
        self.due = self.began + (command.timeout_ms + command.grace_ms) / 1000
        self.late = False

    def look(self, word: str | None) -> None:
        """Pass a request to stop on, again if it becomes more urgent, and kill what is overdue."""
        now = self.seen = time.monotonic()
        if word and word != self.said:
            self.said = word
            self.due = min(self.due, now + self.command.grace_ms / 1000)
            with contextlib.suppress(OSError):
                self.supervisor.connection.sendall(word.encode())
        if now > self.due:
            self.late = True
            tree.kill_below(self.supervisor.pid)
        if now > self.due + PATIENCE_MS / 1000:
            tree.send([self.supervisor.pid], signal.SIGKILL)


def _answer(connection: socket.socket) -> bytes:
    """Return the server's answer; raise if there is none."""
    with contextlib.suppress(OSError):
        answer = connection.recv(16) if _has_news(connection, PATIENCE_MS) else b""
        if answer:
            return answer
    connection.close()
    raise _gone()


def _has_news(connection: socket.socket, milliseconds: int) -> bool:
    """Wait until the other side sends something or closes; return False if the time runs out."""
    poll = select.poll()  # not `select`, which fails with more than a thousand open files
    poll.register(connection, select.POLLIN)
    return bool(poll.poll(milliseconds))


def _gone() -> SantiagoError:
    message = "the process that starts programs was killed or stopped from outside; nothing that was recorded is lost"
    return SantiagoError(
        Kind.TRANSIENT, message, hint="Run the same command again; a sandbox keeps agents from doing this.", reason=Reason.IO_ERROR
    )  # fmt: skip


def _serve(control: socket.socket) -> None:
    """Fork a supervisor for every connection that is handed over, until santiago ends."""
    os.setsid()
    tree.adopt_orphans()
    supervisors: set[int] = set()
    for number in (*_STRAYS, signal.SIGTERM):
        signal.signal(number, lambda *_: None)  # not SIG_IGN, which started programs would inherit
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
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            with contextlib.suppress(BaseException):
                supervise(connection)
            os._exit(0)
        supervisors = {other for other in supervisors if tree.is_alive(other)} | {pid}
        with contextlib.suppress(OSError):
            connection.sendall(str(pid).encode())
        connection.close()


def _keep_only(wanted: set[int]) -> None:
    """Close every other file that was open in the parent."""
    limit = max(wanted) + 1
    for handle in range(3, limit):
        if handle not in wanted:
            with contextlib.suppress(OSError):
                os.close(handle)
    os.closerange(limit, os.sysconf("SC_OPEN_MAX") if os.sysconf("SC_OPEN_MAX") < 1 << 20 else 65536)
