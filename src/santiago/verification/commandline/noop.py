"""Telling checks that cannot fail from checks that can: what cannot fail shows nothing."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from santiago.verification.commandline import shell
from santiago.verification.commandline.runners import known_runners

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.verification.commandline.shell import Token

_WORDS_IDLE = (
    "true : echo printf sleep pwd date whoami hostname uname id env printenv export set unset cd pushd popd shift trap wait ulimit umask"
    " alias hash type which clear tput yes seq history jobs times local readonly declare typeset touch mkdir"
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
_LEAVES = frozenset({"exit", "return"})
_BY_NAME_LEAVES = frozenset({"die", "fail", "fatal", "abort", "bail"})
"""What functions are called that end a script; where they are defined elsewhere, the name is all there is to see."""
_VARIABLE = re.compile(r"\$\{?(\w+)\}?")
_DEEPEST = 4


@dataclass(frozen=True, slots=True)
class _Mode:
    """How the shell runs a list of commands."""

    depth: int
    stops: bool = False
    """A failing command ends the script: `set -e`, or a file that may say so is read first."""
    pipefail: bool = False

    def deeper(self) -> _Mode:
        return _Mode(self.depth + 1, self.stops, self.pipefail)


@shell.remembered
def is_noop(command: str, depth: int = 0) -> bool:
    """Whether a command succeeds whatever the state of the work is, as far as can be read from it."""
    words = shell.tokens(command)
    if words is None or depth > _DEEPEST:
        return False  # where quotes stay open no shell runs it, so it will fail
    own = _defined(words)
    if own or any(
        words_of and words_of[0].text in _BEGINS_COMPOUND
        for words_of in _split(words, {";", "&&", "||", "|", "&", "("})
    ):
        simple = (one for one in shell.simple_commands(command) if one[0].text not in own)
        return all(_simple_noop(one, depth) for one in simple)
    return not _list_can_fail(words, _Mode(depth))


def _defined(words: Sequence[Token]) -> frozenset[str]:
    """Return the names of functions that are defined: `name() …`."""
    return frozenset(
        first.text
        for first, second, third in zip(words, words[1:], words[2:], strict=False)
        if first.kind == "word" and (second.text, third.text) == ("(", ")") and second.kind == "operator"
    )


def _list_can_fail(words: Sequence[Token], mode: _Mode) -> bool:
    parts = _up_to_the_end([part for part in _split(words, {";", ";;"}) if part])
    if not parts or mode.depth > _DEEPEST:
        return bool(parts)
    mode = _mode_of(parts, mode)
    if mode.stops:
        return any(_and_or_can_fail(part, mode) for part in parts)
    if any(_leaves(part) and _and_or_can_fail(part, mode) for part in parts[:-1]):
        return True
    # `cmd; exit $?` hands on what came before; another variable hands on what it was set to.
    last = [word.text for word in parts[-1]]
    if len(last) > 1 and last[0] in _LEAVES and parts[-1][1].dynamic:
        return _and_or_can_fail(parts[-2], mode) if last[1] == "$?" and len(parts) > 1 else _may_be_set(last[1], words)
    # A failure before an unconditional `exit 0` is lost; so is one before `;`.
    return _and_or_can_fail(parts[-1], mode)


def _up_to_the_end(parts: list[list[Token]]) -> list[list[Token]]:
    """Return the parts of a list up to one that always ends it."""
    for place, part in enumerate(parts):
        if part[0].text == "exit" and all(word.kind == "word" for word in part):
            return parts[: place + 1]
    return parts


def _mode_of(parts: Sequence[Sequence[Token]], mode: _Mode) -> _Mode:
    stops, pipefail = mode.stops, mode.pipefail
    for part in parts:
        name, texts = part[0].text, [word.text for word in part[1:]]
        if name == "set":
            stops |= any(re.match(r"-[a-zA-Z]*e|errexit$", text) for text in texts)
            pipefail |= "pipefail" in texts
        stops |= name in {".", "source"} or (name == "trap" and "ERR" in texts)
    return _Mode(mode.depth, stops, pipefail)


def _leaves(part: Sequence[Token]) -> bool:
    """Whether a part of a list may end the script there and then, with a failure."""
    for words, _ in _joined(part, {"&&", "||"}):
        texts = [word.text for word in shell.bare(words)]
        if texts and (texts[0] in _BY_NAME_LEAVES or (texts[0] in _LEAVES and texts[1:2] != ["0"])):
            return True
    return False


def _may_be_set(text: str, words: Sequence[Token]) -> bool:
    """Whether a variable can be anything but 0 where a script ends with `exit $variable`."""
    named = _VARIABLE.fullmatch(text)
    if named is None:
        return True
    changes = [word.text for word in words if word.text.startswith((f"{named[1]}=", f"{named[1]}+"))]
    return not changes or any(change != f"{named[1]}=0" for change in changes)


def _and_or_can_fail(words: Sequence[Token], mode: _Mode) -> bool:
    if words and words[-1].kind == "operator" and words[-1].text == "&":
        return False  # in the background: nobody waits for it
    can_fail = False
    joined = "&&"
    for part, operator in _joined(words, {"&&", "||"}):
        # After `||` an `exit` of no number hands the failure on.
        hands_on = joined == "||" and len(part) == 1 and part[0].text in _LEAVES
        part_can = hands_on or _pipeline_can_fail(part, mode)
        can_fail = (can_fail or part_can) if joined == "&&" else (can_fail and part_can)
        joined = operator
    return can_fail


def _pipeline_can_fail(words: Sequence[Token], mode: _Mode) -> bool:
    parts = [part for part in _split(words, {"|", "|&", "&"}) if part]
    if not parts:
        return False
    if parts[0][0].text == "(" and parts[-1][-1].text == ")":
        return _list_can_fail(words[1:-1], mode.deeper())
    if mode.pipefail and any(not _simple_noop(shell.bare(part), mode.depth) for part in parts[:-1]):
        return True
    last = shell.bare(parts[-1])
    if not last:
        return any(
            word.dynamic and "(" in word.text for word in parts[-1]
        )  # `name=$(command)` ends as the command does
    program = shell.effective([word.text for word in last])
    if len(parts) > 1 and program and program[0] in _PASSES_ON:
        # The runner's own summary still shows a failure, so a known runner before the pipe is not lost.
        return any(known_runners(" ".join(_quoted(part))) for part in parts[:-1])
    return not _simple_noop(last, mode.depth)


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
    if name in _LEAVES:
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
