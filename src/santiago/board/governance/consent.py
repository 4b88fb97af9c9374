"""Which scenarios a person has approved to run. An approval is the digest of all commands, kept outside the repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.artifacts.trust import Trust
from santiago.contract import codec

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from santiago.board.governance.scenarios import Scenario

_KIND = "scenarios"


def unapproved(project: Path, scenarios: Iterable[Scenario]) -> list[Scenario]:
    """Return the scenarios whose present commands nobody has approved in this repository."""
    trust = Trust(project, _KIND)
    return [one for one in scenarios if not trust.has(_digest(one))]


def approve(project: Path, scenarios: Iterable[Scenario]) -> None:
    """Approve the commands of scenarios. An approval ends when one of a scenario's commands changes."""
    trust = Trust(project, _KIND)
    for one in scenarios:
        trust.add(_digest(one), {"scenario": one.id, "commands": list(one.commands)})


def _digest(one: Scenario) -> str:
    return codec.digest(list(one.commands))
