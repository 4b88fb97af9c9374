"""Agents whose work does nothing for their story, each in its own way: `agents.py NAME TEXTS`, the prompt as input.

TEXTS is a JSON file with the repository's own way to write functions and tests. The program imports nothing of this project,
because it runs where an agent runs.
"""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

DONE = "All criteria met, all tests pass.\n"


@dataclass(frozen=True)
class Folder:
    """The agent's folder, and how tests look there. What is written has a name that no other attempt uses."""

    texts: dict[str, str]
    name: str
    prompt: str

    def function(self) -> None:
        self._add(self.texts["source"], self.texts["function"])

    def test(self, body: str, form: str = "test") -> None:
        text = self.texts[form].replace("BODY", self.texts[body])
        new = not Path(self._named(self.texts["tests"])).exists()
        self._add(self.texts["tests"], self.texts["opens"] + text + self.texts["closes"] if new else text)

    def evidence(self, test: str) -> None:
        criteria = dict.fromkeys(re.findall(r"^- (\S+#\d+):", self.prompt, re.MULTILINE), self._named(test))
        self.says(criteria)

    def says(self, evidence: dict[str, str]) -> None:
        Path(os.environ["SANTIAGO_EVIDENCE"]).write_text(json.dumps(evidence), encoding="utf-8")

    def prose(self) -> None:
        self._add("junk.md", f"# {self.name}\n\n{DONE}")

    def _add(self, path: str, text: str) -> None:
        place = Path(self._named(path))
        place.parent.mkdir(parents=True, exist_ok=True)
        before = place.read_text(encoding="utf-8") if place.exists() else ""
        place.write_text(before + self._named(text), encoding="utf-8")

    def _named(self, text: str) -> str:
        return text.replace("NAME", self.name)


def does_nothing(_: Folder) -> None:
    """changes nothing"""


def says_it_is_done(folder: Folder) -> None:
    """writes a text that says that all criteria are met"""
    folder.prose()


def adds_a_function(folder: Folder) -> None:
    """adds a function that has nothing to do with the story"""
    folder.function()


def tests_nothing(folder: Folder) -> None:
    """adds a function, and a test that calls an old function and compares nothing"""
    folder.function()
    folder.test("calls")


def tests_a_constant(folder: Folder) -> None:
    """adds a function, and a test that is true whatever the code does; names it for each criterion"""
    folder.function()
    folder.test("constant")
    folder.evidence(folder.texts["id"])


def tests_at_another_time(folder: Folder) -> None:
    """adds a function, and a test that is true whatever the code does and has the time in its name"""
    folder.function()
    folder.test("constant", "varying")


def tests_an_old_function(folder: Folder) -> None:
    """adds a function, and a good test of a function that was there before; names it for each criterion"""
    folder.function()
    folder.test("compares")
    folder.evidence(folder.texts["id"])


def names_an_old_test(folder: Folder) -> None:
    """writes a text, and names a test that passed before for each criterion"""
    folder.prose()
    folder.evidence(folder.texts["old_test"])


def names_no_test(folder: Folder) -> None:
    """adds a function, and names a test that does not exist for each criterion"""
    folder.function()
    folder.evidence(folder.texts["id"])


def names_a_command(folder: Folder) -> None:
    """writes a text, and names a command that finds this text for each criterion"""
    folder.prose()
    folder.evidence("grep -q NAME junk.md")


def ticks_the_box(folder: Folder) -> None:
    """ticks the boxes of its story in the document"""
    document = Path("prd.md")
    text, story = document.read_text(encoding="utf-8"), int(re.sub(r"\D", "", os.environ["SANTIAGO_STORY"]))
    parts = text.split("\n## ")
    parts[story] = parts[story].replace("- [ ]", "- [x]") + f"\nDone ({folder.name}).\n"
    document.write_text("\n## ".join(parts), encoding="utf-8")


def skips_its_test(folder: Folder) -> None:
    """adds a function, and a test of the story that is skipped; names it for each criterion"""
    folder.function()
    folder.test("wants", "skipped")
    folder.evidence(folder.texts["id"])


def removes_a_test(folder: Folder) -> None:
    """adds a function, and removes a test that was there"""
    folder.function()
    place = Path(folder.texts["old_tests"])
    text = place.read_text(encoding="utf-8")
    place.write_text(re.sub(folder.texts["removes"], "", text, count=1, flags=re.DOTALL), encoding="utf-8")


def excuses_itself(folder: Folder) -> None:
    """adds a function, and says that no test can show it"""
    folder.function()
    folder.says({"no_test": "refactoring"})


def tests_itself(folder: Folder) -> None:
    """adds a function that has nothing to do with the story, and a good test of that function"""
    folder.function()
    folder.test("own")


JUNK: tuple[Callable[[Folder], None], ...] = (
    does_nothing, says_it_is_done, adds_a_function, tests_nothing, tests_a_constant, tests_at_another_time,
    tests_an_old_function, names_an_old_test, names_no_test, names_a_command, ticks_the_box, skips_its_test, removes_a_test, excuses_itself,
)  # fmt: skip
UNSEEN: tuple[Callable[[Folder], None], ...] = (tests_itself,)
"""What no program can tell from honest work. The count of criteria that a named test shows is what gives it away."""
AGENTS = {agent.__name__: agent for agent in (*JUNK, *UNSEEN)}


if __name__ == "__main__":
    written = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    attempt = f"junk_{os.environ['SANTIAGO_STORY']}_{os.environ['SANTIAGO_ATTEMPT']}".lower()
    AGENTS[sys.argv[1]](Folder(written, attempt, sys.stdin.read()))
    print(DONE)
