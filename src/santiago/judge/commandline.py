"""What a check's command line tells, read as the shell would: the programs that it runs, where, and the files that it names."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import dropwhile, pairwise, takewhile

from santiago.contract import globs
from santiago.contract.lazy_regex import pattern
from santiago.contract.record import record

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


_BY_NAME = "pytest unittest doctest nose2 behave jest vitest mocha tap ava tape jasmine karma cypress playwright rspec phpunit ctest prove bats"
_RUNNERS: dict[str, str] = {
    **{name: name for name in _BY_NAME.split()},
    "py.test": "pytest", "react-scripts": "jest", "_mocha": "mocha", "pest": "phpunit", "gotestsum": "go", "go test": "go", "node --test": "node",
    "cargo test": "cargo", "cargo t": "cargo", "cargo nextest": "cargo", "dotnet test": "dotnet", "deno test": "deno", "bun test": "bun",
    "swift test": "swift", "mix test": "mix", "rake test": "rake", "rake spec": "rspec",
    **{f"{name} {goal}": "maven" for name in ("mvn", "mvnw") for goal in ("test", "verify", "package", "install", "integration-test")},
    **{f"{name} {task}": "gradle" for name in ("gradle", "gradlew") for task in ("test", "check", "build")},
}  # fmt: skip
"""Test runners, by the program or by the program and one of its words."""
PACKAGE_MANAGERS = ("npm", "yarn", "pnpm", "bun")
STEERED_BY: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("make", "gmake"), ("GNUmakefile", "makefile", "Makefile")), "just": ("justfile", "Justfile", ".justfile"),
    "task": ("Taskfile.yml", "Taskfile.yaml"), "rake": ("Rakefile",), "nox": ("noxfile.py",), **dict.fromkeys(("invoke", "inv"), ("tasks.py",)),
    **dict.fromkeys(PACKAGE_MANAGERS, ("package.json",)), "tox": ("tox.ini", "pyproject.toml", "tox.toml"), "composer": ("composer.json",),
}  # fmt: skip
"""Programs that do what a file of the repository tells them, and that file's names."""
_ELSEWHERE = frozenset({"-C", "--directory", "--prefix", "--cwd", "--dir"})
"""Options that make such a program work in another folder."""
_WELL_KNOWN = pattern(
    r"true|false|:|echo|printf|test|\[|\[\[|cd|exit|set|export|pwd|e?grep|diff|cmp|comm|cat|head|tail|sort|uniq|wc|cut|tr|sed|awk|find|ls|mkdir|rm"
    r"|cp|mv|touch|tee|jq|seq|expr|tar|rg|cmake|ninja|gcc|g\+\+|cc|clang|rustc|node|deno|bun|npm|npx|yarn|pnpm|go|cargo|g?make|just|task|mvnw?|gradlew?"
    r"|ruby|rake|php|perl|java|javac|dotnet|swift|mix|tox|nox|ruff|mypy|pyright|flake8|black|isort|pylint|coverage|tsc|eslint|prettier|xo|standard"
    rf"|tsd|biome|{PYTHON.pattern}|{_BY_NAME.replace(' ', '|')}"
)
_FILE = pattern(r"(?<![\w./$-])(?:[\w-]{1,100}/){0,20}[\w-]{1,100}\.[a-z]\w{0,5}(?![\w./-])")
"""A word that looks like the name of a file."""
_SOURCE = pattern(
    r"(?:[\w.@-]{1,100}/){0,20}[\w.-]{1,100}\.(?:py|[cm]?[jt]sx?|rb|php|go|rs|sh|bats|t|exs|java|kts?|dart|swift|feature)"
)


def runner_of(program: Program) -> str | None:
    """Return which test runner a program is; None if it is none."""
    words = [word.rpartition(":")[2] for word in program.argv[1:]]
    if program.name not in {"mvn", "mvnw", "gradle", "gradlew", "node"}:
        words = [word for word in words if not word.startswith(("-", "+"))][:1]
    named = [*(f"{program.name} {word}" for word in words), program.name]
    named += words if program.name in PACKAGE_MANAGERS else []  # `yarn jest`
    return next((_RUNNERS[name] for name in named if name in _RUNNERS), None)


def absent(command: str, base_files: Collection[str], work_files: Collection[str]) -> bool:
    """Tell whether the command runs a test file, script or module that only the work has.

    If so, its failure on the base says nothing. A program whose output is checked by another program on the line is the
    work itself: that it is missing on the base is a failure like any other.
    """
    return any(
        holds(work_files, path) and not holds(base_files, path)
        for program in programs(command)
        for path in _judging(program)
    )


def _judging(program: Program) -> Iterable[str]:
    """Return the files and folders that a program takes its judgement from."""
    if runner_of(program):
        words = tuple(word for word in program.written if "=" not in word)
        return (*given(replace(program, written=words)), *modules(program))
    return (program.script or "", *modules(program)) if not program.is_heard else ()


def holds(files: Collection[str], path: str) -> bool:
    """Tell whether a file, a folder or a pattern matches any of these files."""
    return path in files or any(globs.among(files, (path,)))


def names_what_is_missing(command: str, files: Collection[str]) -> bool:
    """Tell whether a command names a file that a commit does not have, so that a story still has to make it."""
    return any(path not in files for path in _FILE.findall(command))


def unwritten(command: str, files: Collection[str]) -> list[str]:
    """Return the test files that a command has a test runner run and a commit does not have."""
    found: list[str] = []
    for program in filter(runner_of, programs(command)):
        found += [path for path in given(program) if _SOURCE.fullmatch(path) and not holds(files, path)]
        is_named = program.name == "unittest" and "discover" not in program.argv
        named = modules(replace(program, module="")) if is_named else []
        found += named[:1] if not any(holds(files, path) for path in named) else []
    return found


def is_opaque(program: Program) -> bool:
    """Tell whether the line does not show what a program runs: a script, a makefile, an unknown tool."""
    if runner_of(program):
        return False
    return program.name in STEERED_BY or program.script is not None or not _WELL_KNOWN.fullmatch(program.name)


def steering(program: Program) -> list[str]:
    """Return the files that may tell a program what to do: t/Makefile for `make -C t`."""
    words = [part for word in program.argv for part in (word.split("=", 1) if word.startswith("-") else [word])]
    told = [after for option, after in pairwise(words) if option in _ELSEWHERE]
    folder = resolved(program.folder, told[-1]) if told else program.folder
    return [posixpath.join(folder, name) for name in STEERED_BY.get(program.name, ()) if folder is not None]


def package_scripts(program: Program) -> list[str]:
    """Return the names of the scripts that a package manager is told to run, with their `pre` and `post` scripts."""
    words = program.argv[1:] if program.name in PACKAGE_MANAGERS else ()
    wanted = ["test" if word == "t" else word for word in words if not word.startswith("-")]
    return [around + script for script in wanted for around in ("pre", "", "post")]


def modules(program: Program) -> list[str]:
    """Return the files that a program's dotted names may mean: `-m pkg.tool`, `unittest tests.test_x.Case.test_y`."""
    dotted = (program.module, *(program.argv[1:] if program.name == "unittest" else ()))
    plain = (word.split(".") for word in dotted if re.fullmatch(r"\w+(?:\.\w+)*", word))
    parts = [list(takewhile(lambda part: not part[0].isupper(), word)) for word in plain]
    told = [place for name, value in program.assigned if name == "PYTHONPATH" for place in value.split(":")]
    roots = {place for one in (".", "src", *told) if (place := resolved(program.folder, one)) is not None}
    stems = [posixpath.join(root, *names) for names in parts if names for root in sorted(roots)]
    return [stem + ending for stem in stems for ending in (".py", "/__main__.py", "/__init__.py")]


def given(program: Program) -> list[str]:
    """Return the paths that a program's arguments may mean, existing or not: `path::id`, `--option=path`."""
    words = (re.sub(r"^-[\w-]*=|::.*|:\d+$|/\.\.\.$", "", word) for word in program.written)
    return [path for word in dict.fromkeys(words) if (path := resolved(program.folder, word))]
