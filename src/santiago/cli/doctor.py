"""`santiago doctor`: is this machine and this repository ready for a run? Each check with its remedy, nothing sent out."""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING

import click

from santiago.cli.examination import CHECKS, Told
from santiago.cli.text import harmless, paint, say
from santiago.cli.waiting import unicode
from santiago.contract.errors import SantiagoError
from santiago.contract.reasons import ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable

SECONDS = 4.5
"""For all checks together; one that takes longer is left behind and said."""
_SIGNS = {
    "ok": ("✓", "*", "green"),
    "warn": ("!", "!", "yellow"),
    "fail": ("✗", "x", "red"),
    "skip": ("-", "-", "white"),
}


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--debug", is_flag=True, help="Show tracebacks.")
def command(as_json: bool, debug: bool) -> int:
    """Check python, git, repository, settings, agent, sandbox, checks, disk and terminal. Exit 2 if one fails."""
    found = examine()
    failed = any(told.level == "fail" for told in found.values())
    if as_json:
        data = [{"check": name, **told._asdict()} for name, told in found.items()]
        click.echo(json.dumps({"contract_version": 1, "ok": not failed, "checks": data}, indent=2, ensure_ascii=False))
    else:
        _show(found, failed=failed)
    return ExitCode.USAGE if failed else ExitCode.OK


def examine() -> dict[str, Told]:
    """Run all checks side by side, each on its own, within the time for all."""
    found: dict[str, Told] = {}
    threads = [
        (name, threading.Thread(target=_one, args=(name, check, found), daemon=True)) for name, check in CHECKS.items()
    ]
    for _, thread in threads:
        thread.start()
    deadline = time.monotonic() + SECONDS
    for _, thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    late = Told(
        "warn", f"took longer than {SECONDS} s and was left alone", "Run it again when the machine is less busy."
    )
    return {name: found.get(name, late) for name in CHECKS}


def _one(name: str, check: Callable[[], Told], found: dict[str, Told]) -> None:
    try:
        found[name] = check()
    except SantiagoError as error:
        where = f"{error.where}: " if error.where else ""
        found[name] = Told("fail", f"{where}{error.message}", error.hint)
    except Exception as error:  # one check that breaks must not hide the others
        found[name] = Told("warn", f"could not be checked: {type(error).__name__}: {error}")


def _show(found: dict[str, Told], *, failed: bool) -> None:
    for name, told in found.items():
        sign, plain, colour = _SIGNS[told.level]
        head = f"{sign if unicode(stderr=False) else plain} {told.level:4}"
        say(f"{paint(head, colour, stderr=False)}  {name:12}  {harmless(told.text)}")
        if told.fix:
            say(f"{'':22}fix: {harmless(told.fix)}")
    numbers = {level: sum(told.level == level for told in found.values()) for level in _SIGNS}
    words = {"ok": "ok", "warn": "warnings", "fail": "failures", "skip": "skipped"}
    singular = {"warn": "warning", "fail": "failure"}
    told_all = [
        f"{n} {singular.get(level, words[level]) if n == 1 else words[level]}" for level, n in numbers.items() if n
    ]
    say(", ".join(told_all) + f"{'':10}exit {2 if failed else 0}")
