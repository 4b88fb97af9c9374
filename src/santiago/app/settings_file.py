"""The text of a new santiago.toml, with comments on what is known about each check."""

from __future__ import annotations

import json
import os
import re
import tomllib
from dataclasses import field
from typing import TYPE_CHECKING

from santiago.contract.errors import SantiagoError
from santiago.contract.policy import Workspace
from santiago.contract.record import record
from santiago.util.text import flat

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from santiago.app.candidates import Found
    from santiago.app.trying import Tried


@record
class Written:
    """What goes into a new santiago.toml."""

    checks: Sequence[Found] = ()
    tried: Sequence[Tried] = ()
    in_vain: Sequence[Tried] = ()
    """Commands that were tried for parts of the repository that no check tests."""
    untried: bool = False
    """Whether the checks were written without being tried."""
    provide: tuple[str, ...] = field(default_factory=lambda: Workspace().provide)

    @property
    def usable(self) -> list[Tried]:
        """The results of the checks that were tried and can be used."""
        written = {(one.test, one.setup) for one in self.checks}
        return [one for one in self.tried if one.is_usable and (one.command, "".join(one.setup)) in written]


def settings(written: Written) -> str:
    """Return the text of santiago.toml."""
    setup = dict.fromkeys(one.setup for one in written.checks if one.setup)
    return "\n".join(
        [
            "# Settings of santiago for this repository. `santiago config show` prints all of them with their origin.",
            "",
            "[verification]",
            "# Run after every attempt, in a clean checkout; a story is done only when all of them pass.",
            *(f"# {flat(line)}" for line in _known(written)),
            f"story_commands = {_toml_list([one.test for one in written.checks])}",
            "# Protected files: checks use them as they were before the work; @tests stands for all tests.",
            'protected = ["@tests"]',
            "",
            *_agent_lines(),
            "[workspace]",
            "# Prepares a fresh checkout, before an attempt and before its verdict.",
            f"setup = {_toml_list([*setup])}",
            *_lent_lines(written),
            "",
        ]
    )


def _known(written: Written) -> Iterator[str]:
    """Yield what is known about the checks: that they ran, or why one could not be used."""
    if written.untried:
        yield "They have not been run yet (`santiago init --no-try`); `santiago doctor --checks` tries them."
    for one in written.usable:
        yield f"`{one.command}` {one.text}"
    if written.in_vain:
        yield "Tried, and not usable as a check here:"
    for one in written.in_vain:
        after = f" after `{one.setup[0]}`" if one.setup else ""
        yield f"`{one.command}`{after} {one.text}"


def with_settings(text: str, changed: Sequence[Sequence[str]]) -> str | None:
    """Return the text of a settings file with other values for some lists; None if it is written too unusually for that.

    Each of the changes has a name such as `workspace.copy`, and then all values.
    """
    for name, *values in changed:
        section, key = name.split(".")
        line = f"{key} = {_toml_list(values)}"
        head = re.search(rf"^\[{section}\][ \t]*(?:#.*)?$", text, re.MULTILINE)
        if head is None:
            text = f"{text.rstrip()}\n\n[{section}]\n{line}\n".lstrip()
            continue
        end = found.start() if (found := re.compile(r"^\[", re.MULTILINE).search(text, head.end())) else len(text)
        old = re.compile(rf"^{key}[ \t]*=.*$", re.MULTILINE).search(text, head.end(), end)
        at = (old.start(), old.end()) if old else (head.end(), head.end())
        text = f"{text[: at[0]]}{line if old else f'{chr(10)}{line}'}{text[at[1] :]}"
    try:
        read = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None  # a list over several lines
    as_meant = all(read[name.split(".")[0]][name.split(".")[1]] == values for name, *values in changed)
    return text if as_meant else None


_NOTES = {
    "provide": "Ignored folders that a checkout gets from the repository.",
    "copy": "Ignored files that a checkout gets from the repository.",
    "env": "Variables of your shell that agents and checks see.",
}


def _lent_lines(written: Written) -> Iterator[str]:
    """Yield the settings for what the checks need of the user's tree and shell, where they are not the usual ones."""
    usual = Workspace()
    for key, note in _NOTES.items():
        begun = written.provide if key == "provide" else getattr(usual, key)
        names = tuple(dict.fromkeys((*begun, *(name for one in written.checks for name in one.lent.get(key, ())))))
        if names != getattr(usual, key):
            yield from (f"# {note}", f"{key} = {_toml_list(names)}")


def _agent_lines() -> list[str]:
    """Return a comment about the agent. None is set, since which one is used depends on the machine."""
    from santiago.app.profiles import own_catalog

    try:
        ready = own_catalog().first_ready(os.environ)
    except SantiagoError:
        ready = None
    name = ready.profile.name if ready else "claude"
    return [
        "# [agent]",
        f'# profile = "{name}"   # without it: the first agent that is installed and signed in; `santiago doctor` shows them',
        "",
    ]


def _toml_list(values: Sequence[str]) -> str:
    return "[" + ", ".join(json.dumps(value, ensure_ascii=False) for value in values) + "]"
