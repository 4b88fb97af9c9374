"""Findings that a person should read before running a plan. Each finding is given once and names all stories that it concerns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from santiago.contract.counting import count
from santiago.contract.plan import Finding, Level, Story
from santiago.planner.commands import NO_CHECK
from santiago.planner.draft import Hint, Unit
from santiago.planner.findings import error, few, note, warning

SHOWN = 120
"""The most characters of a text that a finding quotes."""


def check(stories: Sequence[Story], run_verify: Sequence[str]) -> list[Finding]:
    """Return findings about the finished plan: missing criteria or files, claims of done, shared files, commands to approve."""
    findings = [
        _about(
            stories,
            [s for s in stories if not s.criteria],
            "warning",
            "no_criteria",
            "{} no acceptance criteria: {}",
            "Say in the document how each is judged; otherwise only its checks judge it.",
        ),
        _about(
            stories,
            [s for s in stories if not s.files],
            "note",
            "no_focus",
            "{} no files: {}",
            "Name files in the document, so that stories which touch different files may run side by side.",
        ),
        _about(
            stories,
            [s for s in stories if s.claimed_done],
            "note",
            "claimed_done",
            "{} marked as done in the document: {}",
            "The mark is a claim: a check of its own decides; otherwise you are asked once (--trust-ticks).",
        ),
        _shared(stories),
        _commands(stories, run_verify),
    ]
    return [finding for finding in findings if finding]


def unread(units: Sequence[Unit], others: Sequence[Hint]) -> list[Finding]:
    """Return a warning for each text in a list of checks or files that looks like a command or a path but was not used."""
    hints = [*(hint for unit in units for hint in unit.unread), *others]
    return [_unread_hint(hint) for hint in hints]


def _unread_hint(hint: Hint) -> Finding:
    shown = hint.value[:SHOWN]
    if hint.carrier == "files":
        message = f"this is in a list of files but is not read as a file: {shown}"
        way = (
            "Write each file as its path in the repository (`./name` where it could be any word), with commas between."
        )
        return warning("file_not_read", hint.line, message, way)
    message = f"this looks like a command but is not run as a check: {shown}"
    way = "Write the command alone in back-ticks behind `Verify:`; if it is not a command, nothing needs doing."
    return warning("check_not_read", hint.line, message, way)


def empty(units: Sequence[Unit], of_the_run: Sequence[Hint]) -> Iterator[Finding]:
    """Yield an error for every check that always passes, such as `true`."""
    hints = [*(hint for unit in units for hint in unit.verify), *of_the_run]
    for hint in hints:
        if hint.value in NO_CHECK:
            message = f"the check `{hint.value}` proves nothing: it passes whatever was done"
            way = "Write a command that fails until the work is done, or leave the check out."
            yield error("empty_check", hint.line, message, way)


def _about(
    stories: Sequence[Story], found: Sequence[Story], level: Level, code: str, message: str, hint: str
) -> Finding | None:
    """Return one finding about these stories, or None where there are none."""
    if not found:
        return None
    verbs = ("is", "are") if code == "claimed_done" else ("has", "have")
    has = count(len(found), f"story {verbs[0]}", f"stories {verbs[1]}")
    which = "all of them" if len(found) == len(stories) > 1 else names(found)
    return Finding(level=level, code=code, line=found[0].origin.line, message=message.format(has, which), hint=hint)


def names(stories: Sequence[Story], most: int = 12) -> str:
    """Return the ids of stories; of a long list the first ones, and the number of the others."""
    return few([story.id for story in stories], most)


def _shared(stories: Sequence[Story]) -> Finding | None:
    """Return a note about files that several stories of one chunk name: such stories do not run side by side."""
    users: dict[tuple[str, str], list[Story]] = defaultdict(list)
    for story in stories:
        for path in story.files:
            users[story.chunk, path].append(story)
    shared = [(path, found) for (_, path), found in users.items() if len(found) > 1]
    if not shared:
        return None
    path, found = shared[0]
    more = f" (and {count(len(shared) - 1, 'more file')})" if len(shared) > 1 else ""
    message = f"{names(found, 4)} name {path}{more}; they will not run side by side"
    return note("shared_focus", found[0].origin.line, message, "Nothing to do; the order is kept.")


def _commands(stories: Sequence[Story], run_verify: Sequence[str]) -> Finding | None:
    found = [story for story in stories if story.verify]
    number = sum(len(story.verify) for story in found) + len(run_verify)
    if not number:
        return None
    line = found[0].provenance[0].line if found and found[0].provenance else 0
    what = count(number, "command stands", "commands stand")
    message = f"{what} in the document and will be run as checks after approval"
    return note("document_commands", line, message, "Read them; approve them when asked, or with --trust-commands.")
