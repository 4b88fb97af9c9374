"""`python -m tests.web.pictures` makes the pictures of docs/page.md anew."""

import tempfile
from pathlib import Path

from tests.tui import made
from tests.web.browser import PHONE, WIDE, chromium
from tests.web.served import repository, served

IMAGES = Path(__file__).parents[2] / "docs" / "images"
PICTURES = {
    "page-home": ("", WIDE, "light", 760),
    "page-run": ("runs/failed", WIDE, "light", 900),
    "page-question": ("runs/asking/questions/S3-agent-1", PHONE, "dark", 780),
}

with tempfile.TemporaryDirectory() as folder, chromium() as browser:
    repo = repository(Path(folder), failed=made.failed_run, running=made.running_run, asking=made.asking_run)
    with served(repo) as site:
        for name, (path, size, theme, height) in PICTURES.items():
            context = browser.new_context(viewport={**size, "height": height}, color_scheme=theme)
            page = context.new_page()
            page.goto(site.another_link())
            page.get_by_role("button").click()
            page.wait_for_selector("#needs")
            page.goto(page.url + path)
            page.screenshot(path=IMAGES / f"{name}.png")
            context.close()
