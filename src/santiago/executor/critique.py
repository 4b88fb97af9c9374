"""What the next attempt is told about the last one: the command, its exit code, the lines that matter, what changed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from santiago.contract.outcomes import CheckVerdict
from santiago.contract.reasons import MEANINGS, Reason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.contract.outcomes import AttemptOutcome, CheckResult

MAX_LINES = 40
"""Lines of output in one critique: enough to act on, not a second log."""

_TELLING = re.compile(
    r"error|fail|assert|exception|traceback|expected|panic|undefined|not found|cannot|denied|^E\s|^\s*File \"|✗|✕|FAILED",
    re.IGNORECASE,
)


def critique(outcome: AttemptOutcome, previous: str = "") -> str:
    """Return the critique of an attempt that did not pass, as Markdown; empty where it passed."""
    if outcome.reason is None:
        return ""
    meaning = MEANINGS[outcome.reason]
    parts = [f"# {outcome.reason}", "", meaning.sentence]
    if outcome.verdict is not None:
        parts += _verdict_parts(outcome)
    elif outcome.message:
        parts += ["", *_quoted(outcome.message.splitlines()[-20:])]
    elif outcome.ending is not None and outcome.ending.message:
        parts += ["", "The agent's last words:", "", *_quoted(outcome.ending.message.splitlines()[-10:])]
    text = "\n".join(parts).rstrip() + "\n"
    if previous and _same(text, previous):
        text += "\nThis is the same failure as in the attempt before: another way is needed.\n"
    return text


def _verdict_parts(outcome: AttemptOutcome) -> list[str]:
    assert outcome.verdict is not None
    parts: list[str] = []
    if outcome.verdict.tampered:
        parts += ["", "These files are protected and must be left as they were:", ""]
        parts += [f"- {path}" for path in outcome.verdict.tampered]
    for result in outcome.verdict.results:
        if result.verdict is CheckVerdict.FAIL:
            parts += ["", *_failure(result)]
        elif result.verdict is CheckVerdict.INHERITED:
            parts += ["", f"`{result.command}` failed before this attempt too and is not held against it."]
    if outcome.reason is Reason.NOTHING_VERIFIED:
        parts += ["", "A check must run at least one test that bears on the story; add such a test."]
    return parts


def _failure(result: CheckResult) -> list[str]:
    ended = "did not end in time" if result.timed_out else f"exit code {result.exit_code}"
    lines = telling_lines(result.output.head, result.output.tail)
    return [f"`{result.command}`: {ended}", "", *_quoted(lines)]


def telling_lines(head: str, tail: str) -> list[str]:
    """Return the lines of an output that say what is wrong, in order; the last ones where none stands out."""
    lines = [line.rstrip() for line in (head + ("\n" if tail else "") + tail).splitlines() if line.strip()]
    if len(lines) <= MAX_LINES:
        return lines
    telling = {at for at, line in enumerate(lines) if _TELLING.search(line)}
    near = {other for at in telling for other in (at - 1, at, at + 1) if 0 <= other < len(lines)}
    chosen = sorted(near)[-(MAX_LINES - 10) :] + list(range(len(lines) - 10, len(lines)))
    return [lines[at] for at in sorted(set(chosen))][-MAX_LINES:]


def _quoted(lines: Sequence[str]) -> list[str]:
    return [f"    {line[:300]}" for line in lines]


_VARIABLE = re.compile(r"0x[0-9a-f]+|\d+(?:\.\d+)?|/tmp/\S+")


def _same(text: str, previous: str) -> bool:
    """Tell whether two critiques say the same, whatever their numbers and addresses."""
    return _VARIABLE.sub("#", text.strip()) == _VARIABLE.sub(
        "#", previous.split("\nThis is the same failure")[0].strip()
    )
