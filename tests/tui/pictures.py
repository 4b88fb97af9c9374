"""Pictures of browser and review, as they paint themselves: `python -m tests.tui.pictures` draws them anew."""

import contextlib
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.cli import greeter
from tests.tui.driving import Browser, browse
from tests.tui.made import NOW, Made, asking_run, failed_run, running_run
from tests.tui.made_session import MadeSession, drafting, reviewed
from tests.tui.reviewing import Reader, review

HERE = Path(__file__).parent / "pictures"
DOCS = Path(__file__).parents[2] / "docs" / "images"
HOLDER = "process 4711 on here, since 01:17:10"
SMALL, LARGE, STORY = (80, 24), (120, 40), ("down",) * 4


class Picture(NamedTuple):
    path: Path
    make: Callable[[Path], Made] | Callable[[Path], MadeSession]
    size: tuple[int, int]
    keys: tuple[str, ...] = ()
    worker: str = ""
    """Who works on it, where somebody is to be seen at work."""


PICTURES = [
    Picture(HERE / "failed-80x24.svg", failed_run, SMALL),
    Picture(HERE / "range-80x24.svg", failed_run, SMALL, ("v", "end", "up")),
    Picture(HERE / "changes-80x24.svg", failed_run, SMALL, ("4",)),
    Picture(HERE / "filter-80x24.svg", failed_run, SMALL, ("slash", *"export")),
    Picture(HERE / "question-80x24.svg", asking_run, SMALL, ("a", *"refuse", "space", *"it", "enter")),
    Picture(HERE / "failed-120x40.svg", failed_run, LARGE),
    Picture(HERE / "question-120x40.svg", asking_run, LARGE, ("a", *"refuse", "space", *"it", "enter")),
    Picture(HERE / "narrow-40x20.svg", failed_run, (40, 20), ("space",)),
    Picture(HERE / "running-80x24.svg", running_run, SMALL, ("2",), HOLDER),
    Picture(DOCS / "watch.svg", running_run, (116, 24), ("2",), HOLDER),
    Picture(HERE / "review-80x24.svg", reviewed, SMALL, STORY),
    Picture(HERE / "review-changes-80x24.svg", reviewed, SMALL, ("2",)),
    Picture(HERE / "review-finalize-80x24.svg", reviewed, SMALL, ("f",)),
    Picture(HERE / "review-feedback-80x24.svg", reviewed, SMALL, ("c", "enter")),
    Picture(HERE / "review-turn-80x24.svg", drafting, SMALL, ("3",), HOLDER),
    Picture(HERE / "review-120x40.svg", reviewed, LARGE, STORY),
    Picture(HERE / "review-changes-120x40.svg", reviewed, LARGE, ("2",)),
    Picture(HERE / "review-narrow-40x20.svg", reviewed, (40, 20)),
    Picture(DOCS / "review.svg", reviewed, (110, 26), STORY),
    Picture(DOCS / "review-finalize.svg", reviewed, (110, 26), ("f",)),
]


def drawn(picture: Picture) -> str:
    """Paint a picture and return it as SVG, without fonts from elsewhere, so that it needs no network."""
    found: list[str] = []

    async def paints(person: Browser | Reader) -> None:
        if picture.worker:
            person.screen.following.ask_worker = lambda: False  # type: ignore[method-assign]
            if isinstance(person, Browser):
                person.screen.following.run.worker = picture.worker
                person.rows.update()
            else:
                person.screen.following.planning.worker = picture.worker
                person.screen.following.show(0)
            person.screen.paint()
        await person.press(*picture.keys)
        await person.pilot.pause()
        name = "watch" if isinstance(person, Browser) else "review"
        found.append(person.app.export_screenshot(title=f"santiago {name}"))

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):  # paths are shown from here
        place = Path(folder).resolve()
        if picture.make in (drafting, reviewed):
            made = picture.make(greeter.committed(place / "repo", {"README.md": ""}))
            assert isinstance(made, MadeSession)
            review(made.folder, paints, size=picture.size, now=NOW)
        else:
            run = picture.make(place / "run")
            assert isinstance(run, Made)
            browse(run.out_dir, paints, size=picture.size, now=NOW)
    svg = re.sub(r"@font-face \{.*?\}", "", found[0], flags=re.DOTALL).replace("Fira Code", "monospace")
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


if __name__ == "__main__":
    for one in PICTURES:
        one.path.parent.mkdir(exist_ok=True)
        one.path.write_text(drawn(one), encoding="utf-8")
