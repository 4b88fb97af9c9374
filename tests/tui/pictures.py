"""Pictures of the browser, as it paints itself: `python -m tests.tui.pictures` draws them anew."""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.tui.driving import Browser, browse
from tests.tui.made import NOW, Made, asking_run, failed_run, running_run

HERE = Path(__file__).parent / "pictures"
DOCS = Path(__file__).parents[2] / "docs" / "images"


class Picture(NamedTuple):
    path: Path
    make: Callable[[Path], Made]
    size: tuple[int, int]
    keys: tuple[str, ...] = ()
    worker: str = ""
    """Who works on the run, where somebody is to be seen at work."""


HOLDER = "process 4711 on here, since 01:17:10"
SMALL, LARGE = (80, 24), (120, 40)
SCENES: dict[str, tuple[Callable[[Path], Made], tuple[str, ...]]] = {
    "failed": (failed_run, ("down",)),
    "range": (failed_run, ("v", "end", "up")),
    "changes": (failed_run, ("down", "4")),
    "filter": (failed_run, ("slash", *"export")),
    "question": (asking_run, ("a", *"refuse", "space", *"it", "enter")),
}
PICTURES = [
    *(Picture(HERE / f"{name}-80x24.svg", make, SMALL, keys) for name, (make, keys) in SCENES.items()),
    *(Picture(HERE / f"{name}-120x40.svg", SCENES[name][0], LARGE, SCENES[name][1]) for name in ("failed", "question")),
    Picture(HERE / "narrow-40x20.svg", failed_run, (40, 20), ("space",)),
    Picture(HERE / "running-80x24.svg", running_run, SMALL, ("down", "2"), HOLDER),
    Picture(DOCS / "watch.svg", running_run, (116, 24), ("down", "2"), HOLDER),
]  # fmt: skip


def drawn(picture: Picture) -> str:
    found: list[str] = []

    async def paints(browser: Browser) -> None:
        if picture.worker:
            browser.screen.following.run.worker = picture.worker
            browser.screen.following.ask_worker = lambda: False  # type: ignore[method-assign]
            browser.rows.update()
            browser.screen.paint()
        for key in picture.keys:
            await browser.press(key)
        await browser.pilot.pause()
        found.append(browser.app.export_screenshot(title="santiago watch"))

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):  # paths are shown from here
        browse(picture.make(Path(folder).resolve() / "run").out_dir, paints, size=picture.size, now=NOW)
    return without_fonts(found[0])


def without_fonts(svg: str) -> str:
    """Return a picture without fonts from elsewhere, so that it needs no network."""
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL).replace("Fira Code", "monospace")
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


if __name__ == "__main__":
    for one in PICTURES:
        one.path.parent.mkdir(exist_ok=True)
        one.path.write_text(drawn(one), encoding="utf-8")
