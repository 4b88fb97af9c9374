"""What an attempt's agent did, for people: how it ended and what helps, what it used, its tools, its to-do list."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from santiago.cli.view.text import first, fit, flat, say
from santiago.contract.reasons import MEANINGS, Reason
from santiago.executor.messages import left_out
from santiago.report.doing import ACTIONS, Doing, plain, state_of
from santiago.report.endings import Ending, ending_of, exited, helping, is_the_agents
from santiago.report.evidence import AttemptEvidence
from santiago.report.spending import Sum, said
from santiago.report.waiting import unicode

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.agent.stream import Reading
    from santiago.app.history import AttemptStory

TODOS = 30
_TODO = {"done": ("✓", "*"), "active": ("▶", ">"), "open": ("·", ".")}


def show_agent(out_dir: Path, story: str, one: AttemptStory) -> None:
    """Print how the agent ended, what it used, and what it did on the way."""
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
    for name, text in rows:
        if text:
            say(f"{name:10} {text}")
    _did(Doing(out_dir, one.agent, stderr=False, once=True).reading(story, one.number))


def _ended(reason: str, ending: Ending) -> str:
    """Return how the agent ended, where that was not well."""
    own = reason if is_the_agents(reason) else ending.reason
    return f"{own}{exited(own, ending)}: {MEANINGS[Reason(own)].sentence}" if own in MEANINGS else ""


def _usage(one: AttemptStory, ending: Ending) -> str:
    """Return what an attempt used; what it did not say is unknown."""
    if one.status == "running" and not ending.there:
        return ""
    cost = round(ending.cost_usd * 1e6) if ending.cost_usd is not None else one.cost
    tokens = ending.tokens if ending.tokens is not None else one.tokens
    amounts = [Sum(amount or 0, amount is None) for amount in (tokens, cost)]
    return "   ".join(part.partition(" (")[0] for part in said(*amounts))


def _did(reading: Reading) -> None:
    """Print the latest uses of tools, and the agent's own to-do list."""
    shown = reading.actions[-ACTIONS:]
    if shown:
        say()
        more = f", the last {len(shown)} of {reading.tools}" if reading.tools > len(shown) else ""
        say(f"tools that it used{more}")
    for text, same in groupby(plain(str(action)) for action in shown):
        times = len(list(same))
        say(f"  {fit(text, 110).rstrip()}{f'   ({times} times)' if times > 1 else ''}")
    if reading.todos:
        done = sum(todo.done for todo in reading.todos.values())
        say()
        say(f"its to-do list, {done} of {len(reading.todos)} done")
    for todo in list(reading.todos.values())[:TODOS]:
        sign = _TODO[state_of(todo)][0 if unicode(stderr=False) else 1]
        say(f"  {sign} {fit(flat(todo.text), 108).rstrip()}")
    if len(reading.todos) > TODOS:
        say(f"  … and {len(reading.todos) - TODOS} more")
