"""The seal: what judges a story is not the story's to change.

Sealed are files of the base that match `protected`, files that the checks themselves name or load, and the part of a
project file that steers them. New files are welcome, except those that would put themselves between a check and its tests.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Literal

from santiago.verification import globs, runners, sections, shell

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from santiago.contract.ports.workspace import Change

Side = Literal["base", "now"]

_STEERING = re.compile(
    r"conftest\.py|\.?pytest\.(?:ini|toml)|jest\.config\..+|vitest\.(?:config|workspace)\..+|\.mocharc.*|\.coveragerc|\.rspec|phpunit\.xml"
)
"""New files that a runner loads for all tests below their folder."""
_LOADED_ALWAYS = re.compile(
    r"(?:.*/)?(?:sitecustomize|usercustomize)(?:\.py|/__init__\.py)|.*\.pth|.*(?:\.dist-info|\.egg-info)/entry_points\.txt"
    r"|(?:.*/)?site-packages/.*|(?:.*/)?pyvenv\.cfg|(?:.*/)?node_modules/\.bin/.*|\.cargo/config(?:\.toml)?|\.mvn/(?:maven|jvm)\.config"
    r"|(?:.*/)?node_modules/(?:jest|vitest|mocha|\.vite)(?:-[\w-]+)?/.*"
)
"""New files that interpreters and runners load by themselves, wherever tests are."""
_SHADOWED = "pytest _pytest pluggy iniconfig packaging pygments unittest xdist execnet coverage exceptiongroup tomli py nose2 tox"
"""Packages that runners consist of: a new one of that name in the checkout's root would be taken instead."""
_LIBRARY = (
    "runpy ast inspect traceback tokenize linecache doctest difflib pprint argparse fnmatch contextlib collections functools re"
    " dataclasses enum copy copyreg dis opcode keyword weakref warnings signal textwrap gettext locale reprlib heapq operator"
    " importlib shutil logging threading tempfile subprocess typing bdb pdb cmd code codeop"
)
"""Modules of the library that runners import, with the same effect; but a folder is only taken if it is a package."""
_TOP_MODULE = re.compile(r"(\w+)(?:\.py|\.so|\..*\.so|/__init__\.\w+|/__main__\.py)")
"""A folder without `__init__.py` stands behind the library's own modules, so it takes nobody's place."""
_LINK = "120000"
_UNCHECKED = b"\x01\0\0\0"
"""Flags of compiled Python whose source is not looked at."""
_BIN = re.compile(r"(?:.*/)?(?:bin|\.bin|Scripts|shims)/([^/]+)")
_SETS_ITSELF_BETWEEN = re.compile(rb"\bpytest_\w+|\b_pytest\b|_exit\b|\batexit\b|sys\.modules|\bexitstatus\b")
_JUDGE_NAME = re.compile(
    r"(?:.*[_.-])?(?:check(?:s|er)?|verif(?:y|ier|ication)|validat(?:e|or|ion)|accept(?:ance)?|smoke|e2e|lint|ci|grade|judge|oracle|selftest"
    r"|specs?|(?:run|unit)?tests?|gradlew|mvnw)(?:[_.-].*)?",
    re.IGNORECASE,
)
_SAYS_NO = re.compile(rb"\bassert\b|\braise\b|\bexit\((?!0?\))|\bunittest\b")
_IMPORTS = re.compile(rb"^\s*(?:from|import)\s+([\w.]+)", re.MULTILINE)
_RUNS_FILE = {
    "make": runners.MAKEFILES, "gmake": runners.MAKEFILES, "just": runners.JUSTFILES, "task": ("Taskfile.yml", "Taskfile.yaml"),
    "rake": ("Rakefile",), "tox": ("tox.ini",), "nox": ("noxfile.py",), "gradlew": ("gradlew", "gradle/wrapper/gradle-wrapper.properties"),
    "mvnw": ("mvnw", ".mvn/wrapper/maven-wrapper.properties"), "ant": ("build.xml",), "invoke": ("tasks.py",), "inv": ("tasks.py",),
    "grunt": ("Gruntfile.js",), "gulp": ("gulpfile.js",), "mage": ("magefile.go",),
}  # fmt: skip


def tampered(
    changes: Sequence[Change],
    protected: Sequence[str],
    files: Sequence[str],
    commands: Sequence[str],
    base_files: Collection[str],
    read: Callable[[str, Side], bytes | None],
) -> tuple[str, ...]:
    """Return the paths whose change takes the verdict out of santiago's hands, sorted; `files` are the story's own."""
    at_base = frozenset(base_files)

    @cache
    def once(path: str, side: Side) -> bytes | None:
        # Each reading may cost a process, so nothing is read twice, nor where it is known not to be.
        return read(path, side) if side == "now" or path in at_base else None

    seal = _Seal(tuple(protected), tuple(commands), at_base, once)
    return tuple(sorted({c.path for c in changes if not globs.names(files, c.path) and seal.breaks(c)}))


@dataclass(frozen=True)
class _Seal:
    protected: tuple[str, ...]
    commands: tuple[str, ...]
    base_files: frozenset[str]
    read: Callable[[str, Side], bytes | None] = field(repr=False)

    def breaks(self, change: Change) -> bool:
        if self.leads_out(change) or self.is_compiled_judge(change):
            return True
        if change.path not in self.base_files:
            return self.is_new_judge(change.path)
        if globs.matches(change.path, self.protected) or change.path in self.loaded:
            return True
        if not sections.steers(change.path):
            return False
        if change.status == "T" or (change.old_mode != change.new_mode and change.status != "D"):
            return sections.part(change.path, self.read(change.path, "base"), self.commands) is not None
        return self.loosened(change.path)

    def leads_out(self, change: Change) -> bool:
        """Whether it is a link out of the tree: what it leads to is nobody's commit, and may be another thing tomorrow."""
        if change.new_mode != _LINK:
            return False
        target = (self.read(change.path, "now") or b"").decode("utf-8", "replace")
        joined = posixpath.normpath(posixpath.join(posixpath.dirname(change.path), target))
        return target.startswith("/") or joined.startswith("..")

    def is_compiled_judge(self, change: Change) -> bool:
        """Whether it is compiled Python that is taken without a look at its source."""
        if not change.path.endswith(".pyc") or change.status == "D":
            return False
        flags = (self.read(change.path, "now") or b"")[4:8]
        return flags == _UNCHECKED

    def loosened(self, path: str) -> bool:
        """Whether the part that steers checks is another one now; what was not there before may be added to a package."""
        before = sections.part(path, self.read(path, "base"), self.commands)
        after = sections.part(path, self.read(path, "now"), self.commands)
        if path.endswith("package.json") and isinstance(after, dict) and not isinstance(before, tuple):
            old = before or {}
            added = {name for name in after if name not in old}
            around = {
                name for name in added if name.startswith(("pre", "post")) and re.sub("^(?:pre|post)", "", name) in old
            }
            return any(after.get(name) != value for name, value in old.items()) or bool(around)
        return bool(before != after)

    def is_new_judge(self, path: str) -> bool:
        folder, _, name = path.rpartition("/")
        if _LOADED_ALWAYS.fullmatch(path) or self.shadows(path):
            return True
        if _STEERING.fullmatch(name):
            return self.has_tests(folder) or (name == "conftest.py" and self.sets_itself_between(path))
        if sections.steers(path):
            return (
                self.has_tests(folder)
                and sections.part(path, self.read(path, "now"), self.commands) is not None
                and name != "package.json"
            )
        if path in self.alternatives:
            return True
        return path in self.scripts and not globs.matches(path, self.protected)

    def shadows(self, path: str) -> bool:
        """Whether a new file would be run or imported in place of a tool that a check uses, or of a sealed test."""
        module = path.partition("/__init__.")[0].partition(".so")[0].partition(".cpython-")[0].partition(".abi3")[0]
        if module != path and f"{module}.py" in self.base_files and globs.matches(f"{module}.py", self.protected):
            return True
        tool = _BIN.fullmatch(path)
        if tool and tool[1].removesuffix(".exe") in self.tools:
            return True
        found = _TOP_MODULE.fullmatch(path)
        takes = path.partition("/")[0].removesuffix(".py") in _SHADOWED.split()
        takes |= found is not None and found[1] in _LIBRARY.split()
        return takes and bool(self.tools & {"python", "pytest"})

    def sets_itself_between(self, path: str) -> bool:
        """A conftest for new tests only is welcome, but its hooks would see all tests of the run."""
        text = self.read(path, "now") or b""
        return bool(self.tools & {"pytest"}) and _SETS_ITSELF_BETWEEN.search(text) is not None

    def has_tests(self, folder: str) -> bool:
        within = f"{folder}/" if folder else ""
        sealed = self.protected or globs.DEFAULT_PROTECTED
        # What has "test" or "spec" in its name is looked at first: in most trees that settles it.
        likely = (path for path in self.base_files if "test" in path or "spec" in path)
        return any(path.startswith(within) and globs.matches(path, sealed) for path in chain(likely, self.base_files))

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The checks, and what stands behind them at the base."""
        behind = (
            line
            for command in self.commands
            for line in runners.expanded(command, lambda path: self.read(path, "base"))
        )
        return (*self.commands, *behind)

    @cached_property
    def tools(self) -> frozenset[str]:
        """Names of all programs that the checks run, their runners, and the interpreters below them."""
        words = {word for line in self.lines for argv in _as_written(line) for word in argv}
        found = {word.rpartition("/")[2] for word in words if "/" not in word or word.startswith("/")}
        found |= {runner for line in self.lines for runner in runners.known_runners(line)}
        found |= (
            {"python"} if any(tool.startswith("python") or tool in {"pytest", "unittest"} for tool in found) else set()
        )
        found |= {"python3", "sh", "bash", "env", "node", "make", "git", "pip", "npm", "npx"}
        return frozenset(found)

    @cached_property
    def scripts(self) -> frozenset[str]:
        """Files of the checkout that the checks run as judges; a program that is itself the work is none."""
        argvs = [argv for line in self.lines for argv in (*runners.programs(line), *_as_written(line))]
        found = (script for argv in argvs if (script := runners.script_of(argv)) and self.judges(script, argv))
        return frozenset(found)

    def judges(self, script: str, argv: Sequence[str]) -> bool:
        """Whether a script that a check runs is there to judge: it says so by its name, or it starts a test runner."""
        if any(_JUDGE_NAME.fullmatch(part) for part in script.split("/")):
            return True
        behind = runners.expanded(" ".join(map(shlex.quote, argv)), lambda path: self.read(path, "base"))
        return any(runners.known_runners(line) for line in behind) or self.examines(script)

    def examines(self, script: str) -> bool:
        """Whether a script of the base says no to other files of the base: then it is their judge, whatever its name."""
        text = self.read(script, "base") or b""
        if not script.endswith(".py") or not _SAYS_NO.search(text):
            return False
        names = {match.decode().replace(".", "/") for match in _IMPORTS.findall(text)}
        return any(
            f"{place}{name}{ending}" in self.base_files
            for name in names
            for place in ("", "src/", "lib/")
            for ending in (".py", "/__init__.py")
        )

    @cached_property
    def loaded(self) -> frozenset[str]:
        """Files of the checkout that the checks run or are steered by."""
        found: set[str] = set(self.scripts)
        for line in self.lines:
            for argv in (*runners.programs(line), *_as_written(line)):
                found |= set(_RUNS_FILE.get(argv[0].rpartition("/")[2], ()))
                found |= set(_given_files(argv))
        return frozenset(found)

    @cached_property
    def alternatives(self) -> frozenset[str]:
        """New files that would be taken in place of one that the base has: a makefile of another spelling."""
        found: set[str] = set()
        for names in (runners.MAKEFILES, runners.JUSTFILES):
            if any(name in self.base_files for name in names) and any(name in self.loaded for name in names):
                found |= set(names)
        return frozenset(found - self.base_files)


def _as_written(line: str) -> list[list[str]]:
    return [[word.text for word in words] for words in shell.simple_commands(line)]


def _given_files(argv: Sequence[str]) -> list[str]:
    """Return the files that a command is told to be steered by: `-c FILE`, `--config=FILE`, `-f FILE`."""
    found = [
        after for option, after in pairwise(argv) if option in {"-c", "-f", "--config", "--rootdir", "-C", "--file"}
    ]
    found += [word.partition("=")[2] for word in argv if re.match(r"--(?:config|file|rcfile|setup\w*)=", word)]
    return [path.removeprefix("./") for path in found if path and "\n" not in path]
