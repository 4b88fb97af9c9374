"""The sentences of the text for users, in each language."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from santiago.contract.record import record

if TYPE_CHECKING:
    from collections.abc import Sequence

Language = Literal["en", "ko"]
Situation = Literal["decision", "done", "review", "stuck", "research", "build", "plan"]
"""What kind of thing comes next."""


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
