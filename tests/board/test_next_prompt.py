"""Board lines 64 and 68 to 70: what programs and users are told comes next."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from santiago.board import board_telling
from santiago.board.internals import leaks
from santiago.board.next_prompt import Product, loop_lines, prompt_lines, target_of, user_text
from santiago.contract.board import Card
from tests.board.cards import blocked, card, judge, spent

ASKING = blocked("AB-1", title="Which payment service", note="needs_user_confirmation")
ORDER: list[tuple[list[Card], int, tuple[str, str]]] = [
    ([ASKING, card("R", "planner-review"), blocked("B")], 0, ("tech-planner", "blocked-user-confirmation")),
    ([], 0, ("tech-planner", "completed")),
    ([card("R", "planner-review"), blocked("B"), card("S", "scientist-todo")], 0, ("tech-planner", "planner-review")),
    ([blocked("B"), card("S", "scientist-todo"), card("D")], 0, ("tech-planner", "blocked")),
    ([card("S", "scientist-todo"), card("D"), card("I", "planner-inbox")], 0, ("tech-scientist", "scientist-todo")),
    ([card("D"), card("I", "planner-inbox")], 0, ("tech-developer", "developer-todo")),
    ([card("I", "planner-inbox")], 0, ("tech-planner", "planner-inbox")),
    ([], 2, ("tech-planner", "planner-inbox")),
]
DONE = [
    card("AB-3", "done", title="Sign in with a passkey (AB-3)"),
    card("AB-2", "done", title="UTF-8 names in src/names.py"),
]
HOSTILE = (
    "AB-1",
    "```\n# heading",
    "{title}",
    "santiago queue move --id AB-1",
    ".sigee/.runtime/x",
    "%s {0} \\",
    "planner-inbox",
)
KOREAN = """# 규약
1. 사용자에게 달라지는 점
2. 검증 수준
3. 남은 주의점
Every response ends with one block titled `다음 실행 프롬프트`, with a sentence starting with `왜 지금 이 작업인가:`.
"""


@pytest.mark.parametrize(("cards", "backlog", "expected"), ORDER)
def test_the_target_follows_the_protocols_order(cards: list[Card], backlog: int, expected: tuple[str, str]) -> None:
    """Board line 68."""
    target = target_of(judge(cards, backlog))
    assert (target.target, target.queue) == expected
    assert prompt_lines(target)[:2] == [f"NEXT_PROMPT_TARGET:{expected[0]}", f"NEXT_PROMPT_QUEUE:{expected[1]}"]


def test_the_lines_for_programs() -> None:
    """Board line 68."""
    cards = [ASKING, blocked("B"), spent("C", decided="bypass"), card("D"), card("I", "planner-inbox")]
    assert loop_lines(judge(cards, 0, bypasses=1)) == [
        "LOOP_STATUS:STOP_USER_CONFIRMATION",
        "LOOP_REASON:a person has to decide",
        (
            "LOOP_COUNTS:planner-inbox=1 scientist-todo=0 developer-todo=1 planner-review=0 blocked=2 blocked-user-confirmation=1"
            " actionable-total=3 backlog=0 decided-bypass=1 bypasses=1"
        ),
        "LOOP_USER_CONFIRMATION_IDS:AB-1",
    ]
    assert not any(line.startswith("LOOP_USER") for line in loop_lines(judge([], 0)))


def told(cards: Sequence[Card], project: Path, *, setting: str = "", **product: Any) -> str:
    finished = product.pop("finished", ())
    made = Product(waiting=cards, finished=finished, finished_count=len(finished), **product)
    return user_text(judge(cards, 0), made, board_telling.read(project, setting))


def test_the_text_for_users_while_there_is_work_and_when_all_is_done(tmp_path: Path) -> None:
    """Board line 68: effect, confidence, risk, and one prompt; intent only."""
    cards = [card("AB-8", error_class="dependency_blocked"), card("AB-9", title="AB-9: Sign out everywhere", arrival=5)]
    text = told(cards, tmp_path, finished=DONE, statement="Everybody reaches their own files")
    assert text == (
        "Effect on the product: Finished last: “Sign in with a passkey”, “UTF-8 names”.\n\n"
        "Confidence: Everything that is finished was accepted only after its checks had passed.\n\n"
        "Remaining risk: Still open: 2.\n\n"
        "```md\n"
        "Next prompt\n\n"
        "Build “Sign out everywhere” so that users can rely on it, and show that it works.\n"
        "Why now: Everybody reaches their own files. It follows “Sign in with a passkey”, which was finished last.\n"
        "```"
    )
    assert told([], tmp_path) == (
        "Effect on the product: Nothing is finished yet, so users see no change.\n\n"
        "Confidence: Nothing has been accepted yet, so nothing is proven.\n\n"
        "Remaining risk: Nothing is open.\n\n"
        "```md\n"
        "Next prompt\n\n"
        "This round is finished. Propose three things that would help users most next, each with its benefit, and begin with the"
        " one that I choose.\n"
        "Why now: It is the next step towards what was asked for.\n"
        "```"
    )


def test_work_that_a_person_took_on_their_word_is_not_said_to_have_passed_its_checks(tmp_path: Path) -> None:
    text = told([], tmp_path, finished=DONE, attested_count=1)
    assert f"On a person's word alone: 1 of {len(DONE)} that are finished." in text
    assert "Everything that is finished" not in text


def test_a_board_on_which_nothing_moves_does_not_say_that_work_goes_on(tmp_path: Path) -> None:
    """Board line 49: all is blocked, or waits for something that was given up."""
    text = told([blocked("AB-1", title="Print labels"), spent("AB-2", title="Pay by card")], tmp_path)
    assert "Everything that is left is stuck (2), and nothing moves until somebody decides." in text
    assert "Find out why “Pay by card” is stuck" in text, "the more urgent of the two"
    assert "Still open" not in text
    cards = [card("T1", title="Send a receipt", error_class="dependency_blocked"), spent("T0", decided="stop")]
    text = told(cards, tmp_path)
    assert (
        "Everything that is left is stuck (1), and nothing moves until somebody decides. Given up or passed over: 1."
        in text
    )
    assert "Find out why “Send a receipt” is stuck" in text


def test_a_decision_is_asked_for_by_its_title_unless_that_only_names_a_document_or_priority(tmp_path: Path) -> None:
    """Board line 68."""
    text = told([card("T1", "planner-inbox", title="Carry out the plan auth", source="plan:auth")], tmp_path)
    assert "Plan the next piece of work: split it" in text
    assert "Build “Pay by card” so" in told([card("T1", title="[P0] Pay by card")], tmp_path)
    text = told([ASKING, card("D")], tmp_path)
    assert "Your decision is needed: 1. What depends on it stands still. Still open: 2." in text
    assert "Show me what has to be decided about “Which payment service”" in text


@pytest.mark.parametrize("title", HOSTILE)
@pytest.mark.parametrize("language", ["en", "ko"])
def test_no_title_breaks_the_one_block_or_leaks(title: str, language: str, tmp_path: Path) -> None:
    """Board line 68: exactly one fenced block, and nothing of the machinery."""
    for cards in (
        [blocked("T", title=title, note="needs_user_confirmation")],
        [blocked("T", title=title)],
        [card("T", title=title)],
        [],
    ):
        text = told(cards, tmp_path, setting=language, finished=[card("U", "done", title=title)], statement=title)
        assert (text.count("```"), text.count("```md\n")) == (2, 1)
        assert text.endswith("\n```")
        assert leaks(text) == []


def contract(project: Path, text: str, folder: str = ".sigee") -> None:
    path = project / folder / "policies" / "response-rendering-contract.md"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")


def test_a_project_with_korean_titles_gets_korean_text(tmp_path: Path) -> None:
    """Board line 70."""
    contract(tmp_path, KOREAN)
    assert told(
        [card("AB-9", title="AB-9 모든 기기에서 로그아웃")],
        tmp_path,
        finished=[card("AB-3", "done", title="패스키 로그인")],
    ) == (
        "사용자에게 달라지는 점: 최근 완료: ‘패스키 로그인’.\n\n"
        "검증 수준: 완료된 작업은 모두 검사를 통과한 뒤에만 승인되었습니다.\n\n"
        "남은 주의점: 남은 작업: 1건.\n\n"
        "```md\n"
        "다음 실행 프롬프트\n\n"
        "‘모든 기기에서 로그아웃’: 사용자가 믿고 쓸 수 있게 만들고, 제대로 동작하는지 보여 줘.\n"
        "왜 지금 이 작업인가: 가장 최근에 완료한 작업 ‘패스키 로그인’ 다음에 이어지는 일입니다.\n"
        "```"
    )


def test_the_contract_names_language_and_headings(tmp_path: Path) -> None:
    """Board line 70."""
    contract(
        tmp_path,
        "language: en\nprompt heading: What to say next\nwhy sentence: Because:\n1. For users.\n2. Trust\n3. Doubt\n",
        ".santiago",
    )
    found = board_telling.read(tmp_path)
    assert (found.effect, found.confidence, found.risk) == ("For users", "Trust", "Doubt")
    assert (found.prompt, found.why, found.warnings) == ("What to say next", "Because", ())


@pytest.mark.parametrize(
    ("text", "setting", "language", "warned"),
    [
        (KOREAN, "", "ko", False),
        (KOREAN, "en", "en", False),
        ("language: ko\n", "", "ko", False),
        ("- **Language**: Korean\n", "", "ko", False),
        ("nothing of the kind", "", "en", False),
        ("nothing of the kind", "Korean", "ko", False),
        (KOREAN, "tlh", "en", True),
        ("language: tlh\n", "", "en", True),
    ],
)
def test_setting_contract_english(text: str, setting: str, language: str, warned: bool, tmp_path: Path) -> None:
    """Board line 70: an unknown language is English, with a warning."""
    contract(tmp_path, text)
    found = board_telling.read(tmp_path, setting)
    assert (found.language, bool(found.warnings)) == (language, warned)
    assert found.prompt == {"en": "Next prompt", "ko": "다음 실행 프롬프트"}[language]


def test_a_contract_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    """Board line 70: too large, or outside of the project."""
    contract(tmp_path, "x" * 2**17)
    assert "larger" in board_telling.read(tmp_path).warnings[0]
    project = tmp_path / "project"
    (project / ".sigee" / "policies").mkdir(parents=True)
    board_telling.path_of(project).symlink_to(tmp_path / "elsewhere.md")
    (tmp_path / "elsewhere.md").write_text(KOREAN, encoding="utf-8")
    found = board_telling.read(project)
    assert (found.language, len(found.warnings)) == ("en", 1)
