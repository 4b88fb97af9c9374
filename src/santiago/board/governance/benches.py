"""Where the commands of scenarios run: fenced, each within its time and output, as the checks of a run do."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from santiago.board.governance import ranges
from santiago.contract.ports.run import Never
from santiago.contract.record import record
from santiago.judge.commands import CommandRunner
from santiago.process import environment
from santiago.process.redact import to_hide
from santiago.process.temporary import Temporary
from santiago.util.disk import guarding
from santiago.workspace.inspect import is_dirty

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from santiago.process.command import Report
    from santiago.process.sandbox import Sandbox
    from santiago.process.server import ProcessServer

    Execute = Callable[[str, Path], Report]
    """Runs a command, its output in a log."""


@record
class Bench:
    """Where commands run, and what runs them."""

    commit: str | None
    """The commit that is checked out there; None where there is none."""
    execute: Execute
    is_clean: Callable[[], bool]
    """Whether the files are those of the commit; asked once, at the end."""


@contextmanager
def in_place(
    folder: Path, server: ProcessServer, fence: Sandbox, source: Mapping[str, str], timeout_ms: int
) -> Iterator[Bench]:
    """Provide the files as they stand; commands run as checks of a run do, except that they see and may change these."""
    with TemporaryDirectory(prefix="santiago-scenario-") as scratch:
        runner = CommandRunner(
            server=server,
            sandbox=fence,
            environment=environment.for_checks(source),
            timeout_ms=timeout_ms,
            scratch=Path(scratch),
            secrets=to_hide(source),
        )
        commit = ranges.head_of(folder)
        yield Bench(commit=commit, execute=by(runner, str(folder)), is_clean=lambda: not is_dirty(folder))


def nowhere() -> Bench:
    """Return a bench for a dry run, on which nothing runs."""

    def refuse(command: str, _: Path) -> Report:
        raise AssertionError(f"a dry run would run {command!r}")

    return Bench(commit=None, execute=refuse, is_clean=lambda: False)


def by(runner: CommandRunner, folder: str) -> Execute:
    """Return what runs single commands in a folder."""

    def execute(command: str, log: Path) -> Report:
        with guarding(runner.scratch), Temporary(runner.scratch) as temporary:
            return runner.run(command, folder, temporary, {}, Never(), log=str(log))

    return execute
