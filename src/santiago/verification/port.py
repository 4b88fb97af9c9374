"""The verifier port: running checks, the seal and the record, behind the one interface that the core knows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.contract.outcomes import CheckVerdict
from santiago.contract.ports.workspace import Change
from santiago.process.temporary import Temporary
from santiago.util import regular
from santiago.util.inside import is_inside
from santiago.verification import record
from santiago.verification.counting import results, verdict
from santiago.verification.counting.missing import Base
from santiago.verification.provoking import blind, doubts, ends, importing, provoke, spoil, voices
from santiago.verification.sealing import globs, seal, surroundings, watch
from santiago.verification.sealing.judges import Judges

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from santiago.contract.outcomes import CheckResult, Verdict
    from santiago.verification.commands import CommandRunner
    from santiago.verification.provoking.doubts import Doubt

TESTS = "@tests"
"""Stands among protected globs for everything that is a test, or steers one, in any common ecosystem."""
_FILE = "100644"
_LARGEST = 1_000_000


@dataclass(frozen=True, slots=True)
class Checks:
    """All that the core asks of verification."""

    runner: CommandRunner
    begun: Callable[[str, int, int, str], None] = lambda *_: None
    """Hears of each check that begins: its folder, which of how many, the command."""

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
        between: Callable[[], None] = lambda: None,
    ) -> tuple[CheckResult, ...]:
        """Run the commands in order; stop at the first that fails in a way that the base does not.

        `before` is what the base showed; `to_the_end` goes on after any failure, as wanted on the base itself. `stopped`
        may say `stop` (no further command) or `now` (the running one is killed); what did not run to its end is not_run.
        """
        runner, variables = (self.runner.unmarked(), {}) if unmarked else (self.runner, told or {})
        known = {result.command: result for result in before}
        found: list[CheckResult] = []
        going = True
        # Beside an unmarked folder no name tells whose it is, so temporary files stand there as well.
        with Temporary(Path(folder).parent if unmarked else runner.scratch) as temporary:
            run = partial(
                runner.run, folder=folder, temporary=temporary, timeout_ms=timeout_ms, stopped=stopped, told=variables
            )
            for place, command in enumerate(commands, 1):
                if not going or stopped():
                    found.append(results.not_run(command, "stopped" if going else ""))
                    going = False
                    continue
                self.begun(folder, place, len(commands), command)
                result = results.of(command, folder, temporary, run)
                found.append(result)
                between()
                going = (
                    result.verdict is CheckVerdict.PASS
                    or (to_the_end and result.cause != "stopped")
                    or (command in known and verdict.is_inherited(known[command], result))
                )
        return tuple(found)

    def set_up(self, folder: str, commands: Sequence[str], timeout_ms: int, stopped: Callable[[], str | None]) -> str:
        """Prepare a checkout, with the network; return what went wrong, in words."""
        with Temporary(self.runner.scratch) as temporary:
            for command in commands:
                report = self.runner.run(command, folder, temporary, timeout_ms, stopped, {}, network=True)
                if report.exit_code != 0:
                    words = report.error or (report.tail or report.head).strip()[-500:]
                    ended = f"ended with exit {report.exit_code}" if report.exit_code else "did not succeed"
                    if report.timed_out:
                        ended = f"did not end within {timeout_ms / 60_000:g} minutes (verification.timeout_minutes)"
                    return f"the command `{command}` of [workspace] setup {ended}" + (f": {words}" if words else "")
                if stopped():
                    break
        return ""

    def tampered(
        self,
        changes: Sequence[Change],
        protected: Sequence[str],
        files: Sequence[str],
        commands: Sequence[str],
        base_files: Collection[str],
        read: Callable[[str, str], bytes | None],
    ) -> tuple[str, ...]:
        globs_ = _expanded(protected)
        return seal.tampered(changes, globs_, watch.unsealed(files, base_files, globs_), commands, base_files, read)

    def judging(
        self, commands: Sequence[str], base_files: Collection[str], files: Sequence[str], read: Callable[[str], bytes | None]
    ) -> frozenset[str]:  # fmt: skip
        scripts = Judges(tuple(commands), frozenset(base_files), read).scripts.intersection(base_files)
        return frozenset(path for path in scripts if not globs.names(files, path))

    def judge(
        self,
        before: Sequence[CheckResult] | None,
        after: Sequence[CheckResult],
        tampered: Sequence[str],
        *,
        has_checks: bool,
        fewer_allowed: bool,
        own: Collection[str] = (),
        base_files: Collection[str] = (),
        read: Callable[[str], bytes | None] = lambda _: None,
    ) -> Verdict:
        return verdict.judge(
            before, after, tampered, has_checks=has_checks, fewer_allowed=fewer_allowed, own=own, tree=Base(base_files, read)
        )  # fmt: skip

    def record(self, verdict: Verdict, base: Sequence[CheckResult]) -> bytes:
        return record.document(verdict, base)

    def sealed(self, base_files: Collection[str], protected: Sequence[str], files: Sequence[str]) -> tuple[str, ...]:
        globs_ = _expanded(protected)
        return watch.sealed(base_files, globs_, watch.unsealed(files, base_files, globs_))

    def watched(self, base_files: Collection[str], protected: Sequence[str], files: Sequence[str]) -> tuple[str, ...]:
        globs_ = _expanded(protected)
        return watch.sealed(base_files, globs_, watch.unsealed(files, base_files, globs_), data=True)

    def contents(self, folder: str, paths: Sequence[str]) -> Mapping[str, str]:
        return watch.contents(folder, paths)

    def ready(self, folder: str, expected: Mapping[str, str], compiled: Sequence[str]) -> tuple[str, ...]:
        for path in compiled:
            place = Path(folder, path)
            if is_inside(place.parent, folder):
                place.unlink(missing_ok=True)
        found = watch.contents(folder, expected)
        return tuple(sorted(path for path, digest in expected.items() if found[path] != digest))

    def marks(self, folder: str, paths: Sequence[str]) -> Mapping[str, object]:
        return watch.marks(folder, paths)

    def touched(
        self, folder: str, marks: Mapping[str, object], sealed: Sequence[str], commands: Sequence[str], read: Callable[[str], bytes | None]
    ) -> frozenset[str]:  # fmt: skip
        found = watch.touched(folder, marks, sealed)
        others = sorted(found.difference(sealed))

        def either(path: str, side: str) -> bytes | None:
            return read(path) if side == "base" else regular.content(Path(folder, path), _LARGEST, follow=False)

        came = [_change("A", path) for path in others if path not in marks and watch.may_steer(path)]
        changed = [_change("M", path) for path in others if path in marks]
        steering = {*seal.tampered(came, globs.DEFAULT_PROTECTED, (), commands, marks, either)}
        steering |= {*seal.tampered(changed, (), (), commands, marks, either)}
        # A package is imported in place of the module beside it.
        steering |= {
            path for path in others if path not in marks and f"{path.removesuffix('/__init__.py')}.py" in marks
        }
        return found.intersection(sealed) | steering

    def surroundings(self, commands: Sequence[str]) -> str:
        # In a sandbox an agent can change none of it.
        return "" if self.runner.sandbox.kind != "none" else surroundings.fingerprint(self.runner.environment, commands)

    def doubts(self, patch: str, paths: Sequence[str]) -> tuple[Doubt, ...]:
        return doubts.doubts(patch, paths)

    def plant(self, folder: str, paths: Sequence[str], *, alone: bool) -> str:
        return provoke.plant(folder, paths, alone=alone)

    def harden(
        self, folder: str, tests: Sequence[str], commands: Sequence[str], judges: Collection[str], changed: Sequence[str]
    ) -> tuple[str, tuple[str, ...]]:  # fmt: skip
        return provoke.harden(folder, tests, commands, judges, changed)

    def refused(self, word: str, result: CheckResult, *, on_base: bool) -> str:
        return ends.refused(word, result, on_base=on_base)

    def is_marked(self, word: str, result: CheckResult) -> bool:
        return ends.is_marked(word, result)

    def blind(self, folder: str, tests: Sequence[str], changed: Sequence[str], *, idle: bool = False) -> None:
        blind.fold(folder, tests, changed, idle=idle)

    def imported(
        self, folder: str, files: Collection[str], commands: Sequence[str], modules: Mapping[str, str]
    ) -> tuple[str, ...]:
        return importing.imported(folder, files, commands, modules)

    def spoil(self, folder: str, paths: Sequence[str]) -> bool:
        return spoil.spoil(folder, paths)

    def failing(self, result: CheckResult) -> frozenset[str]:
        return spoil.failing(result)

    def voice(
        self, folder: str, files: Collection[str], changed: Sequence[str], commands: Sequence[str]
    ) -> tuple[str, frozenset[str]]:
        return voices.plant(folder, files, changed, commands)

    def heard(self, word: str, result: CheckResult) -> frozenset[str] | None:
        return voices.heard(word, result)


def _expanded(protected: Sequence[str]) -> list[str]:
    return [glob for name in protected for glob in (globs.DEFAULT_PROTECTED if name == TESTS else (name,))]


def _change(status: str, path: str) -> Change:
    return Change(status=status, path=path, old_mode=_FILE, new_mode=_FILE)
