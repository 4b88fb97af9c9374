"""Every command and every flag that a page names is one that the program knows."""

import re
import shlex
from functools import cache
from pathlib import Path

import click
import pytest

from santiago.app.agents_md import BLOCK
from santiago.cli.commands import COMMANDS
from santiago.cli.main import santiago
from tests.docs.pages import ROOT, pages

FOREIGN = frozenset({"--max-budget-usd", "--max-price", "--pure", "--yolo", "-v"})
"""Flags of other programs that pages name by themselves, without the program."""
CODE = re.compile(r"^ *```.*?^ *```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
CALL = re.compile(r"(?<![\w/.-])(?<![a-z] )santiago ([a-z][a-z-]*(?: [^\n`]*)?)")
ENDS = re.compile(r"\s#\s|\s[|;&>]|(?<!\\)\||, santiago ")
FLAG = re.compile(r"--?[a-zA-Z][a-zA-Z-]*")


def called(text: str) -> list[str]:
    """Return the command lines of `santiago` in the code of a page, each without its first word, which may also be left out."""
    codes = CODE.findall(text)
    found = [call for code in codes for call in CALL.findall(code)]
    found += [code[1:-1] for code in codes if code[1:].split(" ")[0] in COMMANDS and " -" in code]
    return [ENDS.split(call)[0] for call in found]


def unknown(call: str) -> list[str]:
    """Return the words of a command line that the program does not know: the command, or flags of it."""
    words = _words(call)
    command = _command(words[0])
    if command is None:
        return words[:1]
    if isinstance(command, click.Group) and len(words) > 1 and (inner := command.commands.get(words[1].strip("[],"))):
        command = inner
    flags = [found[0] for word in words if (found := FLAG.match(word.strip("[]"))) and word.strip("[]").startswith("-")]
    return [flag for flag in flags if flag not in _flags(command)]


def _words(call: str) -> list[str]:
    try:
        return shlex.split(call)
    except ValueError:  # a quote that a sentence leaves open
        return call.split()


@cache
def _command(name: str) -> click.Command | None:
    return santiago.get_command(click.Context(santiago), name) if name in COMMANDS else None


def _flags(command: click.Command) -> set[str]:
    named = {flag for param in command.params for flag in (*param.opts, *param.secondary_opts)}
    return named | {"-h", "--help"}


SKILL = ROOT / "plugin/skills/santiago/SKILL.md"


@pytest.mark.parametrize("page", [*pages(), SKILL, Path("AGENTS.md")], ids=lambda page: page.name)
def test_every_command_line_of_a_page_is_known(page: Path) -> None:
    text = BLOCK if page.name == "AGENTS.md" else page.read_text(encoding="utf-8")
    assert {call: words for call in called(text) if (words := unknown(call))} == {}


def test_every_flag_that_stands_alone_belongs_to_a_command() -> None:
    known = {flag for name in COMMANDS if (command := _command(name)) for flag in _all_flags(command)} | _flags(
        santiago
    )
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages())
    alone = {flag for code in CODE.findall(text) if code.startswith("`-") for flag in FLAG.findall(code)[:1]}
    assert sorted(alone - known - FOREIGN) == []


def _all_flags(command: click.Command) -> set[str]:
    inner = command.commands.values() if isinstance(command, click.Group) else ()
    return _flags(command).union(*map(_all_flags, inner))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("run prd.md --agent claude", []),
        ("rum prd.md", ["rum"]),
        ("run prd.md --agnt claude", ["--agnt"]),
        ("queue move --id X --too done", ["--too"]),
        ("stop RUN [--now]", []),
    ],
)
def test_a_word_that_is_not_known_is_found(call: str, words: list[str]) -> None:
    assert unknown(call) == words


def test_the_pages_are_there() -> None:
    assert len(pages()) > 20
    assert sum(len(called(page.read_text(encoding="utf-8"))) for page in pages()) > 200
    assert ROOT.joinpath("README.md") in pages()
