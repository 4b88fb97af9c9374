"""Trust on first use: a person must approve a repository's settings that start programs or weaken protections."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from santiago.app.config import effective, of_project, values_of
from santiago.app.powers import MEANS, powers
from santiago.artifacts.trust import Trust
from santiago.contract import codec
from santiago.contract.errors import SantiagoError
from santiago.contract.record import record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from santiago.contract.policy import RunInput

NAMED = 6
"""How many settings one message names."""


@record
class Waiting:
    """Settings that nobody has trusted yet."""

    origin: str
    settings: dict[str, Any]
    """All settings of the repository that start a program or weaken a protection."""
    used: frozenset[str]
    """Those of them that this start would use."""
    everything: dict[str, Any]

    @property
    def digest(self) -> str:
        return codec.digest(self.everything)

    @property
    def sentence(self) -> str:
        names = [f"{name} ({MEANS[name]})" if name in MEANS else name for name in sorted(self.settings)]
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        return f"settings of this repository are not trusted yet: {', '.join(names[:NAMED])}{more}"


Ask = Callable[[Waiting, "dict[str, Any] | None"], None]
"""Asks a person about settings, and shows those that were trusted last; raises if the person says no."""
Tell = Callable[[str], None]
"""Called with a message on something that went wrong but stops nothing."""


def waiting(root: Path, run_input: RunInput | None = None, said: frozenset[str] = frozenset()) -> Waiting | None:
    """Return the repository's settings that a person must approve; None if there are none.

    `run_input` is that of the start; without it, all settings count. `said` are the settings that flags replace.
    """
    origin, project = of_project(root)
    found = powers(project, effective(root, project=False)) if project else {}
    if not found:
        return None
    acted_on = {**effective(root), **(values_of(run_input) if run_input else {})}
    used = {name for name, value in found.items() if name not in said and acted_on[name] == value}
    result = Waiting(origin=origin, settings=found, used=frozenset(used), everything=project)
    return None if Trust(root).has(result.digest) else result


def approve(
    root: Path,
    run_input: RunInput | None = None,
    *,
    said: frozenset[str] = frozenset(),
    trusted: bool,
    ask: Ask,
    tell: Tell,
) -> None:
    """Have a person approve the repository's own settings; raise if they do not.

    With `trusted` the approval was already given; else `ask` asks for it.
    """
    found = waiting(root, run_input, said)
    if found is not None and (found.used or trusted):
        if not trusted:
            ask(found, Trust(root).latest())
        _remember(root, found, tell)
    if run_input is not None and run_input.run_id is not None:
        _approve_frozen(root, run_input, run_input.run_id, said, trusted=trusted, ask=ask)


def _approve_frozen(
    root: Path, run_input: RunInput, run_id: str, said: frozenset[str], *, trusted: bool, ask: Ask
) -> None:
    """Ask the same for a run whose input was made from untrusted settings, whatever the settings file says now."""
    trust = Trust(root)
    basis = trust.basis(run_id)
    if basis is None or trust.has(basis):
        return
    frozen = {name: value for name, value in values_of(run_input).items() if name not in said}
    now_trusted = waiting(root) is None
    found = powers(frozen, effective(root, project=now_trusted))
    if not found:
        return
    if not trusted:
        origin = f"run-input.json of {run_id}"
        ask(Waiting(origin=origin, settings=found, used=frozenset(found), everything=frozen), None)
    trust.rests_on(run_id, None)


def note_basis(root: Path, run_id: str | None, tell: Tell) -> None:
    """Remember that a new run input holds untrusted settings, since the settings file may have changed when it is used."""
    if run_id is None:
        return
    found, trust = waiting(root), Trust(root)
    if found is not None:
        with _noting("which settings this run was made of", tell):
            trust.rests_on(run_id, found.digest)
    elif trust.basis(run_id) is not None:
        trust.rests_on(run_id, None)


def trust_own(root: Path, tell: Tell) -> None:
    """Trust settings that the user has just had santiago write."""
    found = waiting(root)
    if found is not None:
        _remember(root, found, tell)


def _remember(root: Path, found: Waiting, tell: Tell) -> None:
    with _noting("that these settings are trusted", tell):
        Trust(root).add(found.digest, found.everything)


@contextmanager
def _noting(what: str, tell: Tell) -> Iterator[None]:
    """Report a failure to write a note. The approval still holds for this start, as on a machine without a home folder."""
    try:
        yield
    except SantiagoError as error:
        tell(f"{what} could not be noted: {error.where}: {error.message}")


def said_by(
    *, agent: object = None, model: object = None, playbook: object = None, checks: object = None
) -> frozenset[str]:
    """Return the settings that these options of a command line replace."""
    names = ["agent.mode", "agent.command", "agent.profile", "agent.fallback"] if agent else []
    names += ["agent.model_hint"] if model else []
    names += ["agent.mode", "agent.playbook"] if playbook else []
    return frozenset([*names, *(["verification.story_commands"] if checks else [])])
