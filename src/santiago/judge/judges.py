"""Which files judge a story: its tests, the settings of these tests, and the scripts that its checks run."""

from __future__ import annotations

import json
import posixpath
import re
from dataclasses import replace
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING

from santiago.contract import globs
from santiago.contract.patterns import pattern
from santiago.judge import commandline
from santiago.judge.sections import MIXED
from santiago.judge.shell import Program, programs, resolved

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    Read = Callable[[str], bytes | None]

ALL_TESTS = "@tests"
"""Stands for the tests, and what belongs to them, in most ecosystems."""
_CODE = "{js,jsx,ts,tsx,mjs,cjs,mts,cts,vue,svelte}"
_DATA = "{txt,out,json,csv,xml,yml,yaml,html,md}"
NAMED_TESTS = (
    "**/tests.py", "**/test_*.{py,rb,c,cc,cpp,sh}", "**/*_test.{py,go,rs,rb,exs,dart,c,cc,cpp,sh}", "**/*_spec.rb", "**/{test,tests}.rs",
    f"**/*.{{test,spec,cy,e2e}}.{_CODE}", f"**/*[-_]test.{_CODE}", f"{{test,tests}}.{_CODE}", "**/Test*.java", "**/*.{bats,t}",
    "**/*{Test,Tests,IT,Spec}.{java,kt,scala,groovy,cs,swift,php}",
)  # fmt: skip
"""Files that are tests by their name."""
TESTS: tuple[str, ...] = (
    # folders that hold tests and what they read
    "**/{tests,test,Tests,__tests__,testdata,test_data,e2e,cypress,fixtures,__fixtures__,__mocks__}/**", "**/src/*Test/**", "**/*.{Tests,Test}/**",
    "**/spec/**/*.{rb,js,ts,jsx,tsx,php}", "**/*Tests/*.swift", "t/**/*.{t,sh,pl,py}", "**/features/steps/**",
    # what results are held against
    "**/{__snapshots__,__image_snapshots__,golden,goldens}/**", "**/*.{snap,golden,ambr,feature}", "**/*.approved.*",
    *(f"**/{name}.{_DATA}" for name in ("expected/**/*", "expected", "expected[_-]*", "*[._-]expected")),
    # what helps tests, by its name
    "**/conftest.py", f"**/{{test-*,setupTests}}.{_CODE}", *NAMED_TESTS,
)  # fmt: skip
_SETTINGS: dict[str, tuple[str, ...]] = {
    "pytest": ("**/{,.}pytest.{ini,toml}", "**/.coveragerc"), "nox": ("noxfile.py",), "behave": ("**/behave.ini",),
    "nose2": ("**/{nose2,unittest}.cfg",), "jest": ("**/jest.{config,setup,preset}.*", "**/jest-setup.*"),
    "vitest": ("**/vitest.{config,setup,workspace}.*", "**/vite.config.*"), "mocha": ("**/.mocharc*",), "ava": ("**/ava.config.*",),
    "tap": ("**/.taprc",), "jasmine": ("**/jasmine.{json,mjs}",), "karma": ("**/karma.conf.*",), "cypress": ("**/cypress.config.*",),
    "playwright": ("**/playwright.config.*",), "phpunit": ("**/phpunit.xml*",), "rspec": ("**/.rspec",), "prove": ("**/.proverc",),
    "cargo": ("**/.config/nextest.toml",), "ruff": ("**/{,.}ruff.toml",), "flake8": ("**/.flake8",), "mypy": ("**/{,.}mypy.ini",),
    "pylint": ("**/.pylintrc",), "eslint": ("**/.eslintrc*", "**/.eslintignore", "**/eslint.config.*"), "dotnet": ("**/*.runsettings",),
    "make": ("**/*.mk", "**/{GNUmakefile,makefile,Makefile}"), "npm": ("**/.npmrc", "**/.nycrc*", "**/.c8rc*"),
}  # fmt: skip
"""Settings files of each runner. Sections of other files are listed in `sections`."""
_EVERY_SETTING = tuple(chain.from_iterable(_SETTINGS.values()))
_CI = (
    ".github/workflows/**", ".circleci/**", ".buildkite/**", "Jenkinsfile", "{.gitlab-ci,azure-pipelines,.travis,appveyor,bitbucket-pipelines,.drone}.yml",
)  # fmt: skip
_SAYS_SO = pattern(
    r"(?i)(?:.*/)?(?:scripts?|tools?|\.?ci|hack|qa|checks|acceptance|smoke)/.*|(?:.*/)?(?:[^/]*[_.-])?(?:check(?:s|er)?|verif(?:y|ier|ication)"
    r"|validat(?:e|or|ion)|accept(?:ance)?|smoke|e2e|lint|ci|grade|judge|oracle|harness|selftest|specs?|(?:run|unit)?tests?|qa|configure|autogen"
    r"|bootstrap|gradlew|mvnw)(?:[_.-][^/]*)?"
)
"""Folders of tools, and names of scripts and folders by which they can be recognised as judging."""
_STEERS = pattern(r".*(?:conf|setup|reporter)[^/]*|(?:.*/)?\.\w+rc(?:\..*)?|.*\.(?:ini|toml|cfg|mk)")
"""Names of files by which runners are told what to do."""
_HOLDS_TESTS = pattern(
    r"(?m)^(?:async )?def test|\bTestCase\b|(?<![\w.])(?:(?:test|it|describe|suite|context)(?:\.\w+)?(?:\(| ['\"])|(?:is|ok|is_deeply)\s?\()"
)
_SAYS_NO = pattern(
    r"(?m)\b(?:unittest|pytest|jest|mocha|vitest|rspec|phpunit|go test|cargo test|node --test)\b|^assert\b|(?:\[|\btest) \"?\$\([^)\n]{0,200}[./]"
)
"""What a judging script contains, whatever its name: a runner, assertions, a comparison of another program's output."""
_QUESTIONS = (".txt", ".json", ".csv", ".tsv", ".in", ".dat", ".xml", ".yml", ".yaml")
"""Data that a check feeds to the work."""
_WORD = pattern(r"(<[ \t]{0,9})?([\w./-]{2,200})")
"""A word that may be a path, and whether it is fed to a program."""
_LONGEST, _DEEPEST, _MOST = 200_000, 3, 200
"""Limits: characters of a file, depth of package scripts within package scripts, number of programs or files."""


def is_test(path: str) -> bool:
    """Tell whether a file is a test by its name, or belongs to tests, in any ecosystem."""
    return globs.matches(path, TESTS)


class JudgeFiles:
    """The files that judge one story, as far as its checks run them.

    `protected` holds globs and ALL_TESTS. `own_files` are the files that the story itself names as its work. `read` reads the
    base.
    """

    def __init__(
        self, commands: Sequence[str], protected: Sequence[str], own_files: Sequence[str], base_files: Collection[str], read: Read
    ) -> None:  # fmt: skip
        self._commands = tuple(commands)
        self._asked = tuple(glob for glob in protected if glob != ALL_TESTS)
        self._tests = TESTS if ALL_TESTS in protected else ()
        self._own_files = tuple(own_files)
        self._base = frozenset(base_files)
        self._read = read

    def judges(self, path: str) -> bool:
        """Tell whether a file of the base, or a new one, judges as a whole."""
        if globs.matches(path, self._asked):
            return True
        if self.is_mixed(path):
            return False
        above = (path[: sign.end()] for sign in re.finditer("/", path))
        is_run = path in self._mentioned or not self._named.isdisjoint((path, *above))
        return is_run or globs.matches(path, self._tests) or globs.matches(path, self._settings)

    def is_mixed(self, path: str) -> bool:
        """Tell whether only some sections of a file judge: those that belong to a runner of the checks."""
        readers = MIXED.get(path.rpartition("/")[2])
        if readers is None or not self._tests or globs.matches(path, self._asked):
            return False
        return self._is_opaque or not self._runners.isdisjoint(readers)

    def has_inline_tests(self, path: str) -> bool:
        """Tell whether a file of the work may hold tests that the checks run: Rust's modules, examples in docstrings."""
        if path.endswith(".rs"):
            return self._is_opaque or "cargo" in self._runners
        settings = map(self._text, ("pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini"))
        return path.endswith(".py") and any("doctest" in text for text in (*self._commands, *settings))

    def beside(self, path: str) -> bool:
        """Tell whether a file configures checks other than those of this story: CI, and runners that no check of it starts."""
        return globs.matches(path, (*_CI, *_EVERY_SETTING)) and not self.judges(path)

    @cached_property
    def _programs(self) -> tuple[Program, ...]:
        """The programs that the checks run, also through package scripts."""
        return tuple(islice(chain.from_iterable(map(self._started, self._commands)), _MOST))

    def _started(self, command: str, folder: str = "", depth: int = 0) -> Iterator[Program]:
        for program in programs(command, folder):
            yield program
            wanted = commandline.package_scripts(program) if depth < _DEEPEST else []
            for path in commandline.steering(program)[:1] if wanted else ():
                scripts = _scripts(self._text(path))
                for name in wanted:
                    yield from self._started(scripts.get(name, ""), posixpath.dirname(path), depth + 1)

    @cached_property
    def _runners(self) -> frozenset[str]:
        known = {commandline.runner_of(program) for program in self._programs}
        return frozenset({runner for runner in known if runner} | {program.name for program in self._programs})

    @cached_property
    def _is_opaque(self) -> bool:
        return any(map(commandline.is_opaque, self._programs))

    @cached_property
    def _settings(self) -> tuple[str, ...]:
        """Globs of the settings files that these checks read."""
        counting = [_SETTINGS[runner] for runner in _SETTINGS if self._is_opaque or runner in self._runners]
        return tuple(chain.from_iterable(counting)) if self._tests else ()

    @cached_property
    def _named(self) -> frozenset[str]:
        """Scripts, test files, settings and data that the checks name, whether or not the base has them; folders end in `/`."""
        found = {name for path in self._held_against for name in (path, f"{path}/")}
        for program in self._programs:
            given, modules = commandline.given(program), commandline.modules(program)
            found |= {path for path in (program.script or "", *modules) if self._is_judge_script(program, path)}
            found |= {path for path in self._given(program) if not self._is_own(path)}
            found |= {path for path in given if globs.matches(path, _CI)}
            found |= set(commandline.steering(program))
            package = commandline.modules(replace(program, module=program.module.partition(".")[0]))
            folders = {path.removesuffix("/__main__.py") for path in package}
            folders |= set(given if commandline.runner_of(program) else ())
            found |= {f"{path}/" for path in folders if _SAYS_SO.fullmatch(path) and not self._is_own(path)}
        return frozenset(path for path in found if posixpath.basename(path) not in MIXED)

    def _is_own(self, path: str) -> bool:
        return globs.names(self._own_files, path)

    def _is_judge_script(self, program: Program, path: str) -> bool:
        """Tell whether a script judges. If its output is checked by another program, it is the work, unless its name says judge."""
        says = _SAYS_SO.fullmatch(posixpath.basename(path) if program.is_heard else path)
        return bool(says or (not program.is_heard and _SAYS_NO.search(self._text(path)))) and not self._is_own(path)

    def _given(self, program: Program) -> Iterator[str]:
        """Yield the files that a runner is given: those that hold tests, do not exist yet, or configure it."""
        runs_tests = commandline.runner_of(program) is not None and "doctest" not in " ".join(program.argv)
        given = (*commandline.given(program), *(commandline.modules(program) if runs_tests else ()))
        wild = [path for path in given if globs.is_wild(path)]
        for path in (*given, *(file for file in self._base if globs.matches(file, wild))):
            is_test = runs_tests and (path not in self._base or _HOLDS_TESTS.search(self._text(path)))
            is_told = runs_tests or program.name in commandline.STEERED_BY
            if "." in posixpath.basename(path) and (is_test or (is_told and _STEERS.fullmatch(path))):
                yield path

    @property
    def _held_against(self) -> Iterator[str]:
        """Yield the files and folders of the base that output is compared with, and those that are fed to the work as input.

        In `tool < in.txt | diff - want.txt` these are `want.txt` and `in.txt`. Other files on the line are the work.
        """
        for line in map(programs, self._commands):
            for program in line:
                others = {path for other in line if other is not program for path in commandline.given(other)}
                fed = [word for word in program.reads if word.endswith(_QUESTIONS)]
                known = [path for word in fed if (path := resolved(program.folder, word))]
                if program.name in {"diff", "cmp", "comm"}:
                    compared = [path for path in commandline.given(program) if commandline.holds(self._base, path)]
                    known += compared if len(compared) == 1 else []
                yield from (path for path in known if path not in others and not self._is_own(path))

    @cached_property
    def _mentioned(self) -> frozenset[str]:
        """Files of the base that judging scripts and makefiles mention, if the names of these files say that they judge too."""
        found: set[str] = set()
        waiting = [path for path in self._named if path in self._base]
        while waiting and len(found) < _MOST:
            path = waiting.pop()
            mentioned = _WORD.findall(self._text(path))
            words = {word for fed, word in mentioned if _SAYS_SO.fullmatch(word) or (fed and word.endswith(_QUESTIONS))}
            places = {resolved(folder, word) for word in words for folder in ("", posixpath.dirname(path))}
            new = {place for place in places if place in self._base and not self._is_own(place)} - found
            found |= new
            waiting += new
        return frozenset(found)

    def _text(self, path: str) -> str:
        return (self._read(path) or b"")[:_LONGEST].decode("utf-8", "replace")


def _scripts(text: str) -> dict[str, str]:
    """Return the scripts of a package.json."""
    try:
        found: dict[str, object] = json.loads(text)["scripts"]
        return {name: str(line) for name, line in found.items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}
