"""The verdict on a tree: what its checks showed, held against what the same checks showed on its base.

A failure on the base proves something only where the check itself was there and said no: a check whose own file or
program is missing, or that found no test, says nothing about the work.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from santiago.contract.outcomes import CheckVerdict, Proof, Verdict
from santiago.contract.reasons import Reason
from santiago.verification.commandline.noop import is_noop
from santiago.verification.counting.failures import failures, last_lines
from santiago.verification.counting.missing import Base, found_no_test

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from santiago.contract.outcomes import CheckResult

_BAD = frozenset({CheckVerdict.FAIL, CheckVerdict.INHERITED})
_EXIT_NOT_STARTED = 126
_STYLE = re.compile(
    r"lint|format|fmt|style|type-?check|typing|audit|\b(?:ruff|flake8|mypy|pyright|black|isort|bandit|tsc|prettier|biome|clippy|vet|shellcheck|rubocop|phpstan"
    r"|psalm|ktlint|detekt|checkstyle|spotless|codespell|markdownlint|docs?)\b",
    re.IGNORECASE,
)
"""Checks that judge how code is written, not what it does."""


def judge(
    before: Sequence[CheckResult] | None,
    after: Sequence[CheckResult],
    tampered: Sequence[str] = (),
    *,
    has_checks: bool = True,
    fewer_allowed: bool = False,
    own: Collection[str] = (),
    tree: Base | None = None,
) -> Verdict:
    """Return the verdict; `before` is None where the base was not tried, `tree` holds the base's files.

    A known runner must not run fewer checks than on the base, since sealed tests do not go away by themselves;
    `fewer_allowed` is for a story that names tests among its files. A check in `own` is what the story is about, so that
    its failure is nobody's inheritance.
    """
    base = {result.command: result for result in before or ()}
    results = tuple(result if result.command in own else _marked(base.get(result.command), result) for result in after)
    reason = Reason.VERIFICATION_TAMPERED if tampered else _reason(base, results if has_checks else ())
    if reason is None and not fewer_allowed and any(_ran_fewer(base.get(one.command), one) for one in results):
        reason = Reason.NOTHING_VERIFIED
    proof = None if reason else _proof(base, results, tree or Base())
    blamed = _blamed(base, results, reason, proof)
    if blamed:
        reason, proof = reason or Reason.STORY_VERIFICATION_FAILED, None
        results = tuple(replace(one, verdict=CheckVerdict.FAIL) if one.command in blamed else one for one in results)
    as_before = tuple(name for one in results if one.command not in own for name in _shared(base.get(one.command), one))
    return Verdict(
        passed=reason is None, proof=proof, reason=reason, results=results, tampered=tuple(tampered), as_before=as_before
    )  # fmt: skip


def _blamed(
    base: dict[str, CheckResult], results: Sequence[CheckResult], reason: Reason | None, proof: Proof | None
) -> set[str]:
    """Return the checks that fail as before and are held against the work all the same: there is nothing else to go by."""
    inherited = [one for one in results if one.verdict is CheckVerdict.INHERITED]
    if reason is not None and all(one.verdict is not CheckVerdict.FAIL for one in results):
        return {one.command for one in inherited}
    if proof is Proof.REGRESSION:
        return {one.command for one in inherited if not _is_excused(base.get(one.command), one)}
    return set()


def _shared(before: CheckResult | None, result: CheckResult) -> list[str]:
    """Return what of a check's failure the base has too: names of tests, or the check where it fails just as there."""
    if before is None or before.verdict not in _BAD or result.verdict is not CheckVerdict.FAIL:
        return []
    names = sorted(failures(result).names & failures(before).names)
    return names or ([f"`{result.command}`"] if is_inherited(before, result) else [])


def _marked(before: CheckResult | None, result: CheckResult) -> CheckResult:
    if before is not None and is_inherited(before, result):
        return replace(result, verdict=CheckVerdict.INHERITED)
    return result


def _is_excused(before: CheckResult | None, result: CheckResult) -> bool:
    """Whether a check that fails as before may be the fault of others, where nothing else is proved.

    It may be just what the story is about. So it must be a matter of style, or fewer of its tests fail than before; that
    there are more of them shows nothing, since anybody can add one that passes.
    """
    if before is None or _STYLE.search(result.command) is not None:
        return True
    return failures(result).names < failures(before).names


def _reason(base: dict[str, CheckResult], results: tuple[CheckResult, ...]) -> Reason | None:
    if not results:
        return Reason.NOTHING_VERIFIED
    failed = next((result for result in results if result.verdict is CheckVerdict.FAIL), None)
    if failed is not None:
        return _failure(base.get(failed.command), failed)
    if any(result.cause == "stopped" for result in results):
        return Reason.INTERRUPTED
    if any(result.verdict is CheckVerdict.NOT_RUN for result in results):
        return Reason.STORY_VERIFICATION_FAILED
    passed = [result for result in results if result.verdict is CheckVerdict.PASS]
    real = [result for result in passed if not is_noop(result.command)]
    if any(_no_evidence(base.get(result.command), result) for result in real):
        return Reason.NOTHING_VERIFIED
    if not real:
        failed_before = [result for result in results if result.verdict is CheckVerdict.INHERITED]
        return Reason.NOTHING_VERIFIED if all(map(found_no_test, failed_before)) else Reason.STORY_VERIFICATION_FAILED
    return None


def _failure(before: CheckResult | None, failed: CheckResult) -> Reason:
    if failed.timed_out:
        return Reason.VERIFICATION_TIMEOUT
    if failed.cause == "output_limit":
        return Reason.OUTPUT_LIMIT
    # What could be started on the base and cannot be now was broken by the attempt.
    if failed.cause == "unrunnable" and (before is None or before.cause == "unrunnable"):
        return Reason.VERIFICATION_UNRUNNABLE
    return Reason.NOTHING_VERIFIED if found_no_test(failed) else Reason.STORY_VERIFICATION_FAILED


def _no_evidence(before: CheckResult | None, passed: CheckResult) -> bool:
    """Whether a check that ended well shows that nothing ran, or no longer shows what it used to run."""
    if passed.checks == 0:
        return True
    return before is not None and bool(before.checks) and passed.checks is None


def _ran_fewer(before: CheckResult | None, passed: CheckResult) -> bool:
    return before is not None and passed.checks is not None and passed.checks < (before.checks or 0)


def _proof(base: dict[str, CheckResult], results: tuple[CheckResult, ...], tree: Base) -> Proof:
    for result in results:
        before = base.get(result.command)
        if (
            result.verdict is CheckVerdict.PASS
            and before is not None
            and not is_noop(result.command)
            and said_no(before, tree)
        ):
            return Proof.PROVED
    return Proof.REGRESSION


def said_no(result: CheckResult, base: Base) -> bool:
    """Whether a check was really there and failed: not missing, not unrunnable, not without tests, not out of time."""
    if result.verdict not in _BAD or result.timed_out or result.cause not in {"", "contradicted"}:
        return False
    return result.exit_code != _EXIT_NOT_STARTED and not base.lacked(result)


def is_inherited(before: CheckResult, after: CheckResult) -> bool:
    """Whether a check fails as it failed on the base: the same exit code, and no failure that the base does not have."""
    if after.verdict not in _BAD or before.verdict not in _BAD:
        return False
    if after.timed_out or before.timed_out or after.cause != before.cause or after.cause == "unrunnable":
        return False
    if after.exit_code != before.exit_code or (after.checks or 0) < (before.checks or 0):
        return False
    now, then = failures(after), failures(before)
    if now.names or then.names:
        return bool(now.names) and now.names <= then.names and now.complete and now.count <= then.count
    return last_lines(after) == last_lines(before)
