"""The seal: what judges a story is not the story's to change.

Sealed are files of the base that match `protected`, files that the checks themselves name or load, and the part of a
project file that steers them. New files are welcome, except those that would put themselves between a check and its tests.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Literal

from santiago.verification.commandline import recipes, runners, shell
from santiago.verification.sealing import asserts, globs, inline_tests, linting, sections
from santiago.verification.sealing.helping import Helpers
from santiago.verification.sealing.judges import Judges
from santiago.verification.sealing.other_targets import only_adds

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from santiago.contract.ports.workspace import Change

Side = Literal["base", "now"]

_STEERING = re.compile(
    r"conftest\.py|\.?pytest\.(?:ini|toml)|jest\.config\..+|vitest\.(?:config|workspace)\..+|\.mocharc.*|\.coveragerc|\.rspec|\.proverc|phpunit\.xml"
)
"""New files that a runner loads for all tests below their folder."""
_LOADED_ALWAYS = re.compile(
    r"(?:.*/)?(?:sitecustomize|usercustomize)(?:\.py|/__init__\.py)|.*(?:\.dist-info|\.egg-info)/entry_points\.txt"
    r"|(?:.*/)?pyvenv\.cfg|\.cargo/config(?:\.toml)?|\.mvn/(?:maven|jvm)\.config"
)
"""New files that interpreters and runners load by themselves, wherever tests are."""
_PACKAGES = re.compile(r"(?:(.*?)/)?node_modules/.*")
"""Everything new in there may be taken in place of what code beside it uses."""
_LONGEST_PTH = 10_000
_SHADOWED = "pytest _pytest pluggy iniconfig packaging pygments unittest xdist execnet coverage exceptiongroup tomli py nose2 tox"
"""Packages that runners consist of: a new one of that name in the checkout's root would be taken instead."""
_LIBRARY = (
    "runpy ast inspect traceback tokenize linecache doctest difflib pprint argparse fnmatch contextlib collections functools re"
    " dataclasses enum copy copyreg dis opcode keyword weakref warnings signal textwrap gettext locale reprlib heapq operator"
    " importlib shutil logging threading tempfile subprocess typing bdb pdb cmd code codeop"
)
"""Modules of the library that runners import, with the same effect."""
_PERL = re.compile(
    r"(?:.*/)?(?:Test/(?:More|Simple|Builder|Harness|Tester|Deep|Exception|Most|Fatal|Warn|Differences)(?:\.pm$|/)"
    r"|Test2/|TAP/|App/Prove|(?:strict|warnings|Carp|Exporter|overload|vars|lib|base|parent)\.pm$)"
)
"""The same for Perl."""
_TOP_MODULE = re.compile(r"(\w+)(?:\.pyc?|\.so|\..*\.so|/__init__\.\w+|/__main__\.py)")
"""A folder without `__init__.py` stands behind all other modules of its name, so it takes nobody's place."""
_LINK = "120000"
_UNCHECKED = b"\x01\0\0\0"
"""Flags of compiled Python whose source is not looked at."""
_BIN = re.compile(r"(?:.*/)?(?:bin|\.bin|Scripts|shims)/([^/]+)")
_SETS_ITSELF_BETWEEN = re.compile(rb"\bpytest_\w+|\b_pytest\b|_exit\b|\batexit\b|sys\.modules|\bexitstatus\b")
_TRANSFORMS = re.compile(r"(?:.*/)?(?:babel\.config\.\w+|\.babelrc(?:\.\w+)?|vite\.config\.\w+)")
"""Settings of what rewrites code before a runner sees it, tests included."""
_REWRITES = re.compile(rb"\b(?:plugins|presets)\b[^\]]{0,300}?(?:['\"]\.{1,2}/|=>|\bfunction\b)|\btransform\s?\(")
"""A rewriting of the project's own."""


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
    broken = {_said(c, seal) for c in changes if not globs.names(files, c.path) and seal.breaks(c)}
    # Tests inside the work's own file are sealed too, unless the story is about tests.
    if protected and not any(globs.matches(file, protected) for file in files):
        broken |= {c.path for c in changes if inline_tests.loosened(c.path, seal.lines, once)}
        broken |= {
            c.path for c in changes if asserts.loosened(c.path, seal.judges.run, seal.judges.programs, once, at_base)
        }
    return tuple(sorted(broken))


def _said(change: Change, seal: _Seal) -> str:
    return f"{change.path} (a link out of the tree)" if seal.leads_out(change) else change.path


@dataclass(frozen=True)
class _Seal:
    protected: tuple[str, ...]
    commands: tuple[str, ...]
    base_files: frozenset[str]
    read: Callable[[str, Side], bytes | None] = field(repr=False)

    def breaks(self, change: Change) -> bool:
        if self.leads_out(change) or self.is_compiled_judge(change) or self.rewrites_tests(change.path):
            return True
        if self.only_becomes_a_program(change):
            return False
        if linting.loosened(change.path, self.read, self.linters, self.base_files):
            return True
        if change.path not in self.base_files:
            return self.is_new_judge(change.path)
        if (
            globs.matches(change.path, self.protected)
            or (self.judges.holds(change.path) and not self.adds_targets(change))
            or self.helpers.holds(change.path)
        ):
            return True
        if not sections.steers(change.path):
            return False
        if change.status == "T" or (change.old_mode != change.new_mode and change.status != "D"):
            return sections.part(change.path, self.read(change.path, "base"), self.commands) is not None
        return self.loosened(change.path)

    def only_becomes_a_program(self, change: Change) -> bool:
        """Whether a script only gains the right to be run; there are runners that pass over tests which have it."""
        gains = (change.status, change.old_mode, change.new_mode) == ("M", "100644", "100755")
        same = gains and self.read(change.path, "base") == self.read(change.path, "now")
        return same and not _BIN.fullmatch(change.path) and not globs.matches(change.path, self.protected)

    def adds_targets(self, change: Change) -> bool:
        """Whether it is a makefile that has make do the same for all checks as before."""
        same_kind = change.status == "M" and change.old_mode == change.new_mode
        makings, path = self.judges.makings, change.path
        return same_kind and path not in self.judges.scripts and only_adds(path, makings, self.read, self.base_files)

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

    def rewrites_tests(self, path: str) -> bool:
        """Whether settings begin to have code rewritten, the tests' own included, by something that the work brings along."""
        if not _TRANSFORMS.fullmatch(path) or not self.tools & {"jest", "vitest"}:
            return False
        before, now = (_REWRITES.findall(self.read(path, side) or b"") for side in ("base", "now"))
        return len(now) > len(before) and self.has_tests("")

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
        if _LOADED_ALWAYS.fullmatch(path) or self.is_found_first(path, folder) or self.shadows(path):
            return True
        if _STEERING.fullmatch(name):
            return self.has_tests(folder) or (name == "conftest.py" and self.sets_itself_between(path))
        if sections.steers(path):
            return (
                self.has_tests(folder)
                and sections.part(path, self.read(path, "now"), self.commands) is not None
                and name not in {"package.json", "composer.json", "deno.json"}
            )
        if self.judges.takes(path) or (name.endswith("_test.go") and self.runs_no_test(path, folder)):
            return True
        if self.helpers.excuses(path):
            return True
        return path in self.judges.scripts and not globs.matches(path, self.protected)

    def is_found_first(self, path: str, folder: str) -> bool:
        """Whether an interpreter looks there for modules, before or besides where they are."""
        if "site-packages" in folder.split("/"):
            return True
        if beside := _PACKAGES.fullmatch(path):
            within = f"{beside[1]}/" if beside[1] else ""
            return any(one.startswith(within) for one in self.base_files)
        text = (self.read(path, "now") or b"") if path.endswith(".pth") and folder in self.judges.roots else None
        return (
            text is not None and len(text) < _LONGEST_PTH and b"\0" not in text
        )  # otherwise it holds a model's weights

    def shadows(self, path: str) -> bool:
        """Whether a new file would be run or imported in place of a tool that a check uses, or of a sealed test."""
        module = path.partition("/__init__.")[0].partition(".so")[0].partition(".cpython-")[0].partition(".abi3")[0]
        if module != path and f"{module}.py" in self.base_files and globs.matches(f"{module}.py", self.protected):
            return True
        tool = _BIN.fullmatch(path)
        if tool and tool[1].removesuffix(".exe") in self.tools:
            return True
        if _PERL.match(path) and self.tools & {"perl", "prove"}:
            return True
        places = (f"{root}/" if root else "" for root in self.judges.roots)
        below = (path.removeprefix(place) for place in places if path.startswith(place))
        return bool(self.tools & {"python", "pytest"}) and any(map(_takes_a_name, below))

    def sets_itself_between(self, path: str) -> bool:
        """A conftest for new tests only is welcome, but its hooks would see all tests of the run."""
        text = self.read(path, "now") or b""
        return bool(self.tools & {"pytest"}) and _SETS_ITSELF_BETWEEN.search(text) is not None

    def runs_no_test(self, path: str, folder: str) -> bool:
        """Whether a new file takes over the tests of a Go package that has some, and does not run them."""
        text = self.read(path, "now") or b""
        return b"func TestMain(" in text and b".Run()" not in text and self.has_tests(folder)

    def has_tests(self, folder: str) -> bool:
        within = f"{folder}/" if folder else ""
        sealed = self.protected or globs.DEFAULT_PROTECTED
        # What has "test" or "spec" in its name is looked at first: in most trees that settles it.
        likely = (path for path in self.base_files if "test" in path or "spec" in path)
        return any(path.startswith(within) and globs.matches(path, sealed) for path in chain(likely, self.base_files))

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The checks, and what stands behind them at the base."""
        lines = (
            line
            for command in self.commands
            for line in recipes.expanded(command, lambda path: self.read(path, "base"))
        )
        return (*self.commands, *lines)

    @cached_property
    def tools(self) -> frozenset[str]:
        """Names of all programs that the checks run, their runners, and the interpreters below them."""
        written = [argv for line in self.lines for argv in _as_written(line)]
        modules = {after for argv in written for option, after in pairwise(argv) if option == "-m"}
        words = {argv[0] for argv in written} | {
            argv[0] for line in self.lines for argv in runners.programs(line)
        } - modules
        found = {word.rpartition("/")[2] for word in words if "/" not in word or word.startswith("/")}
        found |= {runner for line in self.lines for runner in runners.known_runners(line)}
        found |= (
            {"python"} if any(tool.startswith("python") or tool in {"pytest", "unittest"} for tool in found) else set()
        )
        found |= {"python3", "sh", "bash", "env", "node", "make", "git", "pip", "npm", "npx"}
        return frozenset(found)

    @cached_property
    def linters(self) -> frozenset[str]:
        return linting.tools_of(self.judges.every)

    @cached_property
    def judges(self) -> Judges:
        return Judges(self.commands, self.base_files, lambda path: self.read(path, "base"))

    @cached_property
    def helpers(self) -> Helpers:
        return Helpers(self.protected, self.base_files, self.judges, lambda path: self.read(path, "base"))


def _takes_a_name(path: str) -> bool:
    """Whether python would import a file, as seen from where it looks first, in place of what a runner consists of."""
    found = _TOP_MODULE.fullmatch(path)
    return found is not None and found[1] in f"{_LIBRARY} {_SHADOWED}".split()


def _as_written(line: str) -> list[list[str]]:
    return [[word.text for word in words] for words in shell.simple_commands(line) if words]
