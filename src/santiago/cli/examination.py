"""The checks of `santiago doctor`, each with its remedy. None of them sends anything out."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from santiago import __version__
from santiago.cli.view.text import coloured, unicode
from santiago.contract.counting import count
from santiago.contract.errors import Kind, SantiagoError

if TYPE_CHECKING:
    from collections.abc import Callable

    from santiago.contract.policy import RunInput

FREE = 1 << 30
"""Bytes of free space below which checkouts may not fit."""
Level = Literal["ok", "warn", "fail", "skip"]


class Told(NamedTuple):
    """What one check found."""

    level: Level
    text: str
    fix: str = ""


def _root() -> Path | None:
    from santiago.artifacts.repository import find_root

    return find_root(Path.cwd())


class UnsettledError(Exception):
    """A check needs the settings, but these are wrong. Another check tells what is wrong."""


def own_settings() -> RunInput:
    """Return the settings of a run in this folder; raise if they are wrong."""
    from santiago.app.config import run_input_defaults

    try:
        return run_input_defaults(_root() or Path.cwd())
    except SantiagoError as error:
        raise UnsettledError from error


def _python() -> Told:
    # It cannot be too old, since the package does not install there.
    return Told("ok", f"{platform.python_version()}, santiago {__version__}, {platform.system()}")


def _git() -> Told:
    from santiago.workspace import inspect
    from santiago.workspace.git import call, environment

    version = inspect.version(Path.cwd())  # raises where it is too old
    named = [
        call(("config", f"user.{key}"), environment(home=True), Path.cwd(), accept=(0, 1)).text
        for key in ("name", "email")
    ]
    if not all(named):
        fix = 'git config --global user.name "…" && git config --global user.email "…"'
        return Told("warn", f"{version}, but user.name or user.email is not set; commits are made as `santiago`", fix)
    return Told("ok", f"{version}, commits as {named[0]} <{named[1]}>")


def _repository() -> Told:
    from santiago.board.bootstrap import network_of
    from santiago.workspace.inspect import find, is_dirty

    root = _root() or Path.cwd()
    found = find(root)  # raises where no run can work, with the remedy
    where = f"{root} on {found.branch or 'a detached head'} at {found.head[:8]}"
    if kind := network_of(root):
        fix = "Work in a clone on a disk of this machine; a board is refused here."
        return Told("warn", f"{where}, on a network file system ({kind}), whose locks cannot be trusted", fix)
    if is_dirty(root):
        fix = "Commit them if a run should see them: it works on the last commit."
        return Told("warn", f"{where}, with uncommitted changes", fix)
    return Told("ok", f"{where}, clean")


def _config() -> Told:
    from santiago.app.config import load, run_input_defaults
    from santiago.app.notice import Notice
    from santiago.app.start.trust import waiting

    root = _root() or Path.cwd()
    settings = load(root)
    run_input_defaults(root)
    origins: dict[str, int] = {}
    for setting in settings.values():
        if setting.origin != "default":
            origins[setting.origin] = origins.get(setting.origin, 0) + 1
    named = [f"{origin.replace(f'{root}/', '')} ({count(number, 'value')})" for origin, number in origins.items()]
    if (root / "santiago.toml").is_file() and "[tool.santiago]" in _text(root / "pyproject.toml"):
        return Told("warn", "santiago.toml is used; [tool.santiago] in pyproject.toml is not", "Remove one of the two.")
    if missing := Notice(root).missing:
        return Told("warn", missing, "Install it, or correct command under [notify].")
    if waits := waiting(root):
        return Told(
            "warn",
            waits.sentence,
            "Read them in santiago.toml (or pyproject.toml); a start asks about them, or --trust-project says yes.",
        )
    return Told("ok", " + ".join([*named, "defaults"]))


def _text(path: Path) -> str:
    from santiago.util import regular

    return (regular.content(path, 2**20) or b"").decode("utf-8", "replace")


def _agent() -> Told:
    agent = own_settings().agent
    root = _root() or Path.cwd()
    if agent.mode == "scripted":
        if agent.playbook and (root / agent.playbook).is_file():
            return Told("ok", f"scripted, plays {agent.playbook}")
        return Told(
            "fail",
            f"scripted, but there is no playbook {agent.playbook or ''}".rstrip(),
            "Name one in [agent] playbook.",
        )
    from santiago.agent.catalog import availability
    from santiago.app.start import agents

    named = bool(agent.profile or agent.command)
    try:
        profile = agents.profile_of(agent, os.environ)
    except SantiagoError as error:
        level: Level = "fail" if named or error.kind is Kind.USAGE else "warn"
        return Told(level, f"{error.where}: {error.message}" if error.where else error.message, error.hint)
    program = profile.start.argv[0]
    found = shutil.which(program)
    if found is None:
        fix = f"Install it: {profile.install}" if profile.install else f"Install {program}, or correct [agent] command."
        return Told("fail", f"{program} is not on PATH", fix)
    name = " ".join(agent.command) if agent.command else profile.name
    if availability(profile, os.environ).signed_in is False:
        return Told("warn", f"{name} is not signed in   {found}", profile.sign_in.command)
    model = f", model {agent.model_hint}" if agent.model_hint else ""
    return Told("ok", f"{name}{'' if named else ' (the first that is installed and signed in)'}{model}   {found}")


def _sandbox() -> Told:
    from santiago.process.sandbox import detect

    mode = own_settings().policy.sandbox
    if mode == "off":
        return Told(
            "warn", "turned off by policy.sandbox", 'Set sandbox = "auto" under [policy] to fence agents and checks in.'
        )
    found = detect(mode)
    if found.kind == "none":
        fix = "Install bubblewrap (Debian: apt-get install bubblewrap) and allow user namespaces, or use --sandbox off."
        return Told("warn", "none works here; a run with a real agent asks you first", fix)
    if found.kind == "landlock":
        fix = "Install bubblewrap for files that are hidden, and checks with a network of their own."
        return Told("warn", found.name, fix)
    return Told("ok", f"{found.name}, tried")


def _verification() -> Told:
    settings = own_settings()
    commands = (*settings.verification.story_commands, *settings.verification.run_commands)
    if not commands:
        return Told(
            "warn",
            "no check is set; a document must bring its own",
            '`santiago init` looks for this repository\'s test command; `santiago run PRD --verify "CMD"` names one.',
        )
    missing = [(program, command) for command in commands for program in _programs(command) if not _is_there(program)]
    if missing:
        program, command_line = missing[0]
        fix = f"Install {program}, or correct the command in santiago.toml; `santiago config show` says where it comes from."
        return Told("fail", f"`{program}` of `{command_line}` is not on PATH", fix)
    return Told("ok", "; ".join(commands))


def _programs(command: str) -> list[str]:
    from santiago.judge.commandline import programs

    return [program.written[0] for program in programs(command)]


def _is_there(program: str) -> bool:
    if "/" in program:
        return program.startswith("/") is False or Path(program).exists()
    return shutil.which(program) is not None or program in _BUILT_IN


_WORDS_BUILT_IN = (
    "cd test [ set export . source exec eval command exit return read umask ulimit if for while case { ( !"
)
_BUILT_IN = frozenset(_WORDS_BUILT_IN.split())


def _disk() -> Told:
    from santiago.app.start.scratch import scratch_of
    from santiago.report.measures import size

    place = scratch_of(_root() or Path.cwd())
    while not place.exists():
        place = place.parent
    if not os.access(place, os.W_OK):
        return Told("fail", f"{place} cannot be written", "Change its permissions, or set XDG_CACHE_HOME.")
    free = shutil.disk_usage(place).free
    if free < FREE:
        return Told(
            "warn",
            f"{size(free)} free at {place}",
            "Free space; every attempt gets a checkout of its own. `santiago clean` helps.",
        )
    return Told("ok", f"{size(free)} free for checkouts at {place}")


def _terminal() -> Told:
    from santiago.cli.view.ci import is_ci, service
    from santiago.cli.view.live import is_wanted

    encoding = (sys.stderr.encoding or "?").lower()
    if not sys.stderr.isatty():
        why = f"CI ({service() or 'unknown service'})" if is_ci() else "no terminal"
        return Told("ok", f"{why}: whole lines and a heartbeat, {encoding}")
    columns, rows = shutil.get_terminal_size()
    live = "on" if is_wanted(plain=False) else "off"
    colour = "colours" if coloured() else "no colours"
    told = f"{columns}x{rows}, {encoding}, {colour}, live view {live}"
    if not unicode():
        return Told("warn", told, "Use a UTF-8 locale; titles in other scripts are shown as codes.")
    return Told("ok", told)


CHECKS: dict[str, Callable[[], Told]] = {
    "python": _python,
    "git": _git,
    "repository": _repository,
    "config": _config,
    "agent": _agent,
    "sandbox": _sandbox,
    "verification": _verification,
    "disk": _disk,
    "terminal": _terminal,
}
