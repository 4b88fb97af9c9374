"""Reading a command line as the shell would, as far as needed to tell which programs it runs, where, and with what."""

from __future__ import annotations

import posixpath
import re
from dataclasses import replace
from functools import lru_cache
from itertools import dropwhile, pairwise, takewhile
from typing import TYPE_CHECKING

from santiago.contract.patterns import pattern
from santiago.contract.record import record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_WORD = r"""(?:\\.|'[^']*'|"(?:\\.|[^"\\])*"|`[^`]*`|[<>$]\((?:[^()]|\([^()]*\))*\)|[^\s;|&()<>'"`\\])+"""
_TOKEN = pattern(
    rf"(?:[ \t\r]|\\\n)+|\#[^\n]*|\d*(?P<redirect>&>>?|<<<|<<-?|<>|<&|>>|>[|&]|[<>](?!\())[ \t]*(?P<file>{_WORD})"
    rf"|(?P<word>{_WORD})|(?P<operator>&&|\|\||;;|\|&|[;|&()\n])",
    re.DOTALL,
)
_QUOTED = pattern(r"""\\(.)|'([^']*)'|"((?:\\.|[^"\\])*)\"""", re.DOTALL)
_WRITES = frozenset({">", ">>", ">|", "&>", "&>>"})
_ASSIGNMENT = pattern(r"([A-Za-z_][A-Za-z0-9_]*)\+?=(.*)", re.DOTALL)
_KEYWORDS = frozenset({"if", "then", "elif", "else", "fi", "while", "until", "do", "done", "{", "}", "!"})
_LONGEST = 8_000
"""Longest command that is read, in characters. A longer one is taken as unknown."""
SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh"})
PYTHON = pattern(r"(?:python|pypy)[\d.]*")
_INTERPRETER = pattern(rf"{PYTHON.pattern}|node|ruby|perl|php|deno|bun|tsx|ts-node|source|\.|{'|'.join(SHELLS)}")
_NO_SCRIPT = frozenset({"-c", "-e", "-p", "--eval", "--print", "--test", "-"})
"""Options with which an interpreter runs no script."""
PROVIDED = pattern(
    r"(?:\./)?(?:[\w.-]+/)*?(?:\.?v?env[\w.-]*/bin|node_modules/\.bin|vendor/bin|\.tox/[\w.-]+/bin)/[\w.-]+$"
)
"""Programs that come with the dependencies."""
_PASSES_ON = frozenset({"tee", "cat", "tail", "head", "ts", "less", "more", "sed", "tr"})
"""Programs behind a pipe that only pass output on."""
_STARTER = pattern(
    r"(?:env|time|nice|nohup|command|exec|sudo|stdbuf|setsid|xvfb-run|timeout|npx|bunx|pnpx|xargs|c8|nyc|cross-env"
    r"|(?:uv|poetry|pipenv|pdm|hatch|rye|pixi|conda|coverage) run|(?:bundle|pnpm|yarn|npm|mise) exec|(?:pnpm|yarn) dlx) "
)
"""Programs that only run another one, with the subcommand that says so."""
_STARTERS_VALUED = pattern(r"-[uCnkspIP]|--(?:unset|chdir|package|with|python|extra|group|source|rcfile)")
_INTERPRETERS_VALUED = pattern(r"-[WXr]|--(?:require|import|loader)")
"""Options of interpreters and of such programs that take a value."""


@record
class Program:
    """One program that a command line runs."""

    argv: tuple[str, ...]
    """The program that does the work, and its arguments, without wrappers such as `env`. For `python -m x` this is `x`."""
    written: tuple[str, ...]
    """All words as they are on the line, also files after `<`."""
    folder: str = ""
    """The folder in which it runs, relative to the root of the repository."""
    assigned: tuple[tuple[str, str], ...] = ()
    """Variables that are set for it."""
    reads: tuple[str, ...] = ()
    """Files behind `<`."""
    module: str = ""
    """The module that python is told to run."""
    is_heard: bool = False
    """Another program on the line checks its output, so it is probably the work and not a judge."""

    @property
    def name(self) -> str:
        return self.argv[0].rpartition("/")[2]

    @property
    def script(self) -> str | None:
        """The file of the repository that is run: the program itself, or the script of an interpreter."""
        if self.module or PROVIDED.match(self.argv[0]):
            return None
        if "/" in self.argv[0]:
            return resolved(self.folder, self.argv[0])
        for before, word in pairwise(self.argv) if _INTERPRETER.fullmatch(self.name) else ():
            if word in _NO_SCRIPT:
                return None
            if not word.startswith("-") and word not in {"run", "test"} and not _INTERPRETERS_VALUED.fullmatch(before):
                return resolved(self.folder, word)
        return None


def resolved(folder: str, path: str) -> str | None:
    """Return a path relative to the repository's root; None if it is outside, or known only when it runs."""
    if not path or path.startswith(("/", "~", "-")) or len(path) > 500 or any(sign in path for sign in "$`\n\0"):
        return None
    joined = posixpath.normpath(posixpath.join(folder, path))
    return None if joined == ".." or joined.startswith("../") else "" if joined == "." else joined


@lru_cache(maxsize=256)
def programs(command: str, folder: str = "") -> tuple[Program, ...]:
    """Return the programs that a command line runs, without wrappers; empty if it cannot be parsed."""
    found: list[Program] = []
    piped: list[int] = []
    outer: list[str] = []  # folders to return to after `)`
    for part, operator in _parts(command) if len(command) <= _LONGEST else ():
        program = _program(part, folder)
        found += _unwrapped(program) if program else ()
        if program and program.name == "cd" and operator != "|":
            there = resolved(folder, program.argv[1]) if program.argv[1:] else None
            folder = folder if there is None else there
        if operator in {"|", "|&"} and found:
            piped.append(len(found) - 1)
        elif operator == "(":
            outer.append(folder)
        elif operator == ")" and outer:
            folder = outer.pop()
    for place in reversed(piped):
        # A program that only passes output on is treated like the program after it.
        after = found[place + 1] if place + 1 < len(found) else found[place]
        found[place] = replace(found[place], is_heard=after.name not in _PASSES_ON or after.is_heard)
    return tuple(found)


def _parts(command: str) -> Iterator[tuple[list[re.Match[str]], str]]:
    """Yield each simple command with the operator after it; nothing if no shell could run the line."""
    tokens = list(_TOKEN.finditer(command))
    if sum(len(token.group()) for token in tokens) < len(command):
        return  # a quote that is not closed
    part: list[re.Match[str]] = []
    for token in tokens:
        part.append(token)
        if token["operator"]:
            yield part, token["operator"]
            part = []
    yield part, ""


def _program(part: Sequence[re.Match[str]], folder: str) -> Program | None:
    """Return the program of a simple command, with its wrappers."""
    words = list(dropwhile(_KEYWORDS.__contains__, (_plain(token["word"]) for token in part if token["word"])))
    assigned = _assignments(words)
    argv = tuple(words[len(assigned) :])
    reads = tuple(_plain(token["file"]) for token in part if token["redirect"] == "<")
    writes = any(token["redirect"] in _WRITES and not token["file"].startswith("/dev/") for token in part)
    if not argv:
        return None
    return Program(argv=argv, folder=folder, assigned=assigned, written=(*argv, *reads), reads=reads, is_heard=writes)


def _plain(word: str) -> str:
    """Return a word without its quotes."""
    return _QUOTED.sub(lambda one: one[1] or one[2] or re.sub(r'\\(["\\$`])', r"\1", one[3] or ""), word)


def _assignments(words: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the variables that the first words set, as in `A=1 B=2 make`."""
    return tuple((found[1], found[2]) for found in takewhile(bool, map(_ASSIGNMENT.match, words)) if found)


def _unwrapped(program: Program) -> Sequence[Program]:
    """Return the program without its wrappers. For `sh -c`, return the programs of its command line."""
    inside = program
    while (behind := _behind(inside)) is not None:
        inside = behind
    options = pairwise(inside.argv) if inside.name in SHELLS else ()
    line = next((after for option, after in options if re.fullmatch(r"-\w*c", option)), None)
    if line is None:
        return [inside]
    return [replace(one, assigned=inside.assigned + one.assigned) for one in programs(line, inside.folder)]


def _behind(program: Program) -> Program | None:
    """Return the program that a wrapper starts; None if this is no wrapper or starts nothing, like `env` alone."""
    words = (program.name, *program.argv[1:])
    starter = _STARTER.match(" ".join((*words[:2], "")))
    if not starter and not PYTHON.fullmatch(program.name):
        return None
    rest = words[starter.group().count(" ") if starter else 1 :]
    valued = _STARTERS_VALUED if starter else _INTERPRETERS_VALUED
    assigned = program.assigned
    while rest and rest[0] not in {"--", "-m"}:
        set_here = _assignments(rest[:1]) if starter else ()
        if not set_here and not rest[0].startswith("-"):
            break
        assigned += set_here
        rest = rest[2 if valued.fullmatch(rest[0]) else 1 :]
    if not starter:
        return replace(program, argv=rest[1:], module=rest[1]) if rest[:1] == ("-m",) and rest[1:] else None
    rest = rest[rest[:1] == ("--",) or program.name == "timeout" :]
    argv = ("python", *rest) if program.name == "coverage" else rest
    return replace(program, argv=argv, assigned=assigned) if argv else None
