"""What people are told about proof: the first line on a run, the result, the request, the table, by recorded runs."""

from collections.abc import Callable
from pathlib import Path

import pytest

from santiago.app.loading import Run, empty_fold, load
from santiago.app.notice import Notice
from santiago.artifacts.reader import read_log
from santiago.cli.view.table import Table
from santiago.contract.events import EventKind
from santiago.contract.outcomes import Proof
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.contract.reasons import Reason
from santiago.contract.state import RunState
from santiago.contract.views import selected, step_state, story_status
from santiago.executor.tally import headline, result
from santiago.report.proof import unproven_lines
from santiago.report.pull_request import body
from tests.cli import greeter, words
from tests.transcripts import recording
from tests.util.each import each


def recorded(world: str, folder: Path) -> Run:
    return load(greeter.out_dir(recording.load(world, folder)))


def allowed(state: RunState) -> None:
    state.stories["S2"].proof = state.stories["S3"].proof = Proof.REGRESSION


def named_an_old_test(state: RunState) -> None:
    state.stories["S1"].criteria = (("R1#1", "test_zero.T.test_zero", "passed", "passed"),)


def failed_elsewhere(state: RunState) -> None:
    state.phase, state.reason = RunPhase.FAILED, Reason.ATTEMPT_BUDGET_EXHAUSTED
    state.stories["S1"].phase = StoryPhase.FAILED
    state.stories["S5"].skipped = True


def worked_on_again(state: RunState) -> None:
    state.phase, state.reason, state.stories["S2"].phase = RunPhase.EXECUTING, None, StoryPhase.RUNNING


SPENT = "failed  attempt_budget_exhausted  "
CRITERIA = "1 of 6 criteria shown by a named test"
LINES: list[tuple[str, Callable[[RunState], None] | None, str]] = [
    ("taken", allowed, f"success  5 done: 1 shown, 1 claimed, 1 docs only, 2 not proven; {CRITERIA}"),
    (
        "taken", named_an_old_test,
        "success  5 done: 1 shown, 2 attested, 1 claimed, 1 docs only; 0 of 6 criteria shown by a named test",
    ),
    (
        "unproven", failed_elsewhere,
        f"{SPENT}1 of 5 done: 1 docs only; 2 not proven: S2, S3; 1 failed, 1 left out; 0 of 5 criteria shown by a named test",
    ),
    (
        "unproven", worked_on_again,
        f"executing  3 of 5 done: 1 shown, 1 claimed, 1 docs only; 1 not proven: S3; {CRITERIA}",
    ),
    ("unrunnable", None, "blocked  verification_unrunnable  0 of 3 done"),
]  # fmt: skip


@each(("world", "change", "line"), LINES)
def test_the_first_line_counts_proofs(
    world: str, change: Callable[[RunState], None] | None, line: str, tmp_path: Path
) -> None:
    run = recorded(world, tmp_path)
    if change is not None:
        change(run.state)
    assert str(headline(run.plan, run.state)) == line


def test_an_unproven_story_is_blocked_in_the_result_and_has_its_commit(tmp_path: Path) -> None:
    run = recorded("unproven", tmp_path)
    told = result(run.plan, run.state, None)
    assert (told.status, told.reason, told.next_action) == ("blocked", "unproven", "answer_question")
    assert told.message.startswith("Finished, 2 of 5 not proven: S2, S3; 3 done: 1 shown")
    assert [(one.id, one.status, one.proof, one.reason) for one in told.stories] == [
        ("S1", "done", "own_tests", None),
        ("S2", "blocked", "regression", "unproven"),
        ("S3", "blocked", "regression", "unproven"),
        ("S4", "done", "regression", None),
        ("S5", "done", "claimed", None),
    ]
    assert all(one.commit for one in told.stories)
    counts = told.summary
    assert counts.completed + counts.failed + counts.blocked + counts.skipped == len(told.stories)
    assert counts.shown + counts.attested + counts.claimed + counts.prose + counts.not_proven == counts.completed


def test_unproven_work_on_the_branch_waits_for_a_person_in_every_model(tmp_path: Path) -> None:
    run = recorded("unproven", tmp_path)
    state, one = run.state, run.state.stories["S2"]
    assert selected(state) is None, "nobody works on it"
    assert (story_status(state, one), step_state(state, one)) == ("in_progress", "Step Done")


def test_a_pull_request_says_what_is_not_proven_and_who_attested_what(tmp_path: Path) -> None:
    waiting, taken = (body(recorded(world, tmp_path / world)) for world in ("unproven", "taken"))
    assert "`prd.md`: 2 of 5 not proven: S2, S3; 3 done: 1 shown" in waiting
    _, _, rest = waiting.partition("### Not proven")
    assert "- **S3 Tidy up** (+1 -0 in three.py, the agent says: refactoring, " in rest
    assert "two() is 2: `test_zero.T.test_zero` (passed before, passed now), which shows nothing" in rest
    assert "### Not proven" not in taken
    assert "### Attested\n\n- S2, S3 by ann: I looked at both\n" in taken


def test_the_table_shows_who_adds_the_missing_test_and_what_is_not_proven(tmp_path: Path) -> None:
    run = recorded("unproven", tmp_path)
    fold, shown = empty_fold(run.plan, run.run_input), {}
    table = Table(run.plan, run.run_input, tmp_path, "sh", lambda: 0)
    for event in read_log(run.out_dir / "progress.ndjson"):
        fold.apply(event)
        table.take([event])
        if event.story_id == "S2":
            shown[event.event, event.attempt] = "\n".join(table.picture(fold.state, 120, 30))
    assert "ready  passes its checks; an attempt adds the missing test" in shown[EventKind.ATTEMPT_ENDED, 1]
    assert "missing test: " in shown[EventKind.ATTEMPT_STARTED, 2]
    last = shown[EventKind.STORY_INTEGRATED, 2]
    assert "1/5 stories, 1 not proven" in last
    assert "not proven  on the branch, no test shows it" in last


def test_unproven_stories_are_told_once_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, sent = recorded("unproven", tmp_path), []
    notice = Notice(tmp_path, run.run_id, run.out_dir)
    monkeypatch.setattr(notice, "_tell", lambda *words, **_: sent.append(words))
    notice.take([*read_log(run.out_dir / "progress.ndjson")], run.state)
    notice.give(run.state, run.out_dir)
    ((kind, text, _, command),) = sent
    assert (kind, text.endswith("(S2, S3)")) == ("stop", True)
    assert command == f'santiago accept {run.run_id} --unproven --why "YOUR REASON"'


def test_a_story_about_texts_alone_needs_no_test_but_its_own_check_must_pass(tmp_path: Path) -> None:
    """A check that fails before the work and after it is no proof, whatever the plan says about files."""
    repo = words.make(tmp_path)
    words.run(repo, "echo x > other.txt\n", "--only", "S1", "--unproven", "ask", limits=recording.ONCE)
    run = load(greeter.out_dir(repo))
    assert run.state.stories["S1"].phase is not StoryPhase.DONE
    assert "fails as before: test -e" in "\n".join(unproven_lines(run.plan, run.state, run.out_dir))
