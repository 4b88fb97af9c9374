"""What the next attempt is told about the last one: the command, its exit code, the lines that matter, what changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from santiago.contract.complaints import TELLING
from santiago.contract.lazy_regex import pattern
from santiago.contract.outcomes import AttemptOutcome, CheckResult, CheckVerdict, Verdict
from santiago.contract.reasons import MEANINGS, SHARED, Reason
from santiago.executor import messages

MAX_LINES = 40
"""Lines of output in one critique: enough to act on, not a second log."""
MAX_NAMES = 10
_COUNTS = (
    "The same checks fail as before the work, so nothing shows that the story is done. Make one of these pass. If the "
    "story is not about them, mend them first, or give the story a check of its own."
)

_ADVICE = {
    Reason.AGENT_NO_CHANGE: "Only what is changed in this folder counts: write the code, do not only describe it.",
    Reason.AGENT_TIMEOUT: "Take the shortest way that passes the checks, and start nothing that does not end by itself.",
    Reason.AGENT_CONTEXT_TOO_LONG: "Read less: search instead of printing whole files, keep outputs short, and write "
    "the work down in files as early as possible.",
    Reason.AGENT_REFUSED: "Do the parts that you can do, and say in one line what you leave out and why.",
    Reason.SECRET_IN_WORK: "Do the same without it: read it from the environment where it is needed, and write a made-up value into tests.",
    Reason.DISK_LIMIT: "Leave large files out of the work: remove them, make them where they are needed, or name them in .gitignore.",
    Reason.OUTPUT_LIMIT: "Keep outputs short, and start nothing that prints without end.",
}
"""What the next attempt can do, by reason, where no check explains the failure."""


def critique(outcome: AttemptOutcome, previous: AttemptOutcome | None = None) -> str:
    """Return the critique of an attempt that did not pass, as Markdown; empty if it passed.

    `previous` is the attempt before. A few lines say which of its failures are gone and which are new.
    """
    if outcome.reason is None:
        return ""
    ending = outcome.ending
    parts = [f"# {outcome.reason}", "", MEANINGS[outcome.reason].sentence]
    if outcome.reason is Reason.AGENT_EXIT_NONZERO and ending is not None and ending.exit_code:
        parts[-1] += f" Its exit code was {ending.exit_code}."
    if advice := _ADVICE.get(outcome.reason):
        parts += ["", advice]
    if outcome.verdict is not None:
        parts[-1] = outcome.verdict.message or parts[-1]
        parts += _verdict_parts(outcome)
    elif outcome.message:
        parts += ["", *_quoted(outcome.message.splitlines()[-20:])]
    elif ending is not None and ending.message:
        parts += ["", "The agent's last words:", "", *_quoted(ending.message.splitlines()[-10:])]
    if outcome.reason in SHARED and ending is not None and ending.remedy:
        parts += ["", ending.remedy]
    if lost := messages.left_out(outcome.left_out):
        parts += ["", f"{lost}.", "What git cannot keep is lost: use other names, or do without these files."]
    if previous is not None:
        parts += since(previous, outcome)
    return "\n".join(parts).rstrip() + "\n"


def concerns_the_work(text: str) -> bool:
    """Tell whether a critique helps the next attempt. One about a refusal of the agent's service does not."""
    return text.partition("\n")[0].removeprefix("# ") not in SHARED


def of_parts(verdict: Verdict) -> str:
    """Return what a story still lacks although all its substeps are done, for the attempt that mends it."""
    parts = ["All substeps are done, but the checks of the story as a whole do not pass.", verdict.message]
    for result in verdict.results:
        if result.verdict is CheckVerdict.FAIL:
            parts += ["", *_failure(result)]
    return "\n".join(parts).strip()


def _verdict_parts(outcome: AttemptOutcome) -> list[str]:
    assert outcome.verdict is not None
    parts: list[str] = []
    if outcome.verdict.difference:
        parts += [
            "",
            "What the work did to the tests:",
            "",
            *_quoted(outcome.verdict.difference.splitlines()[:MAX_LINES]),
        ]
    for result in outcome.verdict.results:
        if result.verdict is CheckVerdict.FAIL:
            parts += ["", *_failure(result)]
        elif result.verdict is CheckVerdict.INHERITED:
            parts += ["", f"`{result.command}` failed before this attempt too and is not held against it."]
    if outcome.verdict.as_before:
        parts += ["", "This failed in the same way before the attempt:", "", *_listed(outcome.verdict.as_before)]
        parts += ["", _COUNTS]
    if outcome.reason is Reason.NOTHING_VERIFIED and not outcome.verdict.message:
        parts += ["", "A check must run at least one test that bears on the story; add such a test."]
    return parts


def _listed(names: Sequence[str]) -> list[str]:
    more = [f"- and {len(names) - MAX_NAMES} more"] if len(names) > MAX_NAMES else []
    return [*(f"- {name[:300]}" for name in names[:MAX_NAMES]), *more]


def _failure(result: CheckResult) -> list[str]:
    ended = "did not end in time" if result.timed_out else f"exit code {result.exit_code}"
    lines = telling_lines(result.output.head, result.output.tail)
    if not result.new_errors:
        return [f"`{result.command}`: {ended}", "", *_quoted(lines)]
    # It failed before the work too, with errors that would hide those of the work.
    new = result.new_errors[:MAX_LINES]
    others = [line for line in lines if line not in new][: MAX_LINES - len(new)]
    left = ["", "Besides:", "", *_quoted(others)] if others else []
    return [f"`{result.command}`: {ended}. This is new since before the work:", "", *_quoted(new), *left]


def telling_lines(head: str, tail: str) -> list[str]:
    """Return the lines of an output that say what is wrong, in order; the last ones where none stands out."""
    lines = [line.rstrip() for line in f"{head}\n{tail}".splitlines() if line.strip()]
    if len(lines) <= MAX_LINES:
        return lines or ["(no output)"]
    telling = {at for at, line in enumerate(lines) if TELLING.search(line)}
    near = {other for at in telling for other in range(max(at - 1, 0), min(at + 2, len(lines)))}
    chosen = sorted(near)[-(MAX_LINES - 10) :] + list(range(len(lines) - 10, len(lines)))
    return [lines[at] for at in sorted(set(chosen))][-MAX_LINES:]


def _quoted(lines: Sequence[str]) -> list[str]:
    return [f"    {line[:300]}" for line in lines]


MAX_CHANGED = 9
"""Lines of each kind in a section. With its headings it then has about twenty lines."""
MAX_OUTPUT = 20_000
"""How many lines of one attempt's output are compared, counted from its end."""
MAX_LENGTH = 500

_NAMES = pattern(
    r"^\s*(?:FAILED|ERROR|FAIL:?|not ok|--- FAIL:?|✗|✕|×|●)\s|\.{3}\s*(?:FAILED|FAIL|ERROR)\b|^test .* \.\.\. FAILED"
)
"""Lines that name a failing test, in the summaries of the usual runners."""
_VARIABLE = pattern(r"0x[0-9a-fA-F]+|(?<!\w)\d+(?:\.\d+)?(?:ms|s)?(?!\w)|/tmp/\S+")
"""Addresses, durations, line numbers; not the number in `test_2`."""
_LASTED = pattern(r"0x[0-9a-fA-F]+|(?<!\d)\d+(?:\.\d+)?\s?m?s\b")
"""The same in the name of a test, where other numbers distinguish cases."""


def since(before: AttemptOutcome, now: AttemptOutcome) -> list[str]:
    """Return a short section on how the failure changed; empty if there is nothing to compare."""
    if before.reason is None:
        return []
    old, new = _failing(before), _failing(now)
    if before.reason == now.reason and old.keys() == new.keys():
        return ["", "This is the same failure as in the attempt before: another way is needed."]
    if before.verdict is None or now.verdict is None:
        return []
    came = [line for key, line in new.items() if key not in old]
    went = [line for key, line in old.items() if key not in new]
    if not old or not (came or went):
        return []
    parts = ["", "## Since the attempt before"]
    for heading, lines in (("New:", came), ("Gone:", went)):
        if lines:
            parts += ["", heading, "", *_few(lines)]
    return parts


def _failing(outcome: AttemptOutcome) -> Mapping[str, str]:
    """Return the lines that tell what is wrong. Each key is the line without what varies from run to run."""
    if outcome.verdict is None:
        message = outcome.message or (outcome.ending.message if outcome.ending else "")
        return _by_sense([line[:MAX_LENGTH] for line in message.splitlines()[-MAX_OUTPUT:]])
    lines: list[str] = []
    for result in outcome.verdict.results:
        if result.verdict is CheckVerdict.FAIL:
            ended = "did not end in time" if result.timed_out else f"exit code {result.exit_code}"
            lines += [
                f"{result.command}: {ended}",
                *_telling(f"{result.output.head}\n{result.output.tail}".splitlines()),
            ]
    lines += [f"refused: {test}" for test in (*outcome.verdict.eased, *outcome.verdict.broken)]
    return _by_sense(lines)


def _telling(lines: list[str]) -> list[str]:
    """Return the lines that name failing tests; if none does, those that say what is wrong; else all lines."""
    lines = [line[:MAX_LENGTH] for line in lines[-MAX_OUTPUT:]]
    for telling in (_NAMES, TELLING):
        if found := [line for line in lines if telling.search(line)]:
            return found
    return lines


def _by_sense(lines: list[str]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for line in lines:
        if line.strip():
            varies = _LASTED if _NAMES.search(line) else _VARIABLE
            found.setdefault(varies.sub("#", line.strip()), line.strip())
    return found


def _few(lines: list[str]) -> list[str]:
    shown = [f"    {line[:200]}" for line in lines[:MAX_CHANGED]]
    return [*shown, f"    … and {len(lines) - MAX_CHANGED} more"] if len(lines) > MAX_CHANGED else shown
