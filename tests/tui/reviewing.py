"""Driving the review as a person would, by keys and mouse, without a terminal; and real sessions, made by scripts as agents."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, cast

from textual.widgets import Static

from santiago.tui.buttons import Buttons
from santiago.tui.pane import Pane
from santiago.tui.review import ReviewScreen
from tests.cli.santiago import santiago
from tests.tui.driving import Person, drive

AGENT = """\
import json, os, pathlib, sys, time
here, prompt = pathlib.Path(__file__).parent, sys.stdin.read()
if "SANTIAGO_DRAFT" not in os.environ:
    while (here / "hold").exists():
        time.sleep(0.02)
    pathlib.Path(os.environ["SANTIAGO_STORY"] + ".txt").write_text("x")
    sys.exit()
while (here / "wait").exists():
    time.sleep(0.02)
if (here / "fail").exists():
    sys.exit("no idea")
if (here / "ask").exists():
    sys.exit(print("SANTIAGO_QUESTION: which currency?"))
pathlib.Path(os.environ["SANTIAGO_DRAFT"]).write_text((here / "plan.json").read_text())
"""
"""Writes the plan that lies beside it, and each story's file; waits, fails or asks where a file beside it says so."""


def a_plan(*titles: str, chunks: int = 1, criterion: str = "it is there") -> dict[str, Any]:
    """Return a plan as an agent writes it: a story a title, spread over chunks."""
    stories = [
        {
            "id": f"S{number}", "title": title, "description": f"Write S{number}.txt", "chunk": f"C{1 + (number - 1) % chunks:02}",
            "requirements": [f"R{number}"], "criteria": [f"R{number}-1"],
            "depends_on": [f"S{number - 1}"] if number > 1 and chunks == 1 else [],
            "files": [f"S{number}.txt"], "verify": [f"test -f S{number}.txt"],
        }
        for number, title in enumerate(titles, 1)
    ]  # fmt: skip
    requirements = [
        {"id": f"R{number}", "title": title, "text": "", "criteria": [{"id": f"R{number}-1", "text": criterion}]}
        for number, title in enumerate(titles, 1)
    ]
    labels = sorted({str(story["chunk"]) for story in stories})
    listed = [{"label": name, "stories": [one["id"] for one in stories if one["chunk"] == name]} for name in labels]
    return {
        "contract_version": 1,
        "title": "Files",
        "requirements": requirements,
        "stories": stories,
        "chunks": listed,
        "run_verify": [],
    }


class Agents:
    def __init__(self, repo: Path) -> None:
        self.repo, self.folder = repo, repo.parent / "agents"
        self.folder.mkdir()
        (self.folder / "agent.py").write_text(AGENT)

    def draft(self, *titles: str, **wishes: Any) -> None:
        (self.folder / "plan.json").write_text(json.dumps(a_plan(*titles, **wishes)))

    def told(self, word: str, *, on: bool = True) -> None:
        """Have the agents wait, fail, ask or hold, or not any more."""
        (self.folder / word).touch() if on else (self.folder / word).unlink()

    def plan(self, *titles: str, agents: int = 2, **wishes: Any) -> Path:
        """Have a session begun through the command line, and return its folder."""
        self.draft(*titles, **wishes)
        command = f"python3 {self.folder / 'agent.py'}"
        named = [word for _ in range(agents) for word in ("--with", command)]
        done = santiago("plan", "--trust-project", *named, "Make files", cwd=self.repo)
        assert (self.repo / ".santiago" / "sessions").exists(), done.stderr
        return max((self.repo / ".santiago" / "sessions").iterdir())


class Reader(Person):
    @property
    def screen(self) -> ReviewScreen:
        return cast("ReviewScreen", self.app.first)

    async def click(self, key: str) -> None:
        for bar in self.app.screen.query(Buttons):
            for y, line in enumerate(bar.lines(bar.size.width)):
                for x, button in line:
                    if button.key == key and bar.display:
                        await self.pilot.click(bar, offset=(x + 1, y))
                        await self.pilot.pause()
                        return
        raise AssertionError(f"there is no button {key}: {self.text()}")

    async def rests(self, revision: int) -> None:
        """Wait for a revision, and that nobody works on the session any more."""
        await self.until(lambda: self.screen.following.review.revision == revision)
        await self.until(lambda: "finalize" in self.screen.offered)

    @property
    def closed(self) -> bool:
        return self.app.screen is self.screen

    def actions(self) -> list[str]:
        return [one.key for one in self.screen.query_one("#actions", Buttons).buttons]

    def painted(self) -> str:
        strips = self.app.screen._compositor.render_strips()
        return "\n".join("".join(part.text for part in strip) for strip in strips)

    def text(self) -> str:
        """Return all that is on the screen, as text, and what is in its lists and pages."""
        lines = [self.painted()]
        lines += [str(widget.content) for widget in self.app.screen.query(Static)]
        lines += [line.text for pane in self.app.screen.query(Pane) for line in pane.lines]
        return "\n".join(lines)


def review(
    folder: Path,
    script: Callable[[Reader], Awaitable[None]],
    *,
    size: tuple[int, int] = (80, 24),
    now: str = "",
    plain: bool = False,
) -> Reader:
    screen = ReviewScreen(folder, plain=plain)
    return drive(screen, Reader, lambda: screen.following.compared, script, size, now)
