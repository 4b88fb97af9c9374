"""Asking a person about the settings that come with a repository."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from santiago.app.powers import MEANS
from santiago.app.start import trust
from santiago.cli.view.text import say
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason
from santiago.util.text import first, harmless

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.app.start.trust import Waiting
    from santiago.contract.policy import RunInput

FLAG = "--trust-project"
LONGEST = 2000
"""Letters of one value that are shown."""


def approve(
    root: Path, run_input: RunInput | None = None, *, said: frozenset[str] = frozenset(), asked: bool, trusted: bool
) -> None:
    """Settings of the repository's own take effect only after a person's word; raise where there is none."""
    trust.approve(root, run_input, said=said, trusted=trusted, ask=partial(_ask, asked=asked), tell=_tell)


def note_basis(root: Path, run_id: str | None) -> None:
    """Remember that a new run input holds settings that nobody has trusted, should the file have changed when it is used."""
    trust.note_basis(root, run_id, _tell)


def trust_own(root: Path) -> None:
    """Trust what the user has just had written."""
    trust.trust_own(root, _tell)


def _tell(text: str) -> None:
    say(f"note: {text}", err=True)


def _ask(found: Waiting, before: dict[str, Any] | None, *, asked: bool) -> None:
    where = found.origin
    if not asked:
        hint = f"Read them there, then use {FLAG}."
        raise SantiagoError(Kind.BLOCKED, found.sentence, where=where, hint=hint, reason=Reason.UNTRUSTED_PROJECT)
    changed = " have changed since you trusted them, and" if before is not None else ""
    say(f"Settings that come with this repository{changed} would start or loosen something:", err=True)
    say(f"  {harmless(where)}", err=True)
    for name, value in sorted(found.settings.items()):
        means = f"   ({MEANS[name]})" if name in MEANS else ""
        say(f"    {name} = {_shown(value)}{means}{_change(name, value, before)}", err=True)
    say("Scripts and programs that they name are not looked at.", err=True)
    if not click.confirm("Trust these settings in this repository?", default=False, err=True):
        hint = "Change them, or say what you want by flags and settings of your own."
        message = "the settings of the repository were not trusted"
        raise SantiagoError(Kind.BLOCKED, message, where=where, hint=hint, reason=Reason.UNTRUSTED_PROJECT)


def _change(name: str, value: Any, before: dict[str, Any] | None) -> str:
    if before is None or before.get(name) == value:
        return ""
    return f"   was {_shown(before[name])}" if name in before else "   new"


def _shown(value: Any) -> str:
    """Return a value on one line, with every letter that a terminal would act on or hide as its number."""
    text = json.dumps(value, ensure_ascii=False)
    return first("".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in text), LONGEST)
