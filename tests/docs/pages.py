"""Reading a page: its fences, the commands in them with the output that is shown, and the comments that set them up."""

import re
from pathlib import Path

from santiago.contract.record import record

ROOT = Path(__file__).parents[2]
MARK = re.compile(r"<!-- ([a-z][a-z ]*?)(?:: (.*?))? -->")
STICKY = frozenset({"world", "run"})
"""Comments that are steps of the page; all others belong to the fence that follows them."""


@record
class Command:
    """A command line of a page, and what the page shows below it."""

    line: int
    text: str
    shown: tuple[str, ...] = ()


@record
class Fence:
    """A fenced block."""

    line: int
    language: str
    body: tuple[str, ...]
    marks: dict[str, str]

    @property
    def commands(self) -> list[Command]:
        """Return what stands behind each `$ `, or only the first where output has such lines, or each line of `sh`."""
        found: list[Command] = []
        for number, text in enumerate(self.body, self.line + 1):
            if found and found[-1].text.endswith("\\") and not found[-1].shown:
                found[-1] = Command(line=found[-1].line, text=f"{found[-1].text}\n{text.removeprefix('> ')}")
            elif self.language == "sh":
                found += [Command(line=number, text=text)] if text.strip() else []
            elif text.startswith("$ ") and not (found and "one command" in self.marks):
                found.append(Command(line=number, text=text[2:]))
            elif found:
                found[-1] = Command(line=found[-1].line, text=found[-1].text, shown=(*found[-1].shown, text))
        return found


@record
class Step:
    """`world`: go on in that world; `run`: a command that the reader does not see."""

    line: int
    kind: str
    text: str


def pages() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def read(page: Path) -> list[Fence | Step]:
    """Return fences and steps in the order of the page."""
    found: list[Fence | Step] = []
    marks: dict[str, str] = {}
    lines = iter(enumerate(page.read_text(encoding="utf-8").splitlines(), 1))
    for number, line in lines:
        if mark := MARK.fullmatch(line.strip()):
            kind, text = mark[1], mark[2] or ""
            if kind in STICKY:
                found.append(Step(line=number, kind=kind, text=text))
            else:
                marks[kind] = text
        elif line.lstrip().startswith("```"):
            indent = len(line) - len(line.lstrip())
            body: list[str] = []
            for _, inner in lines:
                if inner.strip() == "```":
                    break
                body.append(inner[indent:])
            found.append(Fence(line=number, language=line.strip(" `"), body=tuple(body), marks=marks))
            marks = {}
    return found
