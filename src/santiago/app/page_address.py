"""Where the pages of a repository are while `santiago serve` shows them, so that messages to people can name them."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from santiago.artifacts.files import read_json, write_whole
from santiago.artifacts.registry import common_git_dir
from santiago.contract.errors import SantiagoError
from santiago.contract.ids import is_of_session

if TYPE_CHECKING:
    from collections.abc import Iterator

_LARGEST = 4096


@contextmanager
def noted(root: Path, url: str) -> Iterator[None]:
    """Note the address of pages as long as they are there. It is of no use to anybody without a session."""
    path, content = _note(root), json.dumps({"pid": os.getpid(), "url": url}).encode()
    with suppress(OSError, SantiagoError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(path, content)
    try:
        yield
    finally:
        with suppress(OSError):
            if path.read_bytes() == content:
                path.unlink()


def address(root: Path, run_id: str, question: str) -> str:
    """Return the address of a question's page, or of its run's; empty if nobody serves pages of this repository."""
    note = read_json(_note(root), _LARGEST)
    try:
        os.kill(int(note["pid"]), 0)
        url = str(note["url"])
    except (TypeError, KeyError, ValueError, OSError):
        return ""
    if is_of_session(question):
        return f"{url}/"
    return f"{url}/runs/{quote(run_id)}" + (f"/questions/{quote(question)}" if question else "")


def _note(root: Path) -> Path:
    from platformdirs import user_state_path

    common = os.path.realpath(common_git_dir(root) or root / ".git")
    return user_state_path("santiago") / "pages" / sha256(os.fsencode(common)).hexdigest()[:32]
