"""The pages of a run of 2,000 stories: first paint beside a static page of the same first screen, and memory while five people look on."""

from __future__ import annotations

import re
import statistics
import tempfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from benchmarks.bench_watch import EVENTS, large_document, resident
from benchmarks.measure import verdict
from tests.tui.made import Made
from tests.web import browser
from tests.web.served import Served, repository, served

from santiago.contract.events import EventKind

if TYPE_CHECKING:
    from proofs.figures import Measured

PAIRS, VIEWERS = 15, 5
PAINTED = "performance.getEntriesByType('paint').map(one => one.startTime)[0]"


class Quiet(SimpleHTTPRequestHandler):
    """Serves files, and says nothing."""

    def log_message(self, *_: Any) -> None:
        pass


def run() -> list[Measured]:
    runs: list[Made] = []

    def large(out_dir: Path) -> Made:
        runs.append(Made(out_dir, large_document()))
        runs[0].begin()
        runs[0].chunk(0)
        return runs[0]

    with (
        tempfile.TemporaryDirectory() as folder,
        served(repository(Path(folder), large=large)) as site,
        browser.chromium() as chromium,
    ):
        page = _viewer(chromium, site)
        ratio = _beside_a_static_page(page, f"{page.url}runs/large", site, Path(folder) / "static")
        before, after = _memory([_viewer(chromium, site) for _ in range(VIEWERS)], site, runs[0])
    print(f"  {before:.0f} MiB before, {after:.0f} MiB after {EVENTS:,} events, {VIEWERS} pages open")
    return [verdict("serve-paint", ratio, 1.5), verdict("serve-memory", after / before, 1.1)]


def _viewer(chromium: Any, site: Served) -> Any:
    """Return the page of a browser that came by a link of its own."""
    page = chromium.new_context(viewport=browser.WIDE).new_page()
    page.set_default_timeout(browser.SECONDS)
    page.goto(site.another_link())
    page.get_by_role("button").click()
    page.wait_for_selector("#needs")
    return page


def _beside_a_static_page(page: Any, address: str, site: Served, folder: Path) -> float:
    """Return how much longer the first paint takes than that of the same page as files, without scripts."""
    folder.mkdir()
    page.goto(address)
    html = re.sub(r"<script.*?</script>", "", page.content(), flags=re.DOTALL).replace(f"{site.base}/static/", "")
    (folder / "index.html").write_text(html, encoding="utf-8")
    for name in ("style.css", "page.css", "icon.svg"):
        (folder / name).write_text(site.get(f"static/{name}").text, encoding="utf-8")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as files:
        Thread(target=files.serve_forever, daemon=True).start()
        bare = f"http://127.0.0.1:{files.server_address[1]}/"
        _painted(page, bare), _painted(page, address)
        pairs = [(_painted(page, address), _painted(page, bare)) for _ in range(PAIRS)]
        files.shutdown()
    ours, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"  first paint after {ours:.0f} ms, a static page after {theirs:.0f} ms, median of {PAIRS}")
    return statistics.median(one / other for one, other in pairs)


def _painted(page: Any, address: str) -> float:
    page.goto(address, wait_until="load")
    while (after := page.evaluate(PAINTED)) is None:  # what waits inside the page is forbidden there
        pass
    return float(after)


def _memory(pages: list[Any], site: Served, made: Made) -> tuple[float, float]:
    """Return the resident memory of the server before and after very many events, in MiB."""
    for page in pages:
        page.goto(f"{page.url}runs/large")
        page.wait_for_selector("#head")
    before = resident(site.process.pid)
    made.kept_back = True
    for _ in range(EVENTS):
        made.add(EventKind.TIME_USED, after=0, ms=1)
    made.kept_back = False
    made.add(EventKind.QUESTION_ASKED, "S2", question="S2-agent-1", kind="agent", text="Seen?", round=1)
    pages[-1].bring_to_front()
    pages[-1].locator("#needs", has_text="Seen?").wait_for(timeout=5 * browser.SECONDS)
    return before, resident(site.process.pid)
