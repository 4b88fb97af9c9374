"""What helps a check that cannot run here: the set-up that its repository tells of, in words and as something to try."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from typing import TYPE_CHECKING, Any

from santiago.contract.ports.judge import Proposal
from santiago.judge.missing import PYTHON_TOOLS
from santiago.judge.shell import programs

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from santiago.judge.missing import Missing

    Read = Callable[[str], bytes | None]

ENVIRONMENT = "python3 -m venv .venv && .venv/bin/pip install -q"
_ENVIRONMENTS = (".venv", "venv")
_FOLDER = re.compile(r"cd ([\w.@/-]+) && ")
_STARTS_PYTHON = re.compile(
    r"(?:(?:uv|poetry|pdm|pipenv|hatch) run (?:--?[\w-]+ )*)?(?:python[\d.]*(?= )|(?=pytest\b))"
)
_STARTS_NODE = frozenset({"npm", "npx", "pnpm", "yarn", "bun"})
_FOR_TESTS = ("test", "tests", "testing", "dev")
"""How projects name what their tests need, among extras and groups."""
_REQUIREMENTS = re.compile(
    r"requirements(?:[-_]?(?:dev|tests?))?\.txt|(?:dev|tests?)[-_]requirements\.txt|requirements/(?:dev|tests?)\.txt"
)
_OTHER_NAMES = {"xdist": "pytest-xdist"}
_MOST_NAMED = 40
_LOCKS = (
    ("pnpm-lock.yaml", "pnpm install --frozen-lockfile"),
    ("yarn.lock", "yarn install --frozen-lockfile"),
    ("bun.lock", "bun install --frozen-lockfile"),
    ("bun.lockb", "bun install --frozen-lockfile"),
    ("package-lock.json", "npm ci"),
    ("npm-shrinkwrap.json", "npm ci"),
)


def remedy(
    found: Missing, files: Collection[str], read: Read, has_folder: Callable[[str], bool]
) -> tuple[str, Proposal | None]:
    """Return what a person can do, and where the repository tells enough also what can be tried."""
    match = _FOLDER.match(found.command)
    prefix, folder = (match[0], f"{match[1].rstrip('/')}/") if match else ("", "")
    if found.kind == "Python" or (found.kind == "program" and found.name in PYTHON_TOOLS):
        own = next((name for name in _ENVIRONMENTS if has_folder(f"{folder}{name}")), "")
        if own:
            return _in_environment(found, prefix, own, _installed(found, folder, files, read))
        setup = f"{prefix}{ENVIRONMENT} {_installed(found, folder, files, read)}"
        return _set_up(Proposal(check=_with_environment(found.command, ".venv"), setup=setup), found.command)
    starter = next((one.written[0] for one in programs(found.command.removeprefix(prefix))), "")
    if found.kind == "Node" or (
        found.kind == "program" and starter in _STARTS_NODE and found.name not in ("", starter)
    ):
        return _set_up(Proposal(check=found.command, setup=prefix + node_install(files, folder)), found.command)
    if found.kind == "build":
        fetch = "Let set-up fetch it, with the network: a command such as `go mod download` or `cargo fetch` as setup under [workspace]."
        return fetch, None
    other = (
        "Install it, or name another check: `--verify CMD`, or story_commands under [verification] in santiago.toml."
    )
    return other, None


def _set_up(proposal: Proposal, command: str) -> tuple[str, Proposal]:
    words = f"Let set-up install it: setup = [{json.dumps(proposal.setup)}] under [workspace] in santiago.toml"
    return words + (f", with `{proposal.check}` as the check." if proposal.check != command else "."), proposal


def _in_environment(found: Missing, prefix: str, own: str, install: str) -> tuple[str, Proposal | None]:
    """A check that does not use the environment which is there should; in that one a person installs what is missing."""
    if f"{own}/bin" in found.command:
        return f"Install it there: `{prefix}{own}/bin/python -m pip install {install}`.", None
    check = _with_environment(found.command, own)
    return f"The repository has a `{own}`: use it in the check, as in `{check}`.", Proposal(check=check)


def _with_environment(command: str, environment: str) -> str:
    """Return a check that uses the python of an environment and the programs in it."""
    match = _FOLDER.match(command)
    prefix, rest = (match[0], command[match.end() :]) if match else ("", command)
    python = _STARTS_PYTHON.match(rest)
    if f"{environment}/bin" in rest:
        return command
    if python is None:
        return f'{prefix}PATH="$PWD/{environment}/bin:$PATH" {rest}'
    module = " -m " if rest[python.end() :].startswith("pytest") else ""
    return f"{prefix}{environment}/bin/python{module}{rest[python.end() :]}"


def _installed(found: Missing, folder: str, files: Collection[str], read: Read) -> str:
    """Return what pip has to install so that a check can run, as words of a command line."""
    below = [path[len(folder) :] for path in files if path.startswith(folder)]
    tools = [found.name] if found.name in PYTHON_TOOLS else []
    tools += ["pytest"] if "unittest" not in found.command else []
    names = [_OTHER_NAMES.get(tool, tool.replace("_", "-")) for tool in dict.fromkeys(tools)]
    return shlex.join([*python_install(below, read(f"{folder}pyproject.toml")), *names])


def python_install(files: Collection[str], project: bytes | None) -> list[str]:
    """Return what pip has to install of a project: itself, and what it names for its tests; nothing where there is nothing."""
    words = list(_project(_table(project), "setup.py" in files))
    for path in sorted(files):
        words += ["-r", path] if _REQUIREMENTS.fullmatch(path) else []
    return words


def _project(project: dict[str, Any], has_script: bool) -> Iterator[str]:
    """Yield the project itself with the extras for its tests, and what its groups for tests name."""
    extras = _dict(_dict(project.get("project")).get("optional-dependencies"))
    wanted = ",".join(name for name in _FOR_TESTS if name in extras)
    if has_script or "project" in project or "build-system" in project:
        yield from ("-e", f".[{wanted}]" if wanted else ".")
    groups = _dict(project.get("dependency-groups"))
    named = [one for name in _FOR_TESTS for one in groups.get(name, ()) if isinstance(one, str)]
    yield from dict.fromkeys(named[:_MOST_NAMED])


def _table(text: bytes | None) -> dict[str, Any]:
    try:
        return tomllib.loads((text or b"").decode("utf-8", "replace"))
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def node_install(files: Collection[str], folder: str = "") -> str:
    """Return the command that installs what a folder's package needs, by its lock file."""
    return next((command for lock, command in _LOCKS if f"{folder}{lock}" in files), "npm install")
