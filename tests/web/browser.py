"""Chromium, as Debian packages it, driven by Playwright. Where one of them is missing, its tests are skipped."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

AXE = Path(__file__).with_name("axe") / "axe.min.js"
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
SECONDS = 60_000
"""Milliseconds that a test waits for a page on a machine that is busy with others."""


def program() -> str:
    """Return the browser; skip where there is none."""
    pytest.importorskip("playwright", reason="playwright is missing; `./dev test` installs it")
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    return found or pytest.skip("no Chromium here; on Debian: apt-get install chromium")


@contextmanager
def chromium() -> Iterator[Any]:
    path = program()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = driver.chromium.launch(executable_path=path, args=[*as_root, "--disable-dev-shm-usage"])
        try:
            yield browser
        finally:
            browser.close()


def violations(page: Any) -> list[str]:
    """Return what axe finds wrong with a page: rule, and the first place."""
    page.evaluate(AXE.read_text())  # by the debugger: no page may load a script of others
    found = page.evaluate("axe.run()")["violations"]
    return [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found]
