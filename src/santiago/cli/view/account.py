"""Prints what an attempt's agent did: how it ended and what helps, its usage, its tools, its to-do list."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from santiago.cli.view.text import say
from santiago.report.account import account_of
from santiago.report.agent_activity import ACTIONS, Doing, plain, state_of
from santiago.util.text import fit, flat

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.agent.stream import Reading
    from santiago.app.history import AttemptStory

TODOS = 30
_TODO = {"done": "✓", "active": "▶", "open": "·"}


def show_agent(out_dir: Path, story: str, one: AttemptStory) -> None:
    """Print how the agent ended, what it used, and what it did on the way."""
    for name, text in account_of(out_dir, story, one):
        say(f"{name:10} {text}")
    _did(Doing(out_dir, one.agent, once=True).reading(story, one.number))


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
        sign = _TODO[state_of(todo)]
        say(f"  {sign} {fit(flat(todo.text), 108).rstrip()}")
    if len(reading.todos) > TODOS:
        say(f"  … and {len(reading.todos) - TODOS} more")
