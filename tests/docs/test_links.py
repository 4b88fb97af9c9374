"""Every link of a page leads somewhere: to a file of the repository, and to a heading or a mark that the page there has."""

import re
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, pages

LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
MARK = re.compile(r'<a id="([\w-]+)">')


def targets(text: str) -> list[str]:
    return [link for link in LINK.findall(text) if not link.startswith(("http:", "https:"))]


def anchors(text: str) -> set[str]:
    """Return the names of a page's headings, as GitHub makes them, and of its marks."""
    words = (re.sub(r"[^\w\- ]", "", heading.strip().lower()) for heading in HEADING.findall(text))
    return {word.replace(" ", "-") for word in words} | {*MARK.findall(text)}


def dead(page: Path, link: str) -> bool:
    name, _, anchor = link.partition("#")
    path = page.parent / name if name else page
    return not path.exists() or bool(anchor and anchor not in anchors(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    assert [link for link in targets(page.read_text(encoding="utf-8")) if dead(page, link)] == []


def test_the_readme_leads_to_every_page() -> None:
    linked = {(ROOT / link).name for link in targets((ROOT / "README.md").read_text(encoding="utf-8"))}
    unlinked = {page.name for page in pages()} - linked
    assert unlinked - {"README.md", "agents-faults.md"} == set()


def test_a_dead_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "a.md"
    page.write_text('# One `word`, two\n<a id="four"></a>\n')
    links = ("#one-word-two", "#four", "a.md", "#three", "b.md")
    assert [link for link in links if dead(page, link)] == ["#three", "b.md"]
