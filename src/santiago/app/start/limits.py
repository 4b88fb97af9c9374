"""Limits that a person names at a start. A new run takes them; a run that has begun keeps its own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from santiago.app.finding import target
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.units import Minutes, Usd

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.app.start.start_options import StartOptions
    from santiago.contract.policy import Limits

FLAGS = {
    "story_max_attempts": ("--max-attempts", "--add-attempts"),
    "run_max_cost_usd": ("--max-cost", "--add-cost"),
    "run_max_tokens": ("--max-tokens", "--add-tokens"),
    "run_timeout_minutes": ("--timeout", "--add-minutes"),
}
"""Limit → the flag that sets it, and the flag of `resume` that adds to it."""


def wished(wishes: StartOptions) -> dict[str, int]:
    """Return the limits that a person names, in the units of the run input."""
    found = {
        "story_max_attempts": wishes.max_attempts,
        "run_max_cost_usd": None if wishes.max_cost is None else _of(Usd, wishes.max_cost, "--max-cost"),
        "run_max_tokens": wishes.max_tokens,
        "run_timeout_minutes": None if wishes.timeout is None else _of(Minutes, wishes.timeout, "--timeout"),
    }
    return {name: value for name, value in found.items() if value is not None}


def _of(kind: type[Minutes | Usd], number: float, flag: str) -> int:
    if not kind.takes(number):
        raise SantiagoError(Kind.USAGE, f"{flag} {number} is not a valid limit", hint=f"Name a number: {flag} 5.")
    return kind.of(number)


def limited(limits: Limits, wishes: StartOptions) -> Limits:
    """Return the limits, replaced where a person names others."""
    return replace(limits, **wished(wishes))  # type: ignore[arg-type]  # each has the type of its field


def refuse_other(frozen: Limits, wishes: StartOptions, out_dir: Path) -> None:
    """Raise if a person names another limit than the run began with. The hint tells how to add to it."""
    for name, value in wished(wishes).items():
        began = getattr(frozen, name)
        if value == began:
            continue
        flag, more = FLAGS[name]
        message = f"{flag} {_shown(value)} differs from what the run began with, which is {_shown(began)}"
        hint = f"Leave {flag} out: a run keeps the limits that it began with."
        if began is not None and value > began:
            difference = _shown(type(began)(value - began))
            hint = f"Leave {flag} out; `santiago resume{target(out_dir)} {more} {difference}` grants the difference."
        raise SantiagoError(Kind.USAGE, message, hint=hint)


def _shown(value: int | None) -> str:
    if value is None:
        return "no limit"
    return f"{value.written:g}" if isinstance(value, Minutes | Usd) else str(value)
