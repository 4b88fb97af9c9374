"""Finds out by experiment whether a check is red on a base because of its environment, and not because of the code.

A checkout has only what is committed, and a check sees only some variables. So a red check runs again in checkouts that are
given more of what the user's tree and shell have. What makes it better, while without it the check stays red, is what it
lacks. Its output only says what to try first. Nothing runs in the user's own tree, and nothing gets the network for this.
"""

from __future__ import annotations

import json
import os
import shlex
import socket
import sys
from dataclasses import replace
from functools import cached_property, partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal

from santiago.contract.errors import SantiagoError
from santiago.contract.lazy_regex import pattern
from santiago.contract.ports.judge import Lack, Proposal, SetUpFailedError
from santiago.contract.record import lean, record
from santiago.judge.commandline import unwritten
from santiago.judge.missing import PYTHON_TOOLS, found_no_test, missing
from santiago.judge.trials import Trial
from santiago.process import environment
from santiago.process.redact import is_secret
from santiago.workspace.caches import is_cache
from santiago.workspace.dependencies import BUILT
from santiago.workspace.inspect import not_committed
from santiago.workspace.manifests import ENVIRONMENT, node_install, python_install

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from santiago.contract.plan import Story
    from santiago.contract.policy import RunInput, Workspace
    from santiago.contract.ports.run import Stop
    from santiago.judge.comparison import Shown
    from santiago.judge.missing import Missing, Read
    from santiago.judge.tree_judge import TreeJudge
    from santiago.process.fence import SandboxKind
    from santiago.workspace.workspace import GitWorkspace

Kind = Literal["copy", "provide", "commit", "build", "path", "submodule", "env"]
_LARGEST, _MOST_FILES, _MOST = 20 * 2**20, 2000, 200
"""Bytes of a file, files of a folder, and parts that are lent in an experiment."""
_MOST_CHECKS, _MOST_RUNS = 3, 16
"""Red checks that are looked into, and how often each of them runs for it."""
_LEAST_MS, _TIMES = 60_000, 3
"""How long a check may take in an experiment: a time, and a multiple of its time before."""
_NO_PART = frozenset({".santiago", ".git", ".idea", ".vscode", ".DS_Store", "site-packages"})
_READ_BY_TOOLS = (
    "PYTHONPATH PYTHONWARNINGS PYTHONUTF8 PYTHONHASHSEED PYTHONIOENCODING PYTEST_ADDOPTS PYTEST_PLUGINS DJANGO_SETTINGS_MODULE FLASK_APP"
    " NODE_PATH NODE_OPTIONS NODE_ENV LD_LIBRARY_PATH LIBRARY_PATH CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH PKG_CONFIG_PATH CC CXX CFLAGS"
    " CXXFLAGS CPPFLAGS LDFLAGS CMAKE_PREFIX_PATH CGO_ENABLED CGO_CFLAGS CGO_LDFLAGS GO111MODULE GOWORK GOEXPERIMENT RUSTFLAGS CARGO_BUILD_TARGET"
    " RUBYLIB RUBYOPT BUNDLE_GEMFILE RAILS_ENV RACK_ENV PERL5LIB CLASSPATH JAVA_TOOL_OPTIONS MAVEN_OPTS GRADLE_OPTS PHPRC BATS_LIB_PATH"
)
_STEERING = frozenset(_READ_BY_TOOLS.split())
"""Variables that toolchains read by themselves, so that no file of a repository has to name them."""
_NO_VARIABLE = pattern(
    r"_|PWD|OLDPWD|SHLVL|VIRTUAL_ENV(?:_PROMPT)?|SANTIAGO_.*|SSH_.*|XDG_SESSION.*|XDG_RUNTIME_DIR|DBUS_.*|PS\d|LS_COLORS|HOSTNAME"
)
_SUBMODULES = "git submodule update --init --recursive"
_SERVICES = frozenset({1433, 2375, 3306, 4566, 5432, 5672, 6379, 9042, 9092, 9200, 11211, 27017})
"""Ports of databases and the like, which no test starts by itself."""
_NO_MODULE = pattern(r"No module named '?([A-Za-z_]\w*)")
_FOLDER = pattern(r"cd ([\w.@/-]+) && ")
_WORD = pattern(r"[\w-]+")


@record
class Part:
    """Something that the user's tree or shell has and a checkout has not, and the setting that lends it."""

    kind: Kind
    name: str
    files: tuple[str, ...] = ()
    """What is copied for it."""


@lean(frozen=True, kw_only=True, slots=False)
class Environment:
    """Explains red checks of a base."""

    workspace: GitWorkspace
    run_input: RunInput
    judge_with: Callable[[RunInput], TreeJudge]
    """Returns a judge whose checkouts are made by other settings."""
    source: dict[str, str]
    """The variables of the user's shell."""
    fence: SandboxKind
    has_folder: Callable[[str], bool]

    def explain(self, base: str, red: Sequence[Shown], stories: Sequence[Story], stop: Stop) -> Lack | None:
        """Return what one of the checks lacks that is not the repository's code; None if nothing is known to be lacking."""
        files, read = self.workspace.files(base), partial(self.workspace.read, base)
        words = [path for story in stories for path in story.files]
        by_hope = sorted(red, key=lambda shown: len(shown.passing))
        for shown in by_hope[:_MOST_CHECKS]:
            if lack := self._tried(base, shown, words, stop):
                return lack
        for shown in red:
            found = missing(shown, files, read, words)
            if found is not None and not (found.kind == "service" and not _is_service(found.name)):
                hint, proposal = remedy(found, files, read, self.has_folder)
                return Lack(message=found.sentence, hint=hint, proposal=proposal)
        return next(filter(None, (self._pointers(base, shown) for shown in red)), None)

    def _tried(self, base: str, shown: Shown, words: Sequence[str], stop: Stop) -> Lack | None:
        """Return what makes a check better when it is lent, and only then."""
        files, root = self.workspace.files(base), Path(self.run_input.repo_path)
        if (tests := unwritten(shown.command, files)) and not any((root / path).exists() for path in tests):
            return None  # a story has still to write them
        text = f"{shown.command}\n{shown.output}"
        lendable = islice((*self._submodules(base), *self._files, *self._variables(base)), _MOST)
        parts = [one for one in (*lendable, *self._unbuilt(text)) if one.name not in words]
        named = [one for one in parts if _is_named(one, text)]
        experiment = _Experiment(self, base, shown, stop)
        # A folder that the authors' own build makes anew must not come from an old build.
        built = [Part(kind="build", name=one.name) for one in named if one.kind == "provide" and self._builds]
        for lent in (built, named, parts if len(named) < len(parts) else (), [*self._unseen(base, text)]):
            if lent and experiment.helps(lent):
                # A check that is better without anything, too, is only unsteady.
                return None if experiment.helps(()) else self._told(shown, experiment.least(lent))
        return None

    def lending(self, parts: Sequence[Part]) -> RunInput:
        """Return the settings with which checkouts have these parts as well."""
        space = self.run_input.workspace
        return replace(
            self.run_input,
            workspace=replace(
                space,
                copy=(*space.copy, *(file for one in parts for file in one.files)),
                provide=(*space.provide, *_names(parts, "provide")),
                env=(*space.env, *_names(parts, "env")),
            ),
        )

    @cached_property
    def _files(self) -> list[Part]:
        """What the user's tree has and no commit."""
        root, space = Path(self.run_input.repo_path), self.run_input.workspace
        ignored, new = not_committed(root)
        # After a set-up, a checkout has the folders that it made, and none of the user's.
        lent: Kind = "copy" if space.setup else "provide"
        found = [_part(root, name, lent) for name in ignored if _may_matter(name, space)]
        found += [_part(root, name, "commit") for name in new if _may_matter(name, space)]
        return sorted((one for one in found if one), key=lambda one: (one.kind == "build", one.name.count("/")))

    def _variables(self, base: str) -> Iterator[Part]:
        """Yield the variables that a check does not see and that a toolchain reads or the repository names; never a secret.

        Where checks have the network, a variable could lead them to something that must not be touched.
        """
        seen = environment.for_checks(self.source, self.run_input.workspace.env)
        could = environment.for_checks(self.source, self.source)
        names = [name for name in could if name not in seen and not _NO_VARIABLE.fullmatch(name)]
        others = [name for name in names if name not in _STEERING] if self.fence != "none" else []
        mentioned = self.workspace.mentioned(base, others)
        yield from (Part(kind="env", name=name) for name in names if name in _STEERING or name in mentioned)

    def _unbuilt(self, text: str) -> Iterator[Part]:
        """Yield the build output that a check speaks of and the user's tree has not either."""
        there = {one.name for one in self._files}
        words = set(_WORD.findall(text)) if self._builds else set()
        yield from (Part(kind="build", name=name) for name in sorted(BUILT & words - there))

    def _unseen(self, base: str, text: str) -> Iterator[Part]:
        """Yield the folders with modules that the repository has and Python does not find, as where it is not installed."""
        files, wanted = self.workspace.files(base), set(_NO_MODULE.findall(text))
        ends = tuple(f"/{name}{end}" for name in wanted for end in (".py", "/__init__.py"))
        found = (path[: -len(end)] for path in files for end in ends if path.endswith(end))
        yield from (Part(kind="path", name=name) for name in sorted(set(found), key=len)[:3])

    def command(self, check: str, parts: Sequence[Part]) -> str:
        """Return a check with what these parts change of its line."""
        check = self.building(check) if _names(parts, "build") else check
        if not (paths := _names(parts, "path")):
            return check
        prefix = found[0] if (found := _FOLDER.match(check)) else ""
        above = prefix.removeprefix("cd ").removesuffix(" && ")
        places = ":".join(os.path.relpath(one, above or ".") for one in paths)
        return f"{prefix}PYTHONPATH={places} {check.removeprefix(prefix)}"

    def building(self, command: str) -> str:
        """Return a check that builds the repository first, as its authors do; the check itself if nothing is known of it."""
        folder = _FOLDER.match(command)
        prefix = folder[0] if folder else ""
        build = next((one for one in self._builds if one.startswith(prefix) and (prefix or not _FOLDER.match(one))), "")
        return f"{build} && {command.removeprefix(prefix)}" if build else command

    def _submodules(self, base: str) -> Iterator[Part]:
        """Yield the submodules that are empty in a checkout, with the files that they have in the user's tree."""
        if any("submodule" in command for command in self.run_input.workspace.setup):
            return
        root = Path(self.run_input.repo_path)
        for name in self.workspace.not_in_checkouts(base)[0]:
            yield Part(kind="submodule", name=name, files=_below(root, name))

    def _pointers(self, base: str, shown: Shown) -> Lack | None:
        """Return the submodules, or the files of LFS, that nothing can be lent for here and that the output names."""
        if "passed" in (shown.tests or {}).values() or found_no_test(shown):
            return None
        text = f"{shown.command}\n{shown.output}"
        submodules = [one for one in self._submodules(base) if not one.files and _is_named(one, text)]
        if submodules:
            return self._told(shown, submodules)
        pointers = self.workspace.not_in_checkouts(base)[1]
        named = [path for path in pointers if PurePosixPath(path).name in text or "git-lfs.github.com" in text]
        if not named:
            return None
        message = f"the check `{shown.command}` fails: of {named[0]} only the pointer of Git LFS is here"
        return Lack(message=message, hint="Fetch the files: `git lfs pull`.")

    def _told(self, shown: Shown, parts: Sequence[Part]) -> Lack:
        """Return the message about what a check lacks, with the line that helps."""
        lacked = " and ".join(_PHRASES[one.kind].format(one.name) for one in parts[:3])
        message = f"the check `{shown.command}` fails in a clean checkout, because it lacks {lacked}"
        added = {"copy": _names(parts, "copy"), "provide": _names(parts, "provide"), "env": _names(parts, "env")}
        old, hints, check = self.run_input.workspace, [], self.command(shown.command, parts)
        lines = [f"{key} = {_listed((*getattr(old, key), *names))}" for key, names in added.items() if names]
        setup = _SUBMODULES if _names(parts, "submodule") else ""
        if setup:
            lines.append(f"setup = {_listed((*old.setup, setup))}")
        if lines:
            hints.append(f"Write under [workspace] in santiago.toml: {'; '.join(lines)}.")
        if added["copy"] or added["provide"]:
            hints.append("If the work may change what it is made from, have setup make it instead.")
        if new := _names(parts, "commit"):
            hints.append(f"Commit it: `git add {' '.join(new)} && git commit`.")
        if built := _names(parts, "build"):
            how = f"with the check `{check}`" if check != shown.command else "by setup under [workspace]"
            hints.append(
                f"Have {built[0]} built in the checkout, {how}. An old copy of it would hide what the work breaks."
            )
        if _names(parts, "path"):
            synced = synced_by(shown.command, self.workspace.files(self.workspace.repository.found.head))
            setup, check = synced or setup, shown.command if synced else check
            line = f"setup = {_listed((*old.setup, synced))} under [workspace]" if synced else f"`{check}` as the check"
            hints.append(f"Install the project in checkouts, or say where its modules are: {line} in santiago.toml.")
        can_be_tried = not new and not (built and check == shown.command)
        proposal = Proposal(check=check, setup=setup, **added) if can_be_tried else None
        return Lack(message=message, hint=" ".join(hints), proposal=proposal)

    @cached_property
    def _builds(self) -> list[str]:
        """The commands of the repository's authors that build it, or a part of it."""
        from santiago.app.candidates import scripts

        found = [one for one in scripts(Path(self.run_input.repo_path)) if one.kind == "build"]
        return [one.command for one in found if one.because.startswith("the ")]  # not cargo and go, which build to test


class _Experiment:
    """One check, run in checkouts that are lent parts of the user's surroundings."""

    def __init__(self, of: Environment, base: str, shown: Shown, stop: Stop) -> None:
        self._of, self._base, self._before, self._stop = of, base, shown, stop
        self._known: dict[tuple[Part, ...], int] = {}

    def helps(self, parts: Sequence[Part]) -> bool:
        """Run the check with these parts; tell whether it is better than before."""
        return self._passing(parts) > len(self._before.passing)

    def _passing(self, parts: Sequence[Part]) -> int:
        """Return how many tests pass with these parts; more than any number if the check does."""
        key = tuple(parts)
        if key not in self._known:
            may_run = len(self._known) < _MOST_RUNS and not self._stop.soon()
            self._known[key] = self._run(parts) if may_run else 0
        return self._known[key]

    def _run(self, parts: Sequence[Part]) -> int:
        before = self._before
        command = self._of.command(before.command, parts)
        if self._of.building(before.command) != before.command:
            parts = [one for one in parts if one.kind != "build"]  # old output would show nothing
        trial = Trial(
            name="environment", commit=self._base, commands=[command], as_base=True,
            patience_ms=max(_LEAST_MS, int(before.result.seconds) * _TIMES),
        )  # fmt: skip
        try:
            judge = self._of.judge_with(self._of.lending(parts))
            after = judge.trials.results(trial, self._stop)[command]
        except (SantiagoError, SetUpFailedError):
            return 0
        return sys.maxsize if after.is_green else len(after.passing)

    def least(self, parts: Sequence[Part]) -> list[Part]:
        """Return as few of the parts as help as much: halves are left out first, then single ones."""
        kept, size, wanted = list(parts), max(1, len(parts) // 2), self._passing(parts)
        while len(kept) > 1:
            for start in range(0, len(kept), size):
                fewer = kept[:start] + kept[start + size :]
                if fewer and self._passing(fewer) >= wanted:
                    kept, size = fewer, min(size, max(1, len(fewer) // 2))
                    break
            else:
                if size == 1:
                    break
                size = max(1, size // 2)
        return kept


_PHRASES: dict[Kind, str] = {
    "copy": "{}, which git ignores",
    "provide": "{}, a folder that git ignores",
    "commit": "{}, which is not committed",
    "build": "{}, build output that git ignores",
    "path": "the modules in {}, which Python does not find there",
    "submodule": "{}, a submodule",
    "env": "the variable {} of your shell",
}


def _part(root: Path, name: str, kind: Kind) -> Part | None:
    """Return what is lent for a path, a folder in this way; None if it is too large."""
    bare = name.rstrip("/")
    if kind != "commit" and name.endswith("/") and PurePosixPath(bare).name in BUILT:
        kind = "build"
    if kind == "provide" and name.endswith("/"):
        return Part(kind=kind, name=bare)
    files = _below(root, bare) if name.endswith("/") else _small(root, [bare])
    return Part(kind="copy" if kind == "provide" else kind, name=bare, files=files) if files else None


def _may_matter(name: str, space: Workspace) -> bool:
    """Tell whether a path may be something that a check needs: no cache, and nothing that a checkout has already."""
    parts = PurePosixPath(name).parts
    had = {*space.provide, *space.copy}
    return not any(part in _NO_PART or part in had or is_cache(part) for part in parts) and name.rstrip("/") not in had


def _below(root: Path, name: str) -> tuple[str, ...]:
    """Return the files of a folder, unless these are too many; links are not followed."""
    found: list[str] = []
    for folder, inner, names in os.walk(root / name):
        inner[:] = [one for one in inner if one not in (".git", "node_modules") and not is_cache(one)]
        found += [os.path.relpath(os.path.join(folder, one), root) for one in names if one != ".git"]  # noqa: PTH118
        if len(found) > _MOST_FILES:
            return ()
    return _small(root, found)


def _small(root: Path, names: Sequence[str]) -> tuple[str, ...]:
    paths = ((name, root / name) for name in names)
    return tuple(name for name, path in paths if path.is_file() and path.stat().st_size <= _LARGEST)


def _names(parts: Sequence[Part], kind: Kind) -> tuple[str, ...]:
    return tuple(one.name for one in parts if one.kind == kind)


def _is_named(part: Part, text: str) -> bool:
    """Tell whether a check's command or output speaks of a part: its path, its name, or its name as a module."""
    name = PurePosixPath(part.name).name
    stem = name.partition(".")[0] if not name.startswith(".") else name
    return name in text or (len(stem) > 2 and stem in _WORD.findall(text))


def _is_service(address: str) -> bool:
    """Tell whether something outside the checkout serves an address of this machine, or usually does."""
    port = int(address.rpartition(":")[2])
    with socket.socket() as one:
        one.settimeout(1)
        return port in _SERVICES or one.connect_ex(("127.0.0.1", port)) == 0


def _listed(values: Sequence[str]) -> str:
    return json.dumps(list(dict.fromkeys(values)), ensure_ascii=False)


_ENVIRONMENTS = (".venv", "venv")
_FIRST = pattern(r"\S+")
_STARTS_PYTHON = pattern(r"(?:(?:uv|poetry|pdm|pipenv|hatch) run (?:--?[\w-]+ )*)?(?:python[\d.]*(?= )|(?=pytest\b))")
_STARTS_NODE = frozenset({"npm", "npx", "pnpm", "yarn", "bun"})
_OTHER_NAMES = {"xdist": "pytest-xdist"}
_SYNCED_BY = {
    "uv": "uv sync --all-extras",
    "poetry": "POETRY_VIRTUALENVS_IN_PROJECT=1 poetry install",
    "pdm": "pdm install",
    "pipenv": "PIPENV_VENV_IN_PROJECT=1 pipenv sync --dev",
}
"""Programs that run a check in an environment, and what installs that environment."""
_OFFLINE = {"tox": ("tox --notest", "tox --skip-pkg-install"), "nox": ("nox --install-only", "nox -R")}
"""Programs that install before they test: what only installs, and what installs nothing."""
_FETCHED_BY = {
    "go": "go mod download",
    "cargo": "cargo fetch",
    "mvn": "mvn dependency:go-offline",
    "mvnw": "./mvnw dependency:go-offline",
}
"""Programs whose checks see what was fetched into the user's home folder."""
_FETCH = "Set-up has the network: have setup under [workspace] in santiago.toml fetch what the check needs, and a check that needs nothing more."
_SERVE = "Start it in the check itself, or name a check that needs none; `--sandbox off` lets checks reach it."
_INSTALL = "Install it, or name another check: `--verify CMD`, or story_commands under [verification] in santiago.toml."


def remedy(
    found: Missing, files: Collection[str], read: Read, has_folder: Callable[[str], bool]
) -> tuple[str, Proposal | None]:
    """Return what a person can do, and a proposal that can be tried if the repository tells enough for one."""
    cd = _FOLDER.match(found.command)
    prefix, folder = (cd[0], f"{cd[1].rstrip('/')}/") if cd else ("", "")
    command = found.command.removeprefix(prefix)
    written = _program(command)
    if found.kind == "variable":
        return _set(found), None
    if found.kind == "service":
        return _SERVE, None
    if (
        found.kind in ("Python", "network", "program")
        and found.name != written
        and (install := synced_by(found.command, files))
    ):
        return _set_up(Proposal(check=found.command, setup=install), found.command)
    if found.kind in ("network", "packages", "build"):
        return _fetching(found, prefix, written, files, folder)
    if found.kind == "Python" or (found.kind == "program" and found.name in PYTHON_TOOLS):
        install = _installed(found, folder, files, read)
        own = next((name for name in _ENVIRONMENTS if has_folder(f"{folder}{name}")), "")
        check = prefix + _with_environment(command, own or ".venv")
        if not own:
            return _set_up(Proposal(check=check, setup=f"{prefix}{ENVIRONMENT} {install}"), found.command)
        if f"{own}/bin" in command:
            return f"Install it there: `{prefix}{own}/bin/python -m pip install {install}`.", None
        return f"The repository has a `{own}`: use it in the check, as in `{check}`.", Proposal(check=check)
    is_tool = found.kind == "program" and written in _STARTS_NODE and found.name not in ("", written)
    if found.kind == "Node" or is_tool:
        return _set_up(
            Proposal(check=found.command, setup=prefix + _node_install(files, folder, written)), found.command
        )
    return _INSTALL, None


def synced_by(command: str, files: Collection[str]) -> str:
    """Return the command that installs the environment in which a check is run; empty if none is known."""
    cd = _FOLDER.match(command)
    prefix, folder = (cd[0], f"{cd[1].rstrip('/')}/") if cd else ("", "")
    install = _SYNCED_BY.get(_program(command.removeprefix(prefix)), "")
    has_project = not {f"{folder}pyproject.toml", f"{folder}Pipfile"}.isdisjoint(files)
    return prefix + install if install and has_project else ""


def _program(command: str) -> str:
    return next((word for word in _FIRST.findall(command) if "=" not in word), "").rpartition("/")[2]


def _fetching(
    found: Missing, prefix: str, program: str, files: Collection[str], folder: str
) -> tuple[str, Proposal | None]:
    """Return what helps a check that wants to fetch something."""
    if program in _STARTS_NODE:
        return _set_up(
            Proposal(check=found.command, setup=prefix + _node_install(files, folder, program)), found.command
        )
    if program in _OFFLINE:
        install, without = _OFFLINE[program]
        check = found.command.replace(program, without, 1)
        return _set_up(Proposal(check=check, setup=prefix + install), found.command)
    if program in _FETCHED_BY:
        return (
            f"Fetch it here once, where checks find it: `{prefix}{_FETCHED_BY[program]}`.",
            None,
        )
    return _FETCH, None


def _node_install(files: Collection[str], folder: str, program: str) -> str:
    """Return what installs the packages, by the lock file; without one, by the program that runs the check."""
    install = node_install(files, folder)
    return f"{program} install" if install == "npm install" and program in ("yarn", "pnpm", "bun") else install


def _set(found: Missing) -> str:
    if is_secret(found.name):
        return f"Checks are never given secrets. Set a value for tests in the check: `{found.name}=… {found.command}`."
    named = f"env = [{json.dumps(found.name)}] under [workspace] in santiago.toml"
    return f"If your shell has it, write {named}; otherwise set it in the check: `{found.name}=… {found.command}`."


def _set_up(proposal: Proposal, command: str) -> tuple[str, Proposal]:
    words = f"Let set-up install it: setup = [{json.dumps(proposal.setup)}] under [workspace] in santiago.toml"
    return words + (f", with `{proposal.check}` as the check." if proposal.check != command else "."), proposal


def _with_environment(command: str, environment: str) -> str:
    """Return a check that uses the python of an environment and the programs in it."""
    if f"{environment}/bin" in command:
        return command
    python = _STARTS_PYTHON.match(command)
    if python is None:
        return f'PATH="$PWD/{environment}/bin:$PATH" {command}'
    module = " -m " if command[python.end() :].startswith("pytest") else ""
    return f"{environment}/bin/python{module}{command[python.end() :]}"


def _installed(found: Missing, folder: str, files: Collection[str], read: Read) -> str:
    """Return what pip has to install so that a check can run, as arguments of a command line."""
    below = [path[len(folder) :] for path in files if path.startswith(folder)]
    tools = [found.name] if found.name in PYTHON_TOOLS else []
    tools += ["pytest"] if "unittest" not in found.command else []
    names = [_OTHER_NAMES.get(tool, tool.replace("_", "-")) for tool in dict.fromkeys(tools)]
    return shlex.join([*python_install(below, read(f"{folder}pyproject.toml")), *names])
