"""Every page that has something to run, typed from top to bottom; the tests leave those out whose commands others type."""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from tests.docs.playing import Typed, play
from tests.docs.test_pages import played

from proofs.telling import options, outcome

if TYPE_CHECKING:
    from proofs.figures import Measured


def run(arguments: list[str]) -> list[Measured]:
    parser = options("pages")
    parser.add_argument("--only", default="", help="names of pages, with commas between them")
    chosen = parser.parse_args(arguments)
    names = set(filter(None, chosen.only.split(",")))
    pages = [page for page in played() if not names or page.name in names]
    with ThreadPoolExecutor(chosen.places) as pool:
        typed = [one for page in pool.map(_typed, pages) for one in page]
    wrong = [str(one) for one in typed if not one.is_right]
    return [outcome("pages", f"{len(typed)} commands of {len(pages)} pages", wrong, reached=bool(pages))]


def _typed(page: Path) -> list[Typed]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        return list(play(page, Path(folder)))
