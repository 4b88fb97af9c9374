"""Running checks: each in the shell, in a clean checkout, inside the sandbox, within its own time and output."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.contract.outcomes import CheckResult, CheckVerdict, Output
from santiago.contract.units import Seconds
from santiago.process.command import GIB, Command
from santiago.process.temporary import Temporary
from santiago.verification import evidence_of, junit, verdict
from santiago.verification.noop import is_noop

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from santiago.contract.outcomes import Verdict
    from santiago.process.command import Report
    from santiago.process.sandbox import Sandbox
    from santiago.process.server import ProcessServer

_LARGEST_SCRIPT = 1024 * 1024
_PYTHON_TOOLS = "pytest unittest coverage nose2 tox nox mypy ruff flake8 black pylint pyright behave build pip"
_NO_MODULE = re.compile(r"^\S*python\S*: No module named (\w+)", re.MULTILINE)
_NOT_FOUND = re.compile(
    r"(?:^|[:\s])([^\s:'\"]+): (?:command not found|not found|Permission denied|No such file or directory|bad interpreter)",
    re.MULTILINE,
)
_FROM_MAKE = re.compile(r"^make(?:\[\d+\])?: \*\*\* .* Error 127$", re.MULTILINE)


class CommandVerifier:
    """Carries out checks. What they may see and write is fixed when it is made; nothing a checkout holds changes that."""

    def __init__(
        self,
        server: ProcessServer,
        sandbox: Sandbox,
        environment: Mapping[str, str],
        *,
        scratch: Path,
        secrets: tuple[str, ...] = (),
        readonly: tuple[str, ...] = (),
        hidden: tuple[str, ...] = (),
        keep: int = 64 * 1024,
        most: int = 20 * GIB,
        grace_ms: int = 5000,
        begun: Callable[[str, int, int, str], None] = lambda *_: None,
    ) -> None:
        self.server = server
        self.sandbox = sandbox
        self.environment = dict(environment)
        self.scratch = scratch
        self.secrets = secrets
        self.readonly = readonly
        self.hidden = hidden
        self.keep = keep
        self.most = most
        self.grace_ms = grace_ms
        self.begun = begun
        """Hears of each check that begins: its folder, which of how many, the command."""

    def check(
        self,
        folder: str,
        commands: Sequence[str],
        timeout_ms: int,
        stopped: Callable[[], str | None] = lambda: None,
        *,
        before: Sequence[CheckResult] = (),
        to_the_end: bool = False,
        variables: Mapping[str, str | None] | None = None,
        unmarked: bool = False,
    ) -> tuple[CheckResult, ...]:
        """Run the commands in order; stop at the first that fails in a way that the base does not.

        `before` is what the base showed; `to_the_end` goes on after any failure, as wanted on the base itself. `stopped`
        may say `stop` (no further command) or `now` (the running one is killed); what did not run to its end is not_run.
        `unmarked` leaves out of the environment what says that santiago runs it.
        """
        given: Mapping[str, str | None] = self._marks() if unmarked else variables or {}
        known = {result.command: result for result in before}
        results: list[CheckResult] = []
        going = True
        with Temporary(self.scratch) as temporary:
            for place, command in enumerate(commands, 1):
                if not going or stopped():
                    results.append(_not_run(command, "stopped" if going else ""))
                    going = False
                    continue
                self.begun(folder, place, len(commands), command)
                result = self._one(folder, command, timeout_ms, stopped, given, temporary)
                results.append(result)
                going = (
                    result.verdict is CheckVerdict.PASS
                    or (to_the_end and result.cause != "stopped")
                    or (command in known and verdict.is_inherited(known[command], result))
                )
        return tuple(results)

    def set_up(
        self,
        folder: str,
        commands: Sequence[str],
        timeout_ms: int,
        stopped: Callable[[], str | None] = lambda: None,
        *,
        variables: Mapping[str, str] | None = None,
    ) -> tuple[Report, ...]:
        """Prepare a checkout, with the network; the last report is the one that failed, where one did."""
        reports: list[Report] = []
        with Temporary(self.scratch) as temporary:
            for command in commands:
                reports.append(
                    self._report(folder, command, timeout_ms, stopped, variables or {}, temporary, network=True)
                )
                if reports[-1].exit_code != 0 or stopped():
                    break
        return tuple(reports)

    def judge(
        self,
        before: Sequence[CheckResult] | None,
        after: Sequence[CheckResult],
        tampered: Sequence[str] = (),
        *,
        has_checks: bool = True,
        fewer_allowed: bool = False,
        own: Collection[str] = (),
    ) -> Verdict:
        return verdict.judge(before, after, tampered, has_checks=has_checks, fewer_allowed=fewer_allowed, own=own)

    def _marks(self) -> dict[str, None]:
        return dict.fromkeys(name for name in self.environment if name.startswith("SANTIAGO_"))

    def _one(
        self,
        folder: str,
        command: str,
        timeout_ms: int,
        stopped: Callable[[], str | None],
        variables: Mapping[str, str | None],
        temporary: str,
    ) -> CheckResult:
        # What stands behind the command is read before it runs, so that it cannot say so itself.
        behind = evidence_of.behind(command, lambda path: _inside(folder, path))
        moment = _moment(temporary)
        report = self._report(folder, command, timeout_ms, stopped, variables, temporary, network=False)
        tally = evidence_of.tally(behind, report.head + report.tail, lambda: junit.written_since(folder, moment))
        cause = _cause(report)
        passed = report.exit_code == 0 and not report.timed_out and not cause
        if passed and behind.runners and tally is not None and tally.failed:
            passed, cause = False, "contradicted"
        return CheckResult(
            command=command,
            exit_code=128 + report.signal if report.signal and not report.timed_out and not cause else report.exit_code,
            seconds=Seconds(report.ms),
            timed_out=report.timed_out,
            output=Output(head=report.head, tail=report.tail, dropped=report.dropped, total=report.total),
            checks=0 if is_noop(command) or behind.idle else None if tally is None else tally.ran,
            verdict=CheckVerdict.PASS if passed else CheckVerdict.NOT_RUN if cause == "stopped" else CheckVerdict.FAIL,
            cause=cause,  # type: ignore[arg-type]  # one of the closed list, chosen below
        )

    def _report(
        self, folder: str, command: str, timeout_ms: int, stopped: Callable[[], str | None],
        variables: Mapping[str, str | None], temporary: str, *, network: bool,
    ) -> Report:  # fmt: skip
        env = {**self.environment, **variables, "PWD": folder}
        plain = Command(
            argv=("/bin/sh", "-c", command),
            cwd=folder,
            env={name: value for name, value in env.items() if value is not None},
            timeout_ms=timeout_ms,
            grace_ms=self.grace_ms,
            keep=self.keep,
            most=self.most,
            secrets=self.secrets,
        )
        fenced = self.sandbox.wrap(
            plain, writable=(folder,), readonly=self.readonly, hidden=self.hidden, network=network, temporary=temporary
        )
        # A check that runs is a safe boundary's last step: only `now` ends it.
        return self.server.run(fenced, lambda: "now" if stopped() == "now" else None)


def _not_run(command: str, cause: str) -> CheckResult:
    return CheckResult(
        command=command,
        exit_code=None,
        seconds=Seconds(0),
        timed_out=False,
        output=Output(head="", tail="", dropped=0, total=0),
        checks=None,
        verdict=CheckVerdict.NOT_RUN,
        cause=cause,  # type: ignore[arg-type]  # of the closed list
    )


def _cause(report: Report) -> str:
    if report.stopped:
        return "stopped"
    if report.flooded:
        return "output_limit"
    if report.timed_out:
        return ""
    return "unrunnable" if report.exit_code != 0 and _could_not_start(report) else ""


def _could_not_start(report: Report) -> bool:
    text = report.head + report.tail
    if report.error or (report.exit_code == 1 and text.startswith("bwrap: ")):
        return True
    module = _NO_MODULE.search(text)
    if module is not None and module[1] in _PYTHON_TOOLS.split():
        return True
    if report.exit_code in (126, 127):
        missing = [name for name in _NOT_FOUND.findall(text) if name not in {"sh", "bash", "env"}]
        # A program that the command names inside the checkout is the story's to make; one on PATH is the machine's.
        return not missing or any("/" not in name or name.startswith("/") for name in missing[-1:])
    return bool(_FROM_MAKE.search(text))


def _moment(folder: str) -> int:
    """Return now by the file system's own clock, which is coarser than the machine's."""
    mark = Path(folder, ".moment")
    mark.touch()
    os.utime(mark)
    return mark.stat().st_mtime_ns


def _inside(folder: str, path: str) -> bytes | None:
    """Return a small file of the checkout; nothing that leads out of it."""
    root = os.path.realpath(folder)
    real = os.path.realpath(Path(root, path))
    if not real.startswith(root + "/"):
        return None
    try:
        with open(real, "rb", opener=_without_waiting) as file:
            return file.read(_LARGEST_SCRIPT)
    except OSError:
        return None


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
