"""Changes of a makefile that no check can notice: plain rules for targets that none of them makes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from santiago.verification.commandline.steps import resolved

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from santiago.verification.commandline.recipes import Making

    Read = Callable[[str, Literal["base", "now"]], bytes | None]

_BEYOND = re.compile(r"^[ \t]*(?:define|\.RECIPEPREFIX)\b|\$[({]eval\b", re.MULTILINE)
"""What makes lines mean something else than they seem to."""
_CONTINUED = re.compile(r"(?<!\\)((?:\\\\)*)\\\n")
_USE = r"\$\(\w+\)|\$\{\w+\}"
_PLAIN_RULE = re.compile(rf"(\w[\w./-]*(?:[ \t]+\w[\w./-]*)*)[ \t]*:(?![:=])((?:[\w./| \t-]|{_USE})*)(?:;.*|#.*)?")
_PHONY = re.compile(r"\.PHONY[ \t]*:(?![:=])([\w./ \t-]*)(?:#.*)?")
_PLAIN_VARIABLE = re.compile(r"([A-Za-z_]\w*)[ \t]*[:?]?=[^$`]*")
_TAKEN = re.compile(
    r"\w*(?:FLAGS|PATH|OPTS|OPTIONS)|MAKE\w*|(?:PY|NODE|NPM|GO|CARGO|RUST|GIT|LD|LC|XDG|SANTIAGO|BASH|TMP|TEMP)\w*"
    r"|SHELL|HOME|USER|LANG|ENV|VIRTUAL_ENV|CC|CXX|CPP|AR|AS|FC|RM"
)
"""Variables that make or the programs below it know by themselves."""


def only_adds(path: str, makings: Iterable[Making], read: Read, base_files: Collection[str]) -> bool:
    """Whether a makefile says the same as before to all that the checks have make do."""
    concerned = [making for making in makings if path in _files(making, read)]
    if not concerned or any("just" in file.lower() for making in concerned for file in making.files):
        return False
    before, now = ((read(path, side) or b"").decode("utf-8", "replace") for side in ("base", "now"))
    if not now or _BEYOND.search(before) or _BEYOND.search(now):
        return False
    kept = set().union(*(_kept(making, read, base_files) for making in concerned))
    stems = {_stem(file) for file in base_files}

    def is_kept(target: str) -> bool:
        # Make has rules of its own by which files come from others of their name.
        return target in kept or target in base_files or ".." in target or ("." in target and _stem(target) in stems)

    texts = {file: read(file, "base") or b"" for making in concerned for file in _files(making, read)}
    every = "\n".join(text.decode("utf-8", "replace") for text in texts.values())
    old, old_phony = _said(before, is_kept, every)
    new, new_phony = _said(now, is_kept, every)
    return old == new and old_phony <= new_phony


def _files(making: Making, read: Read) -> set[str]:
    rules = making.rules(lambda file: read(file, "base"))
    included = {one for name in (*rules.included, *rules.optional) if (one := resolved(making.folder, name))}
    return {*making.files, *included}


def _kept(making: Making, read: Read, base_files: Collection[str]) -> set[str]:
    """Return the targets whose rules a check meets; one that it asks for and that nothing knows yet is the story's."""
    before, now = making.rules(lambda file: read(file, "base")), making.rules(lambda file: read(file, "now"))
    stems = {_stem(file) for file in base_files}
    asked = [name for name in making.targets if name in before.rules or _stem(name) in stems]
    found = {name.rpartition("/")[2] for name in making.files} | {*before.included, *before.optional}
    for rules in (before, now) if asked or not making.targets else ():
        found |= {name for target, rule in rules.reached(asked) for name in (target, *rule.needs)}
    return found | set(asked)


def _said(text: str, is_kept: Callable[[str], bool], every: str) -> tuple[list[str], set[str]]:
    """Return the lines of a makefile without plain rules for other targets and variables that nothing uses; and what is phony."""
    lines: list[str] = []
    phony: set[str] = set()
    passing, mark = False, ""
    for line in _CONTINUED.sub(r"\1 ", text).split("\n"):
        if line.startswith("\t"):
            lines += [] if passing else [mark + line]
        elif line.strip() and not line.lstrip().startswith("#"):
            rule, called, variable = (
                _PLAIN_RULE.fullmatch(line),
                _PHONY.fullmatch(line),
                _PLAIN_VARIABLE.fullmatch(line),
            )
            passing = rule is not None and not any(map(is_kept, rule[1].split()))
            phony |= set(filter(is_kept, called[1].split())) if called else set()
            left_out = passing or called or (variable and _is_unused(variable[1], every))
            lines += [] if left_out else [line]
            mark = "?" if left_out else ""  # what stands below it is no longer the recipe above it
    return lines, phony


def _is_unused(name: str, every: str) -> bool:
    """Whether no makefile of the base speaks of a variable, also not by a name that it puts together."""
    put_together = re.search(r"\$[({][^)}\n]{0,200}\$", every)
    return not put_together and not _TAKEN.fullmatch(name) and re.search(rf"\b{name}\b", every) is None


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]
