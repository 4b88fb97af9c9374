"""Running git: with argument lists only, limited time and output, and errors in santiago's words."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import tempfile
import time
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import IO, TYPE_CHECKING

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason
from santiago.contract.record import lean
from santiago.util.disk import guarding
from santiago.workspace.troubles import trouble

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

SECONDS = 120.0
"""How long one git command may take."""
MOST = 64 * 1024 * 1024
"""Bytes of output that are taken from one git command."""
MOST_WORDS = 64 * 1024
"""Bytes of error output that are taken from one git command."""
PIECE = 64 * 1024
GRACE = 2.0

_USERS = ("HOME", "XDG_CONFIG_HOME", "USER", "LOGNAME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
"""Environment variables by which git finds the user's own configuration."""
QUIET = (
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "gc.auto=0",
    "-c",
    "maintenance.auto=false",
)
"""Options that keep git from starting programs which the repository configures."""


@lean(frozen=True)
class Answer:
    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode("utf-8", "backslashreplace").strip()


@cache
def program() -> str:
    """Return the path of git, found once, on santiago's own PATH."""
    found = shutil.which("git")
    if found is None:
        raise SantiagoError(
            Kind.BLOCKED, "git is not installed", hint="Install git 2.38 or newer.", reason=Reason.BLOCKED_DEPENDENCY
        )
    return found


def environment(*, home: bool = False) -> dict[str, str]:
    """Return git's environment: nothing of the caller's, or with `home` only what leads to the user's own configuration."""
    names = ("PATH", "TMPDIR", *(_USERS if home else ()))
    found = {name: os.environ[name] for name in names if name in os.environ}
    found |= {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_REPLACE_OBJECTS": "1"}
    if not home:
        found |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_ATTR_NOSYSTEM": "1"}
    return found


def call(
    arguments: Sequence[str],
    env: Mapping[str, str],
    cwd: Path,
    *,
    stdin: bytes = b"",
    accept: Sequence[int] = (0,),
    take: Callable[[bytes], bool] | None = None,
    seconds: float = SECONDS,
    within: Sequence[str] = (),
) -> Answer:
    """Run git and return its answer. `take` gets the output piece by piece, and returns False when it has enough.

    `within` is the beginning of the command line of a program that becomes git, such as a shell that sets limits.
    """
    output = bytearray()
    with ExitStack() as stack:
        source = stack.enter_context(_source(stdin))
        process = stack.enter_context(start(arguments, env, cwd, source, within))
        stack.callback(end, process)
        words, enough = read(process, arguments, take or _bounded(output, arguments), seconds)
        code = 0 if enough else process.wait()
    err = words.decode("utf-8", "backslashreplace")
    if code not in accept:
        raise trouble(arguments, err)
    return Answer(code, bytes(output), err)


@contextmanager
def _source(data: bytes) -> Iterator[IO[bytes] | int]:
    """Lend the data as a file for standard input. A pipe could block while both sides write."""
    if not data:
        yield subprocess.DEVNULL
        return
    with guarding(tempfile.gettempdir()), tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        yield file


def start(
    arguments: Sequence[str],
    env: Mapping[str, str],
    cwd: Path,
    source: IO[bytes] | int,
    within: Sequence[str] = (),
) -> subprocess.Popen[bytes]:
    """Start git. The caller must read both of its streams, and end it."""
    try:
        return subprocess.Popen(  # noqa: S603  # an argument list, never a shell
            [*within, program(), *QUIET, *arguments],
            bufsize=0,
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(env),
            cwd=cwd,
            start_new_session=True,  # a Ctrl-C is santiago's to handle; it must not cut a snapshot short
        )
    except OSError as error:
        raise trouble(arguments, f"{os.strerror(error.errno or 0)}: {error.filename}") from None


def _bounded(output: bytearray, arguments: Sequence[str]) -> Callable[[bytes], bool]:
    def take(piece: bytes) -> bool:
        output.extend(piece)
        if len(output) > MOST:
            raise trouble(arguments, f"it printed more than {MOST // 2**20} MiB")
        return True

    return take


def read(
    process: subprocess.Popen[bytes],
    arguments: Sequence[str],
    take: Callable[[bytes], bool],
    seconds: float = SECONDS,
) -> tuple[bytes, bool]:
    """Read both streams; return the error output, and whether `take` had enough before the end."""
    assert process.stdout is not None
    assert process.stderr is not None
    words, complaints = bytearray(), process.stderr.fileno()
    deadline = time.monotonic() + seconds
    still = {process.stdout.fileno(), complaints}
    streams = select.poll()
    for handle in still:
        streams.register(handle, select.POLLIN)
    while still:
        ready = streams.poll(max(0.0, deadline - time.monotonic()) * 1000)
        if not ready:
            raise trouble(arguments, f"it took longer than {seconds:.0f} seconds")
        for handle, _ in ready:
            piece = os.read(handle, PIECE)
            if not piece:
                streams.unregister(handle)
                still.remove(handle)
            elif handle == complaints:
                words += piece[: max(0, MOST_WORDS - len(words))]
            elif not take(piece):
                return bytes(words), True
    return bytes(words), False


def end(process: subprocess.Popen[bytes]) -> None:
    """End a git process that still runs. It is asked first, so that it can remove its locks."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
