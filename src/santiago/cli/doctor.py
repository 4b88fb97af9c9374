"""`santiago doctor`: is this machine and this repository ready for a run? Each check with its remedy.

Nothing is sent out unless the agents are asked to answer.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from santiago import __version__
from santiago.agent.catalog import availability
from santiago.agent.profile import EXAMPLE
from santiago.app.candidates import text_of
from santiago.app.config import load, run_input_defaults
from santiago.app.notice import Notice
from santiago.app.paths import scratch_of
from santiago.app.start import agents
from santiago.app.start.risky_settings import waiting
from santiago.app.trying import bench
from santiago.artifacts.run_locations import find_root
from santiago.cli.agent_checks import Checkup
from santiago.cli.consent import approve
from santiago.cli.view.ci import is_ci, service
from santiago.cli.view.live import is_wanted
from santiago.cli.view.terminal import coloured, paint, say, show_data, unicode
from santiago.contract.counting import count
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.plan import CONTRACT_VERSION
from santiago.contract.policy import RunInput
from santiago.contract.reasons import ExitCode
from santiago.judge.commandline import programs
from santiago.process.sandbox import Sandbox, detect
from santiago.process.server import ProcessServer
from santiago.report.measures import of_checks, size, span
from santiago.util.mounts import network_of
from santiago.util.text import harmless
from santiago.workspace import inspect
from santiago.workspace.git import call, environment
from santiago.workspace.inspect import find, is_dirty

if TYPE_CHECKING:
    from collections.abc import Callable

    from santiago.app.trying import Tried
    from santiago.cli.agent_checks import AgentsTold
    from santiago.report.page import Tone

SECONDS = 4.5
"""Seconds for all checks together. A check that takes longer is given up and reported."""
_SIGNS: dict[str, tuple[str, str, Tone]] = {
    "ok": ("✓", "*", "good"),
    "warn": ("!", "!", "warn"),
    "fail": ("✗", "x", "bad"),
    "skip": ("-", "-", ""),
}


def doctor(online: bool, run_checks: bool, trust_project: bool, as_json: bool) -> int:
    """Print what each check found; exit 2 if something would stop a run."""
    if online or run_checks or trust_project:
        _approve(asked=not as_json and sys.stdin.isatty(), trusted=trust_project)
    if online and not as_json:
        say("asking each agent for one word; that costs a few tokens …", err=True)
    # Its processes are forked before there are threads.
    server = ProcessServer()
    try:
        found = examine()
        told = look_at_agents(server, online=online)
        checks = try_checks(server, quiet=as_json) if run_checks else None
    finally:
        server.close()
    failed = "fail" in levels_of(found, told, checks)
    if as_json:
        _print_data(found, told, checks, failed=failed)
    else:
        _show(found, told, checks, failed=failed)
    return ExitCode.USAGE if failed else ExitCode.OK


def _approve(*, asked: bool, trusted: bool) -> None:
    """Have a person approve the repository's own settings. Invalid settings are reported by another check."""
    with suppress(UnsettledError):
        approve(Path(own_settings().repo_path), asked=asked, trusted=trusted)


def look_at_agents(server: ProcessServer, *, online: bool) -> AgentsTold:
    """Return the installed agents. Invalid settings are reported by another check."""
    try:
        settings = own_settings()
    except UnsettledError:
        settings = RunInput(contract_version=CONTRACT_VERSION, repo_path=".", prd_path="-")
    source = dict(os.environ)
    box, why_not = _fence(settings, source) if online else (None, "")
    found = Checkup(server=server, settings=settings, source=source).look(box)
    found.not_asked = why_not
    return found


def _fence(settings: RunInput, source: dict[str, str]) -> tuple[Sandbox | None, str]:
    """Return the sandbox in which agents may be asked, or why none is. No sandbox is used only if the settings say so."""
    if settings.policy.sandbox == "off":
        return Sandbox(), ""
    box = detect("auto", source)
    return (None, "no sandbox works here") if box.kind == "none" else (box, "")


class Checks(NamedTuple):
    """The results of the configured checks."""

    tried: list[Tried]
    not_tried: str = ""
    """Why none was run."""

    def level(self, one: Tried) -> Level:
        if one.state == "blind":  # a run needs a check that notices broken code
            return "warn" if any(other.is_usable for other in self.tried) else "fail"
        return _LEVELS[one.state]


_LEVELS: dict[str, Level] = {"runs": "ok", "red": "warn", "cannot_run": "fail"}


def try_checks(server: ProcessServer, *, quiet: bool) -> Checks:
    """Run the configured checks on the last commit, one after the other."""
    try:
        settings = own_settings()
        commands = dict.fromkeys((*settings.verification.story_commands, *settings.verification.run_commands))
        if not commands:
            return Checks([], "no check is set")
        tried = []
        with bench(settings, server) as place:
            for line in commands:
                if not quiet:
                    say(f"running {harmless(line)} {place.place} …", err=True)
                tried.append(place.tried(line, settings.workspace.setup))
    except UnsettledError:
        return Checks([], "not run because the settings are wrong")
    except SantiagoError as error:  # another row says what to do about it
        return Checks([], f"not run: {error.message}")
    return Checks(tried)


def levels_of(found: dict[str, Told], agents: AgentsTold, checks: Checks | None) -> list[str]:
    """Return the levels of all rows that are shown."""
    shown = [*(told.level for told in found.values()), *(one.level for one in agents.installed)]
    shown += [checks.level(one) for one in checks.tried] if checks else []
    return [*shown, *("warn" for _ in agents.broken)]


def _print_data(found: dict[str, Told], agents: AgentsTold, checks: Checks | None, *, failed: bool) -> None:
    data = {
        "contract_version": 1,
        "ok": not failed,
        "checks": [{"check": name, **told._asdict()} for name, told in found.items()],
        "tried": [{"level": checks.level(one), **one.to_data()} for one in checks.tried] if checks else None,
        "not_tried": checks.not_tried or None if checks else None,
        "agents": [one.to_data() for one in agents.installed],
        "agents_missing": agents.missing,
        "agents_broken": agents.broken,
        "agents_not_asked": agents.not_asked or None,
    }
    show_data(data)


def examine() -> dict[str, Told]:
    """Run all checks in parallel, within the time limit."""
    found: dict[str, Told] = {}
    threads = [
        (name, threading.Thread(target=_one, args=(name, check, found), daemon=True)) for name, check in CHECKS.items()
    ]
    for _, thread in threads:
        thread.start()
    deadline = time.monotonic() + SECONDS
    for _, thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    late = Told("warn", f"took longer than {SECONDS} s and was given up", "Run it again when the machine is less busy.")
    return {name: found.get(name, late) for name in CHECKS}


def _one(name: str, check: Callable[[], Told], found: dict[str, Told]) -> None:
    try:
        found[name] = check()
    except UnsettledError:
        found[name] = Told("skip", "not checked because the settings are wrong")
    except SantiagoError as error:
        where = f"{error.where}: " if error.where else ""
        found[name] = Told("fail", f"{where}{error.message}", error.hint)
    except Exception as error:  # one check that breaks must not hide the others
        found[name] = Told("warn", f"could not be checked: {type(error).__name__}: {error}")


def _show(found: dict[str, Told], agents: AgentsTold, checks: Checks | None, *, failed: bool) -> None:
    for name, told in found.items():
        _row(told.level, name, told.text, told.fix)
    if checks is not None:
        _show_checks(checks)
    say()
    say("agents" if agents.installed else "agents: none of those that santiago knows is installed")
    for one in agents.installed:
        _row(one.level, one.name, one.text(), one.fix, one.answer())
    for text in agents.broken:
        _row("warn", "profile", text, f"Correct the file; {EXAMPLE} is a whole profile.")
    if agents.not_asked:
        _row("skip", "not asked", agents.not_asked, "")
    if agents.missing:
        _row("skip", "not here", ", ".join(agents.missing), "")
    say()
    levels = levels_of(found, agents, checks)
    numbers = {level: levels.count(level) for level in _SIGNS}
    words = {"ok": "ok", "warn": "warnings", "fail": "failures", "skip": "skipped"}
    singular = {"warn": "warning", "fail": "failure"}
    told_all = [
        f"{n} {singular.get(level, words[level]) if n == 1 else words[level]}" for level, n in numbers.items() if n
    ]
    say(", ".join(told_all) + f"{'':10}exit {2 if failed else 0}")


def _show_checks(checks: Checks) -> None:
    say()
    say("checks, on the last commit")
    for one in checks.tried:
        _row(checks.level(one), one.state.replace("_", " "), f"`{one.command}` {one.text}   {span(one.ms)}", one.fix)
    if usable := [one.once_ms for one in checks.tried if one.is_usable]:
        say(f"takes {of_checks(sum(usable))}")
    if checks.not_tried:
        _row("skip", "not tried", checks.not_tried, "")


def _row(level: str, name: str, text: str, fix: str, more: str = "") -> None:
    sign, plain, tone = _SIGNS[level]
    head = f"{sign if unicode(stderr=False) else plain} {level:4}"
    say(f"{paint(head, tone, stderr=False)}  {name:12}  {harmless(text)}")
    if more:
        say(f"{'':22}{harmless(more)}")
    if fix:
        say(f"{'':22}fix: {harmless(fix)}")


FREE = 1 << 30
"""Bytes of free space below which checkouts may not fit."""
Level = Literal["ok", "warn", "fail", "skip"]


class Told(NamedTuple):
    """What one check found."""

    level: Level
    text: str
    fix: str = ""


def _root() -> Path | None:
    return find_root(Path.cwd())


class UnsettledError(Exception):
    """A check needs the settings, but these are wrong. Another check tells what is wrong."""


def own_settings() -> RunInput:
    """Return the settings of a run in this folder; raise if they are wrong."""
    try:
        return run_input_defaults(_root() or Path.cwd())
    except SantiagoError as error:
        raise UnsettledError from error


def _python() -> Told:
    # It cannot be too old, since the package does not install there.
    return Told("ok", f"{platform.python_version()}, santiago {__version__}, {platform.system()}")


def _git() -> Told:
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
    root = _root() or Path.cwd()
    settings = load(root)
    run_input_defaults(root)
    origins: dict[str, int] = {}
    for setting in settings.values():
        if setting.origin != "default":
            origins[setting.origin] = origins.get(setting.origin, 0) + 1
    named = [f"{origin.replace(f'{root}/', '')} ({count(number, 'value')})" for origin, number in origins.items()]
    if (root / "santiago.toml").is_file() and "[tool.santiago]" in text_of(root / "pyproject.toml"):
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
    missing = [
        (one.written[0], command) for command in commands for one in programs(command) if not _is_there(one.written[0])
    ]
    if missing:
        program, command_line = missing[0]
        fix = f"Install {program}, or correct the command in santiago.toml; `santiago config show` says where it comes from."
        return Told("fail", f"`{program}` of `{command_line}` is not on PATH", fix)
    return Told("ok", "; ".join(commands))


def _is_there(program: str) -> bool:
    if "/" in program:
        return program.startswith("/") is False or Path(program).exists()
    return shutil.which(program) is not None or program in _BUILT_IN


_WORDS_BUILT_IN = (
    "cd test [ set export . source exec eval command exit return read umask ulimit if for while case { ( !"
)
_BUILT_IN = frozenset(_WORDS_BUILT_IN.split())


def _disk() -> Told:
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
