"""Tests that a command line names: files, folders and modules that a runner is given, whatever they are called."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from itertools import pairwise
from typing import TYPE_CHECKING

from santiago.verification.commandline import runners
from santiago.verification.commandline.steps import resolved
from santiago.verification.sealing import globs

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from santiago.verification.commandline.steps import Step

_BY_FILE = frozenset({"node", "pytest", "unittest", "mocha", "jest", "vitest", "rspec", "phpunit", "prove"})
"""Runners whose arguments are files; those of others are packages and filters."""
_BY_FOLDER = frozenset({"node", "mocha"})
"""Those that take all of a folder; the others look for names there, and these are sealed anyway."""
_TESTS = re.compile(
    rb"^(?:async )?def test|^class \w*\(.*TestCase\)|(?<![\w.])(?:test|it|describe|suite|context)(?:\.\w+)?(?:\(| ['\"])"
    rb"|\bextends \w*TestCase\b|(?<![\w.])(?:is|ok|is_deeply|done_testing)\s?\(",
    re.MULTILINE,
)
_CODE = (".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx", ".rb", ".php", ".pl", ".t")
_TOP = frozenset({"-t", "--top-level-directory"})


def reached(steps: Iterable[Step], files: Collection[str]) -> frozenset[str]:
    """Return the files that runners are told to look for tests in; whether there are any, `holds_tests` knows."""
    return frozenset(path for step in steps for path in _of(step, files) if path.endswith(_CODE))


def holds_tests(raw: bytes) -> bool:
    """Whether a file has tests in it, as far as words show."""
    return _TESTS.search(raw) is not None


def _of(step: Step, files: Collection[str]) -> Iterator[str]:
    runner = runners.runner_of(step.argv)
    if runner == "unittest" and "discover" in step.argv:
        yield from _discovered(step, files)
    elif runner in _BY_FILE:
        words = [word.partition("::")[0] for word in step.argv[1:]]
        if runner == "unittest":
            # `pkg.module.Class.test` means a file by its beginning.
            words += [
                "/".join(parts[:end]) + ".py" for word in words for parts in [word.split(".")] for end in range(1, 6)
            ]
        meant = {path for word in words if (path := resolved(step.folder, word))}
        for path in meant:
            yield from _meant(path, files, whole=runner in _BY_FOLDER)


def _meant(path: str, files: Collection[str], *, whole: bool) -> Iterator[str]:
    """Yield what a word means: a file, what a pattern matches, all of a folder."""
    if path in files:
        yield path
    elif any(sign in path for sign in "*?[{"):
        yield from (one for one in files if globs.matches(one, (path,)))
    elif whole:
        yield from (one for one in files if one.startswith(f"{path}/"))


def _discovered(step: Step, files: Collection[str]) -> Iterator[str]:
    """Yield what `unittest discover START PATTERN` looks at."""
    words = step.argv[step.argv.index("discover") + 1 :]
    told = {option.lstrip("-")[:1]: word for option, word in pairwise(words) if option.startswith("-")}
    told |= {name.lstrip("-")[:1]: value for name, equals, value in (word.partition("=") for word in words) if equals}
    plain = [
        word
        for before, word in pairwise(("", *words))
        if not word.startswith("-") and before not in {"-s", "--start-directory", "-p", "--pattern", *_TOP}
    ]
    start = resolved(step.folder, told.get("s", plain[0] if plain else "."))
    pattern = told.get("p", plain[1] if len(plain) > 1 else "test*.py")
    if start is not None:
        within = f"{start}/" if start else ""
        yield from (one for one in files if one.startswith(within) and fnmatch(one.rpartition("/")[2], pattern))
