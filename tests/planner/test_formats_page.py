"""The examples of docs/formats.md are read as the page says."""

import re
from pathlib import Path

from santiago.planner.reading import read_document
from santiago.planner.source import Options, Source
from tests.util.each import each

PAGE = Path(__file__).parents[2] / "docs" / "formats.md"
EXAMPLE = re.compile(
    r"^```(\w+)\n(.*?)^```\n\nGives: (.*?)\n(?:\nGives with `--units (\w+)`: (.*?)\n)?", re.MULTILINE | re.DOTALL
)


def examples() -> list[tuple[str, str | None, str]]:
    """Return (document, what --units says, what it gives) for every example of the page."""
    found: list[tuple[str, str | None, str]] = []
    for _, body, given, units, other in EXAMPLE.findall(PAGE.read_text(encoding="utf-8")):
        found.append((body, None, given))
        if units:
            found.append((body, units, other))
    return found


@each(("text", "units", "given"), examples())
def test_the_example_gives_what_the_page_says(text: str, units: str | None, given: str) -> None:
    document = read_document(Source(text, path="example", options=Options(units=units)))
    assert not [finding for finding in document.findings if finding.level == "error"]
    assert [unit.id or unit.title for unit in document.units] == given.split("; ")


def test_every_format_has_an_example() -> None:
    assert len(examples()) >= 15
