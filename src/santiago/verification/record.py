"""The record of a verification: `verification.json`, the same bytes for the same verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.contract.codec import canonical

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.contract.outcomes import CheckResult, Verdict


def document(verdict: Verdict, base: Sequence[CheckResult] = ()) -> bytes:
    """Return the content of `verification.json`: the verdict, each command's result, and in short what the base showed."""
    data = {
        "passed": verdict.passed,
        "proof": verdict.proof,
        "reason": verdict.reason,
        "results": verdict.results,
        "tampered": verdict.tampered,
        "base": [
            {
                "command": result.command,
                "exit_code": result.exit_code,
                "checks": result.checks,
                "verdict": result.verdict,
            }
            for result in base
        ],
    }
    return canonical(data)
