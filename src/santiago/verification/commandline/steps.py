"""The steps of a command line: which programs it runs, where, what they are given, and who looks at what they say."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from santiago.verification.commandline import shell

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from santiago.verification.commandline.shell import Token

_PASSES_ON = frozenset({"tee", "cat", "tail", "head", "ts", "less", "more", "sed", "tr"})
"""Programs behind a pipe that decide nothing."""
_NOWHERE = ("/dev/", "&")
_OWN_FOLDER = re.compile(r"(?:dirname\b[^$]*\$|\$\{)(?:0|\{?BASH_SOURCE(?:\[0\])?)(?:%/\*)?\}?[\")]*")
"""How a script says where it stands itself."""
_INNER = re.compile(r"\$?\(([^()]{1,2000})\)?")
SUBSTITUTED = "$("
"""What stands for the program that is given a step's output, where that is the shell itself."""
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh"})
_DEEPEST = 4
_MOST = 400
"""Steps of one text that are looked at."""
_MOST_LOOPS = 20
_MOST_VALUES = 50
"""Words of a loop that are gone through."""


@dataclass(frozen=True, slots=True)
class Step:
    """One program that a command line runs."""

    written: tuple[str, ...]
    """As it stands there, with what only starts it."""
    argv: tuple[str, ...]
    """The program that does the work, and its arguments."""
    folder: str = ""
    """Where it runs, from the checkout's root."""
    script: str = ""
    """The file that it stands in."""
    reads: tuple[str, ...] = ()
    """Files behind `<`."""
    writes: tuple[str, ...] = ()
    """Files behind `>`."""
    assigned: tuple[str, ...] = ()
    """`NAME=value` before it."""
    heard: bool = False
    """Whether something else decides on what it says: then it is more likely judged than a judge."""
    within: str = ""
    """The program that is given its output as a file: `diff <(sort a) b`."""
    fed: str = ""
    """The program whose output it reads; `<<` where the command line itself holds what it reads."""

    @property
    def name(self) -> str:
        return self.argv[0].rpartition("/")[2]


@dataclass(slots=True)
class _Reading:
    """Where the reading of a text stands."""

    folder: str
    script: str
    depth: int
    bound: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Variables of `for` loops, and the words that they go through."""
    outer: list[str] = field(default_factory=list)
    """Folders to come back to behind `)`."""


@shell.remembered
def steps(text: str, folder: str = "", script: str = "", depth: int = 0) -> tuple[Step, ...]:
    """Return the steps of a text; `script` is the file that it stands in."""
    at = _Reading(folder, script, depth)
    found: list[Step] = []
    within = fed = holder = ""
    for part, operator in _parts(text):
        new = [replace(step, within=step.within or within, fed=step.fed or fed) for step in _of(part, operator, at)]
        found += [replace(step, heard=True) for step in new] if within else new
        opens = operator == "(" and bool(part) and part[-1].kind == "redirect" and part[-1].text.endswith("<")
        holder = new[-1].name if new and not within else holder
        within = holder if opens else "" if operator in {")", "("} else within
        fed = new[-1].name if operator in {"|", "|&"} and new else ""
        if operator == "(":
            at.outer.append(at.folder)
        elif operator == ")" and at.outer:
            at.folder = at.outer.pop()
        if len(found) > _MOST:
            break
    return tuple(_heard_through_pipes(found))


def resolved(folder: str, path: str) -> str | None:
    """Return a path from the checkout's root; None where it lies elsewhere or is only known when it runs."""
    if not path or path.startswith(("/", "~", "-")) or len(path) > 500 or any(sign in path for sign in "$`\n\0"):
        return None
    joined = posixpath.normpath(posixpath.join(folder, path))
    return None if joined == ".." or joined.startswith("../") else "" if joined == "." else joined


def _parts(text: str) -> Iterator[tuple[list[Token], str]]:
    part: list[Token] = []
    for token in shell.tokens(text) or ():
        if token.kind == "operator":
            yield part, token.text
            part = []
        else:
            part.append(token)
    yield part, ""


def _of(part: Sequence[Token], operator: str, at: _Reading) -> Iterator[Step]:
    words = [token.text for token in part if token.kind == "word"]
    words = words[1:] if words[:1] in (["do"], ["then"], ["else"], ["{"]) else words
    if words[:1] == ["for"] and words[2:3] == ["in"]:
        if len(at.bound) < _MOST_LOOPS:
            at.bound[re.sub(r"\W", "", words[1])] = tuple(words[3:_MOST_VALUES])
        return
    for one in _filled(part, at):
        yield from _substituted(one, at)
        yield from _run_by(one, operator, at)


def _run_by(part: Sequence[Token], operator: str, at: _Reading) -> Iterator[Step]:
    written = [token.text for token in shell.bare(part)]
    if not written:
        return
    if written[0] in {"cd", "pushd"} and len(written) > 1 and operator not in {"|", "|&"}:
        at.folder = _gone_to(written[1], at)
        return
    argv = shell.effective(written)
    inner = inner_command(argv)
    if inner is not None and at.depth < _DEEPEST:
        yield from steps(inner, at.folder, at.script, at.depth + 1)
    elif argv:
        reads, writes = _redirected(part)
        kept = any(not path.startswith(_NOWHERE) and not path.isdigit() for path in writes)
        assigned = tuple(token.text for token in part[:20] if re.match(r"[A-Za-z_]\w*=", token.text))
        here = any(token.kind == "redirect" and "<<" in token.text for token in part)
        yield Step(
            tuple(written), tuple(argv), at.folder, at.script, reads, writes, assigned, heard=kept or operator == "|", fed="<<" if here else ""
        )  # fmt: skip


def _filled(part: Sequence[Token], at: _Reading) -> Sequence[Sequence[Token]]:
    """Return a command once for each word that the loops around it put into it."""
    found: Sequence[Sequence[Token]] = [part]
    for name, values in at.bound.items():
        use = re.compile(rf"\$\{{{name}(?:%%?([^}}]{{0,50}}))?\}}|\${name}\b")
        if any(use.search(token.text) for token in part):
            found = [_with(one, use, value) for one in found for value in values][:_MOST_VALUES]
    return found


def _with(part: Sequence[Token], use: re.Pattern[str], value: str) -> list[Token]:
    return [
        replace(token, text=use.sub(lambda found: value.removesuffix(found[1] or ""), token.text)) for token in part
    ]


def _substituted(part: Sequence[Token], at: _Reading) -> Iterator[Step]:
    """Yield what runs inside `$(…)`: something else decides on its output."""
    for token in part:
        if token.dynamic and at.depth < _DEEPEST:
            for inner in _INNER.findall(token.text):
                yield from (
                    replace(one, heard=True, within=SUBSTITUTED)
                    for one in steps(inner, at.folder, at.script, at.depth + 1)
                )


def inner_command(argv: Sequence[str]) -> str | None:
    """Return the command line that a shell is given as an argument."""
    if argv and argv[0].rpartition("/")[2] in _SHELLS:
        for place, word in enumerate(argv[:-1]):
            if re.match(r"-\w*c$", word):
                return argv[place + 1]
    return None


def _gone_to(target: str, at: _Reading) -> str:
    if own := _OWN_FOLDER.search(target):
        here, target = posixpath.dirname(at.script), target[own.end() :].lstrip("/") or "."
    elif "show-toplevel" in target:
        return ""
    else:
        here = at.folder
    there = resolved(here, target)
    return at.folder if there is None else there


def _redirected(part: Sequence[Token]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    reads, writes = [], []
    for sign, word in pairwise(part):
        if sign.kind == "redirect" and word.kind == "word":
            kind = sign.text.lstrip("0123456789")
            if kind == "<":
                reads.append(word.text)
            elif kind in {">", ">>", ">|", "&>", "&>>"}:
                writes.append(word.text)
    return tuple(reads), tuple(writes)


def _heard_through_pipes(found: list[Step]) -> list[Step]:
    """What only passes output on decides nothing, so the program before it is not heard because of it."""
    result = list(found)
    for place in range(len(found) - 2, -1, -1):
        after = result[place + 1]
        if after.fed == found[place].name and after.name in _PASSES_ON and not found[place].writes:
            result[place] = replace(found[place], heard=after.heard)
    return result
