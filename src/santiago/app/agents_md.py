"""The block of AGENTS.md that tells coding agents about santiago. It stands between two marks, and goes without a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.artifacts.files import read_bytes, write_whole
from santiago.contract.errors import Kind, SantiagoError

if TYPE_CHECKING:
    from pathlib import Path

NAME = "AGENTS.md"
BEGIN, END = "<!-- santiago: begin -->", "<!-- santiago: end -->"
BLOCK = f"""\
{BEGIN}
## Santiago

Changes of several parts are written as a requirements document and carried out by santiago, which believes only what it verified itself.

- Write the document (headings with ids, files, criteria that can be seen from outside), then `santiago plan DOCUMENT`. Correct it until
  nothing that matters is left out. The person begins the run: `santiago run DOCUMENT`.
- Look with `santiago status`, `santiago show STORY` and `santiago answer` (lists what is asked), or with the tools of `santiago mcp`.
- Never answer, approve, accept, skip, decide or consent for the person, never type `--yes` or a `--trust-…` option, and never write into
  `.santiago`: name the command, and let the person type it.
- A story is done when `santiago status` says so.
{END}
"""
LARGEST = 1 << 20


def put(root: Path) -> str:
    """Add the block, or bring it up to date; return what was done."""
    path, text = _read(root)
    before, found, after = _parts(text)
    line = "\r\n" if "\r\n" in text else "\n"
    if text and not found:
        before += line if before.endswith("\n") else 2 * line
    new = f"{before}{BLOCK.replace(chr(10), line)}{after}"
    if new == text:
        return f"{NAME} is unchanged"
    write_whole(path, new.encode("utf-8", "surrogateescape"))
    return f"{NAME} has the block now"


def remove(root: Path) -> str:
    """Take the block out, and the file with it if nothing else stands in it; return what was done."""
    path, text = _read(root)
    before, found, after = _parts(text)
    if not found:
        return f"{NAME} has no block of santiago"
    left = before.removesuffix("\n").removesuffix("\r") + after
    if not left:
        path.unlink()
        return f"{NAME} had nothing else, and is removed"
    write_whole(path, left.encode("utf-8", "surrogateescape"))
    return f"{NAME} is as it was without the block"


def _read(root: Path) -> tuple[Path, str]:
    """Return the file and its text; raise if a link leads out of the repository."""
    path = (root / NAME).resolve()
    if not path.is_relative_to(root.resolve()):
        hint = "Write the block there by hand."
        raise SantiagoError(Kind.USAGE, "it is a link out of this repository", where=NAME, hint=hint)
    return path, read_bytes(path, LARGEST).decode("utf-8", "surrogateescape") if path.exists() else ""


def _parts(text: str) -> tuple[str, bool, str]:
    """Return what stands before the block, whether there is one, and what stands behind it."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if (begin or END in text) and not (end and BEGIN not in rest and END not in after):
        hint = f"Leave one {BEGIN} with one {END} below it, or none of them."
        raise SantiagoError(Kind.INPUT, "the marks of the block are not one pair", where=NAME, hint=hint)
    return before, bool(begin), after.removeprefix("\r").removeprefix("\n")
