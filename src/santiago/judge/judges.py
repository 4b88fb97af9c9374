"""Which files judge a story: its tests, what steers them, and the scripts that its checks run."""

from __future__ import annotations

import json
import posixpath
import re
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from santiago.judge import commandline, globs
from santiago.judge.sections import MIXED
from santiago.judge.shell import Program, programs, resolved

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    Read = Callable[[str], bytes | None]

ALL_TESTS = "@tests"
"""Stands for the tests, and what belongs to them, in most ecosystems."""
_CODE = "{js,jsx,ts,tsx,mjs,cjs,mts,cts,vue,svelte}"
_DATA = "{txt,out,json,csv,xml,yml,yaml,html,md}"
TESTS: tuple[str, ...] = (
    # folders that hold tests and what they read
    "**/{tests,test,Tests,__tests__,testdata,test_data,e2e,cypress,fixtures,__fixtures__,__mocks__}/**", "**/src/*Test/**", "**/*.{Tests,Test}/**",
    "**/spec/**/*.{rb,js,ts,jsx,tsx,php}", "**/*Tests/*.swift", "t/**/*.{t,sh,pl,py}", "**/features/steps/**",
    # what results are held against
    "**/{__snapshots__,__image_snapshots__,golden,goldens}/**", "**/*.{snap,golden,ambr,feature}", "**/*.approved.*",
    *(f"**/{name}.{_DATA}" for name in ("expected/**/*", "expected", "expected[_-]*", "*[._-]expected")),
    # files that are tests, or help them, by their name
    "**/{conftest,tests}.py", "**/test_*.{py,rb,c,cc,cpp,sh}", "**/*_test.{py,go,rs,rb,exs,dart,c,cc,cpp,sh}", "**/*_spec.rb", "**/{test,tests}.rs",
    f"**/*.{{test,spec,cy,e2e}}.{_CODE}", f"**/*[-_]test.{_CODE}", f"**/{{test-*,setupTests}}.{_CODE}", f"{{test,tests}}.{_CODE}",
    "**/*{Test,Tests,IT,Spec}.{java,kt,scala,groovy,cs,swift,php}", "**/Test*.java", "**/*.{bats,t}",
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
"""Settings of each runner, beside those that are sections of other files."""
_EVERY_SETTING = tuple(glob for settings in _SETTINGS.values() for glob in settings)
_CI = (
    ".github/workflows/**", ".circleci/**", ".buildkite/**", "Jenkinsfile", "{.gitlab-ci,azure-pipelines,.travis,appveyor,bitbucket-pipelines,.drone}.yml",
)  # fmt: skip
_NAME = re.compile(
    r"(?:.*[_.-])?(?:check(?:s|er)?|verif(?:y|ier|ication)|validat(?:e|or|ion)|accept(?:ance)?|smoke|e2e|lint|ci|grade|judge|oracle|harness"
    r"|selftest|specs?|(?:run|unit)?tests?|qa|configure|autogen|bootstrap|gradlew|mvnw)(?:[_.-].*)?",
    re.IGNORECASE,
)
"""Names of scripts and folders that say that they judge."""
_TOOL_FOLDERS = frozenset(
    {"scripts", "script", "tools", "tool", "ci", ".ci", "hack", "qa", "checks", "acceptance", "smoke"}
)
_TOLD_BY = re.compile(
    r"-[cfpr]|--(?:config|file|makefile|justfile|require|import|loader|env-file|bootstrap|rcfile|setupFiles|globalSetup|testEnvironment"
    r"|(?:test-)?reporters?)"
)
"""Options of runners that are followed by a file that steers them."""
_ENDINGS = ("", ".js", ".mjs", ".cjs", ".ts", ".rb", ".py")
_HOLDS_TESTS = re.compile(
    r"^(?:async )?def test|^class \w*\(.*TestCase\)|(?<![\w.])(?:test|it|describe|suite|context)(?:\.\w+)?(?:\(| ['\"])"
    r"|\bextends \w*TestCase\b|(?<![\w.])(?:is|ok|is_deeply|done_testing)\s?\(",
    re.MULTILINE,
)
_SAYS_NO = re.compile(
    r"\b(?:unittest|pytest|jest|mocha|vitest|rspec|phpunit|go test|cargo test|node --test)\b|^assert\b"
    r"|(?:\[|\btest) \"?\$\([^)\n]{0,200}[./]",
    re.MULTILINE,
)
"""What a script that judges has in it, whatever its name is: a runner, bare assertions, the output of another program compared."""
_QUESTIONS = (".txt", ".json", ".csv", ".tsv", ".in", ".dat", ".xml", ".yml", ".yaml")
"""Data that a check feeds to the work."""
_BY_PACKAGE = frozenset({"go", "cargo", "maven", "gradle", "dotnet", "doctest", "swift", "mix", "ctest"})
"""Runners whose words are packages and filters, or the work itself, and no test files."""
_WORD = re.compile(r"(<[ \t]{0,9})?([\w./-]{2,200})")
"""A word that may be a path, and whether it is fed to a program."""
_SCRIPTS = (".sh", ".bash", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl")
_LONGEST = 200_000
_DEEPEST = 3
_MOST = 200


def is_setting(path: str) -> bool:
    """Whether a file steers some runner, wholly or by its sections."""
    return globs.matches(path, _EVERY_SETTING) or posixpath.basename(path) in MIXED


class JudgeFiles:
    """The files that judge one story, as far as its checks run them.

    `protected` holds globs and ALL_TESTS; `own_files` is what the story says that it works on; `read` reads the base.
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
        """Whether a file of the base, or a new one, judges as a whole."""
        if globs.matches(path, self._asked):
            return True
        if self.is_mixed(path):
            return False
        is_run = path in self._named or path in self._mentioned or path.startswith(self._folders)
        return is_run or globs.matches(path, self._tests) or self._is_setting(path)

    def is_mixed(self, path: str) -> bool:
        """Whether only those sections of a file judge that belong to a runner of the checks."""
        readers = MIXED.get(path.rpartition("/")[2])
        if readers is None or not self._tests or globs.matches(path, self._asked):
            return False
        return self._is_opaque or not self._runners.isdisjoint(readers)

    def has_inline_tests(self, path: str) -> bool:
        """Whether a file of the work may hold tests that the checks run: Rust's modules, examples in docstrings."""
        if path.endswith(".rs"):
            return self._is_opaque or "cargo" in self._runners
        return path.endswith(".py") and self._runs_examples

    @cached_property
    def _runs_examples(self) -> bool:
        settings = map(self._text, ("pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini"))
        return any("doctest" in text for text in (*self._commands, *settings))

    def beside(self, path: str) -> bool:
        """Whether a file steers other checks than those of this story: CI, and runners that none of them starts."""
        return globs.matches(path, (*_CI, *_EVERY_SETTING)) and not self.judges(path)

    @cached_property
    def _programs(self) -> tuple[Program, ...]:
        """What the checks run, also through package scripts."""
        found: list[Program] = []
        waiting = [(program, 0) for command in self._commands for program in programs(command)]
        while waiting and len(found) < _MOST:
            program, depth = waiting.pop(0)
            found.append(program)
            waiting += [(one, depth + 1) for one in self._behind(program) if depth < _DEEPEST]
        return tuple(found)

    def _behind(self, program: Program) -> Iterator[Program]:
        wanted = commandline.package_scripts(program)
        for path in commandline.steering(program)[:1] if wanted else ():
            scripts = _scripts(self._text(path))
            for name in wanted:
                yield from programs(scripts.get(name, ""), posixpath.dirname(path))

    @cached_property
    def _runners(self) -> frozenset[str]:
        known = {commandline.runner_of(program) for program in self._programs}
        return frozenset({runner for runner in known if runner} | {program.name for program in self._programs})

    @cached_property
    def _is_opaque(self) -> bool:
        return any(map(commandline.is_opaque, self._programs))

    def _is_setting(self, path: str) -> bool:
        if not globs.matches(path, self._settings):
            return False
        is_build_too = posixpath.basename(path).startswith("vite.config.") and path in self._base
        return not is_build_too or re.search(r"\btest\s*:", self._text(path)) is not None

    @cached_property
    def _settings(self) -> tuple[str, ...]:
        """Globs of the settings that count for these checks."""
        counting = [runner for runner in _SETTINGS if self._is_opaque or runner in self._runners]
        return tuple(glob for runner in counting for glob in _SETTINGS[runner]) if self._tests else ()

    @cached_property
    def _named(self) -> frozenset[str]:
        """Scripts, test files, settings and data that the checks name, whether or not the base has them."""
        found = set(self._held_against)
        for program in self._programs:
            found |= {*commandline.steering(program), *_told(program), *self._tests_given(program)}
            found |= {path for path in commandline.given(program) if globs.matches(path, _CI)}
            scripts = (program.script, *commandline.modules(program))
            found |= {path for path in scripts if path and self._is_judge_script(program, path)}
        return frozenset(path for path in found if posixpath.basename(path) not in MIXED)

    def _is_own(self, path: str) -> bool:
        return globs.names(self._own_files, path)

    def _is_judge_script(self, program: Program, path: str) -> bool:
        if self._is_own(path):
            return False
        if _NAME.fullmatch(posixpath.basename(path)):
            return True
        return not program.is_heard and (_is_tool(path) or _SAYS_NO.search(self._text(path)) is not None)

    def _tests_given(self, program: Program) -> Iterator[str]:
        """Yield the files that a runner is given and that hold tests, or are not there yet."""
        runner = commandline.runner_of(program)
        if runner is None or runner in _BY_PACKAGE or "--doctest-modules" in program.argv:
            return
        given = (*commandline.given(program), *commandline.modules(program))
        wild = [path for path in given if globs.is_wild(path)]
        for path in (*given, *(file for file in self._base if globs.matches(file, wild))):
            is_test = path not in self._base or _HOLDS_TESTS.search(self._text(path)) is not None
            if "." in posixpath.basename(path) and is_test and not self._is_own(path):
                yield path

    @cached_property
    def _folders(self) -> tuple[str, ...]:
        """Folders that runners are given, packages that are run and folders that are compared with, if they judge."""
        found: set[str] = set()
        for program in self._programs:
            package = program.module.partition(".")[0]
            found |= set(commandline.given(program)) if commandline.runner_of(program) else set()
            found |= {
                path.removesuffix("/__main__.py") for path in commandline.modules(replace(program, module=package))
            }
        named = (path for path in found if _NAME.fullmatch(posixpath.basename(path)) and not self._is_own(path))
        return tuple(f"{path}/" for path in (*named, *self._held_against))

    @property
    def _held_against(self) -> Iterator[str]:
        """Yield the files and folders of the base that fresh output is compared with, and what the work is asked with.

        That is `want.txt` in `tool < in.txt | diff - want.txt`, and `in.txt`. What else on the line is about is the work.
        """
        for line in map(programs, self._commands):
            for program in line:
                others = {path for other in line if other is not program for path in commandline.given(other)}
                known = [word for word in program.reads if word.endswith(_QUESTIONS)]
                if program.name in {"diff", "cmp", "comm"}:
                    compared = [path for path in commandline.given(program) if commandline.holds(self._base, path)]
                    known += compared if len(compared) == 1 else []
                yield from (path for path in known if path not in others and not self._is_own(path))

    @cached_property
    def _mentioned(self) -> frozenset[str]:
        """Files of the base that judging scripts and makefiles mention, where their names say that they judge too."""
        found: set[str] = set()
        waiting = [path for path in self._named if path in self._base]
        while waiting and len(found) < _MOST:
            path = waiting.pop()
            words = {word for fed, word in _WORD.findall(self._text(path)) if self._helps(word, is_fed=bool(fed))}
            places = {resolved(folder, word) for word in words for folder in ("", posixpath.dirname(path))}
            new = {place for place in places if place in self._base and place} - found
            found |= new
            waiting += new
        return frozenset(found)

    def _helps(self, path: str, *, is_fed: bool) -> bool:
        judges = (path.endswith(_SCRIPTS) and _is_tool(path)) or _NAME.fullmatch(posixpath.basename(path)) is not None
        return (is_fed and path.endswith(_QUESTIONS)) or (judges and not self._is_own(path))

    def _text(self, path: str) -> str:
        return (self._read(path) or b"")[:_LONGEST].decode("utf-8", "replace")


def _is_tool(path: str) -> bool:
    return not _TOOL_FOLDERS.isdisjoint(path.split("/")[:-1])


def _told(program: Program) -> Iterator[str]:
    """Yield the files that a runner's options may name, also as a module."""
    if not (commandline.runner_of(program) or program.name in commandline.STEERED_BY or program.name == "node"):
        return
    words = [part for word in program.argv for part in word.split("=", 1)]
    told = [after for option, after in pairwise(words) if _TOLD_BY.fullmatch(option)]
    told += [word.replace(".", "/") for word in told if re.fullmatch(r"[\w.]+", word)]
    for path in (resolved(program.folder, word) for word in told):
        yield from (path + ending for ending in _ENDINGS if path)


def _scripts(text: str) -> dict[str, str]:
    """Return the scripts of a package.json."""
    try:
        data = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    scripts = data.get("scripts") if isinstance(data, dict) else None
    pairs = scripts.items() if isinstance(scripts, dict) else ()
    return {name: line for name, line in pairs if isinstance(line, str)}
