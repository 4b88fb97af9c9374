"""Every page that has something to run, typed from top to bottom; the tests leave those out whose commands others type."""

from __future__ import annotations

import argparse
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.docs.playing import Typed, play
from tests.docs.test_pages import played


def run(arguments: list[str]) -> int:
    """Return the number of commands that print something else than their page shows; print them, and the figures."""
    parser = argparse.ArgumentParser(prog="python -m proofs pages")
    parser.add_argument("--only", default="", help="names of pages, with commas between them")
    parser.add_argument("--places", type=int, default=2, help="how many at once")
    chosen, began = parser.parse_args(arguments), time.monotonic()
    names = set(filter(None, chosen.only.split(",")))
    pages = [page for page in played() if not names or page.name in names]
    with ThreadPoolExecutor(chosen.places) as pool:
        typed = [one for page in pool.map(_typed, pages) for one in page]
    wrong = [one for one in typed if not one.is_right]
    for one in wrong:
        print(one)
    seconds = time.monotonic() - began
    print(f"pages: {len(pages)} pages, {len(typed)} commands, {len(wrong)} violations, {seconds:.0f} s")
    return len(wrong) + (not pages)


def _typed(page: Path) -> list[Typed]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        return list(play(page, Path(folder)))
