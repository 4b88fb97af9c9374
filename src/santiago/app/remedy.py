"""What lets a check run that cannot run here: a set-up, another check, or something that a person installs."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

from santiago.contract.patterns import pattern
from santiago.contract.ports.judge import Proposal
from santiago.judge.missing import PYTHON_TOOLS
from santiago.judge.shell import programs
from santiago.workspace.manifests import ENVIRONMENT, node_install, python_install

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from santiago.judge.missing import Missing, Read

_ENVIRONMENTS = (".venv", "venv")
_FOLDER = pattern(r"cd ([\w.@/-]+) && ")
_STARTS_PYTHON = pattern(r"(?:(?:uv|poetry|pdm|pipenv|hatch) run (?:--?[\w-]+ )*)?(?:python[\d.]*(?= )|(?=pytest\b))")
_STARTS_NODE = frozenset({"npm", "npx", "pnpm", "yarn", "bun"})
_OTHER_NAMES = {"xdist": "pytest-xdist"}
_FETCH = "Set-up has the network and can fetch it: add `go mod download` or `cargo fetch` as setup under [workspace] in santiago.toml."
_INSTALL = "Install it, or name another check: `--verify CMD`, or story_commands under [verification] in santiago.toml."


def remedy(
    found: Missing, files: Collection[str], read: Read, has_folder: Callable[[str], bool]
) -> tuple[str, Proposal | None]:
    """Return what a person can do, and a proposal that can be tried if the repository tells enough for one."""
    cd = _FOLDER.match(found.command)
    prefix, folder = (cd[0], f"{cd[1].rstrip('/')}/") if cd else ("", "")
    command = found.command.removeprefix(prefix)
    if found.kind == "Python" or (found.kind == "program" and found.name in PYTHON_TOOLS):
        install = _installed(found, folder, files, read)
        own = next((name for name in _ENVIRONMENTS if has_folder(f"{folder}{name}")), "")
        check = prefix + _with_environment(command, own or ".venv")
        if not own:
            return _set_up(Proposal(check=check, setup=f"{prefix}{ENVIRONMENT} {install}"), found.command)
        if f"{own}/bin" in command:
            return f"Install it there: `{prefix}{own}/bin/python -m pip install {install}`.", None
        return f"The repository has a `{own}`: use it in the check, as in `{check}`.", Proposal(check=check)
    starter = next((one.written[0] for one in programs(command)), "")
    is_tool = found.kind == "program" and starter in _STARTS_NODE and found.name not in ("", starter)
    if found.kind == "Node" or is_tool:
        return _set_up(Proposal(check=found.command, setup=prefix + node_install(files, folder)), found.command)
    return (_FETCH if found.kind == "build" else _INSTALL), None


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
