"""Asking a person whether to trust the settings of a repository."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from santiago.app.start import risky_settings
from santiago.cli.view.terminal import say
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason
from santiago.report.consents import trusting

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.app.start.risky_settings import Waiting
    from santiago.contract.policy import RunInput

FLAG = "--trust-project"


def approve(
    root: Path, run_input: RunInput | None = None, *, said: frozenset[str] = frozenset(), asked: bool, trusted: bool
) -> None:
    """Have a person approve the repository's own settings; raise if they do not."""
    risky_settings.approve(root, run_input, said=said, trusted=trusted, ask=partial(_ask, asked=asked), tell=_tell)


def note_basis(root: Path, run_id: str | None) -> None:
    """Remember that a new run input holds untrusted settings, since the settings file may have changed when it is used."""
    risky_settings.note_basis(root, run_id, _tell)


def trust_own(root: Path) -> None:
    """Trust settings that the user has just had santiago write."""
    risky_settings.trust_own(root, _tell)


def _tell(text: str) -> None:
    say(f"note: {text}", err=True)


def _ask(found: Waiting, before: dict[str, Any] | None, *, asked: bool) -> None:
    where = found.origin
    if not asked:
        hint = f"Read them there, then use {FLAG}."
        raise SantiagoError(Kind.BLOCKED, found.sentence, where=where, hint=hint, reason=Reason.UNTRUSTED_PROJECT)
    for line in trusting(found, before):
        say(line, err=True)
    if not click.confirm("Trust these settings in this repository?", default=False, err=True):
        hint = "Change them, or use flags or your own settings instead."
        message = "the settings of the repository were not trusted"
        raise SantiagoError(Kind.BLOCKED, message, where=where, hint=hint, reason=Reason.UNTRUSTED_PROJECT)
