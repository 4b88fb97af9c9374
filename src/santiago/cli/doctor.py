"""`santiago doctor`: is this machine and this repository ready for a run? Each check with its remedy.

Nothing is sent out unless the agents are asked to answer.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from santiago.agent.profile import EXAMPLE
from santiago.app.trying import bench
from santiago.cli.agent_checks import Checkup
from santiago.cli.examination import CHECKS, Told, UnsettledError, own_settings
from santiago.cli.view.text import paint, say, unicode
from santiago.contract.errors import SantiagoError
from santiago.contract.plan import CONTRACT_VERSION
from santiago.contract.policy import RunInput
from santiago.contract.reasons import ExitCode
from santiago.process.sandbox import detect
from santiago.process.server import ProcessServer
from santiago.report.measures import span
from santiago.util.text import harmless

if TYPE_CHECKING:
    from collections.abc import Callable

    from santiago.app.trying import Tried
    from santiago.cli.agent_checks import AgentsTold
    from santiago.cli.examination import Level
    from santiago.process.sandbox import Sandbox
    from santiago.report.page import Tone

SECONDS = 4.5
"""Seconds for all checks together. A check that takes longer is given up and reported."""
_SIGNS: dict[str, tuple[str, str, Tone]] = {
    "ok": ("✓", "*", "good"),
    "warn": ("!", "!", "warn"),
    "fail": ("✗", "x", "bad"),
    "skip": ("-", "-", ""),
}


@click.command("doctor")
@click.option(
    "--online", is_flag=True, help="Have each agent answer one word, in the sandbox; costs a few tokens each."
)
@click.option(
    "--checks", "run_checks", is_flag=True, help="Run the checks that are set, on the last commit as a run would."
)
@click.option("--trust-project", is_flag=True, help="Trust the settings that come with the repository, as they are.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(online: bool, run_checks: bool, trust_project: bool, as_json: bool) -> int:
    """Check python, git, repository, settings, agent, sandbox, checks, disk, terminal, and which agents are here.

    Exit 2 if something would stop a run.
    """
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
    from santiago.cli.start.trust import approve

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
    mode = settings.policy.sandbox
    try:
        box = detect(mode, source)
    except SantiagoError as error:
        return None, error.message
    return (None, "no sandbox works here") if box.kind == "none" and mode != "off" else (box, "")


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
    click.echo(json.dumps(data, indent=2, ensure_ascii=False))


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
