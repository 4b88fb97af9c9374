"""The tables of the pages that say what holds and where it is tested: their files exist, and name the line."""

import re
from pathlib import Path

from tests.util.each import each

ROOT = Path(__file__).parents[2]
PAGES = ("board.md", "planning.md", "steps.md")
NEW = {82, 83, 85, 86}
"""Lines of people that came last; each has a test that says its number."""


def rows(page: str) -> dict[int, set[str]]:
    """Return the files of tests that a page names for each line."""
    found: dict[int, set[str]] = {}
    table = (ROOT / "docs" / page).read_text().rpartition("where it is tested")[2]
    for lines, tests in re.findall(r"^\| (\d[^|]*) \|.*\| ([^|]*) \|$", table, re.MULTILINE):
        for number in numbers(lines):
            found.setdefault(number, set()).update(Path(name).name for name in re.findall(r"`([^`]+\.py)`", tests))
    return found


def numbers(text: str) -> set[int]:
    spans = ((int(first), int(last)) for first, last in re.findall(r"(\d+)(?:–| to )(\d+)", text))
    return {int(one) for one in re.findall(r"\d+", text)} | {n for first, last in spans for n in range(first, last + 1)}


def texts_of_tests() -> dict[str, str]:
    """Return the texts of all test files, by name; files of one name together."""
    found: dict[str, str] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        found[path.name] = found.get(path.name, "") + path.read_text()
    return found


@each("page", PAGES)
def test_every_file_that_a_page_names_for_a_line_is_there(page: str) -> None:
    named = {name for files in rows(page).values() for name in files if "*" not in name}
    assert named
    assert named <= texts_of_tests().keys()


def test_a_test_that_names_a_line_of_the_board_stands_in_the_row_of_that_line() -> None:
    table = rows("board.md")
    for name, text in texts_of_tests().items():
        for said in re.findall(r"Board lines? ([\d, ]+(?:(?:and|to) \d+[\d, ]*)*)", text):
            missing = [number for number in numbers(said) if name not in table.get(number, ())]
            assert not missing, (name, missing)


def test_the_new_lines_of_people_are_in_a_row_whose_tests_say_their_numbers() -> None:
    texts = texts_of_tests()
    for number in NEW:
        (files,) = [found for page in PAGES[1:] if (found := rows(page).get(number))]
        said = [
            name
            for name in files
            if re.search(rf"(?:lines?_(?:\w*_)?|People [\d, and]*){number}\b|_{number}_", texts[name])
        ]
        assert said, number
