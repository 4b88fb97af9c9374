"""Which settings start a program or weaken a protection. Settings that only tighten one need no approval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    "notify.command": "run at questions and at the end, outside the sandbox",
    "notify.webhook": "the address that questions and the end are sent to",
}
"""What a setting does, for the person who is asked."""


def powers(wanted: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
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
