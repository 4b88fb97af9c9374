"""The record of a verification: `verification.json`, the same bytes for the same verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from santiago.contract.codec import canonical

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from santiago.contract.outcomes import Verdict
    from santiago.judge.shown import Shown
    from santiago.judge.verdict import Check

_MOST_FAILING = 200


def document(verdict: Verdict, checks: Sequence[Check]) -> bytes:
    """Return the content of `verification.json`: the verdict, each command's result, and in short the other trees."""
    trees = {
        "base": [check.base for check in checks],
        "old_tests": [check.old_tests for check in checks if check.old_tests is not None],
        "new_tests": [check.new_tests for check in checks if check.new_tests is not None],
    }
    data = {
        "passed": verdict.passed, "proof": verdict.proof, "reason": verdict.reason, "message": verdict.message,
        "results": verdict.results, "as_before": verdict.as_before, "broken": verdict.broken, "eased": verdict.eased,
        "changed": verdict.changed, "vanished": verdict.vanished, "difference": verdict.difference, "doubts": verdict.doubts,
        "judge_files": verdict.judge_files, "beside": verdict.beside, "criteria": verdict.criteria,
        "awaiting": verdict.awaiting,
        **{name: [_short(shown) for shown in found] for name, found in trees.items()},
    }  # fmt: skip
    return canonical(data)


def of_base(found: Mapping[str, Shown]) -> bytes:
    """Return the record of what checks show on a base, before any work."""
    return canonical({"base": [_short(shown) | {"output": shown.result.output} for shown in found.values()]})


def _short(shown: Shown) -> dict[str, Any]:
    result = shown.result
    return {
        "command": result.command, "exit_code": result.exit_code, "checks": result.checks, "verdict": result.verdict,
        "failing": [test for test in shown.failing if test][:_MOST_FAILING], "reused": result.reused,
    }  # fmt: skip
