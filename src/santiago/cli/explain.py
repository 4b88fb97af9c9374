"""`santiago explain CODE|STORY`: what a reason, a finding or an exit code means; what a story waits for."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from santiago.cli.view.terminal import paint, say, show_data
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.lazy_regex import pattern
from santiago.contract.reasons import MEANINGS, ExitCode, Reason
from santiago.planner.findings import CATALOGUE
from santiago.util.text import harmless

if TYPE_CHECKING:
    from santiago.app.loading import Run

_LIKE_A_STORY = pattern(r"(?i)[a-z][a-z-]{0,15}[0-9]{1,9}(?:\.[0-9]{1,9})*")
"""Matches `S5`, `R2`, `US-12`, `s2.1`. No code looks like this."""


def explain(code: str | None, run: str | None, as_json: bool) -> None:
    """Say what a code means, or where a story stands."""
    found = (_story(code, run) or describe(code)) if code is not None else None
    if found is None:
        _list_all(as_json=as_json)
    elif as_json:
        show_data(found)
    else:
        say(paint(str(found["code"]), "head", stderr=False))
        for line in found["lines"]:
            say(f"  {harmless(line)}")


def describe(code: str) -> dict[str, str | list[str]]:
    name = code.strip().lower().replace("-", "_")
    if name in Reason.__members__.values():
        return _reason(Reason(name))
    if name in CATALOGUE:
        return {"code": name, "kind": "finding", "lines": [CATALOGUE[name]]}
    if name.isdigit() and int(name) in {int(value) for value in ExitCode}:
        return _exit_code(ExitCode(int(name)))
    close = get_close_matches(name, [*map(str, Reason), *CATALOGUE], 3)
    hint = f"Did you mean {' or '.join(close)}?" if close else "`santiago explain` lists all codes."
    raise SantiagoError(Kind.USAGE, f"there is no code {code!r}", hint=hint)


def _story(code: str, run: str | None) -> dict[str, str | list[str]] | None:
    """Return the state of a story if the word names one; None if it is a code, or may be meant as one."""
    known = code.lower() in Reason.__members__.values() or code.lower() in CATALOGUE or code.isdigit()
    if known or (run is None and not _LIKE_A_STORY.fullmatch(code)):
        return None
    from santiago.app.finding import find_run, naming
    from santiago.app.loading import load

    found = load(find_run(run))
    with naming(found.run_id):
        return _explained(found, code)


def _explained(run: Run, name: str) -> dict[str, str | list[str]]:
    from santiago.app.finding import find_story
    from santiago.report.marks import mark
    from santiago.report.story_status import explanation
    from santiago.util.text import flat

    planned = find_story(run, name)
    story = run.state.stories[planned.id]
    head = f"{planned.id} {flat(planned.title)}: {mark(story).word}"
    lines = explanation(run.state, planned, run.run_input)
    return {"code": head, "kind": "story", "story": planned.id, "run_id": run.run_id, "lines": lines}


def _reason(reason: Reason) -> dict[str, str | list[str]]:
    meaning = MEANINGS[reason]
    again = "tried again by itself within the budget" if meaning.retryable else "not tried again by itself"
    counts = "counts as an attempt" if meaning.spends else "costs no attempt"
    return {
        "code": str(reason),
        "kind": "reason",
        "lines": [
            meaning.sentence,
            f"What to do: {meaning.hint}",
            f"Ends as {meaning.ends_in}, exit code {int(meaning.exit_code)}; {again}; {counts}.",
        ],
    }


_EXIT_WORDS = {
    ExitCode.OK: "Success, nothing to do, or a dry run in order.",
    ExitCode.USAGE: "The command or the configuration is wrong.",
    ExitCode.WOULD_CHANGE: "`plan --check`: the plan would change; nothing was written.",
    ExitCode.BLOCKED: "Blocked: a person or another system must act.",
    ExitCode.TRANSIENT: "Failed in a way that is safe to run again as it is.",
    ExitCode.FAILED: "Failed for good: the same input will fail again.",
    ExitCode.BUG: "A bug in santiago; the path of the crash report was printed.",
    ExitCode.INTERRUPTED: "Stopped by Ctrl-C at a safe boundary; resumable.",
    ExitCode.TERMINATED: "Stopped by SIGTERM or SIGHUP at a safe boundary; resumable.",
}


def _exit_code(code: ExitCode) -> dict[str, str | list[str]]:
    reasons = ", ".join(reason for reason, meaning in MEANINGS.items() if meaning.exit_code is code)
    lines = [_EXIT_WORDS[code], *([f"Reasons: {reasons}."] if reasons else [])]
    return {"code": str(int(code)), "kind": "exit code", "lines": lines}


def _list_all(*, as_json: bool) -> None:
    if as_json:
        codes = [describe(str(code)) for code in [*Reason, *CATALOGUE, *map(int, ExitCode)]]
        show_data(codes)
        return
    for title, rows in (
        ("Reasons for not finishing", {str(reason): meaning.sentence for reason, meaning in MEANINGS.items()}),
        ("Findings about a document", CATALOGUE),
        ("Exit codes", {str(int(code)): text for code, text in _EXIT_WORDS.items()}),
    ):
        say(paint(title, "head", stderr=False))
        for code, text in rows.items():
            say(f"  {code:26} {text}")
