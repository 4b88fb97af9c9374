"""What of the base judges a story besides its tests: the scripts that its checks run, and the files that steer them."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from santiago.verification.commandline import recipes, runners
from santiago.verification.commandline.steps import Step, resolved, steps
from santiago.verification.sealing import comparisons, globs, named_tests, sections, steering
from santiago.verification.sealing.examining import examines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from santiago.verification.commandline.recipes import Line

_NAME = re.compile(
    r"(?:.*[_.-])?(?:check(?:s|er)?|verif(?:y|ier|ication)|validat(?:e|or|ion)|accept(?:ance)?|smoke|e2e|lint|ci|grade|judge|oracle|selftest"
    r"|specs?|(?:run|unit)?tests?|gradlew|mvnw)(?:[_.-].*)?",
    re.IGNORECASE,
)
_PREPARES = re.compile(r"(?:.*/)?(?:configure|autogen|bootstrap|prepare)(?:\.\w+)?")
"""Scripts that make ready what the rest of a check relies on."""
_TOOLS = re.compile(r"(?:.*/)?(?:scripts?|tools?|hack|qa|t|harness)/[^/]+")
_MOST_SCRIPTS = 100
_MOST_SETTINGS = 20
_DEEPEST = 4


@dataclass(frozen=True)
class Judges:
    commands: tuple[str, ...]
    base_files: frozenset[str]
    read: Callable[[str], bytes | None] = field(repr=False)
    """A file of the base."""
    known: dict[tuple[str, bool], bool] = field(default_factory=dict, repr=False)
    """Scripts that were looked at, and whether they judge."""

    @cached_property
    def walked(self) -> tuple[tuple[Line, tuple[Step, ...]], ...]:
        """All lines of the checks, and behind them where a judge stands, with their steps."""
        return tuple(
            (line, tuple(steps(line.text, line.folder, line.script)))
            for command in self.commands
            for line, _ in recipes.walked(command, self.read, self._behind)
        )

    @cached_property
    def every(self) -> tuple[Step, ...]:
        return tuple(step for _, line_steps in self.walked for step in line_steps)

    @cached_property
    def programs(self) -> frozenset[str]:
        """Names of the programs that the checks start."""
        return frozenset(step.name for step in self.every)

    @cached_property
    def run(self) -> frozenset[str]:
        """Files of the checkout that the checks run, as judges or as the work."""
        return frozenset(path for step in self.every for path in self.runs(step))

    @cached_property
    def scripts(self) -> frozenset[str]:
        """Files of the checkout that the checks run as judges; a program that is itself the work is none."""
        found: set[str] = set()
        for line, line_steps in self.walked:
            for place, step in enumerate(line_steps):
                serves = self._serves(step, line, last=place + 1 == len(line_steps))
                found |= {path for path in self.runs(step) if self.judges(path, step) or serves(path)}
        return frozenset(found)

    @cached_property
    def loaded(self) -> frozenset[str]:
        """Files of the checkout that the checks run or are steered by."""
        return self.scripts | {path for step in self.every for path in self._steering(step)} | self._loaded_first

    @cached_property
    def _loaded_first(self) -> frozenset[str]:
        """Files of the base that the settings of runners name, where checks run."""
        folders = {"", *(step.folder for step in self.every)}
        places = (path.rpartition("/") for path in self._ordered)
        settings = [place for place in places if place[0] in folders and steering.SETTINGS.fullmatch(place[2])]
        found: set[str] = set()
        for folder, slash, name in settings[:_MOST_SETTINGS]:
            named = steering.named_in_settings(name, self.read(folder + slash + name) or b"")
            paths = [path for one in named if (path := resolved(folder, one))]
            found |= {path + ending for path in paths for ending in steering.ENDINGS}
        return frozenset(path for path in found & self.base_files if not sections.steers(path))

    @cached_property
    def named(self) -> frozenset[str]:
        """Files of the base in which runners are told to look for tests."""
        return named_tests.reached(self.every, self.base_files)

    @cached_property
    def expected(self) -> frozenset[str]:
        """Files and folders of the base that the checks compare with."""
        found: set[str] = set()
        for line, line_steps in self.walked:
            found |= comparisons.compared_with(line_steps, self._known_by)
            found |= comparisons.expected_in(line.text, {line.folder, ""}, self.base_files)
        for script in sorted(self.scripts & self.base_files)[:_MOST_SCRIPTS]:
            text = (self.read(script) or b"")[:100_000].decode("utf-8", "replace")
            folder, _, name = script.rpartition("/")
            found |= comparisons.expected_in(text, {folder, ""}, self.base_files, of_judge=True)
            if name == "__main__.py" and _NAME.fullmatch(folder.rpartition("/")[2]):
                found.add(folder)  # the whole package is there to judge
        return frozenset(found)

    @cached_property
    def optional(self) -> frozenset[str]:
        """Files that need not be there, and would be taken if they were."""
        found: set[str] = set()
        for making in self.makings:
            found |= {
                path for path in self._included(making) if not path.endswith(".d")
            }  # lists of headers, that builds leave behind
            if any(path in self.base_files for path in making.files):
                found |= set(making.files)
        for step in self.every:
            names = steering.OPTIONAL.get(step.name, ())
            found |= {path for name in names if (path := resolved(step.folder, name))}
        return frozenset(found - self.base_files)

    @cached_property
    def targets(self) -> frozenset[str]:
        """Names of make targets that are no files: one of that name, and make would have nothing left to do."""
        found: set[str] = set()
        for making in self.makings:
            if not making.files[0].lower().endswith("justfile"):
                names = making.rules(self.read).names_only(making.targets)
                found |= {path for name in names if (path := resolved(making.folder, name))}
        return frozenset(path for path in found if not self._is_known(path))

    @cached_property
    def makings(self) -> tuple[recipes.Making, ...]:
        """What the checks have make do."""
        found = map(recipes.making_of, self.every)
        return tuple(dict.fromkeys(making for making in found if making is not None))

    @cached_property
    def roots(self) -> frozenset[str]:
        """Folders in which python looks for modules first: where it runs, where a judge stands, what it is told."""
        found = {""}
        for step in self.every:
            found.add(step.folder)
            paths = [word.partition("=")[2] for word in step.assigned if word.startswith("PYTHONPATH=")]
            told = (resolved(step.folder, place) for path in paths for place in path.split(":"))
            found |= {place for place in told if place is not None}
            found |= {
                path.rpartition("/")[0] for path in self.runs(step) if path.endswith(".py") and path in self.scripts
            }
        return frozenset(found)

    def holds(self, path: str) -> bool:
        """Whether a file of the base is a judge's."""
        if path in self.loaded or self._wildly_included(path):
            return True
        return any(one in self.expected for one in (path, *_above(path)))

    def takes(self, path: str) -> bool:
        """Whether a new file would be taken by a check that gets along without it, or keep make from running one."""
        if path in self.optional or self._wildly_included(path):
            return True
        return any(one in self.targets for one in (path, *_above(path)))

    def _wildly_included(self, path: str) -> bool:
        return globs.matches(path, self._wild)

    @cached_property
    def _wild(self) -> tuple[str, ...]:
        """Patterns by which makefiles include others."""
        found = (path for making in self.makings for path in self._included(making))
        return tuple(path for path in found if any(sign in path for sign in "*?["))

    def _included(self, making: recipes.Making) -> list[str]:
        rules = making.rules(self.read)
        return [path for name in (*rules.included, *rules.optional) if (path := resolved(making.folder, name))]

    def runs(self, step: Step) -> Iterator[str]:
        """Yield the files of the checkout that a step runs; of modules only those that the base has."""
        if step.name in {".", "source"}:
            return
        script = runners.script_of(step.argv)
        if script is not None:
            yield from self._found(step, script)
        module = module_of(step.written)
        for place in ("", "src") if module else ():
            stem = resolved(step.folder, f"{place}/{module}".lstrip("/"))
            yield from (path for path in (f"{stem}.py", f"{stem}/__main__.py") if path in self.base_files)

    def judges(self, path: str, step: Step, depth: int = 0) -> bool:
        """Whether a script that a check runs is there to judge: by its name, by what it starts, or by what it says no to."""
        # Of what is run as a module, the parts of its name say what it is about.
        parts = path.split("/")[:1] if module_of(step.written) else path.split("/")
        if any(map(_NAME.fullmatch, parts)):
            return True
        key = (path, step.heard)
        if key not in self.known and len(self.known) < _MOST_SCRIPTS:
            self.known[key] = False  # while it is looked at, so that circles end
            self.known[key] = self._looks_like_a_judge(path, step, depth)
        return self.known.get(key, False)

    def _looks_like_a_judge(self, path: str, step: Step, depth: int) -> bool:
        text = self.read(path)
        if text is None:
            return False
        lines = list(recipes.lines_behind(_running(step, path), self.read))
        inner = [one for line in lines for one in steps(line.text, line.folder, line.script)]
        if any(runners.known_runners(line.text) for line in lines):
            return True
        if depth < _DEEPEST:
            reached = ((one, script) for one in inner if not one.within for script in self.runs(one))
            if any(script != path and self.judges(script, one, depth + 1) for one, script in reached):
                return True
        as_program = step.heard or module_of(step.written) is not None
        return examines(path, text, step.folder, self.base_files, product_like=as_program)

    def _serves(self, step: Step, line: Line, *, last: bool) -> Callable[[str], bool]:
        """Whether a script of the base prepares the rest of a check, or is a tool that a target called after tests runs."""
        told = not step.heard and _NAME.fullmatch(line.told.replace(":", "-")) is not None

        def serves(path: str) -> bool:
            prepares = not last and _PREPARES.fullmatch(path) is not None
            return path in self.base_files and (prepares or (told and _TOOLS.fullmatch(path) is not None))

        return serves

    def _behind(self, step: Step) -> list[Step]:
        """Return which steps to look behind for one: what stands behind the work itself is the work's."""
        paths = list(self.runs(step))
        judges = [_running(step, path) for path in paths if self.judges(path, step)]
        return judges if paths else [step]

    def _steering(self, step: Step) -> Iterator[str]:
        """Yield the files that a step is steered by."""
        if making := recipes.making_of(step):
            yield from (*making.files, *self._included(making))
        names = steering.OWN.get(step.name, ()) + steering.OPTIONAL.get(step.name, ())
        yield from (path for name in names if (path := resolved(step.folder, name)))
        for name in steering.given(step):
            for path in self._found(step, name):
                yield from (path + ending for ending in steering.ENDINGS)

    def _found(self, step: Step, name: str) -> Iterator[str]:
        """Yield the paths that a word means: a file, those that a pattern matches, or what a variable's folder may hold."""
        plain = re.sub(r"^(?:\./)*(?:\$\{?\w+\}?|\$?\([^)]*\)?)/", "", name)
        if plain != name:
            places = (step.script.rpartition("/")[0], step.folder, *_above(step.folder), "")
            yield from (path for place in places if (path := resolved(place, plain)) in self.base_files and path)
        elif (path := resolved(step.folder, name)) and any(sign in name for sign in "*?["):
            yield from sorted(one for one in self.base_files if globs.matches(one, (path,)))[:_MOST_SCRIPTS]
        elif path:
            yield path

    def _known_by(self, step: Step, name: str) -> list[str]:
        return [path for path in self._found(step, name) if self._is_known(path)]

    def _is_known(self, path: str) -> bool:
        """Whether the base has a file or a folder of that name."""
        place = bisect_left(self._ordered, f"{path}/")
        return path in self.base_files or (place < len(self._ordered) and self._ordered[place].startswith(f"{path}/"))

    @cached_property
    def _ordered(self) -> list[str]:
        return sorted(self.base_files)


def _running(step: Step, path: str) -> Step:
    """Return a step that runs all files of a pattern as one that runs this one."""
    script = runners.script_of(step.argv) or ""
    if not any(sign in script for sign in "*?[$("):
        return step
    here = posixpath.relpath(path, step.folder or ".")
    argv = tuple(here if word.removeprefix("./") == script else word for word in step.argv)
    return replace(step, argv=argv, written=argv)


def _above(path: str) -> Iterator[str]:
    while path := path.rpartition("/")[0]:
        yield path


def module_of(written: Sequence[str]) -> str | None:
    """Return the module that python is told to run, as a path."""
    for place, word in enumerate(written if "-m" in written else ()):
        if re.fullmatch(r"(?:.*/)?(?:python|pypy)[\d.]*|coverage", word):
            for option, after in pairwise(written[place + 1 :]):
                if option == "-m" and re.fullmatch(r"[\w.]+", after):
                    return after.replace(".", "/")
                if option == "-c" or not (option.startswith("-") or option == "run"):
                    break
    return None
