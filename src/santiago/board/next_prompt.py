"""Says what to do next: in lines for programs, and in a text for users that ends with one prompt to copy."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any

from santiago.board import leaks, triage
from santiago.board.verdict import ACTIONABLE, is_for_user
from santiago.board.wording import Situation, titles_of
from santiago.contract.patterns import pattern
from santiago.contract.record import record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from santiago.board.rendering import Rendering
    from santiago.board.verdict import Verdict
    from santiago.contract.board import Card

FINISHED = 3
"""How many titles of finished work are named."""
_LONGEST_TITLE = 160
_PRIORITY = pattern(r"^[\s\[(]{0,4}p[0-3]\b[\s\]):-]{0,4}", re.IGNORECASE)


@record
class Target:
    """Who acts next, on which queue, and why."""

    target: str
    queue: str
    reason: str
    situation: Situation


_DECISION = Target(
    target="tech-planner", queue="blocked-user-confirmation", reason="user confirmation required", situation="decision"
)
_DONE = Target(target="tech-planner", queue="completed", reason="all actionable queues are empty", situation="done")
_ORDER: tuple[Target, ...] = (
    Target(target="tech-planner", queue="planner-review", reason="finished work waits for review", situation="review"),
    Target(target="tech-planner", queue="blocked", reason="blocked tickets need a decision", situation="stuck"),
    Target(
        target="tech-scientist",
        queue="scientist-todo",
        reason="questions need scientific evidence",
        situation="research",
    ),
    Target(target="tech-developer", queue="developer-todo", reason="work waits to be implemented", situation="build"),
    Target(target="tech-planner", queue="planner-inbox", reason="requests wait to be decomposed", situation="plan"),
)
_ACCEPTANCE = Target(
    target="tech-planner", queue="planner-inbox", reason="finished requests wait for acceptance", situation="review"
)
_BACKLOG = Target(
    target="tech-planner", queue="planner-inbox", reason="plans with open boxes are left", situation="plan"
)


def target_of(verdict: Verdict) -> Target:
    """Return what comes next, in the order of the protocol: decisions, the end, reviews, blocked tickets, then work."""
    if verdict.status == "STOP_USER_CONFIRMATION":
        return _DECISION
    if verdict.status == "STOP_DONE":
        return _DONE
    found = next((one for one in _ORDER if verdict.counts[one.queue] > 0), _BACKLOG)
    if found.queue == "planner-inbox" and 0 < verdict.ending == verdict.counts["planner-inbox"]:
        return _ACCEPTANCE
    if verdict.stuck and found.situation in ("research", "build", "plan"):
        reason = "what is left waits for tickets that were closed"
        return Target(target="tech-planner", queue=found.queue, reason=reason, situation="stuck")
    return found


# For programs


def loop_lines(verdict: Verdict) -> list[str]:
    """Return the verdict as lines for programs."""
    counts = {**verdict.counts, "blocked-user-confirmation": verdict.blocked_for_user}
    counts |= {"actionable-total": verdict.actionable, "backlog": verdict.backlog}
    counts |= {f"decided-{word}": number for word, number in sorted(verdict.decided.items())}
    counts |= {"bypasses": verdict.bypasses}
    lines = [f"LOOP_STATUS:{verdict.status}", f"LOOP_REASON:{verdict.reason}"]
    lines.append("LOOP_COUNTS:" + " ".join(f"{name}={number}" for name, number in counts.items()))
    if verdict.user_confirmation_ids:
        lines.append("LOOP_USER_CONFIRMATION_IDS:" + ",".join(verdict.user_confirmation_ids))
    return lines


def prompt_lines(target: Target) -> list[str]:
    return [
        f"NEXT_PROMPT_TARGET:{target.target}", f"NEXT_PROMPT_QUEUE:{target.queue}", f"NEXT_PROMPT_REASON:{target.reason}",
    ]  # fmt: skip


def as_data(target: Target) -> dict[str, Any]:
    return {"target": target.target, "queue": target.queue, "reason": target.reason}


# For users


@record
class Product:
    """The material for the text for users. Its texts are cleaned when they are shown."""

    waiting: Sequence[Card]
    """Live tickets."""
    finished: Sequence[Card]
    """Archived tickets, the latest first. A few are enough."""
    finished_count: int
    statement: str = ""
    """What the product is for, by the first statement of its vision."""
    is_id: Callable[[str], bool] = lambda _: False
    """Recognises the ids of the board."""


def user_text(verdict: Verdict, product: Product, rendering: Rendering) -> str:
    """Return the whole text for users: effect, confidence, risk, and one prompt."""
    parts = (
        (rendering.effect, _effect(product, rendering)),
        (rendering.confidence, _confidence(verdict, product, rendering)),
        (rendering.risk, _risk(verdict, rendering)),
    )
    lines = [f"{heading}: {sentence}" for heading, sentence in parts]
    return "\n\n".join([*lines, prompt_block(verdict, product, rendering)])


def prompt_block(verdict: Verdict, product: Product, rendering: Rendering) -> str:
    """Return the fenced block with the prompt, under the heading that the rendering contract names."""
    words, target = rendering.words, target_of(verdict)
    found = next((name for card in _candidates(target, verdict, product) if (name := _title(card, product))), "")
    title = words.quoted.format(title=found) if found else words.untitled
    ask = words.asks[target.situation].format(title=title)
    return "\n".join(["```md", rendering.prompt, "", ask, f"{rendering.why}: {_why(product, rendering)}", "```"])


def _candidates(target: Target, verdict: Verdict, product: Product) -> list[Card]:
    """Return the tickets that the prompt may be about, best first."""
    live = [card for card in product.waiting if not card.decided]
    if target is _DECISION:
        return [card for card in live if card.id in verdict.user_confirmation_ids]
    here = [card for card in live if card.queue == target.queue]
    if target.situation == "stuck":
        return sorted(
            (card for card in here if not is_for_user(card)), key=lambda card: (triage.priority(card), card.updated_at)
        )
    return sorted(
        here, key=lambda card: (card.error_class == "dependency_blocked", card.status == "in_progress", card.arrival)
    )


def _title(card: Card, product: Product) -> str:
    """Return a title that users may read. It is empty where it only repeats the name of a document or plan."""
    if card.source.partition(":")[2] and card.title.endswith(card.source.partition(":")[2]):
        return ""
    title = leaks.clean(_PRIORITY.sub("", card.title), product.is_id)
    return title if len(title) <= _LONGEST_TITLE else title[: _LONGEST_TITLE - 1].rstrip() + "…"


def _finished(product: Product) -> list[str]:
    titles = (_title(card, product) for card in product.finished)
    return list(islice(dict.fromkeys(title for title in titles if title), FINISHED))


def _effect(product: Product, rendering: Rendering) -> str:
    words, titles = rendering.words, _finished(product)
    if not product.finished_count:
        return words.nothing_finished
    if not titles:
        return words.untold.format(n=product.finished_count)
    text = words.more if product.finished_count > len(titles) else words.finished
    return text.format(titles=titles_of(words, titles), n=product.finished_count)


def _confidence(verdict: Verdict, product: Product, rendering: Rendering) -> str:
    words = rendering.words
    first = words.accepted if product.finished_count else words.unproven
    return f"{first} {words.bypassed.format(n=verdict.bypasses)}" if verdict.bypasses else first


def _risk(verdict: Verdict, rendering: Rendering) -> str:
    words, left = rendering.words, sum(verdict.counts[queue] for queue in ACTIONABLE) + verdict.backlog
    stuck = verdict.counts["blocked"] - verdict.blocked_for_user
    found = []
    if (waited_for := len(verdict.user_confirmation_ids) - verdict.unproven) > 0:
        found.append(words.decisions.format(n=waited_for))
    if verdict.unproven:
        found.append(words.untested.format(n=verdict.unproven))
    if verdict.stuck and (stuck or not verdict.user_confirmation_ids):
        found.append(words.all_stuck.format(n=left - verdict.blocked_for_user))
    elif left and not verdict.stuck:
        found.append(words.open.format(n=left))
        found += [words.some_stuck.format(n=stuck)] if stuck else []
    elif not left:
        found.append(words.none_open)
    if verdict.decided:
        found.append(words.given_up.format(n=sum(verdict.decided.values())))
    return " ".join(found)


def _why(product: Product, rendering: Rendering) -> str:
    words, titles = rendering.words, _finished(product)
    statement = leaks.clean(product.statement, product.is_id)
    after = words.builds_on.format(title=words.quoted.format(title=titles[0])) if titles else ""
    if statement and statement[-1] not in ".!?。":
        statement += "."
    return " ".join(part for part in (statement, after) if part) or words.first_step
