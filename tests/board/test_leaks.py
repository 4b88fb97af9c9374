"""Board line 69: only what leaks is cut out of a text for users."""

import pytest

from santiago.board.internals import clean, leaks

KEPT = (
    "Read UTF-8 files", "Dates by ISO-8601", "Ask GPT-5 for a title", "SHA-256 digests, AES-256 and RFC-9110", "COVID-19 figures",
    "Handle input/output and CI/CD over TCP/IP, 24/7", "yes/no/maybe", "Node.js and Vue.js", "A .NET app in C#", "e.g. 3.11 or 1/2",
    "Make the page fast and go on", "git support in the editor", "A page for the lease of a flat", "The first phase of the moon",
    "Blocked users are done", "Open https://example.org/a/b.json?x=1 in a tab", "A well-known problem - and its cure", "다음 화면의 로그인",
    "The queue at the till", "santiago is a city", "5 - 3 apples", "x-ray", "I/O",
)  # fmt: skip
CUT = {
    "Fix AB-12 in the login": "Fix in the login",
    "(AB-12) Sign in": "Sign in",
    "Sign in [REQ-7.S2]": "Sign in",
    "AB-12: Sign in by GPT-5": "Sign in by GPT-5",
    "Add login to src/app/login.py": "Add login",
    "Use Node.js with package.json": "Use Node.js",
    "The page (see docs/x.md)": "The page",
    "Write docs/board.md.": "Write",
    "Look at /etc/passwd and ~/.ssh/id": "Look",
    "Read .sigee/.runtime/plans now": "Read now",
    "Run `santiago queue list --json` again": "Run again",
    "Do git push --force, then rest": "Do, then rest",
    "Try npm run build:all first": "Try first",
    "Show it with --user-facing and -v": "Show it",
    "Move it from developer-todo to planner-review": "Move it",
    "set phase=ready for the lease page": "set for the lease page",
    "LOOP_STATUS:CONTINUE is shown": "is shown",
    "after $tech-planner comes rest": "after comes rest",
    "source=plan:auth sign in": "sign in",
    "PLAN-auth: sign in": "sign in",
    "Towards OBJ-BOOT-001 we go": "Towards we go",
    "attempt_count is 3": "is 3",
    "로그인 화면 AB-12를 고친다": "로그인 화면 고친다",
    "AB-12": "",
    "src/app.py, src/b.py": "",
    "--- ``` ---": "",
}


@pytest.mark.parametrize("text", KEPT)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    """Board line 69."""
    assert clean(text) == text
    assert leaks(text) == []


@pytest.mark.parametrize(("text", "expected"), CUT.items())
def test_only_the_leaking_part_is_cut(text: str, expected: str) -> None:
    """Board line 69."""
    assert clean(text) == expected
    assert leaks(clean(text)) == []


def test_ids_of_the_board_are_cut_and_a_text_stays_on_its_line_and_closes_no_fence() -> None:
    """Board lines 68 and 69; an id that is an ordinary word says nothing and stays."""
    known = {"auth.login", "story_7", "login", "log-in", "Sign-In"}.__contains__
    assert clean("auth.login: Sign-In by story_7, login and log-in", known) == "login and log-in"
    assert clean("one\n```\ntwo\t`three`\x00") == "one two three"


@pytest.mark.parametrize("bad", ["a/", "--a", "a.", "../", "x-", "a/b.", "and \x00 ", "A-1", "src/"])
def test_a_long_hostile_text_is_cut_to_length_first(bad: str) -> None:
    assert len(clean(bad * 100_000)) <= 2000
