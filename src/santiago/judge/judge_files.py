"""Which files judge a story: its tests, the settings of these tests, and the scripts that its checks run."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, islice

from santiago.contract import globs
from santiago.contract.lazy_regex import pattern
from santiago.judge import commandline
from santiago.judge.commandline import Program, programs, resolved
from santiago.judge.runner_tables import table
from santiago.judge.sections import MIXED, NODE, dotted

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
    *(f"**/{name}.{_DATA}" for name in ("expected/**/*", "snapshots/**/*", "expected", "expected[_-]*", "*[._-]expected")),
    # what helps tests, by its name
    "**/conftest.py", f"**/{{test-*,setupTests}}.{_CODE}", *NAMED_TESTS,
)  # fmt: skip
_CI = (
    ".github/workflows/**", ".circleci/**", ".buildkite/**", "Jenkinsfile", "{.gitlab-ci,azure-pipelines,.travis,appveyor,bitbucket-pipelines,.drone}.yml",
)  # fmt: skip
_SAYS_SO = pattern(
    r"(?i)(?:.*/)?(?:scripts?|tools?|\.?ci|hack|qa|checks|acceptance|smoke)/.*|(?:.*/)?(?:[^/]*[_.-])?(?:check(?:s|er)?|verif(?:y|ier|ication)"
    r"|validat(?:e|or|ion)|accept(?:ance)?|smoke|e2e|lint|ci|grade|judge|oracle|harness|selftest|specs?|(?:run|unit)?tests?|qa|configure|autogen"
    r"|bootstrap|gradlew|mvnw)(?:[_.-][^/]*)?"
)
"""Folders of tools, and names of scripts and folders by which they can be recognised as judging."""
_STEERS = pattern(
    r".*(?:conf|setup|reporter)[^/]*|(?:.*/)?\.\w+rc(?:\..*)?|.*\.(?:ini|toml|cfg|mk|json|ya?ml|args|opts)"
)
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
_LONGEST, _DEEPEST, _MOST, _MOST_SETTINGS = 200_000, 3, 200, 30
"""Limits: characters of a file, depth of package scripts within package scripts and of settings, number of programs or files, of settings."""


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
        return self.tests(path) or self.loads(path)

    def tests(self, path: str) -> bool:
        """The same without files that are only loaded."""
        if globs.matches(path, self._asked):
            return True
        if self.is_mixed(path):
            return False
        above = (path[: sign.end()] for sign in re.finditer("/", path))
        is_run = path in self._mentioned or not self._named.isdisjoint((path, *above))
        return is_run or globs.matches(path, self._tests) or globs.matches(path, self._settings)

    def loads(self, path: str) -> bool:
        """Tell whether a runner of the checks loads a file before the first test, although it is no test."""
        is_loaded = bool(self._tests) and (path in self._told or self._loaded.fullmatch(path) is not None)
        return is_loaded and not (self._is_own(path) or self.is_mixed(path) or self.tests(path))

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
        return path.endswith(".py") and any("doctest" in text for text in self._orders)

    def beside(self, path: str) -> bool:
        """Tell whether a file configures checks other than those of this story: CI, and runners that no check of it starts."""
        every = chain.from_iterable(table("runners")["settings"].values())
        return globs.matches(path, (*_CI, *every)) and not self.judges(path)

    @cached_property
    def _orders(self) -> tuple[str, ...]:
        """The checks, and the settings of pytest."""
        return (*self._commands, *map(self._text, ("pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini")))

    @cached_property
    def _programs(self) -> tuple[Program, ...]:
        """The programs that the checks run, also through package scripts."""
        return tuple(islice(chain.from_iterable(map(self._started, self._commands)), _MOST))

    def _started(self, command: str, folder: str = "", depth: int = 0) -> Iterator[Program]:
        for program in programs(command, folder):
            yield program
            wanted = commandline.package_scripts(program) if depth < _DEEPEST else []
            for path in commandline.steering(program)[:1] if wanted else ():
                scripts = dotted("package.json", self._text(path))
                for line in (scripts.get(f"scripts.{name.replace('.', ' ')}", "") for name in wanted):
                    yield from self._started(str(line), posixpath.dirname(path), depth + 1)

    @cached_property
    def _runners(self) -> frozenset[str]:
        known = {commandline.runner_of(program) for program in self._programs}
        return frozenset({runner for runner in known if runner} | {program.name for program in self._programs})

    @cached_property
    def _is_opaque(self) -> bool:
        return any(map(commandline.is_opaque, self._programs))

    @cached_property
    def _settings(self) -> tuple[str, ...]:
        """Globs of the settings files that these checks read, and of the texts whose examples they run."""
        asked = re.findall(table("runners")["told"]["examples"], "\n".join(self._orders))
        return (*self._of_runners("settings"), *(f"**/{glob}" for glob in asked)) if self._tests else ()

    @cached_property
    def _loaded(self) -> re.Pattern[str]:
        return re.compile("|".join(self._of_runners("loaded")) or "(?!)")

    def _of_runners(self, kind: str) -> tuple[str, ...]:
        rows = table("runners")[kind].items()
        return tuple(one for names, row in rows if self._is_opaque or {*names.split()} & self._runners for one in row)

    @cached_property
    def _told(self) -> frozenset[str]:
        """Files of the base that a command line, or the settings of a runner, has a runner load."""
        runners = [one for one in self._programs if one.name in NODE or commandline.runner_of(one)]
        told = [(one.folder, " ".join((*one.written, *dict(one.assigned).values()))) for one in runners]
        tells = (*self._settings, "**/conftest.py", "**/{pyproject.toml,setup.cfg,tox.ini,package.json}")
        settings = (path for path in globs.among(self._base, tells) if path.count("/") < _DEEPEST)
        for path in sorted(settings, key=lambda path: (path.count("/"), path))[:_MOST_SETTINGS]:
            if path.endswith((".mk", "akefile")):
                continue  # their options are those of many programs
            text = self._text(path)
            if path.endswith("package.json"):
                own = dotted("package.json", text).items()
                text = "\n".join(f"{key}={value}" for key, value in own if key.partition(".")[0] in NODE)
            told.append((posixpath.dirname(path), text))
        found = (path for folder, text in told for path in _preloaded(folder, text) if not path.endswith(".txt"))
        return self._base.intersection(found)

    @cached_property
    def _named(self) -> frozenset[str]:
        """Scripts, test files, settings and data that the checks name, whether or not the base has them; folders end in `/`."""
        found = {name for path in self._held_against for name in (path, f"{path}/")}
        for program in self._programs:
            given, modules = commandline.given(program), commandline.modules(program)
            found |= {path for path in (program.script or "", *modules) if self._is_judge_script(program, path)}
            found |= {path for path in self._given(program) if not self._is_own(path)}
            found |= {path for path in given if globs.matches(path, _CI)}
            steering = commandline.steering(program)
            found |= {*steering, *chain.from_iterable(map(self._included, steering))}
            package = commandline.modules(replace(program, module=program.module.partition(".")[0]))
            folders = {path.removesuffix("/__main__.py") for path in package}
            folders |= set(given if commandline.runner_of(program) else ())
            found |= {f"{path}/" for path in folders if _SAYS_SO.fullmatch(path) and not self._is_own(path)}
        return frozenset(path for path in found if posixpath.basename(path) not in MIXED)

    def _included(self, makefile: str) -> Iterator[str]:
        found = re.findall(r"(?m)^[ \t]{0,9}[-s]?include[ \t]([^\n#]{1,500})", self._text(makefile))
        yield from filter(None, (resolved(posixpath.dirname(makefile), word) for word in " ".join(found).split()))

    def _is_own(self, path: str) -> bool:
        return globs.names(self._own_files, path)

    def _is_judge_script(self, program: Program, path: str) -> bool:
        """Tell whether a script judges. If its output is checked by another program, it is the work, unless its name says judge."""
        says = _SAYS_SO.fullmatch(posixpath.basename(path) if program.is_heard else path)
        return bool(says or (not program.is_heard and _SAYS_NO.search(self._text(path)))) and not self._is_own(path)

    def _given(self, program: Program) -> Iterator[str]:
        """Yield the files that a runner is given: those that hold tests, do not exist yet, or configure it."""
        is_runner, examples = commandline.runner_of(program) is not None, "doctest" in " ".join(program.argv)
        runs_tests = is_runner and not examples
        given = (*commandline.given(program), *(commandline.modules(program) if runs_tests else ()))
        wild = [path for path in given if globs.is_wild(path)]
        for path in (*given, *(globs.among(self._base, wild) if wild else ())):
            is_test = runs_tests and (path not in self._base or _HOLDS_TESTS.search(self._text(path)))
            is_told = runs_tests or program.name in commandline.STEERED_BY
            is_text = is_runner and examples and not path.endswith(".py")
            if "." in posixpath.basename(path) and (is_test or is_text or (is_told and _STEERS.fullmatch(path))):
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


def _preloaded(folder: str, text: str) -> Iterator[str]:
    """Yield the files that a command line or settings in a folder may have a runner load."""
    told = table("runners")["told"]
    values = (value for files in told["files"] for value in re.findall(files, text))
    for _, word in (one for value in values for one in _WORD.findall(value)):
        places = [resolved(one, word.lstrip("/")) for one in ("", folder) if "/" in word or "." in word]
        yield from (f"{place}{end}" for place in places for end in told["endings"])
    for _, word in (one for value in re.findall(told["plugins"], text) for one in _WORD.findall(value)):
        yield from (f"{root}{word.replace('.', '/')}.py" for root in ("", "src/"))
