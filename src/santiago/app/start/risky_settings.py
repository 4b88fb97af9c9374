"""Settings of a repository that start programs or weaken protections: a person must approve them, once.

Settings that only tighten a protection need no approval.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from santiago.app.config import effective, of_project, values_of
from santiago.artifacts.trust import Trust
from santiago.contract import codec
from santiago.contract.errors import SantiagoError
from santiago.contract.record import record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from santiago.contract.policy import RunInput

_CHOICES: dict[str, tuple[object, ...]] = {
    "policy.gate": ("auto", "chunk", "step"),
    "policy.proof": ("regression", "own_tests", "proved"),
    "policy.changed_tests": ("accept", "ask", "refuse"),
    "policy.doubts": ("accept", "ask", "refuse"),
    "policy.unproven": ("accept", "ask"),
    "policy.evidence": ("listed", "required"),
    "policy.tests_first": ("", "same"),
    "policy.sandbox": ("off", "auto", "required"),
    "policy.keep_going": (True, False),
    "policy.optimistic": (True, False),
    "policy.assume_external": (True, False),
    "policy.write_back": (True, False),
    "policy.unknown_usage": ("allow", "block"),
    "board.single_entry": (False, True),
    "engine.trust": ("workers", "coordinator"),
}
"""Settings with few values, the weakest protection first. Any other value names a program."""
_AT_MOST = ("limits.", "policy.jobs", "board.exhausted_limit", "verification.timeout_minutes")
"""Prefixes of numeric settings for which a smaller number is stricter."""
_AT_LEAST_ALL_OF = frozenset({"verification.protected", "policy.gates"})
_NONE_BEYOND = frozenset({"workspace.copy", "workspace.provide", "workspace.env", "board.planners"})
_HARMLESS = frozenset({"policy.exhausted", "board.language"})
"""Settings that only say how something ends. They start and weaken nothing."""

MEANS = {
    "agent.mode": "how the agent works",
    "agent.command": "the program that works as the agent",
    "agent.profile": "the agent that is started",
    "agent.model_hint": "the model that the agent is told to use",
    "agent.fallback": "agents that take over when the agent cannot go on",
    "agent.playbook": "what the scripted agent plays",
    "policy.tests_first": "the agent that writes tests",
    "policy.sandbox": "the sandbox around agent and checks",
    "policy.changed_tests": "what happens to work that changes existing tests",
    "policy.doubts": "what happens to work that could deceive its checks",
    "policy.proof": "how strongly work must be shown to be done",
    "policy.unproven": "what happens to work that no test shows",
    "verification.story_commands": "run as checks of every story",
    "verification.run_commands": "run as checks of the whole run",
    "verification.protected": "the only files that are protected from the work",
    "workspace.setup": "run in every checkout, with the network",
    "workspace.copy": "ignored files that agent and checks get",
    "workspace.provide": "ignored folders that agent and checks get",
    "workspace.env": "variables of yours that agent and checks see",
    "board.developer": "the agent that works on developers' tickets",
    "board.scientist": "the agent that works on scientists' tickets",
    "board.planner": "the agent that plans requests",
    "board.planners": "who may accept work",
    "board.single_entry": "whether work may begin without the board",
    "engine.url": "the server that attempts go out through",
    "engine.remote": "the git remote that attempts go out through",
    "engine.lease_seconds": "how long a worker may be silent",
    "engine.trust": "whose verdict counts",
    "notify.command": "run at questions and at the end, outside the sandbox",
    "notify.webhook": "the address that questions and the end are sent to",
}
"""What a setting does, for the person who is asked."""


def risky(wanted: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that start a program, or weaken a protection that would hold without them."""
    return {name: value for name, value in wanted.items() if _loosens(name, value, own[name])}


def _loosens(name: str, value: Any, own: Any) -> bool:
    if value == own or name in _HARMLESS:
        return False
    if order := _CHOICES.get(name):
        return value not in order or own not in order or order.index(value) < order.index(own)
    if name.startswith(_AT_MOST):
        return own is not None and (value is None or value > own)
    if name in _AT_LEAST_ALL_OF:
        return not set(own) <= set(value)
    if name in _NONE_BEYOND:
        return not set(value) <= set(own)
    return True


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
    found = risky(project, effective(root, project=False)) if project else {}
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
    found = risky(frozen, effective(root, project=now_trusted))
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
