"""A folder given instead of a document: which file in it is the document."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from santiago.app.paths import shortest, typed
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason
from santiago.planner.findings import few

if TYPE_CHECKING:
    from pathlib import Path

_MAIN = ("tasks.md", "epics.md", "roadmap.md", "prd.md", "prd.json", "tasks.json", "requirements.md", "spec.md")
"""Names that spec-kit, Kiro, OpenSpec, BMAD, GSD and people use. A list of tasks comes before its sources."""
_ENDINGS = frozenset({".md", ".markdown", ".json", ".jsonl", ".yaml", ".yml", ".feature", ".csv"})
_MOST = 1_000
"""How many entries of a folder are looked at."""


class Taken(NamedTuple):
    """A document, and the other documents of the folder that it was taken from."""

    document: Path
    beside: tuple[str, ...] = ()


def document_in(path: Path) -> Taken:
    """Return the document at a path: the file itself, the main document of a folder, or that of its only subfolder with one."""
    if not path.is_dir():
        return Taken(path)
    if (taken := _main(path)) is not None:
        return taken
    inner = [found for folder in _entries(path) if folder.is_dir() and (found := _main(folder)) is not None]
    if len(inner) == 1:
        return inner[0]
    offered = [one.document for one in inner] or [entry for entry in _entries(path) if _is_document(entry)]
    names = few([shortest(document) for document in offered])
    message = f"it is a folder with several documents: {names}" if offered else "it is a folder without a document"
    hint = f"Name one of them, such as {typed(offered[0])}." if offered else "Name a file."
    raise SantiagoError(Kind.INPUT, message, where=shortest(path), hint=hint, reason=Reason.INVALID_INPUT)


def _main(folder: Path) -> Taken | None:
    """Return the document of a folder by its name, or the only one that there is."""
    documents = [entry for entry in _entries(folder) if _is_document(entry)]
    named = {document.name.lower(): document for document in documents}
    found = next((named[name] for name in _MAIN if name in named), None)
    alike = [document for document in documents if "prd" in document.stem.lower()] or documents
    if found is None and len(alike) == 1:
        found = alike[0]
    return Taken(found, tuple(one.name for one in documents if one != found)) if found else None


def _entries(folder: Path) -> list[Path]:
    return sorted(islice(folder.iterdir(), _MOST))


def _is_document(path: Path) -> bool:
    return path.suffix.lower() in _ENDINGS and path.stem.lower() != "readme" and path.is_file()
