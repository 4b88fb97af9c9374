"""What is shown about an attempt's agent, as named lines: how it ended and what helps, its usage, tools it was denied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.contract.reasons import MEANINGS, Reason
from santiago.executor.messages import left_out
from santiago.report.endings import Ending, ending_of, exited, helping, is_the_agents
from santiago.report.evidence import AttemptEvidence
from santiago.report.spending import Sum, said
from santiago.util.text import first, flat

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.app.history import AttemptStory


def account_of(out_dir: Path, story: str, one: AttemptStory) -> list[tuple[str, str]]:
    """Return each thing that is known, with its name. Further lines of the same thing have an empty name."""
    ending = ending_of(out_dir, story, one.number)
    reason = one.reason or ending.reason
    lost = flat(left_out(AttemptEvidence(out_dir, story, one.number).left_out()))
    rows = [
        ("by", f"a person, from {first(flat(one.own_work), 100)}" if one.own_work else ""),
        ("agent", "   ".join(part for part in (flat(one.agent), _usage(one, ending)) if part and not one.own_work)),
        ("ended", _ended(reason, ending)),
        *(("it said" if at == 0 else "", text) for at, text in enumerate(ending.words)),
        ("denied", ending.denied),
        ("help", helping(reason, ending) if is_the_agents(reason) else ""),
        ("message", first(flat(one.message), 300) if not ending.words and not lost else ""),
        ("left out", lost),
        ("settings", ending.left),
        ("session", ending.session),
    ]
    return [(name, text) for name, text in rows if text]


def _ended(reason: str, ending: Ending) -> str:
    """Return how the agent ended; empty if it ended normally."""
    own = reason if is_the_agents(reason) else ending.reason
    return f"{own}{exited(own, ending)}: {MEANINGS[Reason(own)].sentence}" if own in MEANINGS else ""


def _usage(one: AttemptStory, ending: Ending) -> str:
    """Return what an attempt used. What it did not report is unknown."""
    if one.status == "running" and not ending.there:
        return ""
    cost = round(ending.cost_usd * 1e6) if ending.cost_usd is not None else one.cost
    tokens = ending.tokens if ending.tokens is not None else one.tokens
    amounts = [Sum(amount or 0, amount is None) for amount in (tokens, cost)]
    return "   ".join(part.partition(" (")[0] for part in said(*amounts))
