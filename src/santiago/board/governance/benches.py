"""Where the commands of scenarios run: in a sandbox, with limits on time and output, as the checks of a run do."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from santiago.board.governance import ranges
from santiago.contract.ports.run import Never
from santiago.contract.record import record
from santiago.judge.check_runner import CommandRunner
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
    """Runs a command, and writes its output to a log."""


@record
class Bench:
    """A folder in which commands run, and the function that runs them."""

    commit: str | None
    """The commit that is checked out in the folder; None where there is none."""
    execute: Execute
    is_clean: Callable[[], bool]
    """Whether the files are still those of the commit. It is asked once, at the end."""


@contextmanager
def in_place(
    folder: Path, server: ProcessServer, fence: Sandbox, source: Mapping[str, str], timeout_ms: int
) -> Iterator[Bench]:
    """Provide the project's own folder. Commands run as the checks of a run do, but see and may change these files."""
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
        yield Bench(commit=commit, execute=runner_in(runner, str(folder)), is_clean=lambda: not is_dirty(folder))


def for_dry_run() -> Bench:
    """Return a bench that runs nothing, for a dry run."""

    def refuse(command: str, _: Path) -> Report:
        raise AssertionError(f"a dry run would run {command!r}")

    return Bench(commit=None, execute=refuse, is_clean=lambda: False)


def runner_in(runner: CommandRunner, folder: str) -> Execute:
    """Return a function that runs single commands in a folder."""

    def execute(command: str, log: Path) -> Report:
        with guarding(runner.scratch), Temporary(runner.scratch) as temporary:
            return runner.run(command, folder, temporary, {}, Never(), log=str(log))

    return execute
