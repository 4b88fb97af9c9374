"""What lets a check run that cannot run here: a set-up, another check, or something that a person installs."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

from santiago.contract.patterns import pattern
from santiago.contract.ports.judge import Proposal
from santiago.judge.missing import PYTHON_TOOLS
from santiago.process.redact import is_secret
from santiago.workspace.manifests import ENVIRONMENT, node_install, python_install

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from santiago.judge.missing import Missing, Read

_ENVIRONMENTS = (".venv", "venv")
_FIRST = pattern(r"\S+")
_FOLDER = pattern(r"cd ([\w.@/-]+) && ")
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
            f"Fetch it here once, where checks find it: `{prefix}{_FETCHED_BY[program]}`; then `santiago resume`.",
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
