"""Reading a command line as the shell would, as far as needed to tell which programs it runs, where, and with what."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_TOKEN = re.compile(
    r"""(?P<space>(?:[ \t\r]|\\\n)+|\#[^\n]*)
    |(?P<redirect>\d*(?:&>>|&>|<<<|<<-|<<|<>|<&|>>|>\||>&|>(?!\()|<(?!\()))
    |(?P<word>(?:\\.|'[^']*'|"(?:\\.|[^"\\])*"|`[^`]*`|[<>$]\((?:[^()]|\([^()]*\))*\)|[^\s;|&()<>'"`\\])+)
    |(?P<operator>&&|\|\||;;|\|&|[;|&()\n])""",
    re.VERBOSE | re.DOTALL,
)
_QUOTED = re.compile(r"""\\(.)|'([^']*)'|"((?:\\.|[^"\\])*)\"""", re.DOTALL)
_INNER = re.compile(r"[<>$]\(((?:[^()]|\([^()]*\))*)\)|`([^`]*)`")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\+?=(.*)", re.DOTALL)
_KEYWORDS = frozenset({"if", "then", "elif", "else", "fi", "while", "until", "do", "done", "{", "}", "!"})
_RUNS_NOTHING = frozenset({"for", "case", "select", "function", "esac"})
_LONGEST = 8_000
"""Characters of a command that are read; a longer one names nothing that is known."""
_DEEPEST = 4
"""Command lines within command lines that are read."""


SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh"})
_INTERPRETER = re.compile(
    r"(?:python|pypy)[\d.]*|node|ruby|perl|php|deno|bun|tsx|ts-node|Rscript|lua|source|\.|(?:ba|da|z|k)?sh"
)
_NO_SCRIPT = frozenset({"-c", "-e", "-p", "--eval", "--print", "--test", "-"})
"""Options of interpreters with which no script is run."""
_LOADS_FIRST = frozenset({"-r", "--require", "--import", "--loader", "--experimental-loader", "-I", "-W", "-X"})
"""Options of interpreters that are followed by something else than the script."""
PROVIDED = re.compile(
    r"(?:\./)?(?:[\w.-]+/)*?(?:\.?v?env[\w.-]*/bin|node_modules/\.bin|vendor/bin|\.tox/[\w.-]+/bin)/[\w.-]+$"
)
"""Programs that come with the dependencies."""
PYTHON = re.compile(r"(?:python|pypy)[\d.]*")
_PASSES_ON = frozenset({"tee", "cat", "tail", "head", "ts", "less", "more", "sed", "tr"})
"""Programs behind a pipe that decide nothing."""
_WRAPPERS: dict[str, tuple[str, ...]] = {
    "env": ("-u", "--unset", "-C", "--chdir"), "time": ("-f", "-o"), "nice": ("-n",), "ionice": ("-c", "-n"), "nohup": (), "command": (),
    "exec": (), "builtin": (), "sudo": ("-u", "-g"), "stdbuf": ("-i", "-o", "-e"), "setsid": (), "xvfb-run": ("-s", "-n"), "timeout": ("-s", "-k"),
    "npx": ("-p", "--package"), "bunx": (), "pnpx": (), "chronic": (), "xargs": ("-n", "-I", "-P", "-L", "-d"), "c8": (), "nyc": (), "cross-env": (),
    "uv run": ("--with", "--python", "-p", "--extra", "--group", "--project", "--directory", "--package", "--env-file", "--index"),
    "poetry run": (), "pipenv run": (), "pdm run": (), "hatch run": (), "rye run": (), "pixi run": ("-e",),
    "bundle exec": (), "pnpm exec": (), "pnpm dlx": (), "yarn exec": (), "yarn dlx": (), "npm exec": (),
    "coverage run": ("--source", "--rcfile", "--omit", "--include"), "mise exec": (), "conda run": ("-n", "-p"),
}  # fmt: skip
"""Programs that run another one, with their options that take a value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One program that a command line runs."""

    argv: tuple[str, ...]
    """What does the work, and its arguments, without what only starts it; of `python -m x` this is `x`."""
    written: tuple[str, ...]
    """All words as they stand on the line, also the files behind `<`."""
    folder: str = ""
    """Where it runs, from the root of the repository."""
    assigned: tuple[tuple[str, str], ...] = ()
    """Variables that are set for it."""
    reads: tuple[str, ...] = ()
    """Files behind `<`."""
    module: str = ""
    """The module that python is told to run."""
    is_heard: bool = False
    """Something else on the line decides on what it says, so it is more likely the work than a judge."""

    @property
    def name(self) -> str:
        return self.argv[0].rpartition("/")[2]

    @property
    def script(self) -> str | None:
        """The file of the repository that is run: the program itself, or what an interpreter is given."""
        if self.module or PROVIDED.match(self.argv[0]):
            return None
        if "/" in self.argv[0]:
            return resolved(self.folder, self.argv[0])
        for before, word in pairwise(self.argv) if _INTERPRETER.fullmatch(self.name) else ():
            if word in _NO_SCRIPT:
                return None
            if not word.startswith("-") and word not in {"run", "test"} and before not in _LOADS_FIRST:
                return resolved(self.folder, word)
        return None


def programs(command: str) -> list[Program]:
    """Return what a command line runs, through what only starts something else; nothing where it cannot be read."""
    return list(_programs(command))


def resolved(folder: str, path: str) -> str | None:
    """Return a path from the repository's root; None where it lies elsewhere or is only known when it runs."""
    if not path or path.startswith(("/", "~", "-")) or len(path) > 500 or any(sign in path for sign in "$`\n\0"):
        return None
    joined = posixpath.normpath(posixpath.join(folder, path))
    return None if joined == ".." or joined.startswith("../") else "" if joined == "." else joined


@lru_cache(maxsize=256)
def _programs(command: str) -> tuple[Program, ...]:
    return tuple(_Reading().read(command)) if len(command) <= _LONGEST else ()


@dataclass(slots=True)
class _Reading:
    """Where the reading of a command line stands."""

    folder: str = ""
    depth: int = 0
    assigned: tuple[tuple[str, str], ...] = ()
    """Variables that are set for all that follows."""
    outer: list[str] = field(default_factory=list)
    """Folders to come back to behind `)`."""

    def read(self, command: str) -> list[Program]:
        found: list[Program] = []
        piped: list[int] = []
        for part, operator in _parts(command):
            into_pipe = operator in {"|", "|&"}
            found += self._of(part, into_pipe=into_pipe)
            piped += [len(found) - 1] if into_pipe and found else []
            if operator == "(":
                self.outer.append(self.folder)
            elif operator == ")" and self.outer:
                self.folder = self.outer.pop()
        for place in reversed(piped):
            # What only passes on is heard as what stands behind it.
            after = found[place + 1] if place + 1 < len(found) else found[place]
            found[place] = replace(found[place], is_heard=after.name not in _PASSES_ON or after.is_heard)
        return found

    def _of(self, part: Sequence[re.Match[str]], *, into_pipe: bool) -> Iterator[Program]:
        texts = (re.sub(r"'[^']*'", "", token.group()) for token in part if self.depth < _DEEPEST)
        for inner in (a or b for text in texts for a, b in _INNER.findall(text)):
            within = _Reading(self.folder, self.depth + 1, self.assigned).read(inner)
            yield from (replace(program, is_heard=True) for program in within)
        words, reads, writes = _sorted_words(part)
        assigned = self.assigned + _assignments(words)
        words = words[len(assigned) - len(self.assigned) :]
        if not words or words[0] in _RUNS_NOTHING:
            return
        if words[0] in {"cd", "pushd"} and len(words) > 1 and not into_pipe:
            there = "" if "show-toplevel" in words[1] else resolved(self.folder, words[1])
            self.folder = self.folder if there is None else there
        if words[0] == "export":
            self.assigned += _assignments(words[1:])
        yield from self._unwrapped(
            Program(
                argv=tuple(words), written=(*words, *reads), folder=self.folder, assigned=assigned, reads=tuple(reads),
                is_heard=writes,
            )
        )  # fmt: skip

    def _unwrapped(self, program: Program) -> Iterator[Program]:
        """Yield the program behind those that only start it; of a shell's `-c`, what its command line runs."""
        inside = program
        for _ in range(8):
            inside = _without_one(inside) if inside.argv else inside
        inner = _inner_command(inside.argv)
        if inner is not None and self.depth < _DEEPEST:
            yield from _Reading(self.folder, self.depth + 1, inside.assigned).read(inner)
        else:
            yield inside if inside.argv else program  # `env` alone starts nothing else


def _parts(command: str) -> Iterator[tuple[list[re.Match[str]], str]]:
    """Yield each simple command with the operator behind it; nothing of a line that no shell would run."""
    tokens: list[re.Match[str]] = []
    at = 0
    while at < len(command):
        token = _TOKEN.match(command, at)
        if token is None:
            return  # a quotation that is not closed
        tokens.append(token)
        at = token.end()
    part: list[re.Match[str]] = []
    for token in tokens:
        if token.lastgroup == "operator":
            yield part, token.group()
            part = []
        elif token.lastgroup != "space":
            part.append(token)
    yield part, ""


def _sorted_words(part: Sequence[re.Match[str]]) -> tuple[list[str], list[str], bool]:
    """Return the plain words of a simple command, the files it reads, and whether what it says goes into a file."""
    words: list[str] = []
    reads: list[str] = []
    writes = False
    redirect = ""
    for token in part:
        if token.lastgroup == "redirect":
            redirect = token.group().lstrip("0123456789")
            continue
        text = _QUOTED.sub(
            lambda found: found[1] or found[2] or re.sub(r'\\(["\\$`])', r"\1", found[3] or ""), token.group()
        )
        words += [text] if not redirect else []
        reads += [text] if redirect == "<" else []
        writes |= redirect in {">", ">>", ">|", "&>", "&>>"} and not text.startswith("/dev/")
        redirect = ""
    while words and words[0] in _KEYWORDS:
        words = words[1:]
    return words, reads, writes


def _assignments(words: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the variables that the first of these words set."""
    return tuple((found[1], found[2]) for found in takewhile(bool, map(_ASSIGNMENT.match, words)) if found)


def _inner_command(argv: Sequence[str]) -> str | None:
    """Return the command line that a shell is given as an argument."""
    if not argv or argv[0].rpartition("/")[2] not in SHELLS:
        return None
    return next((after for option, after in pairwise(argv) if re.fullmatch(r"-\w*c", option)), None)


def _without_one(program: Program) -> Program:
    """Return a program without the first of those that only start it."""
    name, rest = program.name, program.argv[1:]
    valued = _WRAPPERS.get(name)
    if valued is None and rest and (valued := _WRAPPERS.get(f"{name} {rest[0]}")) is not None:
        rest = rest[1:]
    if valued is not None:
        rest, assigned = _without_options(rest, valued)
        if name == "timeout":
            rest = rest[1:]
        elif name == "coverage":
            rest = ("python", *rest)
        return replace(program, argv=rest, assigned=program.assigned + assigned)
    if PYTHON.fullmatch(name):
        behind, _ = _without_options(rest, ("-W", "-X"))
        if behind[:1] == ("-m",) and behind[1:]:
            return replace(program, argv=behind[1:], module=behind[1])
    return program


def _without_options(
    words: tuple[str, ...], valued: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Return the words behind a starter's options, and the variables that it sets."""
    at = 0
    assigned: tuple[tuple[str, str], ...] = ()
    while at < len(words) and words[at] not in {"--", "-m"}:
        if set_here := _assignments(words[at : at + 1]):
            assigned += set_here
        elif not words[at].startswith("-"):
            break
        at += 2 if words[at] in valued else 1
    return words[at + (words[at : at + 1] == ("--",)) :], assigned
