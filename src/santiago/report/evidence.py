"""The files of an attempt that people want to see: failed checks, critique, changes, the agent's last words."""

from __future__ import annotations

import os
import time
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from santiago.app.loading import record_in
from santiago.artifacts.files import LARGEST, read_bytes
from santiago.artifacts.names import AGENT_LOG, CRITIQUE, ENDING, LEFT_OUT, OUTCOME, PATCH, VERIFICATION, attempt_folder
from santiago.contract.counting import count
from santiago.contract.errors import SantiagoError
from santiago.contract.lazy_regex import pattern
from santiago.contract.reasons import Reason
from santiago.executor.critique import telling_lines
from santiago.util.text import harmless

if TYPE_CHECKING:
    from pathlib import Path

TAIL = 4096
LOG_END = 4 * 2**20
"""How many bytes of an agent's log are shown at most, since such logs can be very large."""
_CHECKOUT = pattern(
    r"(?<![\w.~@+%-])(?:/[\w.~@+%-]+)*/santiago/[0-9a-f]{16}/[^/\s]+/(?:clean|work)/[^/\s\"':;&|()]+(/?)"
)

FINDINGS = {
    "awaiting": "its tests, which fail without the work",
    "broken": "it breaks tests that passed before",
    "eased": "these tests pass only because the work changed them",
    "changed": "it changes what these tests expect",
    "vanished": "these tests no longer run",
    "flaky": "flaky: these tests failed once and passed when they ran again",
    "judge_files": "it changed these test files",
    "beside": "it changed these settings, which no check runs",
}
"""Fields of a verdict besides the results of checks, each with its heading."""


class Check(NamedTuple):
    """One command of a verification record."""

    command: str
    exit_code: int | None
    seconds: float
    timed_out: bool
    checks: int | None
    verdict: str
    head: str
    tail: str
    dropped: int

    @property
    def ended(self) -> str:
        if self.timed_out:
            return f"timed out after {self.seconds:.0f} s"
        if self.exit_code is None:
            return "not run"
        return f"exit {self.exit_code} in {self.seconds:.1f} s"

    def lines(self, most: int) -> list[str]:
        """Return the lines of the output that matter most."""
        found = telling_lines(harmless(self.head), harmless(self.tail))
        return [tidied(line).expandtabs(4) for line in found[-most:]]


class FileStat(NamedTuple):
    path: str
    added: int
    removed: int


class AttemptEvidence:
    """Reads `attempts/<story>/<n>/`. Missing or unreadable files count as empty."""

    def __init__(self, out_dir: Path, story: str, attempt: int) -> None:
        self.folder = out_dir / attempt_folder(story, attempt)

    @cached_property
    def verification(self) -> dict[str, Any]:
        return record_in(self.folder / VERIFICATION)

    def checks(self) -> list[Check]:
        return checks_in(self.verification)

    def failing(self) -> Check | None:
        return first_failing(self.checks())

    def verdict(self, field: str) -> list[str]:
        """Return the tests or files that the verdict names under a heading: `broken`, `changed`, `judge_files` …"""
        found = self.verification.get(field, [])
        return [str(one) for one in found] if isinstance(found, list) else []

    def critique(self) -> str:
        return harmless(self._text(CRITIQUE)).strip()

    def reason(self) -> str:
        """Return the reason in the critique's heading: that of the verdict, or that of a later conflict."""
        heading = self.critique().partition("\n")[0].removeprefix("# ")
        return heading if heading in Reason.__members__.values() else ""

    def message(self) -> str:
        """Return what went wrong outside agent and checks, such as a failed set-up."""
        message = record_in(self.folder / OUTCOME).get("message")
        return message if isinstance(message, str) else ""

    def patch(self) -> str:
        return self._text(PATCH)

    def left_out(self) -> list[str]:
        """Return what git could not keep of the agent's files, in git's words."""
        return self._text(LEFT_OUT).splitlines()

    def stats(self) -> list[FileStat]:
        return stats_of(self.patch())

    def log(self) -> str:
        """Return the end of what the agent printed."""
        return harmless(_end_of(self.folder / AGENT_LOG, LOG_END))

    def log_lines(self) -> int:
        try:
            with (self.folder / AGENT_LOG).open("rb") as file:
                return sum(piece.count(b"\n") for piece in iter(partial(file.read, 2**20), b""))
        except OSError:
            return 0

    def ending(self) -> dict[str, Any]:
        """Return the record of how the agent ended; empty if it has not ended."""
        return record_in(self.folder / ENDING)

    def has_ended(self) -> bool:
        """Tell whether the agent has ended, so that its work is being judged."""
        return (self.folder / ENDING).exists()

    def last_line(self) -> str:
        """Return the last line that the agent printed."""
        return last_line(self.folder / AGENT_LOG)

    def quiet_ms(self) -> int | None:
        """Return how long ago the agent last printed something; None if it never did."""
        try:
            written = (self.folder / AGENT_LOG).stat().st_mtime
        except OSError:
            return None
        return max(0, int((time.time() - written) * 1000))

    def _text(self, name: str) -> str:
        try:
            return read_bytes(self.folder / name, LARGEST).decode("utf-8", "replace")
        except SantiagoError:
            return ""


def tidied(text: str) -> str:
    """Return a text with paths into a checkout turned into paths of the repository, since the checkout will be removed."""
    return _CHECKOUT.sub(lambda found: "" if found[1] else ".", text)


def last_line(path: Path) -> str:
    """Return the last line of a growing file, without reading more of it than its end."""
    lines = _end_of(path, TAIL).splitlines()
    return next((" ".join(text.split()) for line in reversed(lines) if (text := harmless(line)).strip()), "")


def _end_of(path: Path, most: int) -> str:
    """Return the end of a file of any size; empty if there is no file."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - most))
            return file.read(most).decode("utf-8", "replace")
    except OSError:
        return ""


def checks_in(record: dict[str, Any]) -> list[Check]:
    try:
        return [_check(data) for data in record.get("results", [])]
    except (KeyError, TypeError, AttributeError, ValueError):
        return []


def first_failing(checks: list[Check]) -> Check | None:
    return next((check for check in checks if check.verdict == "fail"), None)


def _check(data: dict[str, Any]) -> Check:
    output = data["output"]
    return Check(
        command=harmless(str(data["command"])),
        exit_code=data["exit_code"],
        seconds=float(data["seconds"]),
        timed_out=bool(data["timed_out"]),
        checks=data["checks"],
        verdict=str(data["verdict"]),
        head=str(output["head"]),
        tail=str(output["tail"]),
        dropped=int(output["dropped"]),
    )


def stats_of(patch: str) -> list[FileStat]:
    """Return what a patch adds and removes, file by file."""
    found: list[FileStat] = []
    path, added, removed, inside = "", 0, 0, False
    for line in patch.split("\n"):
        if line.startswith("diff --git "):
            if path:
                found.append(FileStat(path, added, removed))
            path, added, removed, inside = _path(line), 0, 0, False
        elif line.startswith("@@"):
            inside = True
        elif inside and line.startswith("+"):
            added += 1
        elif inside and line.startswith("-"):
            removed += 1
    return [*found, FileStat(path, added, removed)] if path else found


def _path(line: str) -> str:
    """Return the file name in a patch's heading. Old and new name are the same, since renames are not detected."""
    names = line.removeprefix("diff --git ")
    half = names[len(names) // 2 + 1 :]
    return harmless(half.strip('"').removeprefix("b/"))


def totals(stats: list[FileStat]) -> str:
    """Return `+41 -3 in 2 files`."""
    added, removed = sum(one.added for one in stats), sum(one.removed for one in stats)
    return f"+{added} -{removed} in {count(len(stats), 'file')}"
