"""What a check's command line says of itself: its test runners, the files that it names, whether it stays inside."""

from __future__ import annotations

import posixpath
import re
import shlex
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING

from santiago.judge import globs
from santiago.judge.shell import PROVIDED, PYTHON, SHELLS, Program, programs, resolved

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

_RUNNERS: dict[str, str] = {
    "pytest": "pytest", "py.test": "pytest", "unittest": "unittest", "doctest": "doctest", "nose2": "nose2", "jest": "jest",
    "react-scripts": "jest", "vitest": "vitest", "mocha": "mocha", "_mocha": "mocha", "tap": "tap", "ava": "ava", "tape": "tape",
    "jasmine": "jasmine", "karma": "karma", "cypress": "cypress", "playwright": "playwright", "rspec": "rspec", "phpunit": "phpunit",
    "pest": "phpunit", "ctest": "ctest", "gotestsum": "go", "prove": "prove", "bats": "bats", "behave": "behave",
    "go test": "go", "cargo test": "cargo", "cargo t": "cargo", "cargo nextest": "cargo", "dotnet test": "dotnet", "deno test": "deno",
    "bun test": "bun", "swift test": "swift", "mix test": "mix", "rake test": "rake", "rake spec": "rspec",
    **{f"mvn {goal}": "maven" for goal in ("test", "verify", "package", "install", "integration-test")},
    **{f"gradle {task}": "gradle" for task in ("test", "check", "build")},
}  # fmt: skip
"""Test runners, by the program or by the program and its first word."""
_ALIASES = {"mvnw": "mvn", "gradlew": "gradle"}
PACKAGE_MANAGERS = frozenset({"npm", "yarn", "pnpm", "bun"})
STEERED_BY: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("make", "gmake"), ("GNUmakefile", "makefile", "Makefile")), "just": ("justfile", "Justfile", ".justfile"),
    "task": ("Taskfile.yml", "Taskfile.yaml", "Taskfile.dist.yml"), "rake": ("Rakefile",), "nox": ("noxfile.py",), "ant": ("build.xml",),
    **dict.fromkeys(("invoke", "inv"), ("tasks.py",)), "grunt": ("Gruntfile.js",), "gulp": ("gulpfile.js",), "mage": ("magefile.go",),
    **dict.fromkeys(PACKAGE_MANAGERS, ("package.json",)), "tox": ("tox.ini", "pyproject.toml"), "composer": ("composer.json",),
}  # fmt: skip
"""Programs that do what a file of the repository tells them, and that file's names."""
_ELSEWHERE = frozenset({"-C", "--directory", "--prefix", "--cwd", "--dir"})
"""Options by which such a program is told to work in another folder."""
_BUILTINS = "true false : echo printf test [ [[ cd pushd popd exit return set shift wait pwd sleep read local export unset type hash which"
_PLAIN_TOOLS = (
    "grep egrep fgrep diff cmp comm cat head tail sort uniq wc cut tr sed awk gawk find ls mkdir rm cp mv ln touch tee xargs basename dirname"
    " jq seq date stat expr sha256sum md5sum tar gzip gunzip zip unzip file readlink realpath mktemp rg cmake ninja gcc g++ cc clang rustc"
)
_LANGUAGE_TOOLS = (
    "node deno bun npm npx yarn pnpm go cargo make gmake just task mvn mvnw gradle gradlew ruby rake bundle php perl java javac dotnet swift mix"
    " elixir tox nox ruff mypy pyright flake8 black isort pylint coverage tsc eslint prettier xo standard tsd biome sbt lein stack cabal zig"
)
_WELL_KNOWN = frozenset(
    (*_BUILTINS.split(), *_PLAIN_TOOLS.split(), *_LANGUAGE_TOOLS.split(), *(name.split()[0] for name in _RUNNERS))
)
_DEEPEST = 4
"""Scripts within scripts that are read."""
_ASKS = re.compile(r"SANTIAGO_|(?i:environ|getenv|\benv\b|/proc\b)")


def runners(command: str) -> tuple[str, ...]:
    """Return the known test runners that the command line itself starts."""
    found = map(runner_of, programs(command))
    return tuple(dict.fromkeys(runner for runner in found if runner))


def runner_of(program: Program) -> str | None:
    """Return the test runner that a program is."""
    name = _ALIASES.get(program.name, program.name)
    words = [word.rpartition(":")[2] for word in program.argv[1:] if not word.startswith(("-", "+"))]
    if name == "node":
        return "node" if "--test" in program.argv else None
    if name in {"mvn", "gradle"}:
        return next((found for word in words if (found := _RUNNERS.get(f"{name} {word}"))), None)
    by_word = _RUNNERS.get(f"{name} {words[0]}") if words else None
    if name in PACKAGE_MANAGERS and words:
        return by_word or _RUNNERS.get(words[0])  # `yarn jest`
    return by_word or _RUNNERS.get(name)


def paths(command: str, files: Collection[str]) -> frozenset[str]:
    """Return the files of a commit that the command names: by a path, by `path::id`, by a pattern, as a module."""
    return frozenset(path for program in programs(command) for path in named(program, files))


def absent(command: str, base_files: Collection[str], work_files: Collection[str]) -> bool:
    """Whether the command runs a test file, script or module that only the work has.

    Then a failure on the base says nothing. A program whose output something else on the line looks at is the work
    itself: that it is missing on the base is a failure like any other.
    """
    return any(
        path not in base_files and not any(one.startswith(f"{path}/") for one in base_files)
        for program in programs(command)
        for path in _judging(program, base_files, work_files)
    )


def is_self_contained(command: str, read: Callable[[str], bytes | None] = lambda _: None, depth: int = 0) -> bool:
    """Whether all that the command line starts is well known and all that it names lies in the repository.

    Such a line asks for no variable that tells one story from another; shell scripts of the repository are read as the
    lines that they are, and what other files of the repository ask for is not looked at. Where in doubt the answer is no.
    """
    found = programs(command)
    # What stands in single quotes is filled in only by a shell that it is handed to.
    fixed = command if re.search(r"\b(?:ba|da|z|k)?sh\b", command) else re.sub(r"'[^']*'|\\.", "", command)
    is_fixed = re.search(r"[$`]|[<>]\(", fixed) is None
    return bool(found) and is_fixed and all(_is_plain(program, read, depth) for program in found)


def _is_plain(program: Program, read: Callable[[str], bytes | None], depth: int) -> bool:
    first, *rest = program.written
    is_tool = first.startswith("/") and _is_known(first.rpartition("/")[2])  # an interpreter by its whole path
    words = (*([] if is_tool else [first]), *rest, *(value for _, value in program.assigned))
    if any(_leads_out(program.folder, word) for word in words) or any(map(_ASKS.search, program.argv)):
        return False
    if program.argv in {("set",), ("export",), ("export", "-p")}:
        return False
    if program.script and (program.name in SHELLS or program.script.endswith(".sh")):
        script = read(program.script) if depth < _DEEPEST else None
        lines = f"cd {shlex.quote(program.folder or '.')}\n{(script or b'').decode('utf-8', 'replace')}"
        return script is not None and is_self_contained(lines, read, depth + 1)
    if program.module or "/" not in program.argv[0] or is_tool:
        return _is_known(program.name)
    return PROVIDED.match(program.argv[0]) is not None or program.argv[0] in {"./mvnw", "./gradlew"}


def _is_known(name: str) -> bool:
    return name in _WELL_KNOWN or PYTHON.fullmatch(name) is not None


def _leads_out(folder: str, word: str) -> bool:
    """Whether a word, or the value of an option or a part of a list in it, is a path outside the repository."""
    return any(
        (part.startswith(("/", "~")) and not part.startswith("/dev/"))
        or (".." in part.split("/") and resolved(folder, part) is None)
        for part in re.split(r"[=:,]", word)
    )


def steering(program: Program) -> list[str]:
    """Return the files that a program may be told by what to do, where it works: `make -C t` by t/Makefile."""
    told = [after for option, after in pairwise(program.argv) if option in _ELSEWHERE]
    told += [word.partition("=")[2] for word in program.argv if word.partition("=")[0] in _ELSEWHERE and "=" in word]
    folder = resolved(program.folder, told[-1]) if told else None
    folder = program.folder if folder is None else folder
    return [posixpath.join(folder, name) for name in STEERED_BY.get(program.name, ())]


def roots(program: Program) -> list[str]:
    """Return the folders in which python looks for modules first."""
    told = [place for name, value in program.assigned if name == "PYTHONPATH" for place in value.split(":")]
    found = (resolved(program.folder, place) for place in (".", "src", *told))
    return list(dict.fromkeys(place for place in found if place is not None))


def modules(program: Program) -> list[str]:
    """Return the files that a program's dotted names may mean: `-m pkg.tool`, `unittest tests.test_x.Case.test_y`."""
    dotted = (program.module, *(program.argv[1:] if program.name == "unittest" else ()))
    plain = (word.split(".") for word in dotted if re.fullmatch(r"\w+(?:\.\w+)*", word))
    parts = [list(takewhile(lambda part: not part[0].isupper(), word)) for word in plain]
    stems = [posixpath.join(root, *names) for names in parts if names for root in roots(program)]
    return [stem + ending for stem in stems for ending in (".py", "/__main__.py", "/__init__.py")]


def named(program: Program, files: Collection[str]) -> Iterator[str]:
    """Yield the files of a commit that a program is given."""
    for path in given(program):
        if path in files:
            yield path
        elif globs.is_wild(path):
            yield from (one for one in files if globs.matches(one, (path,)))
    yield from (path for path in modules(program) if path in files)


def given(program: Program) -> list[str]:
    """Return the paths that a program's words may mean, whether or not they are there: `path::id`, `--option=path`."""
    pieces = [
        piece
        for word in program.written
        for piece in (word, word.partition("::")[0], word.partition("=")[2], re.sub(r":\d+$", "", word))
    ]
    found = (resolved(program.folder, piece) for piece in dict.fromkeys(pieces))
    return [path for path in found if path]


def is_opaque(program: Program) -> bool:
    """Whether what a program runs does not stand on the line: a script, a makefile, a tool that nobody knows."""
    if runner_of(program):
        return False
    is_known = program.name in _WELL_KNOWN or PYTHON.fullmatch(program.name) is not None
    return program.name in STEERED_BY or program.script is not None or not is_known


def package_scripts(program: Program) -> list[str]:
    """Return the names of the scripts that a package manager is told to run, with those that run around them."""
    words = [word for word in program.argv[1:] if not word.startswith("-")]
    if program.name in {"run-s", "run-p", "npm-run-all"}:
        wanted = words
    elif program.name not in PACKAGE_MANAGERS:
        wanted = []
    elif words[:1] in (["run"], ["run-script"]):
        wanted = words[1:2]
    else:
        wanted = ["test" if word in {"t", "tst"} else word for word in words]
    return [around + script for script in wanted for around in ("pre", "", "post")]


def _judging(program: Program, base_files: Collection[str], work_files: Collection[str]) -> Iterator[str]:
    """Yield the files and folders of the work that a program takes its judgement from."""
    if runner_of(program):
        yield from named(program, work_files)
        for word in program.argv[1:]:
            folder = resolved(program.folder, word.removesuffix("/..."))
            if folder and any(path.startswith(f"{folder}/") for path in work_files):
                yield folder
    elif not program.is_heard:
        yield from (path for path in (program.script, *modules(program)) if path and path in work_files)
    own = steering(program)
    if not any(path in base_files for path in own):
        yield from (path for path in own if path in work_files)
