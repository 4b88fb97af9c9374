"""The record of a verification: `verification.json`, the same bytes for the same verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from santiago.contract.codec import canonical, to_data

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
    return canonical(to_data(verdict) | {name: list(map(_short, found)) for name, found in trees.items()})


def of_base(found: Mapping[str, Shown]) -> bytes:
    """Return the record of what checks show on a base, before any work."""
    return canonical({"base": [_short(shown) | {"output": shown.result.output} for shown in found.values()]})


def _short(shown: Shown) -> dict[str, Any]:
    result = shown.result
    return {
        "command": result.command, "exit_code": result.exit_code, "checks": result.checks, "verdict": result.verdict,
        "failing": [test for test in shown.failing if test][:_MOST_FAILING], "reused": result.reused,
    }  # fmt: skip
