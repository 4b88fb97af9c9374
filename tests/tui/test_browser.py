"""The browser over runs with fixed times: what it shows, and what its keys and the mouse do."""

from pathlib import Path

import pytest
from textual.widgets import Input, Static

from santiago.artifacts.inbox import Inbox
from santiago.artifacts.lock import Lock
from santiago.artifacts.registry import common_git_dir, register
from santiago.contract.phases import RunPhase
from santiago.report.chunks import MARKS, rows_of
from santiago.report.following import Following
from santiago.report.page import in_ascii
from santiago.tui.watch import WatchScreen
from santiago.tui.windows import Picking
from tests.cli import greeter
from tests.tui.driving import Browser, browse, drive, resized
from tests.tui.made import NOW, K, Made, P, asking_run, document, failed_run, running_run

EVIL = "\x1b[31mred\x1b]8;;http://evil\x07link\u202edrow [bold]not bold[/bold] \x07"


@pytest.fixture
def failed(tmp_path: Path) -> Made:
    return failed_run(tmp_path / "run")


def every_state(folder: Path) -> Made:
    """Make a run with chunks that are completed, left out, failed, blocked, under way and to come."""
    names = ("done", "skipped", "failed", "blocked", "current", "following", "last")
    made = Made(folder, document({name: (f"Story of {name}",) for name in names}))
    made.begin()
    made.chunk(0)
    made.done("S1")
    made.chunk(1)
    made.add(K.STORY_SKIPPED, "S2")
    made.chunk(2)
    made.fails("S3", 1)
    made.add(K.STORY_FAILED, "S3", P.FAILED, reason="attempt_budget_exhausted")
    made.chunk(3)
    made.add(K.STORY_BLOCKED, "S4", P.BLOCKED, reason="agent_asked")
    return made


def words(made: Made) -> list[str]:
    return [row.mark.word for row in rows_of(Following(made.out_dir).catch_up())]


def test_line_64_each_state_of_a_chunk_has_a_word_and_a_sign_of_its_own(tmp_path: Path, failed: Made) -> None:
    for looks in ({one.symbol for one in MARKS}, {in_ascii(one.symbol) for one in MARKS}, {one.word for one in MARKS}):
        assert len(looks) == len(MARKS)
    states = ["completed", "left out", "failed", "blocked", "next", "waiting", "waiting"]
    assert words(every_state(tmp_path / "every")) == states
    assert words(failed) == ["completed", "failed", "next", "waiting", "waiting"]
    assert [row.note for row in rows_of(Following(failed.out_dir).catch_up())][:2] == ["", "S3, 3 of 3 attempts"]
    made = Made(tmp_path / "begins")
    assert words(made) == ["next", "waiting", "waiting", "waiting", "waiting"]
    made.begin()
    made.chunk(0)
    made.attempt("S1")
    assert words(made) == ["current", "next", "waiting", "waiting", "waiting"]


def test_lines_64_and_65_states_stand_in_the_list_and_selections_are_typed_clicked_and_drawn(failed: Made) -> None:
    async def looks(browser: Browser) -> None:
        chunks = [line for line in browser.list() if "Phase" in line]
        assert ["✓" in chunks[0], "completed" in chunks[0]] == [True, True]
        assert ["✗" in chunks[1], "failed" in chunks[1], "S3, 3 of 3 attempts" in chunks[1]] == [True, True, True]
        assert ["»" in chunks[2], "next" in chunks[2]] == [True, True]
        await picks(browser)
        await browser.press("escape", "end", "up", "up", "up", "up", "up", "up")
        await draws(browser)
        await browser.press("escape")
        for typed in ("nonsense", "9", "4-"):
            await browser.press("c")
            await browser.type(typed)
            assert browser.screen.selection == typed
            assert browser.said().startswith("there is no chunk")
            await browser.press("enter")
            assert browser.screen.started is None
            await browser.press("escape")
        await browser.press("c")
        await browser.type("sqrp")
        assert browser.screen.selection == "sqrp"
        assert isinstance(browser.app.focused, Input)
        await browser.press("escape")
        assert browser.screen.selection == ""
        assert browser.rows.has_focus

    async def picks(browser: Browser) -> None:
        await browser.press("space")
        assert browser.screen.selection == "2"
        assert browser.said() == "will run 1 chunk, 3 stories (1 attempted before): Phase 2: Back end; enter runs it"
        await browser.press("end", "space")
        assert browser.screen.selection == "2,5"
        assert browser.said().startswith("chunk 5 (Phase 5: Release notes) comes after 3 (Phase 3: Export)")
        await browser.press("enter")
        assert browser.screen.started is None
        await browser.press("escape")
        assert browser.screen.selection == ""
        await browser.pilot.click(browser.rows, offset=(8, 0))
        await browser.pilot.pause()
        assert browser.screen.selection == "1"
        assert browser.said() == "chunk 1 (Phase 1: Foundation) is completed. What is done is never done again."
        await browser.press("enter")
        assert browser.screen.started is None

    async def draws(browser: Browser) -> None:
        await browser.press("v", "end")
        assert browser.screen.selection == "2-5"
        assert [line.startswith("┃") for line in browser.list()] == [False, True, True, True, True, True, True, True]
        await browser.press("up", "up")
        assert browser.screen.selection == "2-3"
        await browser.press("v", "home")
        assert browser.screen.selection == "2-3"

    browse(failed.out_dir, looks)


def test_line_70_a_hint_for_a_done_story_is_refused_and_for_another_one_left(failed: Made) -> None:
    async def hints(browser: Browser) -> None:
        await browser.press("home", "right", "down", "h")
        assert browser.said() == "S1 is done, and that cannot be undone"
        await browser.press("end", "up", "up", "up", "up", "up")
        assert browser.rows.current is not None
        assert browser.rows.current.story == "S3"
        await browser.press("h")
        await browser.type("mind the gap")
        await browser.press("enter")
        assert "understood: hint for S3: mind the gap" in browser.text()
        await browser.press("enter")
        await browser.press("e")
        await browser.type("use Euros")
        await browser.press("enter", "enter")
        assert "the next attempt of S3 will see it" in browser.said()

    browse(failed.out_dir, hints, size=(100, 30))
    letters = [(one.kind, one.subject, one.text) for one in Inbox(failed.out_dir).collect()]
    assert letters == [("change", "S3", "use Euros"), ("hint", "S3", "mind the gap")]


def test_line_71_every_size_shows_the_chunks_with_their_states_and_one_too_small_says_its_need(failed: Made) -> None:
    async def looks(browser: Browser) -> None:
        for size in ((30, 20), (60, 8)):
            await resized(browser, size)
            told = str(browser.screen.query_one("#small", Static).content)
            assert "the browser needs 40x12" in told
            await browser.until(lambda: bool(browser.screen.query_one("#small").display))
            assert not browser.rows.display or browser.screen.has_class("small")
        for size in ((40, 12), (40, 40), (80, 24), (200, 60)):
            await resized(browser, size)
            await browser.until(lambda: not browser.screen.has_class("small"))
            words = [line.split()[-1] if size[0] == 40 else line for line in browser.list() if "Pha" in line]
            assert len(words) == 5
            assert all(word in line for word, line in zip(("completed", "failed", "next"), words, strict=False))
            assert all(len(line) <= size[0] for line in browser.list())

    browse(failed.out_dir, looks)


def test_line_71_without_unicode_only_ascii_is_drawn(tmp_path: Path) -> None:
    made = Made(tmp_path / "run", document({"One": ("First", "Second")}))
    made.begin()
    made.chunk(0)
    made.attempt("S1")

    async def looks(browser: Browser) -> None:
        await browser.press("space", "down")
        assert "".join(browser.list()).isascii()

    browse(made.out_dir, looks, plain=True)


def test_line_72_escapes_and_markup_in_foreign_text_are_shown_as_text(tmp_path: Path) -> None:
    made = Made(tmp_path / "run", document({"One": (f"Title {EVIL}",)}))
    made.begin()
    made.chunk(0)
    made.attempt("S1")
    made.add(K.QUESTION_ASKED, "S1", question="S1-agent-1", kind="agent", text=f"Which? {EVIL}", round=1)

    async def looks(browser: Browser) -> None:
        await browser.press("down")
        texts = [browser.text()]
        await browser.press("a")
        texts.append(browser.text())
        for text in texts:
            assert not {"\x1b", "\x07", "\u202e"} & set(text)
            assert "http://evil" not in text
        assert "[bold]not bold[/bold]" in texts[1]
        assert "redlinkdrow [bold]" in "\n".join(browser.list())

    browse(made.out_dir, looks, size=(140, 40))


def test_line_73_whoever_opens_late_sees_everything_then_follows_and_is_told_of_damage(failed: Made) -> None:
    made = failed

    async def follows(browser: Browser) -> None:
        assert browser.screen.current.state.seq == made.seq
        assert "2/9 stories" in browser.text()
        made.add(K.RUN_STARTED, epoch=2, pid=4711, host="here", agent="claude")
        made.add(K.RUN_EXECUTING, None, RunPhase.EXECUTING)
        made.add(K.STORY_REOPENED, "S3", P.READY)
        made.done("S3", 4)
        await browser.until(lambda: browser.screen.current.state.seq == made.seq)
        await browser.until(lambda: "3/9 stories" in browser.text())
        assert any("S3" in line and "done" in line for line in browser.list())
        with (made.out_dir / "progress.ndjson").open("ab") as log:
            log.write(b'{"seq": 1}\n{}\n')
        await browser.until(lambda: "damaged: line" in browser.text())

    browse(made.out_dir, follows)


def test_line_64_pages_of_a_story_and_a_filter_by_words_or_state(failed: Made) -> None:
    async def reads(browser: Browser) -> None:
        assert "43,500 tokens   $0.33" in browser.text()
        assert "  3  ✗ story_verification_failed     48 s    5.0 s    14.5k" in browser.text()
        await browser.press("3")
        assert "running pytest -q tests/test_3.py" in browser.text()
        await browser.press("4")
        assert "+        return 409" in browser.text()
        await browser.press("5")
        assert "Refund endpoint is tested" in browser.text()
        assert "$ pytest -q tests/test_3.py" in browser.text()
        await browser.press("slash")
        await browser.type("export")
        assert [row.story for row in browser.rows.rows] == ["", "S6", "S7"]
        await browser.press("escape")
        assert len([line for line in browser.list() if "Phase" in line]) == 5
        await browser.press("slash")
        await browser.type("failed")
        assert [row.story for row in browser.rows.rows] == ["", "S3"]
        await browser.press("enter", "4")
        assert browser.rows.has_focus
        assert browser.screen.page_shown == "changes"
        await browser.press("escape", "slash")
        await browser.type("nowhere")
        assert "no story has these words in it" in browser.line(0)

    browse(failed.out_dir, reads, now=NOW)


def test_the_browser_follows_what_runs_until_the_cursor_is_moved_and_again_on_f(tmp_path: Path) -> None:
    made = running_run(tmp_path / "run")

    async def follows(browser: Browser) -> None:
        browser.screen.following.ask_worker = lambda: False  # type: ignore[method-assign]
        browser.screen.current.worker = "process 1"
        made.add(K.ATTEMPT_ENDED, "S3", P.READY, attempt=2, status="failed", reason="story_verification_failed")
        made.attempt("S4")
        await browser.until(lambda: here(browser) == "S4")
        await browser.press("home")
        made.add(K.ATTEMPT_ENDED, "S4", P.READY, attempt=1, status="failed", reason="story_verification_failed")
        made.attempt("S5")
        await browser.until(lambda: browser.screen.current.state.seq == made.seq)
        assert here(browser) == ""
        await browser.press("f")
        assert here(browser) == "S5"
        made.add(K.STORY_FAILED, "S5", P.FAILED, status="failed", reason="attempt_budget_exhausted")
        browser.screen.current.worker = None
        made.add(K.RUN_ENDED, None, RunPhase.FAILED, status="failed", reason="attempt_budget_exhausted")
        await browser.until(lambda: "failed" in browser.line(browser.rows.cursor))

    browse(made.out_dir, follows)


def here(browser: Browser) -> str:
    row = browser.rows.current
    return row.story if row else ""


def test_the_browser_opens_at_what_failed_or_asks_and_shows_its_page(tmp_path: Path) -> None:
    every = every_state(tmp_path / "every")
    asks = asking_run(tmp_path / "asks")
    unbegun = Made(tmp_path / "begins")
    for made, story in ((every, "S3"), (asks, "S3"), (unbegun, "")):

        async def looks(browser: Browser, story: str = story) -> None:
            assert here(browser) == story
            assert browser.page().startswith(f"{story}  " if story else "chunk 1  ")
            rows = browser.rows
            assert 0 <= rows.cursor - rows.scroll_offset.y < rows.size.height

        for size in ((40, 12), (80, 24), (120, 40)):
            browse(made.out_dir, looks, size=size)


def test_the_browser_keeps_its_keys_after_a_terminal_below_40_columns(failed: Made) -> None:
    async def shrinks(browser: Browser) -> None:
        before = here(browser)
        for size in ((39, 24), (20, 5), (80, 11)):
            await resized(browser, size)
            await browser.press("down", "space", "enter", "r", "5")
            assert (browser.screen.selection, browser.screen.page_shown, len(browser.app.screen_stack)) == (
                "",
                "story",
                2,
            )
            await resized(browser, (80, 24))
            await browser.until(lambda: browser.app.focused is not None)
            assert here(browser) == before, "no key acts on what is hidden"
        await browser.press("down")
        assert here(browser) == "S4"
        await browser.press("c")
        await resized(browser, (30, 24))
        await resized(browser, (80, 24))
        await browser.until(lambda: browser.app.focused is not None)
        await browser.type("2")
        assert browser.screen.selection == "2", "who was typing goes on typing"

    browse(failed.out_dir, shrinks)


def test_a_message_goes_with_the_next_key_and_with_the_state_that_it_was_about(failed: Made) -> None:
    async def reads(browser: Browser) -> None:
        usual = browser.said()
        await browser.press("a")
        assert browser.said() == "no question is open"
        await browser.press("down")
        assert browser.said() == usual
        await browser.press("a")
        failed.add(K.RUN_STARTED, epoch=2, pid=4711, host="here", agent="claude")
        failed.add(K.RUN_EXECUTING, None, RunPhase.EXECUTING)
        await browser.until(lambda: browser.said() == usual)

    browse(failed.out_dir, reads)


def test_a_run_that_begins_takes_the_place_of_one_at_rest_unless_it_was_named_or_somebody_is_busy_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = greeter.committed(tmp_path / "repo", {"README.md": ""})
    monkeypatch.chdir(repo)
    common = common_git_dir(repo)
    assert common
    for number, make in enumerate((failed_run, running_run), 1):
        register(common, f"r_{number}", make(tmp_path / f"r_{number}").out_dir, f"2026-11-1{number}T00:00:00.000Z")
    for any_run, busy, shown in ((True, False, "r_2"), (True, True, "r_1"), (False, False, "r_1")):
        screen = WatchScreen(tmp_path / "r_1", any_run=any_run)

        async def looks(browser: Browser, screen: WatchScreen = screen, busy: bool = busy, shown: str = shown) -> None:
            await browser.press(*(["home"] if busy else []))
            with Lock(tmp_path / "r_2", since="now"):
                seen = screen._ticks
                await browser.until(lambda: screen._ticks > seen + 4)
                assert screen.following.out_dir.name == shown
                assert ("r_2 has begun" in browser.said()) is busy
                if shown == "r_2":
                    await browser.press("o")
                    await browser.until(lambda: isinstance(browser.app.screen, Picking))
                    await browser.press("down", "enter")
                    seen = screen._ticks
                    await browser.until(lambda: screen._ticks > seen + 4)
                    assert screen.following.out_dir.name == "r_1", "whoever chooses a run keeps it"

        drive(screen, Browser, lambda: True, looks, (80, 24), "")
