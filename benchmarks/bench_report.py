"""The report of a run of 500 stories and 625 attempts: its size, and how long a browser takes to paint and to load it, beside an empty page."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.measure import verdict
from tests.web import browser, reports

from santiago.app.loading import load
from santiago.report.handout import document
from santiago.web.report_file import html

if TYPE_CHECKING:
    from proofs.figures import Measured

STORIES, PAIRS = 500, 15
PAINTED = "performance.getEntriesByType('paint').map(one => one.startTime)[0]"
LOADED = "performance.getEntriesByType('navigation')[0].loadEventEnd"


def run() -> list[Measured]:
    with tempfile.TemporaryDirectory() as folder:
        page, empty = Path(folder) / "report.html", Path(folder) / "empty.html"
        empty.write_text("<!DOCTYPE html><html lang=en><title>Empty</title><p>Empty", encoding="utf-8")
        reports.large(Path(folder) / "run", STORIES)
        began = time.process_time()
        page.write_bytes(html(document(load(Path(folder) / "run"))))
        print(f"  made in {time.process_time() - began:.1f} s of processor time")
        with browser.chromium() as chromium:
            _opened(chromium, page), _opened(chromium, empty)
            pairs = [(_opened(chromium, page), _opened(chromium, empty)) for _ in range(PAIRS)]
        painted, loaded = ([(ours[at], bare[at]) for ours, bare in pairs] for at in (0, 1))
        for what, found in (("first paint", painted), ("everything loaded", loaded)):
            ours, bare = (statistics.median(column) for column in zip(*found, strict=True))
            print(f"  {what} after {ours:.0f} ms, an empty page after {bare:.0f} ms, median of {PAIRS}")
        first, whole = (statistics.median(ours / bare for ours, bare in found) for found in (painted, loaded))
        size = verdict("report-size", page.stat().st_size / 1e6, 3, unit=" MB")
        return [size, verdict("report-open", first, 3), verdict("report-loaded", whole, 3)]


def _opened(chromium: Any, page: Path) -> tuple[float, float]:
    """Return when a page was painted first, and when it was loaded, in milliseconds."""
    context = chromium.new_context(viewport=browser.WIDE)
    shown = context.new_page()
    shown.goto(page.as_uri(), wait_until="load")
    # It is asked again and again from outside, since what waits inside the page is forbidden there.
    while not shown.evaluate(f"{PAINTED} !== undefined && {LOADED} > 0"):
        pass
    found = float(shown.evaluate(PAINTED)), float(shown.evaluate(LOADED))
    context.close()
    return found
