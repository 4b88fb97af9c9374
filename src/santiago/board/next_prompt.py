"""Says what to do next: in lines for programs, and in a text for users, in their language, that ends with one prompt to copy."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

from santiago.board import internals, triage
from santiago.board.loop_verdict import ACTIONABLE, is_for_user
from santiago.contract.lazy_regex import pattern
from santiago.contract.record import record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from santiago.board.loop_verdict import Verdict
    from santiago.contract.board import Card

FINISHED = 3
"""How many titles of finished work are named."""
_LONGEST_TITLE = 160
_PRIORITY = pattern(r"^[\s\[(]{0,4}p[0-3]\b[\s\]):-]{0,4}", re.IGNORECASE)
Language = Literal["en", "ko"]
Situation = Literal["decision", "done", "review", "stuck", "research", "build", "plan"]
"""What kind of thing comes next."""


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
class Rendering:
    """How the text for users is written."""

    words: Words
    language: Language
    effect: str
    confidence: str
    risk: str
    prompt: str
    why: str
    warnings: tuple[str, ...] = ()


@record
class Product:
    """The material for the text for users. Its texts are cleaned when they are shown."""

    waiting: Sequence[Card]
    """Live tickets."""
    finished: Sequence[Card]
    """Archived tickets, the latest first. A few are enough."""
    finished_count: int
    attested_count: int = 0
    """How many of the finished ones a person accepted on their word."""
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
    title = internals.clean(_PRIORITY.sub("", card.title), product.is_id)
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
    if product.attested_count:
        first = words.attested.format(n=product.attested_count, all=product.finished_count)
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
    statement = internals.clean(product.statement, product.is_id)
    after = words.builds_on.format(title=words.quoted.format(title=titles[0])) if titles else ""
    if statement and statement[-1] not in ".!?。":
        statement += "."
    return " ".join(part for part in (statement, after) if part) or words.first_step


@record
class Words:
    """The sentences of one language. `{title}` is a ticket's title, `{n}` a number."""

    effect: str
    confidence: str
    risk: str
    prompt: str
    why: str
    quoted: str
    joint: str
    untitled: str
    """Used for a ticket without a title that users may read."""
    nothing_finished: str
    untold: str
    finished: str
    more: str
    accepted: str
    attested: str
    unproven: str
    bypassed: str
    none_open: str
    given_up: str
    open: str
    all_stuck: str
    decisions: str
    untested: str
    some_stuck: str
    builds_on: str
    first_step: str
    asks: dict[Situation, str]


ENGLISH = Words(
    effect="Effect on the product",
    confidence="Confidence",
    risk="Remaining risk",
    prompt="Next prompt",
    why="Why now",
    quoted="“{title}”",
    joint=", ",
    untitled="the next piece of work",
    nothing_finished="Nothing is finished yet, so users see no change.",
    untold="Finished so far: {n}.",
    finished="Finished last: {titles}.",
    more="Finished last: {titles} ({n} in all).",
    accepted="Everything that is finished was accepted only after its checks had passed.",
    attested="On a person's word alone: {n} of {all} that are finished. All others were accepted only after their checks had passed.",
    unproven="Nothing has been accepted yet, so nothing is proven.",
    bypassed="Work was begun past the usual entry: {n}.",
    none_open="Nothing is open.",
    given_up="Given up or passed over: {n}.",
    open="Still open: {n}.",
    all_stuck="Everything that is left is stuck ({n}), and nothing moves until somebody decides.",
    decisions="Your decision is needed: {n}. What depends on it stands still.",
    untested="Built, but shown by no test: {n}. It is finished once you have looked at it and say so.",
    some_stuck="Stuck: {n}.",
    builds_on="It follows {title}, which was finished last.",
    first_step="It is the next step towards what was asked for.",
    asks={
        "decision": "Show me what has to be decided about {title}: the choices, what each means for users, and which one you"
        " would take. Go on as I answer.",
        "done": "This round is finished. Propose three things that would help users most next, each with its benefit, and begin"
        " with the one that I choose.",
        "review": "Look at the finished work on {title}: does it do what was wanted? Accept it, or say what is missing.",
        "stuck": "Find out why {title} is stuck, and settle it: plan it anew, find a way around it, or give it up. Tell me what"
        " each means for users.",
        "research": "Answer the open question behind {title}, with reasons that can be checked, and say what follows for the product.",
        "build": "Build {title} so that users can rely on it, and show that it works.",
        "plan": "Plan {title}: split it into steps of which each does something useful, and say how each is checked.",
    },
)

KOREAN = Words(
    effect="제품에 미치는 영향",
    confidence="검증 신뢰도",
    risk="남은 위험",
    prompt="다음 실행 프롬프트",
    why="왜 지금 이 작업인가",
    quoted="‘{title}’",
    joint=", ",
    untitled="다음 작업",
    nothing_finished="아직 완료된 작업이 없어 사용자에게 달라진 점이 없습니다.",
    untold="지금까지 완료: {n}건.",
    finished="최근 완료: {titles}.",
    more="최근 완료: {titles} (모두 {n}건).",
    accepted="완료된 작업은 모두 검사를 통과한 뒤에만 승인되었습니다.",
    attested="완료된 작업 {all}건 가운데 {n}건은 사람의 확인만으로 승인되었고, 나머지는 검사를 통과한 뒤에만 승인되었습니다.",
    unproven="아직 승인된 작업이 없어 확인된 것이 없습니다.",
    bypassed="정해진 진입 절차를 거치지 않고 시작된 작업: {n}건.",
    none_open="남아 있는 작업이 없습니다.",
    given_up="중단하거나 우회한 작업: {n}건.",
    open="남은 작업: {n}건.",
    all_stuck="남은 작업({n}건)이 모두 막혀 있으며, 결정이 내려질 때까지 멈춰 있습니다.",
    decisions="결정이 필요한 작업: {n}건. 결정 전까지 관련 작업은 멈춰 있습니다.",
    untested="만들었지만 어떤 테스트로도 확인되지 않은 작업: {n}건. 살펴보고 승인하시면 완료됩니다.",
    some_stuck="막힌 작업: {n}건.",
    builds_on="가장 최근에 완료한 작업 {title} 다음에 이어지는 일입니다.",
    first_step="요청한 목표로 가는 다음 단계입니다.",
    asks={
        "decision": "{title}: 무엇을 결정해야 하는지 선택지와 각 선택이 사용자에게 주는 영향, 추천안을 보여 주고, 내 답에 따라 이어가 줘.",
        "done": "이번 작업은 모두 끝났어. 사용자에게 가장 도움이 될 다음 기능 세 가지를 효과와 함께 제안하고, 내가 고른 것부터 시작해 줘.",
        "review": "{title}: 완료된 결과가 원하던 대로 동작하는지 살펴보고, 승인하거나 부족한 점을 알려 줘.",
        "stuck": "{title}: 왜 막혔는지 확인하고 다시 계획할지, 돌아갈지, 그만둘지 정해 줘. 각각이 사용자에게 주는 영향도 알려 줘.",
        "research": "{title}: 풀리지 않은 질문에 확인 가능한 근거로 답하고, 제품에 어떻게 반영할지 정리해 줘.",
        "build": "{title}: 사용자가 믿고 쓸 수 있게 만들고, 제대로 동작하는지 보여 줘.",
        "plan": "{title}: 각각 쓸모 있는 단계로 나누고, 단계마다 어떻게 확인할지 정해 줘.",
    },
)
WORDS: dict[Language, Words] = {"en": ENGLISH, "ko": KOREAN}


def titles_of(words: Words, titles: Sequence[str]) -> str:
    """Return titles as a list within a sentence."""
    return words.joint.join(words.quoted.format(title=one) for one in titles)
