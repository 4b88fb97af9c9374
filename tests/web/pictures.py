"""`python -m tests.web.pictures [FOLDER]` makes the pictures of docs/page.md anew, or all screens, sizes and themes into a folder."""

import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.web.browser import PHONE, SECONDS, WIDE, chromium
from tests.web.served import served
from tests.web.world import PLAN, QUESTION, SCREENS, STORY, whole

IMAGES = Path(__file__).parents[2] / "docs" / "images"
PICTURES: dict[str, tuple[str, dict[str, int], str, int]] = {
    "page-home": ("", WIDE, "light", 900),
    "page-run": ("runs/failed", WIDE, "light", 900),
    "page-story": (STORY, WIDE, "dark", 860),
    "page-question": (QUESTION, PHONE, "dark", 780),
    "page-board": ("board", WIDE, "light", 760),
    "page-plan": (PLAN, WIDE, "light", 900),
}
"""Name → address, size, theme, and the height of the picture."""


def everything(folder: Path) -> dict[str, tuple[str, dict[str, int], str, int]]:
    looks = [(size, theme) for size in (WIDE, PHONE) for theme in ("light", "dark")]
    return {
        str(folder / f"{screen.replace('/', ' ').replace('?', ' ') or 'home'} {size['width']} {theme}"): (
            screen,
            size,
            theme,
            0,
        )
        for screen in SCREENS
        for size, theme in looks
    }


def taken(browser: Any, link: str, path: str, size: dict[str, int], theme: str, height: int, to: Path) -> None:
    context = browser.new_context(viewport={**size, "height": height or size["height"]}, color_scheme=theme)
    page = context.new_page()
    page.set_default_timeout(SECONDS)
    page.goto(link)
    page.get_by_role("button").click()
    page.wait_for_selector("#needs")
    page.goto(page.url + path)
    page.screenshot(path=to, full_page=not height)
    context.close()


with tempfile.TemporaryDirectory() as folder, chromium() as browser:
    wanted = everything(Path(sys.argv[1])) if sys.argv[1:] else PICTURES
    with served(whole(Path(folder))) as site:
        for name, (path, size, theme, height) in wanted.items():
            taken(browser, site.another_link(), path, size, theme, height, IMAGES / f"{name}.png")
