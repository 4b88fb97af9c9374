"""What git complains of, as errors for people: what is wrong, with which file, and what to do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason

if TYPE_CHECKING:
    from collections.abc import Sequence


GONE = "the repository that the run began in no longer exists at this path"
PUT_BACK = "Put it back where it was, then `santiago resume`."


class _Known(NamedTuple):
    pattern: str
    """Matches git's words. Its group, if it has one, is the path or ref that the error is about."""
    kind: Kind
    reason: Reason
    message: str
    hint: str


_KNOWN = (
    _Known(
        r"Unable to create '([^\n]+?)': File exists", Kind.TRANSIENT, Reason.LOCK_HELD,
        "another git command holds this lock", "Wait for that command; if none is running, remove the file and run the same command again.",
    ),
    _Known(
        r"No space left on device|Disk quota exceeded|Out of diskspace", Kind.TRANSIENT, Reason.IO_ERROR,
        "no space is left on the disk", "Free space and run the same command again.",
    ),
    _Known(
        r"Read-only file system|[Pp]ermission denied|insufficient permission", Kind.INPUT, Reason.IO_ERROR,
        "writing to the repository is not permitted", "Change its permissions, or run as its owner.",
    ),
    _Known(
        r"'(refs/heads/[^'\n]+)' exists; cannot create", Kind.BLOCKED, Reason.NEEDS_USER_CONFIRMATION,
        "this ref stands in the way of santiago's own", "Rename that branch: `git branch -m OLD NEW`; then `santiago resume`.",
    ),
    _Known(
        r"'(refs/[^'\n]+)' exists; cannot create", Kind.BLOCKED, Reason.NEEDS_USER_CONFIRMATION,
        "this ref stands in the way of santiago's own", "Look at it with `git log REF`; `git update-ref -d REF` removes it; then `santiago resume`.",
    ),
    _Known(
        r"cannot lock ref '([^'\n]+)': (?:is at|reference already exists|unable to resolve)", Kind.BLOCKED, Reason.NEEDS_USER_CONFIRMATION,
        "somebody else moved this branch", "Look at it with `git log`; move it back, or start a new run from it.",
    ),
    _Known(
        r"dubious ownership in repository at '([^'\n]+)'", Kind.BLOCKED, Reason.NEEDS_USER_CONFIRMATION,
        "git does not trust this repository, since it belongs to somebody else", "`git config --global --add safe.directory PATH` trusts it.",
    ),
    _Known(
        r"not a git repository", Kind.TRANSIENT, Reason.IO_ERROR, GONE, PUT_BACK,
    ),
    _Known(
        r"bad object|[Uu]nable to read|missing (?:blob|tree|commit)|unable to find|[Cc]ould not (?:read(?! from remote)|parse)|[Nn]ot a valid"
        r"|unknown revision|bad revision|nonexistent object|loose object .* corrupt",
        Kind.BLOCKED, Reason.ARTIFACT_CORRUPT,
        "an object that git needs is missing", "`git fsck` shows what is missing; a partial clone gets all of it with `git fetch --refetch --no-filter`.",
    ),
)  # fmt: skip

_REFUSED = (
    r"error: (?:invalid path '|unable to add '|unable to index file '|open\(\"|filename too long|'.*' does not have a commit checked out)"
    r"|error: .*: can only add regular files|warning: could not open directory|fatal: (?:adding|updating) files failed"
)
"""What git says of a file that it can take on no machine."""

_QUOTED = r"['\"](.+)['\"]"
_CONTROL = r"[^\x20-\x7e\u00a0-\U0010ffff]+"
LONGEST = 300


def trouble(arguments: Sequence[str], words: str) -> SantiagoError:
    """Return the error for people that git's own words mean."""
    lines = [re.sub(_CONTROL, " ", line).strip() for line in words.splitlines()]
    said = next(
        (line for line in lines if line.startswith(("fatal:", "error:"))), next(filter(None, lines), "no word why")
    )[:LONGEST]
    for known in _KNOWN:
        found = re.search(known.pattern, words)
        if found:
            about = re.sub(_CONTROL, " ", found[1]) if found.re.groups else ""
            return SantiagoError(
                known.kind,
                f"{known.message} ({said})",
                hint=known.hint.replace("REF", about),
                where=about,
                reason=known.reason,
            )
    return SantiagoError(
        Kind.TRANSIENT,
        f"git {_command(arguments)} failed: {said}",
        hint="Mend that, then run the same command again.",
        reason=Reason.IO_ERROR,
    )


def is_of_the_machine(words: str) -> bool:
    """Tell whether git failed because of the disk, permissions or a lock, and not because of the files that it was given."""
    faults = (Reason.IO_ERROR, Reason.LOCK_HELD)
    return any(known.reason in faults and re.search(known.pattern, words) for known in _KNOWN)


def refused(words: str) -> tuple[str, ...]:
    """Return what git says about files that it cannot take; raise if it complains about anything else.

    A full disk must not be taken for an unusual file: the work would be lost silently.
    """
    lines = words.splitlines()
    if not words.endswith("\n"):
        lines = lines[:1] + lines[1:-1]  # the last of very many is cut short
    complaints = [line for line in lines if line.startswith(("error:", "fatal:", "warning: could not open"))]
    if not all(re.match(_REFUSED, line) for line in complaints):
        raise trouble(("add",), words)
    first: dict[str, str] = {}  # git may complain of one file twice
    for line in complaints:
        if not line.startswith("fatal:"):
            name = re.search(_QUOTED, line)
            first.setdefault(name[1] if name else line, re.sub(_CONTROL, " ", line).partition(": ")[2][:LONGEST])
    return tuple(first.values())


def _command(arguments: Sequence[str]) -> str:
    """Return the subcommand, without the options before it."""
    rest = list(arguments)
    while rest and rest[0] == "-c":
        rest = rest[2:]
    return rest[0] if rest else ""
