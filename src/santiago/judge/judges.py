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
    "**/{tests,test,Tests,__tests__,testdata,test_data,e2e,cypress}/**", "**/{fixtures,__fixtures__,__mocks__}/**", "**/src/*Test/**",
    "**/spec/**/*.{rb,js,ts,jsx,tsx,php}", "**/*.{Tests,Test}/**", "**/*Tests/*.swift", "t/**/*.{t,sh,pl,py}", "**/*.feature", "**/features/steps/**",
    # what results are held against
    "**/{__snapshots__,__image_snapshots__,golden,goldens}/**", "**/*.{snap,golden,ambr}", "**/*.approved.*", f"**/expected/**/*.{_DATA}",
    f"**/expected.{_DATA}", f"**/expected[_-]*.{_DATA}", f"**/*[._-]expected.{_DATA}",
    # files that are tests, or help them, by their name
    "**/test_*.py", "**/*_test.py", "**/tests.py", "**/conftest.py", "**/*_test.{go,rs}", "**/{test,tests}.rs",
    f"**/*.{{test,spec,cy,e2e}}.{_CODE}", f"**/*[-_]test.{_CODE}", f"**/test-*.{_CODE}", f"{{test,tests}}.{_CODE}", f"**/setupTests.{_CODE}",
    "**/*{Test,Tests,IT,Spec}.{java,kt,kts,scala,groovy}", "**/Test*.java", "**/*_{spec,test}.rb", "**/test_*.rb", "**/*{Test,Cest}.php",
    "**/*{Test,Tests}.{cs,fs,vb,swift}", "**/*_test.{exs,dart,c,cc,cpp,cxx,lua,erl,sh,clj}", "**/test_*.{c,cc,cpp,cxx,sh,lua}", "**/*_SUITE.erl",
    "**/*.bats", "**/*.t", "**/*Spec.hs", "**/test-*.R", "**/runtests.jl",
)  # fmt: skip
_SETTINGS: dict[str, tuple[str, ...]] = {
    "pytest": ("**/pytest.{ini,toml}", "**/.pytest.{ini,toml}", "**/.coveragerc"), "nox": ("noxfile.py",), "behave": ("**/behave.ini",),
    "nose2": ("**/nose2.cfg", "**/unittest.cfg"), "jest": ("**/jest.{config,setup,preset}.*", "**/jest-setup.*"),
    "vitest": ("**/vitest.{config,setup,workspace}.*", "**/vite.config.*"), "mocha": ("**/.mocharc*",), "ava": ("**/ava.config.*",),
    "tap": ("**/.taprc",), "jasmine": ("**/jasmine.{json,mjs}",), "karma": ("**/karma.conf.*",), "cypress": ("**/cypress.config.*",),
    "playwright": ("**/playwright.config.*",), "phpunit": ("**/phpunit.xml", "**/phpunit.xml.dist"), "rspec": ("**/.rspec",),
    "prove": ("**/.proverc",), "ctest": ("**/CTestConfig.cmake", "**/CTestCustom.cmake"), "cargo": ("**/.config/nextest.toml",),
    "ruff": ("**/ruff.toml", "**/.ruff.toml"), "flake8": ("**/.flake8",), "mypy": ("**/mypy.ini", "**/.mypy.ini"), "pylint": ("**/.pylintrc",),
    "eslint": ("**/.eslintrc*", "**/.eslintignore", "**/eslint.config.*"), "make": ("**/*.mk", "**/{GNUmakefile,makefile,Makefile}"),
    "dotnet": ("**/*.runsettings",), "npm": ("**/.npmrc", "**/.nycrc*", "**/.c8rc*"),
}  # fmt: skip
"""Settings of each runner, beside those that are sections of other files."""
_EVERY_SETTING = tuple(glob for settings in _SETTINGS.values() for glob in settings)
_CI = (
    ".github/workflows/**", ".gitlab-ci.yml", ".circleci/**", "Jenkinsfile", "azure-pipelines.yml", ".travis.yml", "appveyor.yml",
    "bitbucket-pipelines.yml", ".drone.yml", ".buildkite/**",
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
_STEERING_OPTIONS = frozenset(
    {"-c", "-f", "--config", "--file", "--makefile", "--justfile", "--require", "-r", "--import", "--loader", "--env-file", "--bootstrap"}
    | {"--rcfile", "--setupFiles", "--globalSetup", "--testEnvironment", "--reporter", "--reporters", "--test-reporter", "-p"}
)  # fmt: skip
"""Options of runners that are followed by a file that steers them."""
_ENDINGS = ("", ".js", ".mjs", ".cjs", ".ts", ".rb", ".py")
_HOLDS_TESTS = re.compile(
    rb"^(?:async )?def test|^class \w*\(.*TestCase\)|(?<![\w.])(?:test|it|describe|suite|context)(?:\.\w+)?(?:\(| ['\"])"
    rb"|\bextends \w*TestCase\b|(?<![\w.])(?:is|ok|is_deeply|done_testing)\s?\(",
    re.MULTILINE,
)
_SAYS_NO = re.compile(
    rb"\b(?:unittest|pytest|jest|mocha|vitest|rspec|phpunit|go test|cargo test|node --test)\b|^assert\b"
    rb"|(?:\[|\btest) \"?\$\([^)\n]{0,200}[./]",
    re.MULTILINE,
)
"""What a script that judges has in it, whatever its name is: a runner, bare assertions, the output of another program compared."""
_QUESTIONS = (".txt", ".json", ".csv", ".tsv", ".in", ".dat", ".xml", ".yml", ".yaml")
"""Data that a check feeds to the work."""
_BY_PACKAGE = frozenset({"go", "cargo", "maven", "gradle", "dotnet", "doctest", "swift", "mix", "ctest"})
"""Runners whose words are packages and filters, or the work itself, and no test files."""
_SHADOWING = re.compile(
    r"(?:pytest|_pytest|pluggy|unittest|coverage|nose2|sitecustomize|usercustomize|argparse|contextlib|difflib|fnmatch|functools|inspect|pprint"
    r"|traceback|warnings|weakref)(?:\.py|/.*)"
)
"""New modules that python would load in place of the runner, or before it."""
_WORD = re.compile(r"[\w./-]{2,200}")
_FED = re.compile(r"<[ \t]{0,9}([\w./-]{1,200})")
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
        return globs.matches(path, self._tests) or self._is_setting(path) or self._is_run(path) or self._shadows(path)

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
        settings = ("pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini")
        texts = (
            *self._commands,
            *(self._text(path).decode("utf-8", "replace") for path in settings if path in self._base),
        )
        return any("doctest" in text for text in texts)

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
            if depth < _DEEPEST:
                waiting += [(one, depth + 1) for one in self._behind(program)]
        return tuple(found)

    def _behind(self, program: Program) -> Iterator[Program]:
        wanted = commandline.package_scripts(program)
        for path in commandline.steering(program)[:1] if wanted else ():
            scripts = _scripts(self._read(path))
            folder = posixpath.dirname(path)
            for line in (scripts[name] for name in wanted if name in scripts):
                yield from (replace(one, folder=posixpath.join(folder, one.folder)) for one in programs(line))

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
        return not is_build_too or re.search(rb"\btest\s*:", self._text(path)) is not None

    @cached_property
    def _settings(self) -> tuple[str, ...]:
        """Globs of the settings that count for these checks."""
        counting = [runner for runner in _SETTINGS if self._is_opaque or runner in self._runners]
        return tuple(glob for runner in counting for glob in _SETTINGS[runner]) if self._tests else ()

    def _is_run(self, path: str) -> bool:
        """Whether the checks run a file as a judge, or are told by it what to do."""
        return path in self._named or path in self._mentioned or path.startswith(self._folders)

    @cached_property
    def _named(self) -> frozenset[str]:
        """Scripts, test files and settings that the checks name, whether or not the base has them."""
        found: set[str] = set()
        for program in self._programs:
            steered = {path for path in commandline.steering(program) if posixpath.basename(path) not in MIXED}
            found |= steered | set(self._steering_options(program)) | set(self._tests_given(program))
            if program.script and self._is_judge_script(program, program.script):
                found.add(program.script)
            if program.name == "make":  # a new file of a target's name leaves make nothing to do
                found |= set(commandline.given(program)) - self._base
            found |= {path for path in commandline.given(program) if globs.matches(path, _CI)}
        return frozenset(found | set(self._compared_with))

    def _is_judge_script(self, program: Program, path: str) -> bool:
        if globs.names(self._own_files, path):
            return False
        folder, _, name = path.rpartition("/")
        in_tools = not program.is_heard and not _TOOL_FOLDERS.isdisjoint(folder.split("/"))
        if in_tools or _NAME.fullmatch(name):
            return True
        return not program.is_heard and _SAYS_NO.search(self._text(path)) is not None

    def _steering_options(self, program: Program) -> Iterator[str]:
        if not (commandline.runner_of(program) or program.name in commandline.STEERED_BY or program.name == "node"):
            return
        told = [after for option, after in pairwise(program.argv) if option in _STEERING_OPTIONS]
        told += [word.partition("=")[2] for word in program.argv if word.partition("=")[0] in _STEERING_OPTIONS]
        told += [word.replace(".", "/") for word in told if re.fullmatch(r"[\w.]+", word)]
        for path in (resolved(program.folder, word) for word in told):
            yield from (path + ending for ending in _ENDINGS if path and posixpath.basename(path + ending) not in MIXED)

    def _tests_given(self, program: Program) -> Iterator[str]:
        """Yield the files that a runner is given and that hold tests, or are not there yet."""
        runner = commandline.runner_of(program)
        if runner is None or runner in _BY_PACKAGE or "--doctest-modules" in program.argv:
            return
        named = (*commandline.named(program, self._base), *commandline.given(program), *commandline.modules(program))
        for path in named:
            is_test = path not in self._base or _HOLDS_TESTS.search(self._text(path)) is not None
            if "." in posixpath.basename(path) and is_test and not globs.names(self._own_files, path):
                yield path

    @cached_property
    def _folders(self) -> tuple[str, ...]:
        """Folders that runners are given, and packages that are run, where their names say that they judge."""
        found: set[str] = set()
        for program in self._programs:
            given = commandline.given(program) if commandline.runner_of(program) else []
            if program.module and _NAME.fullmatch(program.module.partition(".")[0]):
                package = program.module.partition(".")[0]
                given += commandline.modules(replace(program, module=package))
            found |= {path.removesuffix("/__main__.py") for path in given if not path.endswith("/__init__.py")}
        named = (path for path in found if _NAME.fullmatch(posixpath.basename(path)))
        judging = [path for path in named if not globs.names(self._own_files, path)]
        return tuple(path if path.endswith(".py") else f"{path}/" for path in (*judging, *self._compared_with))

    @property
    def _compared_with(self) -> Iterator[str]:
        """Yield the files and folders of the base that fresh output is compared with, and what the work is asked with.

        That is `want.txt` in `tool < in.txt | diff - want.txt`, and `in.txt`. What else on the line is about is the work.
        """
        for command in self._commands:
            line = programs(command)
            for program in line:
                others = {path for other in line if other is not program for path in commandline.given(other)}
                asked = [path for word in program.reads if (path := resolved(program.folder, word))]
                known = [path for path in asked if path.endswith(_QUESTIONS)]
                if program.name in {"diff", "cmp", "comm"}:
                    compared = [path for path in commandline.given(program) if self._is_known(path)]
                    known += compared if len(compared) == 1 else []
                yield from (path for path in known if path not in others and not globs.names(self._own_files, path))

    def _is_known(self, path: str) -> bool:
        return path in self._base or any(one.startswith(f"{path}/") for one in self._base)

    @cached_property
    def _mentioned(self) -> frozenset[str]:
        """Files of the base that judging scripts and makefiles mention, where their names say that they judge too."""
        found: set[str] = set()
        waiting = [path for path in self._named if path in self._base]
        while waiting and len(found) < _MOST:
            path = waiting.pop()
            text = self._text(path).decode("utf-8", "replace")
            fed = {word for word in _FED.findall(text) if word.endswith(_QUESTIONS)}
            words = {word for word in _WORD.findall(text) if word in fed or self._helps(word)}
            places = {resolved(folder, word) for word in words for folder in ("", posixpath.dirname(path))}
            new = {place for place in places if place in self._base and place} - found
            found |= new
            waiting += new
        return frozenset(found)

    def _helps(self, path: str) -> bool:
        folder, _, name = path.rpartition("/")
        is_tool = name.endswith(_SCRIPTS) and not _TOOL_FOLDERS.isdisjoint(folder.split("/"))
        return (is_tool or _NAME.fullmatch(name) is not None) and not globs.names(self._own_files, path)

    def _shadows(self, path: str) -> bool:
        if path in self._base:
            return False
        inside = (path.removeprefix(f"{root}/") for root in self._roots)
        return any(map(_SHADOWING.fullmatch, inside))

    @cached_property
    def _roots(self) -> tuple[str, ...]:
        """Folders in which python looks for modules."""
        return tuple(dict.fromkeys(root for program in self._programs for root in commandline.roots(program)))

    def _text(self, path: str) -> bytes:
        return (self._read(path) or b"")[:_LONGEST]


def _scripts(raw: bytes | None) -> dict[str, str]:
    """Return the scripts of a package.json."""
    try:
        data = json.loads((raw or b"{}")[:_LONGEST])
    except (ValueError, RecursionError):
        return {}
    scripts = data.get("scripts") if isinstance(data, dict) else None
    pairs = scripts.items() if isinstance(scripts, dict) else ()
    return {name: line for name, line in pairs if isinstance(line, str)}
