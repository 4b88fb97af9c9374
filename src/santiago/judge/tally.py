"""How many tests ran and failed, by a runner's own summary: for runs whose tests nobody names.

The output is written by the work that is judged, so every pattern takes time in proportion to its length: none runs on over
line ends, none has two ways of taking the same characters, and counts have at most nine digits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from santiago.contract.patterns import pattern
from santiago.judge.naming import plain

_N = r"\d{1,9}"
_SUMMARIES = tuple(
    pattern(summary.replace("{", r"(?P<").replace("}", rf">{_N})"), re.MULTILINE)
    for summary in (
        r"^(?:=+ )?(?=\d)(?:{failed} failed(?:, )?)?(?:{passed} passed(?:, )?)?(?:\d+ (?:skip\w+|desel\w+|x\w+|warn\w+)(?:, )?)*(?:{errors} errors?)? in \d",
        r"^Ran {ran} tests? in [^\n]*(?:\n\n?(?:OK|FAILED) \((?:failures={failed})?(?:, )?(?:errors={errors})?(?:, )?(?:skipped={idle})?)?",
        r"^test result: \w+\. {passed} passed; {failed} failed;",
        r"^[ \t]*Summary \[[^\]\n]*\] {ran} tests? run: \d+ passed(?: \([^)\n]*\))?(?:, {failed} failed)?",
        r"^Tests:[ \t]+(?:{failed} failed, )?(?:\d+ skipped, )?(?:{passed} passed, )?\d+ total",
        r"^[ \t]*Tests  (?:{failed} failed \| )?{passed} passed",
        r"^[ \t]*{passed} passing\b",
        r"^[ \t]*{failed} failing\b",
        r"^(?:#|ℹ) pass {passed}$",
        r"^(?:#|ℹ) fail {failed}$",
        r"^{ran} examples?, {failed} failures?(?:, {idle} pending)?",
        r"^OK \({ran} tests?,",
        r"^Tests: {ran}, Assertions: \d+(?:, Errors: {errors})?(?:, Failures: {failed})?(?:, Skipped: {idle})?",
        r"^\d+% tests passed, {failed} tests? failed out of {ran}",
        r"(?:Passed|Failed|Skipped)![ \t]+- Failed:[ \t]+{failed}, Passed:[ \t]+{passed}",
        r"^Test summary: total: {ran}, failed: {failed}, succeeded: \d+, skipped: {idle}",
        r"^Total tests: {ran}(?:\n[ \t]+Passed: \d+)?(?:\n[ \t]+Failed: {failed})?(?:\n[ \t]+Skipped: {idle})?",
        r"^(?:\[\w+\] )?Tests run: {ran}, Failures: {failed}, Errors: {errors}, Skipped: {idle}[ \t]*$",
        r"^{ran} tests? completed(?:, {failed} failed)?(?:, {idle} skipped)?",
        r"^Files=\d+, Tests={ran},",
        r"^{ran} tests? in \d+ items?\.",
    )
)
_NONE = pattern(
    r"no tests ran|no test files|No tests? (?:files? )?(?:found|executed|were found|to run)|\d tests? collected in"
)


@dataclass(frozen=True, slots=True)
class Tally:
    ran: int
    """Tests that were really carried out; skipped and merely collected ones are not."""
    failed: int


def recognise(output: str) -> Tally | None:
    """Return what the summaries in an output add up to; None where there is none."""
    text = plain(output)
    found = [_counted(match) for summary in _SUMMARIES for match in summary.finditer(text)]
    if not found:
        return Tally(0, 0) if _NONE.search(text) else None
    return Tally(sum(one.ran for one in found), sum(one.failed for one in found))


def _counted(match: re.Match[str]) -> Tally:
    counts = {name: int(number or 0) for name, number in match.groupdict().items()}
    failed = counts.get("failed", 0) + counts.get("errors", 0)
    ran = counts["ran"] - counts.get("idle", 0) if "ran" in counts else counts.get("passed", 0) + failed
    return Tally(max(ran, failed), failed)
