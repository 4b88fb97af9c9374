"""The verifier port: running checks, the seal and the record, behind the one interface that the core knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from santiago.verification import evidence, globs, seal

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from santiago.contract.outcomes import CheckResult, Verdict
    from santiago.contract.ports import Change
    from santiago.verification.commands import CommandVerifier
    from santiago.verification.seal import Side

TESTS = "@tests"
"""Stands among protected globs for everything that is a test, or steers one, in any common ecosystem."""


class Checks:
    """All that the core asks of verification."""

    def __init__(self, runner: CommandVerifier) -> None:
        self.runner = runner

    def check(
        self,
        folder: str,
        commands: Sequence[str],
        timeout_ms: int,
        stopped: Callable[[], str | None],
        *,
        before: Sequence[CheckResult] = (),
        to_the_end: bool = False,
    ) -> tuple[CheckResult, ...]:
        return self.runner.check(folder, commands, timeout_ms, stopped, before=before, to_the_end=to_the_end)

    def set_up(self, folder: str, commands: Sequence[str], timeout_ms: int, stopped: Callable[[], str | None]) -> str:
        reports = self.runner.set_up(folder, commands, timeout_ms, stopped)
        if not reports or reports[-1].exit_code == 0:
            return ""
        last = reports[-1]
        words = last.error or (last.tail or last.head).strip()[-500:]
        return f"the set-up command `{commands[len(reports) - 1]}` did not succeed: {words}"

    def tampered(
        self,
        changes: Sequence[Change],
        protected: Sequence[str],
        files: Sequence[str],
        commands: Sequence[str],
        base_files: Collection[str],
        read: Callable[[str, str], bytes | None],
    ) -> tuple[str, ...]:
        expanded = [glob for name in protected for glob in (globs.DEFAULT_PROTECTED if name == TESTS else (name,))]
        side = cast("Callable[[str, Side], bytes | None]", read)
        return seal.tampered(changes, expanded, files, commands, base_files, side)

    def judge(
        self,
        before: Sequence[CheckResult] | None,
        after: Sequence[CheckResult],
        tampered: Sequence[str],
        *,
        has_checks: bool,
        fewer_allowed: bool,
    ) -> Verdict:
        return self.runner.judge(before, after, tampered, has_checks=has_checks, fewer_allowed=fewer_allowed)

    def record(self, verdict: Verdict, base: Sequence[CheckResult]) -> bytes:
        return evidence.document(verdict, base)
