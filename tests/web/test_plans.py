"""A plan that is not final, on the pages: its revisions, what a person says to it, and the run that it becomes."""

from collections.abc import Callable, Iterator
from pathlib import Path
from time import sleep

import pytest

from santiago.app.loading import load as load_run
from santiago.app.planning.planning_sessions import Planning, load_session
from santiago.contract.phases import SessionPhase
from tests.cli import greeter, words
from tests.cli.santiago import santiago
from tests.tui.made_session import SESSION, drafting, reviewed
from tests.tui.reviewing import Agents
from tests.web.served import Served, repository, served

pytestmark = pytest.mark.xdist_group("served-plans")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve a repository with a session of two revisions that was written down."""
    repo = repository(tmp_path_factory.mktemp("plans"))
    reviewed(repo)
    with served(repo, "--read-only") as found:
        found.enter()
        yield found


def test_revisions_what_changed_commands_and_the_account_of_the_document_are_shown(written: Served) -> None:
    assert f'href="{written.base}/plans/{SESSION}"' in written.get("").text
    page = written.get(f"plans/{SESSION}").text
    for shown in (
        "review, revision 2", "10 stories · 5 chunks · 21 criteria", "1 new, 1 changed, 0 removed, 8 kept", "+ S10  Tell the customers",
        "a refund names its reason", "commands run as checks; making it final approves them", "$ pytest -q tests/test_3.py", "The document",
        "ask for the reason of a refund, and leave the release notes to the end", "claude: merged, done",
    ):  # fmt: skip
        assert shown in page, shown
    assert "santiago review p_20261115_011702 --finalize --revision 2" in page
    first = written.get(f"plans/{SESSION}?revision=1").text
    assert ("revision 1 of 2, to be read only" in first, "Tell the customers" in first, "--finalize" in first) == (
        True,
        False,
        False,
    )
    story = written.get(f"plans/{SESSION}/stories/S3").text
    assert ("Changed since rev 1" in story, "src/reasons.py" in story) == (True, True)
    assert [
        written.get(one).status for one in (f"plans/{SESSION}/stories/S99", "plans/other", f"plans/..%2F{SESSION}")
    ] == [404] * 3


def until(holds: Callable[[], bool]) -> None:
    while not holds():
        sleep(0.05)


def test_from_the_page_a_plan_is_continued_edited_cancelled_taken_up_and_made_final_with_a_typed_word(
    tmp_path: Path,
) -> None:
    repo = words.make(tmp_path)
    agents = Agents(repo)
    agents.draft("One")
    begun = santiago(
        "plan",
        "--trust-project",
        "--with",
        f"python3 {agents.folder / 'agent.py'}",
        "Make files",
        cwd=repo,
        env=greeter.place(repo),
    )
    assert begun.returncode == 0, begun.stderr
    (folder,) = (repo / ".santiago/sessions").iterdir()

    def planning() -> Planning:
        return load_session(folder)

    def says(act: str, typed: str = "", revision: int = 1, **more: str) -> str:
        form = {"act": f"plan-{act}", "session": folder.name, "revision": str(revision), **more}
        return site.act(form, typed).text

    with served(repo) as site:
        site.enter()
        assert "say what should be different" in says("continue")
        agents.draft("One", "Two")
        assert "santiago review began" in says("continue", text="add a second")
        until(lambda: planning().state.revision == 2 and planning().worker is None)
        said = next(one for one in planning().state.questions.values() if one.answer == "adjust")
        assert (said.detail, said.actor) == ("add a second", "ann")
        assert '"via":"page"' in (folder / "progress.ndjson").read_text()
        assert "has replaced the one that you looked at" in says("edit", text="late")
        says("cancel", revision=2)
        until(lambda: planning().state.phase is SessionPhase.CANCELLED and planning().worker is None)
        assert "this cannot be done now" in says("finalize", revision=2, word="start nothing")
        says("take-up", revision=2)
        until(lambda: planning().state.review is not None and planning().worker is None)
        final = {"act": "plan-finalize", "session": folder.name, "revision": "2", "word": "start nothing"}
        step = site.post("ask", {"token": site.get(f"plans/{folder.name}").hidden("token"), **final}).text
        for shown in (
            "2 stories in 1 chunk",
            "$ test -f S2.txt",
            "python3 does the work",
            "<strong>finalize</strong>",
            "--finalize --revision 2 --no-start",
        ):
            assert shown in step, shown
        assert "needs the word" in site.act(final, "yes").text
        assert planning().state.review is not None, "nothing is approved without that word"
        says("finalize", "finalize", revision=2, word="start nothing")
        until(lambda: planning().state.phase is SessionPhase.FINALIZED and planning().worker is None)
        run = planning().state.run
        assert f'href="{site.base}/runs/{run}"' in site.get(f"plans/{folder.name}").text
        assert not load_run(repo / ".santiago/runs" / run).state.attempts
        assert 'value="go-on"' in site.get(f"runs/{run}").text


def test_a_turn_under_way_can_only_be_cancelled(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    drafting(repo)
    with served(repo) as site:
        site.enter()
        page = site.get(f"plans/{SESSION}").text
        assert ("interrupted, revision 1" in page, "Take it up" in page, "plan-finalize" in page) == (True, True, False)
