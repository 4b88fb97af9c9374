"""Reading a check's command line as the shell would, as far as needed to tell what runs and whether it can fail."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_SPACE = re.compile(r"(?:[ \t\r]|\\\n)+")
_REDIRECT = re.compile(r"\d*(?:&>>|&>|<<<|<<-|<<|<>|<&|>>|>\||>&|>|<)")
_OPERATOR = re.compile(r"&&|\|\||;;|\|&|[;|&()\n]")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_RESERVED = "if then elif else fi for while until do done case esac in { } select function !"
KEYWORDS = frozenset(_RESERVED.split())


@dataclass(frozen=True, slots=True)
class Token:
    text: str
    kind: str
    """word, operator or redirect."""
    dynamic: bool = False
    """Whether the shell puts something into it when it runs."""


F = TypeVar("F", bound="Callable[..., Any]")
_SHORT = 4096


def remembered(function: F) -> F:
    """Keep what a function makes of short texts: every story asks several times about the same few commands."""
    kept = lru_cache(maxsize=256)(function)

    @wraps(function)
    def asked(text: str, *more: Any) -> Any:
        return kept(text, *more) if len(text) <= _SHORT else function(text, *more)

    return cast("F", asked)


@remembered
def tokens(command: str) -> tuple[Token, ...] | None:
    """Return the words and operators of a command; None where its quotes are not closed, which no shell runs."""
    found: list[Token] = []
    at = 0
    while at < len(command):
        if space := _SPACE.match(command, at):
            at = space.end()
        elif command[at] == "#":
            end = command.find("\n", at)
            at = len(command) if end < 0 else end
        elif redirect := _REDIRECT.match(command, at):
            found.append(Token(redirect.group(), "redirect"))
            at = redirect.end()
        elif operator := _OPERATOR.match(command, at):
            found.append(Token(operator.group().replace("\n", ";"), "operator"))
            at = operator.end()
        else:
            word = _word(command, at)
            if word is None:
                return None
            token, at = word
            found.append(token)
    return tuple(found)


def _word(command: str, at: int) -> tuple[Token, int] | None:
    text, dynamic = [], False
    while at < len(command) and command[at] not in " \t\r\n;|&()<>":
        sign = command[at]
        if sign in "'\"`" or command.startswith("$(", at):
            end = _closing(command, at)
            if end is None:
                return None
            inner = command[at + 1 : end]
            dynamic |= sign in "`$" or (sign == '"' and bool(re.search(r"[$`]", inner)))
            text.append(re.sub(r'\\(["\\$`\n])', r"\1", inner) if sign == '"' else inner)
            at = end + 1
        elif sign == "\\":
            text.append(command[at + 1 : at + 2])
            at += 2
        else:
            dynamic |= sign == "$"
            text.append(sign)
            at += 1
    return Token("".join(text), "word", dynamic), at


def _closing(command: str, at: int) -> int | None:
    """Return where a quotation or a substitution that begins here ends."""
    sign = command[at]
    if sign == "'":
        return _found(command.find("'", at + 1))
    if sign in '"`':
        end = re.compile(r"(?:\\.|[^\\" + sign + r"])*", re.DOTALL).match(command, at + 1)
        return end.end() if end and end.end() < len(command) else None
    depth = 0
    for place in range(at + 1, len(command)):
        depth += {"(": 1, ")": -1}.get(command[place], 0)
        if depth == 0:
            return place
    return None


def _found(place: int) -> int | None:
    return place if place >= 0 else None


def simple_commands(command: str) -> list[list[Token]]:
    """Return every simple command in it, whatever joins them, without redirections, keywords and assignments."""
    found: list[list[Token]] = [[]]
    for token in tokens(command) or ():
        if token.kind == "operator":
            found.append([])
        else:
            found[-1].append(token)
    return [words for words in map(bare, found) if words]


def bare(part: Sequence[Token]) -> list[Token]:
    """Return the words of one simple command."""
    words: list[Token] = []
    skip = False
    for token in part:
        if token.kind == "word" and not skip:
            words.append(token)
        skip = token.kind == "redirect"
    if words and words[0].text in {"for", "case", "select", "function"}:
        return []  # the head of a compound runs nothing itself
    while words and (words[0].text in KEYWORDS or _ASSIGNMENT.match(words[0].text)):
        words = words[1:]
    return words


_WRAPPERS: dict[str, tuple[str, ...]] = {
    "env": ("-u", "--unset", "-C", "--chdir"), "time": ("-f", "-o"), "nice": ("-n",), "ionice": ("-c", "-n"), "nohup": (), "command": (),
    "exec": (), "builtin": (), "sudo": ("-u", "-g"), "stdbuf": ("-i", "-o", "-e"), "setsid": (), "xvfb-run": ("-s", "-n"), "timeout": ("-s", "-k"),
    "npx": ("-p", "--package"), "bunx": (), "pnpx": (), "chronic": (), "unbuffer": (), "busybox": (),
}  # fmt: skip
"""Programs that run another one, with their options that take a value."""
_RUNNERS_OF: dict[tuple[str, str], tuple[str, ...]] = {
    ("uv", "run"): ("--with", "--python", "-p", "--extra", "--group", "--project", "--directory", "--package", "--env-file", "--index"),
    ("poetry", "run"): (), ("pipenv", "run"): (), ("pdm", "run"): (), ("hatch", "run"): (), ("rye", "run"): (), ("pixi", "run"): ("-e",),
    ("bundle", "exec"): (), ("pnpm", "exec"): (), ("pnpm", "dlx"): (), ("yarn", "exec"): (), ("yarn", "dlx"): (), ("npm", "exec"): (),
    ("coverage", "run"): ("--source", "--rcfile", "--omit", "--include"), ("mise", "exec"): (), ("conda", "run"): ("-n", "-p"),
}  # fmt: skip
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*$")


def effective(words: Sequence[str]) -> list[str]:
    """Return the program that really does the work, and its arguments, without what only starts it."""
    rest = list(words)
    for _ in range(8):
        shorter = _unwrapped(rest)
        if shorter == rest:
            break
        rest = shorter
    return rest


def _unwrapped(rest: list[str]) -> list[str]:
    while rest and _ASSIGNMENT.match(rest[0]):
        rest = rest[1:]
    if not rest:
        return rest
    name = rest[0].rpartition("/")[2]
    if name in _WRAPPERS:
        after = _without_options(rest[1:], _WRAPPERS[name])
        return after[1:] if name == "timeout" else after
    if len(rest) > 1 and (name, rest[1]) in _RUNNERS_OF:
        after = _without_options(rest[2:], _RUNNERS_OF[name, rest[1]])
        return ["python", *after] if name == "coverage" and after[:1] != ["python"] else after
    if _PYTHON.match(name) and "-m" in rest[1:] and "-c" not in rest[1 : rest.index("-m")]:
        place = rest.index("-m")
        plain = all(option.startswith("-") for option in rest[1:place])
        return rest[place + 1 :] if plain else rest
    return rest


def _without_options(words: list[str], valued: tuple[str, ...]) -> list[str]:
    at = 0
    while at < len(words) and (words[at].startswith("-") or _ASSIGNMENT.match(words[at])):
        if words[at] == "--":
            return words[at + 1 :]
        if words[at] == "-m":
            return ["python", *words[at:]]
        at += 2 if words[at] in valued else 1
    return words[at:]
