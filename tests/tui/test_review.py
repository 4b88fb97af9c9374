"""The review over sessions that were written down: what it shows, where its keys lead, and what it never does."""

from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

from santiago.contract.events import EventKind
from santiago.contract.phases import SESSION_MOVES, RunPhase, SessionPhase
from santiago.contract.views import screen
from santiago.report.following_session import FollowingSession, controls_of
from santiago.report.session_review import screen_of
from santiago.tui.windows import Deciding, Reading, Saying
from tests.tui.driving import resized
from tests.tui.made import CHUNKS, document
from tests.tui.made_session import NOW, SAID, MadeSession, drafting, large, reviewed
from tests.tui.reviewing import Reader, review

EVIL = "\x1b]8;;http://evil\x07click\x1b]8;;\x07 \u202egnp.exe\x1b[31m red [bold]not markup[/bold]"
SHOWN = "click gnp.exe red [bold]not markup[/bold]"
SCREENS = {
    SessionPhase.DRAFTING: "PLANNING_ACTIVE",
    SessionPhase.REVIEW: "PLAN_REVIEW_READY",
    SessionPhase.FINALIZED: "NORMAL",
    SessionPhase.CANCELLED: "NORMAL",
}
ARROWS = {
    ("PLANNING_ACTIVE", "PLAN_REVIEW_READY"),  # a turn completes with a plan
    ("PLAN_REVIEW_READY", "PLANNING_ACTIVE"),  # continue planning, quick edit
    ("PLAN_REVIEW_READY", "NORMAL"),  # cancel; finalize with --no-start, from where the run leads on
    ("PLANNING_ACTIVE", "NORMAL"),  # no plan
    ("NORMAL", "PLAN_REVIEW_READY"),  # a cancelled review is taken up
    ("NORMAL", "PLANNING_ACTIVE"),  # planning begins, or a session without a plan is taken up
}


def test_line_62_the_plan_is_shown_by_chunk_with_pages_and_earlier_revisions_are_read_only(tmp_path: Path) -> None:
    async def looks(reader: Reader) -> None:
        lines = reader.list()
        assert "Phase 2: Back end       3  1 changed in rev 2" in lines[3]
        assert lines[4].split() == ["~", "S3", "Refund", "endpoint"]
        assert lines[-1].split() == ["+", "S10", "Tell", "the", "customers"]
        head = reader.text()
        assert "rev 2  review" in head
        assert "10 stories   5 chunks   21 criteria" in head
        assert "2 of 20 turns, 4 of 120 min, 109,200 tokens, $0.84" in head
        await reader.press("2")
        assert "revision 2 against revision 1" in reader.page()
        assert "1 new, 1 changed, 0 removed, 8 kept" in reader.page()
        assert "+ S10  Tell the customers" in reader.page()
        assert "    + a refund names its reason" in reader.page()
        await reader.click("3")
        assert f'"{SAID}"' in reader.page()
        assert "claude: merged, done" in reader.page()
        assert "-> revision 2" in reader.page()
        await reader.press("4")
        assert "findings of the plan" in reader.page()
        await earlier(reader)
        await decides_nothing(reader)
        await reader.press("slash")
        await reader.type("nothing of this")
        assert "no story has these words in it" in reader.text()
        await reader.press("escape")
        assert reader.screen.query_one("#filter", Input).value == ""
        assert len(reader.list()) == 15

    async def earlier(reader: Reader) -> None:
        assert reader.actions() == ["c", "e", "f", "x"]
        await reader.press("left_square_bracket")
        assert "rev 1 of 2, read-only" in reader.text()
        assert "S10" not in "\n".join(reader.list())
        assert reader.actions() == []
        await reader.press("c", "e", "f", "x", "t", "a", "w")
        assert reader.closed
        await reader.press("left_square_bracket")
        assert "revision 1 is the first" in reader.text()
        await reader.press("right_square_bracket")
        assert reader.actions() == ["c", "e", "f", "x"]

    async def decides_nothing(reader: Reader) -> None:
        await reader.press("enter", "enter", "x", "enter", "space")
        assert isinstance(reader.app.screen, Deciding)
        await reader.press("escape")
        assert reader.closed

    folder = reviewed(tmp_path).folder
    before = sorted(folder.rglob("*"))
    review(folder, looks, size=(120, 40), now=NOW)
    assert sorted(folder.rglob("*")) == before, "looking leaves nothing"


def test_line_62_a_story_shows_all_there_is_to_judge_it_by(tmp_path: Path) -> None:
    text = (
        document()
        .replace("### R3: Refund endpoint", "### R3: Refund endpoint\n\nDepends on: R1")
        .replace("**Verification:** `pytest -q tests/test_2.py`", "")
    )
    made = MadeSession(tmp_path)
    made.has_turn(document())
    made.has_turn(text.replace("works", "really works"), "more")

    async def looks(reader: Reader) -> None:
        await reader.press("down", "down", "down", "down")
        page = reader.page()
        for part in (
            "S3  Refund endpoint", "changed in rev 2", "from     docs/prd.md:", "after    S1", "covers   R3",
            "[ ] R3#1  Refund endpoint really works", "src/part3.py", "$ pytest -q tests/test_3.py",
            "Changed since rev 1", "    - Refund endpoint works", "    + Refund endpoint really works", "    + S1",
        ):  # fmt: skip
            assert part in page, page

    review(made.folder, looks, now=NOW)


def test_line_62_only_what_can_be_done_has_a_key(tmp_path: Path) -> None:
    made = drafting(tmp_path)

    async def looks(reader: Reader) -> None:
        assert reader.actions() == ["t"]
        assert "interrupted" in reader.text()
        assert "codex: cut short" in reader.page() or await _turns(reader)
        await reader.press("c", "e", "f", "x", "a", "w")
        assert reader.closed

    review(made.folder, looks, now=NOW)


async def _turns(reader: Reader) -> bool:
    await reader.press("3")
    return "codex: cut short" in reader.page()


def test_line_50_feedback_is_mandatory_and_refused_in_place(tmp_path: Path) -> None:
    made = reviewed(tmp_path)

    async def says_nothing(reader: Reader) -> None:
        for key, mouse in (("c", False), ("c", True), ("e", False), ("e", True)):
            await (reader.click(key) if mouse else reader.press(key))
            assert isinstance(reader.app.screen, Saying)
            await (reader.click("enter") if mouse else reader.press("enter"))
            assert "nothing is typed yet" in reader.text()
            await reader.press("space", "enter")
            assert isinstance(reader.app.screen, Saying)
            await (reader.click("esc") if mouse else reader.press("escape"))
            assert reader.closed
            assert reader.screen.started is None

    review(made.folder, says_nothing)
    assert not (made.folder / "inbox").exists()


def test_line_72_text_of_others_does_nothing_but_be_read(tmp_path: Path) -> None:
    made = MadeSession(tmp_path, task=f"Task {EVIL}")
    plan = {f"Chunk {EVIL}": (f"Title {EVIL}",)}
    made.has_turn(document(plan).replace("src/part1.py", "src/part1.py"))
    made.has_turn(document(plan).replace("works", "is there"), f"Said {EVIL}")
    made.add(EventKind.QUESTION_ASKED, question="agent-1", kind="agent", text=f"Asks {EVIL}", round=1)

    async def looks(reader: Reader) -> None:
        seen = [reader.text()]
        for keys in (("down",), ("2",), ("3",), ("4",), ("a",)):
            await reader.press(*keys)
            seen.append(reader.text())
        text = "\n".join(seen)
        assert "\x1b" not in text
        assert "\u202e" not in text
        for word in ("Task", "Chunk", "Title", "Said", "Asks"):
            assert f"{word} {SHOWN}"[:14] in text, word

    review(made.folder, looks, size=(120, 40), now=NOW)


def test_line_71_very_many_stories_open_folded_and_only_seen_lines_are_made(tmp_path: Path) -> None:
    made = large(tmp_path)

    async def looks(reader: Reader) -> None:
        assert len(reader.screen.rows.rows) == 8
        assert "400 stories   8 chunks" in reader.text()
        await reader.press("end", "right")
        assert len(reader.screen.rows.rows) == 58
        await reader.press("slash")
        await reader.type("7: r349")
        assert [line.split()[1:3] for line in reader.list()] == [["Phase", "7:"], ["S349", "Piece"]]
        assert "S349  Piece 7-48" in reader.page()
        await reader.press("enter", "escape")
        assert len(reader.screen.rows.rows) == 58

    review(made.folder, looks, now=NOW)


def test_line_71_everything_is_reached_at_every_size_and_one_too_small_says_what_it_needs(tmp_path: Path) -> None:
    async def looks(reader: Reader) -> None:
        assert "this terminal is 39x11" in reader.painted()
        assert "needs 40x12" in reader.painted()
        assert "Phase" not in reader.painted()
        for size in ((40, 12), (40, 20), (80, 24), (120, 40), (200, 60)):
            await resized(reader, size)
            await reader.press("home")
            assert "c Continue planning" in reader.painted()
            assert "Phase 1" in reader.painted()
            await reader.press("down", "enter")
            assert "S1  Create billing tables" in reader.painted()
            assert ("Phase 2" in reader.painted()) == (size[0] >= 72)
            await reader.press("escape")
            assert reader.screen.rows.has_focus

    review(reviewed(tmp_path).folder, looks, size=(39, 11), now=NOW)


def test_line_71_without_unicode_only_ascii_is_drawn(tmp_path: Path) -> None:
    made = MadeSession(tmp_path)
    made.has_turn(document({name: titles for name, titles in CHUNKS.items() if name != "Back end"}))

    async def looks(reader: Reader) -> None:
        reader.app.add_class("plain")
        await reader.press("down")
        text = reader.painted()
        assert text.isascii(), [letter for letter in text if not letter.isascii()]

    review(made.folder, looks, plain=True, now=NOW)


def test_line_81_a_session_that_another_process_holds_is_read_only_and_names_it(tmp_path: Path) -> None:
    made = reviewed(tmp_path)
    made.add(EventKind.QUESTION_ASKED, question="agent-1", kind="agent", text="Which currency?", round=1)
    following = FollowingSession(made.folder)
    following.planning.worker = "process 4711 on here"
    following.show(0)
    assert controls_of(following) == {"answer"}

    async def looks(reader: Reader) -> None:
        reader.screen.following = following
        following.ask_worker = lambda: False  # type: ignore[method-assign]
        reader.screen.paint()
        assert "held by process 4711 on here" in reader.text()
        assert reader.actions() == ["a"]
        await reader.press("c", "e", "f", "x", "t")
        assert reader.closed
        await reader.press("a")
        await reader.type("Euro")
        await reader.press("enter")
        assert reader.screen.started is None
        assert "the next turn knows it" in reader.text()

    review(made.folder, looks, now=NOW)
    assert '"Euro"' in (made.folder / "inbox" / "answer-agent-1.json").read_text()


def test_damage_is_said_and_nothing_can_be_done(tmp_path: Path) -> None:
    made = reviewed(tmp_path)

    async def looks(reader: Reader) -> None:
        log = made.folder / "progress.ndjson"
        log.write_bytes(log.read_bytes().replace(b'"ann"', b'"mallory"', 1))
        await reader.until(lambda: "damaged:" in reader.text())
        assert reader.actions() == []
        await reader.press("question_mark")
        assert isinstance(reader.app.screen, Reading)

    review(made.folder, looks)


def test_a_new_revision_is_gone_to_when_it_comes(tmp_path: Path) -> None:
    made = drafting(tmp_path)

    async def waits(reader: Reader) -> None:
        told: dict[str, Any] = {"agent": "codex", "kind": "draft", "message": "no idea", "reason": "agent_failed"}
        made.add(EventKind.DRAFT_ENDED, attempt=2, status="failed", **told)
        await reader.until(lambda: "codex: failed: no idea" in reader.page() or reader.screen.page_shown == "story")
        made.ends_turn(document({**CHUNKS, "Release notes": ("Write the notes", "Tell the customers")}))
        await reader.until(lambda: "revision 2: 1 new, 0 changed, 0 removed" in reader.text())
        assert reader.screen.rows.story is not None
        assert reader.screen.rows.story.title == "Tell the customers"
        assert "new in rev 2" in reader.page()

    review(made.folder, waits, now=NOW)


def test_a_turn_without_a_plan_says_why_and_the_revision_stays(tmp_path: Path) -> None:
    made = drafting(tmp_path)

    async def waits(reader: Reader) -> None:
        why: dict[str, Any] = {"reason": "plan_generation_failed", "message": "codex: no idea"}
        made.add(EventKind.TURN_ENDED, SessionPhase.REVIEW, status="failed", **why)
        made.add(EventKind.QUESTION_ASKED, question="plan-2", kind="plan", text="?", round=2, revision=1)
        await reader.until(lambda: "turn 2 brought no plan: codex: no idea" in reader.text())
        assert "rev 1  review" in reader.text()
        assert reader.actions() == ["c", "e", "f", "x"]

    review(made.folder, waits, now=NOW)


def test_line_63_a_session_has_these_arrows_and_no_others(tmp_path: Path) -> None:
    planning = FollowingSession(reviewed(tmp_path).folder).planning
    for phase, wanted in SCREENS.items():
        planning.state.phase = phase
        assert screen_of(planning) == wanted
    assert {(SCREENS[a], SCREENS[b]) for a, others in SESSION_MOVES.items() for b in others} == ARROWS


@pytest.mark.parametrize(
    ("phase", "resumable", "wanted"),
    [
        (RunPhase.CREATED, True, "NORMAL"),
        (RunPhase.EXECUTING, False, "EXECUTION_ACTIVE"),
        (RunPhase.RUN_VERIFICATION, False, "EXECUTION_ACTIVE"),
        (RunPhase.PAUSED, True, "EXECUTION_RESUMABLE"),
        (RunPhase.FAILED, True, "EXECUTION_RESUMABLE"),
        (RunPhase.FAILED, False, "NORMAL"),
        (RunPhase.BLOCKED, True, "EXECUTION_RESUMABLE"),
        (RunPhase.SUCCESS, False, "NORMAL"),
    ],
)
def test_line_63_a_run_has_these_screens(phase: RunPhase, resumable: bool, wanted: str) -> None:
    assert screen(phase, resumable=resumable) == wanted
