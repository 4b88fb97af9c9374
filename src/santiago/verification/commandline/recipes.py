"""What stands behind a command: the package script, the make recipe, the shell script that it runs, and what those run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from santiago.verification.commandline import runners
from santiago.verification.commandline.makefiles import Rules
from santiago.verification.commandline.steps import Step, resolved, steps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Read = Callable[[str], bytes | None]

_DEEPEST = 3
_MOST = 200
_LONGEST = 100_000
_MOST_INCLUDED = 20
_SHEBANG = re.compile(rb"#!.*\b(?:ba|da|z|k)?sh\b")
_ELSEWHERE = frozenset({"-C", "--directory", "--prefix", "--cwd", "--dir"})
"""Options by which a tool is told to work in another folder."""
_VALUED = _ELSEWHERE | {"-f", "--file", "--makefile", "-I", "-o", "-w", "--workspace", "--filter", "-W", "--justfile"}


@dataclass(frozen=True, slots=True)
class Line:
    """A command line, and where it comes from."""

    text: str
    folder: str = ""
    script: str = ""
    """The file that it stands in."""
    told: str = ""
    """The name by which it was asked for: a make target, a package script."""


@dataclass(frozen=True, slots=True)
class Making:
    """What make, or one of its kind, is told to do."""

    folder: str
    files: tuple[str, ...]
    """Its file, or those of which it takes the first that is there."""
    targets: tuple[str, ...]

    def rules(self, read: Read) -> Rules:
        """Return what its file says, with the files that it includes."""
        found = Rules()
        waiting = [next((path for path in self.files if read(path) is not None), "")]
        seen: set[str] = set()
        while waiting and len(seen) < _MOST_INCLUDED:
            path = waiting.pop(0)
            if path and path not in seen:
                seen.add(path)
                found.add((read(path) or b"")[:_LONGEST].decode("utf-8", "replace"))
                named = (*found.included, *found.optional)
                waiting += [one for name in named if (one := resolved(self.folder, name)) is not None]
        return found


def expanded(command: str, read: Read) -> tuple[str, ...]:
    """Return the command lines behind a command."""
    return tuple(
        line.text for line, depth in walked(command, read, lambda step: () if step.within else (step,)) if depth
    )


def walked(command: str, read: Read, behind: Callable[[Step], Iterable[Step]]) -> Iterator[tuple[Line, int]]:
    """Yield a command and the lines behind it, each with its depth; `behind` says for each step which to look behind."""
    waiting = [(Line(command), 0)]
    seen: set[Line] = set()
    while waiting and len(seen) < _MOST:
        line, depth = waiting.pop(0)
        if line in seen:
            continue
        seen.add(line)
        yield line, depth
        for step in steps(line.text, line.folder, line.script) if depth < _DEEPEST else ():
            waiting += [(one, depth + 1) for inner in behind(step) for one in lines_behind(inner, read)]


def lines_behind(step: Step, read: Read) -> Iterator[Line]:
    """Yield the command lines that one step comes to."""
    if step.name in runners.SCRIPT_RUNNERS:
        yield from _package_scripts(step, read)
    elif making := making_of(step):
        for target, rule in making.rules(read).reached(making.targets):
            yield from (Line(line, making.folder, making.files[0], target) for line in rule.recipe)
    elif script := runners.script_of(step.argv):
        path = resolved(step.folder, script)
        text = read(path) if path else None
        plain = step.name in runners.SHELLS or step.name in {".", "source"}
        if path and text is not None and (plain or ("/" in step.argv[0] and _SHEBANG.match(text))):
            yield Line(text[:_LONGEST].decode("utf-8", "replace"), step.folder, path)


def making_of(step: Step) -> Making | None:
    """Return what a step has make do."""
    if step.name not in {"make", "gmake", "just"}:
        return None
    folder = _folder(step)
    given = [value for option, value in _options(step.argv) if option in {"-f", "--file", "--makefile", "--justfile"}]
    names = given or (runners.JUSTFILES if step.name == "just" else runners.MAKEFILES)
    files = tuple(path for name in names if (path := resolved(folder, name)))
    targets = tuple(word for word in plain_words(step.argv) if "=" not in word)
    return Making(folder, files, targets) if files else None


def _package_scripts(step: Step, read: Read) -> Iterator[Line]:
    folder = _folder(step)
    package = resolved(folder, "package.json") or "package.json"
    scripts = runners.package_scripts(read(package))
    for name in runners.script_names(step.name, plain_words(step.argv)):
        if isinstance(scripts.get(name), str):
            yield Line(scripts[name][:_LONGEST], folder, package, name)


def _folder(step: Step) -> str:
    """Return where a tool works that can be sent elsewhere."""
    told = [value for option, value in _options(step.argv) if option in _ELSEWHERE]
    folder = resolved(step.folder, told[-1]) if told else None
    return step.folder if folder is None else folder


def _options(argv: Sequence[str]) -> Iterator[tuple[str, str]]:
    for place, word in enumerate(argv[1:], 1):
        option, equals, value = word.partition("=")
        if equals and option.startswith("-"):
            yield option, value
        elif word in _VALUED and place + 1 < len(argv):
            yield word, argv[place + 1]


def plain_words(argv: Sequence[str]) -> list[str]:
    """Return the arguments that are neither options nor their values."""
    return [word for before, word in pairwise(argv) if not word.startswith("-") and before not in _VALUED]
