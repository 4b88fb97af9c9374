"""The verifier port: running checks, the seal and the record, behind the one interface that the core knows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from santiago.verification import doubts, evidence, globs, provoke, seal, surroundings, watch

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from santiago.contract.outcomes import CheckResult, Verdict
    from santiago.contract.ports.workspace import Change
    from santiago.verification.commands import CommandVerifier
    from santiago.verification.doubts import Doubt
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
        unmarked: bool = False,
        told: Mapping[str, str] | None = None,
    ) -> tuple[CheckResult, ...]:
        return self.runner.check(
            folder,
            commands,
            timeout_ms,
            stopped,
            before=before,
            to_the_end=to_the_end,
            unmarked=unmarked,
            variables=told,
        )

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
        expanded = _expanded(protected)
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
        own: Collection[str] = (),
    ) -> Verdict:
        return self.runner.judge(before, after, tampered, has_checks=has_checks, fewer_allowed=fewer_allowed, own=own)

    def record(self, verdict: Verdict, base: Sequence[CheckResult]) -> bytes:
        return evidence.document(verdict, base)

    def sealed(self, base_files: Collection[str], protected: Sequence[str], files: Sequence[str]) -> tuple[str, ...]:
        return watch.sealed(base_files, _expanded(protected), files)

    def contents(self, folder: str, paths: Sequence[str]) -> Mapping[str, str]:
        return watch.contents(folder, paths)

    def ready(self, folder: str, expected: Mapping[str, str], compiled: Sequence[str]) -> tuple[str, ...]:
        for path in compiled:
            place = Path(folder, path)
            if place.parent.resolve().is_relative_to(Path(folder).resolve()):
                place.unlink(missing_ok=True)
        found = watch.contents(folder, expected)
        return tuple(sorted(path for path, digest in expected.items() if found[path] != digest))

    def marks(self, folder: str, paths: Sequence[str]) -> Mapping[str, object]:
        return watch.marks(folder, paths)

    def touched(self, folder: str, marks: Mapping[str, object]) -> frozenset[str]:
        return watch.touched(folder, cast("watch.Marks", marks))

    def surroundings(self, commands: Sequence[str]) -> str:
        # In a sandbox an agent can change none of it.
        return "" if self.runner.sandbox.kind != "none" else surroundings.fingerprint(self.runner.environment, commands)

    def doubts(self, patch: str) -> tuple[Doubt, ...]:
        return doubts.doubts(patch)

    def plant(self, folder: str, paths: Sequence[str], *, alone: bool) -> str:
        return provoke.plant(folder, paths, alone=alone)

    def harden(self, folder: str, paths: Sequence[str]) -> str:
        return provoke.harden(folder, paths)

    def prolonged(self, command: str) -> str:
        return provoke.prolonged(command)

    def prolong(self, folder: str, command: str, judges: Collection[str]) -> bool:
        return provoke.prolong(folder, command, judges)


def _expanded(protected: Sequence[str]) -> list[str]:
    return [glob for name in protected for glob in (globs.DEFAULT_PROTECTED if name == TESTS else (name,))]
