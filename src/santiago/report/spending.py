"""Tokens and money in words: what is known, against its limit. What was not reported is called unknown, never zero."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from santiago.executor.budget import Budget
from santiago.executor.tally import summary
from santiago.report.measures import clock, limit
from santiago.util.text import count

if TYPE_CHECKING:
    from collections.abc import Callable

    from santiago.app.loading import Run
    from santiago.contract.plan import Plan
    from santiago.contract.policy import Limits
    from santiago.contract.state import RunState, StoryState


class Sum(NamedTuple):
    """The sum of one kind of usage over the attempts that have ended."""

    amount: int
    silent: int
    """Attempts that did not report it."""
    most: int | None = None
    """The limit, if there is one."""

    @property
    def unknown(self) -> bool:
        # A person's own work reports zero, which tells nothing about the other attempts.
        return self.silent > 0 and not self.amount

    @property
    def worth_saying(self) -> bool:
        return bool(self.amount or self.silent or self.most is not None)


def tokens_of(one: RunState | StoryState, most: int | None = None) -> Sum:
    return Sum(one.tokens, one.unreported, most)


def cost_of(one: RunState | StoryState, most: int | None = None) -> Sum:
    return Sum(one.cost_micro_usd, one.unpriced, most)


def of_run(state: RunState, limits: Limits, *, brief: bool = False) -> list[str]:
    """Return what a run has used, in words; with `brief`, as short as possible."""
    budget = Budget(limits, state)
    tokens, money = budget.tokens, budget.money
    return said(
        tokens_of(state, tokens.most if tokens else None), cost_of(state, money.most if money else None), brief=brief
    )


def progress(plan: Plan, state: RunState, limits: Limits, used_ms: int) -> list[str]:
    """Return how much of a run is done, and how much of its limits is used."""
    budget, found = Budget(limits, state), summary(plan, state)
    brief = f"{found.completed}/{count(len(plan.stories), 'story', 'stories')}"
    return [
        f"{brief}, {found.unproven} not proven" if found.unproven else brief,
        f"{state.counted}/{count(budget.run_attempts, 'attempt')}",
        f"{clock(used_ms)} of {limit(budget.run_ms)}",
        *of_run(state, limits, brief=True),
    ]


def of_story(story: StoryState) -> list[str]:
    return said(tokens_of(story), cost_of(story))


def by_story(run: Run) -> dict[str, Any]:
    """Return what each story that was attempted used, and the sums of the run."""
    rows = []
    for planned in run.stories:
        if tried := run.history.of(planned.id):
            times = {"agent_ms": sum(one.agent_ms for one in tried), "verify_ms": sum(one.verify_ms for one in tried)}
            rows.append(
                {"story": planned.id, "title": planned.title, **times, **_amounts(run.state.stories[planned.id])}
            )
    totals = {name: sum(row[name] for row in rows) for name in ("agent_ms", "verify_ms")}
    return {"rows": rows, **totals, **_amounts(run.state)}


def _amounts(one: RunState | StoryState) -> dict[str, Any]:
    tokens, cost = tokens_of(one), cost_of(one)
    return {"attempts": one.counted, "tokens": _amount(tokens, "{:,}".format), "cost": _amount(cost, dollars)}


def _amount(one: Sum, word: Callable[[int], str]) -> str:
    return "unknown" if one.unknown else word(one.amount) + ("+" if one.silent else "")


def said(tokens: Sum, cost: Sum, *, brief: bool = False) -> list[str]:
    """Return the parts of a line about usage; empty if there is nothing to say."""
    if tokens.unknown and cost.unknown and tokens.most is None and cost.most is None:
        return ["usage unknown" if brief else "tokens and cost unknown"]
    parts = [_tokens(tokens, brief=brief)] if tokens.worth_saying else []
    if cost.worth_saying and not (brief and cost.unknown and cost.most is None):
        parts.append(_cost(cost))
    silent = max(tokens.silent, 0 if cost.unknown and cost.most is None else cost.silent)
    if silent and not brief:
        parts[-1] += f" ({count(silent, 'attempt')} did not report)"
    return parts


def _tokens(tokens: Sum, *, brief: bool) -> str:
    number = thousands if brief else "{:,}".format
    if tokens.unknown:
        return "tokens unknown" if tokens.most is None else f"tokens unknown, limit {number(tokens.most)}"
    most = f" of {number(tokens.most)}" if tokens.most is not None else ""
    return f"{_amount(tokens, number)}{most} tokens"


def _cost(cost: Sum) -> str:
    if cost.unknown:
        return "cost unknown" if cost.most is None else f"cost unknown, limit {dollars(cost.most)}"
    return _amount(cost, dollars) + (f" of {dollars(cost.most)}" if cost.most is not None else "")


def thousands(number: int) -> str:
    """Return a number in short form: `812`, `12.3k`, `1.2M`."""
    if number < 1000:
        return str(number)
    scaled, unit = (number / 1000, "k") if number < 999_950 else (number / 1_000_000, "M")
    return f"{scaled:.1f}".removesuffix(".0") + unit


def dollars(micro: int) -> str:
    """Return an amount of money. A small one gets enough decimal places to be visible."""
    if 0 < micro < 100:
        return "<$0.0001"
    return f"${micro / 1e6:.2f}" if micro == 0 or micro >= 10_000 else f"${micro / 1e6:.4f}"
