"""Pictures of the review, as it paints itself: `python -m tests.tui.review_pictures` draws them anew."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.cli import greeter
from tests.tui.made_session import NOW, MadeSession, drafting, reviewed
from tests.tui.pictures import DOCS, HERE, HOLDER, LARGE, SMALL, without_fonts
from tests.tui.reviewing import Reader, review


class Picture(NamedTuple):
    path: Path
    make: Callable[[Path], MadeSession]
    size: tuple[int, int]
    keys: tuple[str, ...] = ()
    worker: str = ""
    """Who works on the session, where somebody is to be seen at work."""


STORY = ("down",) * 4
SCENES: dict[str, tuple[Callable[[Path], MadeSession], tuple[str, ...], str]] = {
    "review": (reviewed, STORY, ""),
    "review-changes": (reviewed, ("2",), ""),
    "review-finalize": (reviewed, ("f",), ""),
    "review-feedback": (reviewed, ("c", "enter"), ""),
    "review-turn": (drafting, ("3",), HOLDER),
}
PICTURES = [
    *(Picture(HERE / f"{name}-80x24.svg", make, SMALL, keys, worker) for name, (make, keys, worker) in SCENES.items()),
    *(Picture(HERE / f"{name}-120x40.svg", SCENES[name][0], LARGE, *SCENES[name][1:]) for name in ("review", "review-changes")),
    Picture(HERE / "review-narrow-40x20.svg", reviewed, (40, 20)),
    Picture(DOCS / "review.svg", reviewed, (110, 26), STORY),
    Picture(DOCS / "review-finalize.svg", reviewed, (110, 26), ("f",)),
]  # fmt: skip


def drawn(picture: Picture) -> str:
    found: list[str] = []

    async def paints(reader: Reader) -> None:
        following = reader.screen.following
        if picture.worker:
            following.planning.worker = picture.worker
            following.ask_worker = lambda: False  # type: ignore[method-assign]
            following.show(0)
            reader.screen.paint()
        await reader.press(*picture.keys)
        await reader.pilot.pause()
        found.append(reader.app.export_screenshot(title="santiago review"))

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        repo = greeter.committed(Path(folder).resolve() / "repo", {"README.md": ""})
        made = picture.make(repo)
        review(made.folder, paints, size=picture.size, now=NOW)
    return without_fonts(found[0])


if __name__ == "__main__":
    for one in PICTURES:
        one.path.parent.mkdir(exist_ok=True)
        one.path.write_text(drawn(one), encoding="utf-8")
