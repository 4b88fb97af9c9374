"""Telling checks that cannot fail from checks that can: what cannot fail shows nothing."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from santiago.verification import shell
from santiago.verification.runners import known_runners

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.verification.shell import Token

_WORDS_IDLE = (
    "true : echo printf sleep pwd date whoami hostname uname id env printenv export set unset cd pushd popd shift trap wait ulimit umask"
    " alias hash type which clear tput yes seq history jobs times return local readonly declare typeset touch mkdir"
)
_IDLE = frozenset(_WORDS_IDLE.split())
_WORDS_PASSING_ON = "cat tee head tail less more wc sort uniq sed awk tr cut column ts nl fold fmt xargs rev tac cowsay"
_PASSES_ON = frozenset(_WORDS_PASSING_ON.split())
"""At the end of a pipe these end well whatever came before."""
_ASKS_ONLY = frozenset({"--help", "--version", "--usage"})
_WORDS_VERSIONED = "npm npx yarn pnpm make gmake java javac gcc g++ cc clang tsc jest git docker helm"
_TELL_VERSION = frozenset(_WORDS_VERSIONED.split())
"""To these `-v` means their version; to most others, test runners first, it means more words."""
_ASKS_ALONE = frozenset({"-V", "-h", "version", "help", "-version", "-help"})
_EMPTY_PROGRAM = re.compile(
    r"(?:\s|;|pass|True|None|\.\.\.|print\([^()]*\)|console\.log\([^()]*\)|(?:sys\.|process\.)?exit\(0?\)|import sys)*$"
)
_COMPARES = re.compile(r"(?:=|==|!=|-eq|-ne|-lt|-le|-gt|-ge)$")
_INTERPRETERS = re.compile(r"(?:(?:python|pypy)[\d.]*|node|ruby|perl|deno|bun|php)$")
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash"})
_BEGINS_COMPOUND = frozenset({"if", "for", "while", "until", "case", "{", "select", "function"})


def is_noop(command: str, depth: int = 0) -> bool:
    """Whether a command succeeds whatever the state of the work is, as far as can be read from it."""
    words = shell.tokens(command)
    if words is None:
        return False  # no shell runs this, so it will fail
    if depth > 4:
        return False
    if any(
        words_of and words_of[0].text in _BEGINS_COMPOUND
        for words_of in _split(words, {";", "&&", "||", "|", "&", "("})
    ):
        return all(_simple_noop(simple, depth) for simple in shell.simple_commands(command))
    return not _list_can_fail(words, depth)


def _list_can_fail(words: Sequence[Token], depth: int) -> bool:
    parts = [part for part in _split(words, {";", ";;"}) if part]
    if not parts:
        return False
    stops_early = [word.text for word in parts[0]][:1] == ["set"] and any(
        re.match(r"-\w*e|errexit$", word.text) for word in parts[0][1:]
    )
    if stops_early:
        return any(_and_or_can_fail(part, depth) for part in parts)
    # `cmd; exit $?` hands on what came before.
    if len(parts) > 1 and [word.text for word in parts[-1]][:1] == ["exit"] and any(word.dynamic for word in parts[-1]):
        parts = parts[:-1]
    # A failure before an unconditional `exit 0` is lost; so is one before `;`.
    return _and_or_can_fail(parts[-1], depth)


def _and_or_can_fail(words: Sequence[Token], depth: int) -> bool:
    if words and words[-1].kind == "operator" and words[-1].text == "&":
        return False  # in the background: nobody waits for it
    can_fail = False
    joined = "&&"
    for part, operator in _joined(words, {"&&", "||"}):
        part_can = _pipeline_can_fail(part, depth)
        can_fail = (can_fail or part_can) if joined == "&&" else (can_fail and part_can)
        joined = operator
    return can_fail


def _pipeline_can_fail(words: Sequence[Token], depth: int) -> bool:
    parts = [part for part in _split(words, {"|", "|&", "&"}) if part]
    if not parts:
        return False
    if parts[0][0].text == "(" and parts[-1][-1].text == ")":
        return _list_can_fail(words[1:-1], depth + 1)
    last = [word.text for word in shell.bare(parts[-1])]
    program = shell.effective(last)
    if len(parts) > 1 and program and program[0] in _PASSES_ON:
        # The runner's own summary still shows a failure, so a known runner before the pipe is not lost.
        return any(known_runners(" ".join(_quoted(part))) for part in parts[:-1])
    return not _simple_noop(shell.bare(parts[-1]), depth)


def _quoted(part: list[Token]) -> list[str]:
    return [shlex.quote(word.text) for word in shell.bare(part)]


def _simple_noop(words: Sequence[Token], depth: int) -> bool:
    written = [word.text for word in words]
    texts = shell.effective(written)
    if not texts or (written[0] == "command" and written[1:2] in (["-v"], ["-V"])):
        return True
    name, arguments = texts[0].rpartition("/")[2], texts[1:]
    dynamic = any(word.dynamic for word in words)
    if name in _SHELLS or name == "eval":
        return _inner_noop(name, arguments, depth)
    if name == "exit":
        return not arguments or arguments[0] == "0"
    if name in {"test", "[", "[["}:
        return _constant_test([word for word in arguments if word not in {"]", "]]"}], dynamic=dynamic)
    if name in _IDLE or (name == "ls" and not [word for word in arguments if not word.startswith("-")]):
        return True
    if _INTERPRETERS.match(name) and len(arguments) >= 2 and arguments[-2] in {"-c", "-e"}:
        return bool(_EMPTY_PROGRAM.match(arguments[-1]))
    if arguments == ["-v"]:
        return bool(_INTERPRETERS.match(name)) or name in _TELL_VERSION
    return bool(_ASKS_ONLY & set(arguments)) or (len(arguments) == 1 and arguments[0] in _ASKS_ALONE)


def _inner_noop(name: str, arguments: list[str], depth: int) -> bool:
    if name == "eval":
        return is_noop(" ".join(arguments), depth + 1)
    for place, word in enumerate(arguments[:-1]):
        if re.match(r"-\w*c$", word):
            strict = "set -e; " if re.search(r"e", word) or "-e" in arguments[:place] else ""
            return is_noop(strict + arguments[place + 1], depth + 1)
    return bool(_ASKS_ONLY & set(arguments))


def _constant_test(words: list[str], *, dynamic: bool) -> bool:
    if dynamic:
        return False
    if len(words) == 3:
        return bool(_COMPARES.match(words[1]))
    return len(words) < 2 or (len(words) == 2 and words[0] in {"-n", "-z", "!"})


def _split(words: Sequence[Token], at: set[str]) -> list[list[Token]]:
    return [part for part, _ in _joined(words, at)]


def _joined(words: Sequence[Token], at: set[str]) -> list[tuple[list[Token], str]]:
    """Split at operators outside parentheses; each part comes with the operator after it."""
    found: list[tuple[list[Token], str]] = []
    part: list[Token] = []
    depth = 0
    for word in words:
        operator = word.kind == "operator"
        depth += {"(": 1, ")": -1}.get(word.text, 0) if operator else 0
        if operator and depth == 0 and word.text in at:
            found.append((part, word.text))
            part = []
        else:
            part.append(word)
    return [*found, (part, "")]
