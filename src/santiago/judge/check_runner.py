"""Running a story's checks in a checkout, inside the sandbox and within their time and output, and reading what each showed."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.contract.outcomes import CheckResult, CheckVerdict, Output
from santiago.contract.ports.run import Stop
from santiago.contract.quantities import Seconds
from santiago.contract.record import lean, record
from santiago.judge import missing
from santiago.judge.commandline import programs, runner_of
from santiago.judge.comparison import Shown, fails_alike
from santiago.judge.naming.junit import UnreadError
from santiago.judge.naming.named_tests import Tests
from santiago.judge.naming.printed_results import named, tally
from santiago.judge.naming.runner_options import asking, refused
from santiago.process.command import Command, Report
from santiago.process.place import Ground
from santiago.process.temporary import Temporary
from santiago.util import regular
from santiago.util.disk import CACHE, guarding

if TYPE_CHECKING:
    from santiago.process.sandbox import Sandbox
    from santiago.process.server import ProcessServer

Told = Mapping[str, str]
"""Variables that tell a check which story it belongs to."""
LOG_KEEP = 10 * 1024 * 1024
"""Bytes of a check's output that its log holds. Test names are read from this log."""
_NOT_FETCHED = {"UV_NO_SYNC": "1"}
"""Keeps `uv run` from installing the project anew before each check, for which it would need the network."""
_SHOWN = ("SANTIAGO_PLAN_DIR", "SANTIAGO_PROMPT_FILE")
"""Environment variables that name folders which a command may read, even in a hidden folder."""


@record
class CommandRunner:
    """Runs commands. What they may see and write is fixed when the runner is made; no file of a checkout changes that."""

    server: ProcessServer
    sandbox: Sandbox
    ground: Ground = field(default_factory=Ground)
    """Knows where the checkouts are in which the commands run."""
    environment: Mapping[str, str]
    timeout_ms: int
    scratch: Path
    secrets: tuple[str, ...] = ()
    """Secret values, which are removed from the output before it is kept."""
    hidden: tuple[str, ...] = ()

    def run(
        self,
        command: str,
        folder: str,
        temporary: str,
        told: Mapping[str, str],
        stop: Stop,
        *,
        network: bool = False,
        log: str | None = None,
    ) -> Report:
        """Run one command to its end. It may write to its folder and to the temporary one. `told` are variables for it."""
        env = {**({} if network else _NOT_FETCHED), **self.environment, **told}
        shown = {name: env[name] for name in _SHOWN if env.get(name)}
        place = self.ground.place(folder, *shown.values(), builds=not network)
        env |= {name: place.called(path) for name, path in shown.items()}
        plain = Command(
            argv=("/bin/sh", "-c", command), cwd=folder, env=env, timeout_ms=self.timeout_ms, secrets=self.secrets,
            log=log, log_keep=LOG_KEEP,
        )  # fmt: skip
        fenced = self.sandbox.wrap(plain, place=place, hidden=self.hidden, network=network, temporary=temporary)
        # A stop at the next safe boundary lets a check finish; only an immediate stop ends it.
        return self.server.run(fenced, lambda: "now" if stop.now() else None)

    def seen(self, path: Path, temporary: str) -> str:
        """Return how a command sees a path below its temporary folder."""
        return str(path).replace(temporary, self.sandbox.temporary_seen(temporary), 1)

    def shortened(self, folder: str) -> Callable[[str], str]:
        """Return a function that makes paths of a checkout relative to its top."""
        seen = self.ground.place(folder).seen
        return lambda text: text.replace(f"{folder}/", "").replace(f"{seen}/", "")


_ALWAYS_SAY = frozenset([
    "pytest", "unittest", "go", "cargo", "jest", "vitest", "mocha", "node", "rspec", "phpunit", "ctest", "dotnet", "prove",
])  # fmt: skip
"""Runners that always print a summary that is understood. If it is missing, no test ran."""


@lean(frozen=True)
class CheckRunner:
    """Runs checks; each gets folders of its own for temporary files and for reports."""

    runner: CommandRunner
    begun: Callable[[str, int, int, str], None] = lambda *_: None
    """Called when a check begins, with the name of its trial, its number, the number of checks, and the command.

    A command that sets a checkout up has the number 0. When it has ended, this is called with an empty command.
    """

    def within(self, ms: int) -> CheckRunner:
        """Return a runner that gives checks at most this much time."""
        return replace(self, runner=replace(self.runner, timeout_ms=min(self.runner.timeout_ms, ms)))

    def run(
        self,
        name: str,
        folder: str,
        commands: Sequence[str],
        told: Mapping[str, Told],
        before: Mapping[str, Shown] | None,
        stop: Stop,
    ) -> Iterator[Shown]:
        """Run the commands in order, and yield what each showed. `told` are the variables of each command.

        If `before` is given, stop at the first that fails in another way than it did before. Commands that did not run to
        their end are not_run.
        """
        going = True
        for place, command in enumerate(commands, 1):
            if not going or stop.soon():
                yield Shown(_not_run(command, "stopped" if going else ""))
                going = False
                continue
            self.begun(name, place, len(commands), command)
            shown = self._shown(command, folder, told[command], stop)
            known = before.get(command) if before is not None else None
            goes_on = before is None or (known is not None and fails_alike(known, shown))
            going = shown.is_green or (goes_on and shown.result.cause != "stopped")
            yield shown

    def set_up(self, name: str, folder: str, commands: Sequence[str], stop: Stop) -> str:
        """Prepare a checkout, with network access; return a message on what went wrong, or an empty one."""
        with self._on_disk(), Temporary(self.runner.scratch) as temporary:
            for command in commands:
                self.begun(name, 0, len(commands), command)
                report = self.runner.run(command, folder, temporary, {}, stop, network=True)
                self.begun(name, 0, 0, "")
                if report.exit_code != 0:
                    words = report.error or (report.tail or report.head).strip()[-500:]
                    ended = f"ended with exit {report.exit_code}" if report.exit_code else "did not succeed"
                    if report.timed_out:
                        ended = f"took over {self.runner.timeout_ms / 60_000:g} minutes (verification.timeout_minutes)"
                    return f"the command `{command}` of [workspace] setup {ended}" + (f": {words}" if words else "")
                if stop.soon():
                    break
        return ""

    def _on_disk(self) -> AbstractContextManager[None]:
        return guarding(self.runner.scratch, "the check has no result", CACHE)

    def _shown(self, command: str, folder: str, told: Told, stop: Stop) -> Shown:
        """Run a check. If it was killed, crashed or ran out of time, run it once more, since the machine may be to blame."""
        shown = self._once(command, folder, told, stop)
        if shown.result.cause in ("stopped", "output_limit", "unrunnable") or stop.soon():
            return shown
        died = shown.result.timed_out or (shown.result.exit_code or 0) > 128
        return self._once(command, folder, told, stop) if died else shown

    def _once(self, command: str, folder: str, told: Told, stop: Stop) -> Shown:
        scratch = self.runner.scratch
        with self._on_disk(), Temporary(scratch) as temporary, Temporary(scratch) as aside:
            reports, log = Path(temporary, "reports"), Path(aside, "output")
            reports.mkdir()
            since = reports.stat().st_mtime_ns  # by the file system's own clock, which is coarser than the machine's
            asked, added = asking(command, self.runner.environment, self.runner.seen(reports, temporary))
            report = self.runner.run(asked, folder, temporary, {**told, **added}, stop, log=str(log))
            _refuse_unheard(report)
            output = (regular.content(log, LOG_KEEP) or b"").decode("utf-8", "replace")
            if report.exit_code and refused(output):
                report = self.runner.run(command, folder, temporary, told, stop)
                output = report.head + report.tail
            shorten = self.runner.shortened(folder)  # in the sandbox the checkout has another path
            tests, note = None, ""
            try:
                tests = named(shorten(output), reports, Path(folder), since)
            except UnreadError as error:
                note = f"`{command}` {error}, so it is judged as a whole and not test by test; use a check of its own for each part"
        return Shown(_result(command, report, tests, output, shorten), tests, note)


def _refuse_unheard(report: Report) -> None:
    """Raise if the disk could not hold a check's whole output, since no verdict may rest on a part of it."""
    lost = report.log_dropped and report.total <= LOG_KEEP and not report.error
    if lost or report.errno in (errno.EIO, errno.ENOSPC, errno.EROFS):
        raise OSError(report.errno or errno.EIO, report.error)


def _result(
    command: str, report: Report, tests: Tests | None, output: str, shorten: Callable[[str], str]
) -> CheckResult:
    ran, failed = _counted(command, tests, output)
    cause = _cause(report, fails=bool(failed) and any(map(runner_of, programs(command))))
    passed = report.exit_code == 0 and not report.timed_out and not cause
    return CheckResult(
        command=command,
        exit_code=128 + report.signal if report.signal and not report.timed_out and not cause else report.exit_code,
        seconds=Seconds(report.ms),
        timed_out=report.timed_out,
        output=Output(head=shorten(report.head), tail=shorten(report.tail), dropped=report.dropped, total=report.total),
        checks=ran,
        verdict=CheckVerdict.PASS if passed else CheckVerdict.NOT_RUN if cause == "stopped" else CheckVerdict.FAIL,
        cause=cause,  # type: ignore[arg-type]  # one of the closed list, chosen here and below
    )


def _counted(command: str, tests: Tests | None, output: str) -> tuple[int | None, int]:
    """Return how many tests ran and how many failed. The first is None if no runner is known."""
    if tests is not None:
        ran = [status for status in tests.values() if status != "skipped"]
        return len(ran), ran.count("failed")
    if (found := tally(output)) is not None:
        return found
    # Other runners print nothing if all is well, print it in unknown words, or print it into a pipe such as `| grep`.
    speaking = (runner_of(program) for program in programs(command) if not program.is_heard)
    return (0 if _ALWAYS_SAY.intersection(speaking) else None), 0


def _not_run(command: str, cause: str) -> CheckResult:
    return CheckResult(
        command=command, exit_code=None, seconds=Seconds(0), timed_out=False,
        output=Output(head="", tail="", dropped=0, total=0), checks=None, verdict=CheckVerdict.NOT_RUN,
        cause=cause,  # type: ignore[arg-type]  # of the closed list
    )  # fmt: skip


def _cause(report: Report, *, fails: bool) -> str:
    """Return what else is known of a failure; `fails` tells that tests failed by their runner's own words."""
    if report.stopped:
        return "stopped"
    if report.flooded:
        return "output_limit"
    if report.timed_out:
        return ""
    if report.exit_code == 0 and fails:
        return "contradicted"  # `pytest | tee log` succeeds even if pytest failed
    return "unrunnable" if report.exit_code != 0 and missing.could_not_start(report) else ""
