"""Step by step at a terminal: every state and every arrow of the workflow, as a person types it."""

import fcntl
import json
import os
import re
import signal
import struct
import termios
import time
from pathlib import Path

import pytest

from santiago.app.loading import Run, empty_fold, load
from santiago.artifacts.lock import last_sign
from santiago.artifacts.names import LOG
from santiago.artifacts.reader import Reader
from santiago.contract.views import run_step_state, step_states
from santiago.report.agent_activity import Doing
from santiago.report.run_status import chunk_ms
from santiago.report.story import page
from santiago.util.text import width
from tests.cli import greeter
from tests.cli.greeter import committed, git, looks, out_dir, place, says
from tests.cli.typing_person import Person
from tests.util.restored import restored

PLAN = """\
# Plan: Greeter
## Step 1: Say hello
**Files:** `hello.txt`

Actions:
- write hello.txt

Result: hello.txt says hello
## Step 2: Say goodbye
**Files:** `bye.txt`, `later.txt`

Result: bye.txt says goodbye
## Step 3: Say thanks
**Files:** `thanks.txt`

Result: thanks.txt says thanks
"""
TESTS = """\
import pathlib, unittest
class Words(unittest.TestCase):
    def test_hello(self): self.assertIn("hello", pathlib.Path("hello.txt").read_text())
    def test_bye(self): self.assertIn("goodbye", pathlib.Path("bye.txt").read_text())
    def test_thanks(self): self.assertIn("thanks", pathlib.Path("thanks.txt").read_text())
"""
PLAYBOOK = """\
stories:
  S1:
    - write: {hello.txt: "hello\\n"}
      seconds: 600
    - write: {hello.txt: "hello, all\\n"}
    - write: {hello.txt: "hello, world\\n"}
  S2.1:
    - write: {bye.txt: "goodbye\\n"}
  S2.2:
    - write: {later.txt: "see you later\\n"}
  S3:
    - write: {thanks.txt: "thanks\\n"}
proposals:
  S1:
    - detail: {objective: Greet, create: [hello.txt], actions: [write it]}
    - detail: {objective: Greet all, create: [hello.txt], actions: [write it, for all]}
  S2:
    - &parts
      detail:
        objective: Part
        create: [bye.txt]
        actions: [in two parts]
        substeps:
          - title: Go
            actions: [write bye.txt]
            files: [bye.txt]
            checks: ["python3 -m unittest -q test_words.Words.test_bye"]
          - title: Promise
            actions: [write later.txt]
            files: [later.txt]
            checks: [grep later later.txt]
    - *parts
  S3:
    - detail: {objective: Thank, create: [thanks.txt], actions: [write it]}
"""
CHECK = "python3 -m unittest -q test_words"


pytestmark = pytest.mark.xdist_group("step_by_step")
BEGIN = ("plan.md", "--agent", "scripted", "--playbook", "play.yaml", "--verify", CHECK)
STATES = {
    "Plan Loaded", "Tasks Created", "Step Selected", "Plan Proposed", "Plan Revised", "Implementing", "Step Done",
    "Adjusting", "Marked Complete", "Substep Selected", "Substep Implementing", "Substep Done", "Resume Flow",
    "Plan Complete",
}  # fmt: skip
PROPOSED = "# Greeter\n\n## Greetings\n\nIt greets.\n\n## Small\n\n- [ ] write hello.txt\n- [ ] write bye.txt\n"
PART = """\
stories:
  S1.1:
    - write: {part.txt: "part\\n"}
  S1:
    - write: {bye.txt: "goodbye\\n"}
proposals:
  S1:
    - detail:
        objective: Part
        create: [bye.txt]
        actions: [in parts]
        substeps:
          - {title: Go, actions: [write part.txt], files: [part.txt], checks: ["grep part part.txt"]}
"""
AGENT = """\
case "$SANTIAGO_STORY-$SANTIAGO_ATTEMPT" in
S1-*) echo hello > hello.txt ;;
S2-1) until test -e {go}; do sleep 0.05; done; echo godbye > bye.txt ;;
S2-2) echo > {begun}; echo goodbye > bye.txt ;;
esac
"""


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make(tmp_path)


def make(folder: Path, plan: str = PLAN, play: str = PLAYBOOK) -> Path:
    return committed(folder / "repo", {"plan.md": plan, "test_words.py": TESTS, "play.yaml": play})


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    repo = make(tmp_path_factory.mktemp("first"))
    told = says(repo, "step", *BEGIN, code=10)
    assert "santiago answer S1-detail-1" in told.stderr
    assert "santiago answer S1-detail-1 stop" not in told.stderr, "it rests, so that this would be no advice"
    return repo


@pytest.fixture
def asked(first: Path) -> Path:
    return restored(first, first.parent)


def sits(repo: Path, *words: str) -> Person:
    return Person("step", *words, cwd=repo, env=place(repo))


def states(run: Run) -> set[str | None]:
    """Return every state that the run and its steps were in, event by event."""
    fold, seen = empty_fold(run.plan, run.run_input), set[str | None]()
    for event in Reader(run.out_dir / LOG):
        fold.apply(event)
        seen |= {*step_states(fold.state).values(), run_step_state(fold.state, held=True)}
    return seen


def test_line_44_every_state_and_every_arrow_as_a_person_types_it(repo: Path) -> None:
    person = sits(repo, *BEGIN)
    # Plan Loaded, Tasks Created, Step Selected, Plan Proposed
    person.sees("Greeter: 3 steps imported")
    person.sees("S1-detail-1")
    # line 22: Enter alone approves nothing
    person.sees("\n> ")
    person.types("")
    # line 20 and 33: words beside consent are an adjustment, and lead to another proposal with the difference
    person.says("ok, but for all", 'adjust "ok, but for all"')
    assert 'actions: 2 is new: "for all"' in person.sees("proposal 2)?")
    # line 21: what was understood can be taken back
    person.sees("\n> ")
    person.types("defer")
    person.sees("understood: defer; Enter to send")
    person.presses("\x1b")
    person.says("\x1bLooks good!", "approve")  # and once more, which says nothing
    # Implementing; line 38: a change while it is under way
    person.sees("attempt 1 of")
    looks(repo, "change", "S1", "--text", "greet all of them", code=0)
    # Adjusting, Step Done; line 37: let me test
    person.sees("S1-result-2")
    assert "hello.txt" in person.sees("Is it complete")
    person.sees("\n> ")
    person.types("t")
    person.sees("$ santiago try S1")
    person.sees("`exit` leaves it")
    person.types("cat hello.txt; exit")
    person.sees("hello, all")
    person.says("greet the world", 'change "greet the world"')
    # the work as a difference, and what has changed since the person saw it (issue 25, part 7)
    person.sees("S1-result-3")
    assert "+hello, world" in person.sees("changed since the work that you saw before:")
    assert "-hello, all\n    +hello, world" in person.sees("files:")
    person.says("validate", "validate")
    # Marked Complete, and the loop; line 34: defer
    person.sees("S1 is complete. Go on with S2")
    person.says("yes", "continue")
    person.sees("S2-detail-1")
    person.says("defer", "defer")
    person.sees("S3-detail-1")
    person.says("ok", "approve")
    person.sees("S3-result-1")
    person.says("ok", "validate")
    # line 40: to stop is a pause
    person.sees("Only stories that were put off are left: S2")
    person.says("stop", "stop")
    assert person.leaves() == 0
    # Resume Flow
    person = sits(repo)
    person.sees("Only stories that were put off are left: S2")
    person.says("go ahead", "continue")
    person.sees("S2-detail-2")
    person.says("ok", "approve")
    # Substep Selected, Substep Implementing, Substep Done; line 41: the parent's own confirmation comes after them
    for name, following in (("S2.1", "S2.2"), ("S2.2", "S2")):
        person.sees(f"{name}-result-1")
        person.says("ok", "validate")
        # line 83: a substep, too, is followed by the question whether to go on, and Enter alone says nothing
        person.sees(f"{name} is complete. Go on with {following}")
        person.sees("\n> ")
        person.types("")
        person.says("yes", "continue")
    person.sees("S2-result")
    person.says("ok", "validate")
    # Plan Complete
    person.sees("success  3 done: ")
    assert person.leaves() == 0
    run = load(out_dir(repo))
    assert [one.id for one in run.state.open_questions()] == []
    assert states(run) >= STATES
    assert git(repo, "show", f"{run.state.branch}:hello.txt") == "hello, world"
    looks(repo, "audit", run.out_dir, code=0)


def test_lines_19_and_38_an_answer_or_a_change_from_elsewhere_closes_the_question_at_the_terminal(asked: Path) -> None:
    person = sits(asked)
    person.sees("\n> ")
    # line 81: who comes second is told how to answer all the same
    second = looks(asked, "step")
    assert (second.returncode, "`santiago answer`" in second.stderr) == (20, True), second.stderr
    looks(asked, "answer", "S1-detail-1", "defer", "--actor", "bob", code=0)
    person.sees("S1-detail-1 was answered: defer, by bob")
    late = looks(asked, "answer", "S1-detail-1", "ok")
    assert (late.returncode, ", by bob at 20" in late.stderr) == (30, True), late.stderr
    person.sees("S2-detail-1")
    person.sees("\n> ")
    looks(asked, "change", "S2", "--text", "for all", "--actor", "bob", code=0)
    person.sees("S2-detail-1 was answered: change, by bob")
    person.sees("S2-detail-2")
    person.says("stop", "stop")
    person.sees("at a question; S2-detail-2 stays open")
    assert person.leaves() == 0


def test_a_person_who_takes_a_year_costs_no_minutes_and_one_whose_input_ends_is_told_how_to_answer(asked: Path) -> None:
    person = sits(asked)
    person.sees("stop      pause")
    deadline = time.monotonic() + 60
    while last_sign(out_dir(asked)) is None:  # the run signs its lock now and then; it has only just begun
        assert time.monotonic() < deadline
        time.sleep(0.01)
    run = load(out_dir(asked))
    assert run.worker
    assert run.used_ms("2999-01-01T00:00:00.000Z") < 3_600_000
    run.history.last = run.history.marked = "1999-01-01T00:00:00.000Z"  # as if it had been asked long ago
    assert chunk_ms(run, run.state.chunks["C01"]) < 3_600_000
    # and `status` says what answers it
    shown = looks(asked, "status").stdout
    assert "next: santiago show S1 " in shown
    assert re.search("santiago answer S1-detail-1 approve +# implement the step as it is planned here\n", shown)
    assert shown.index("santiago answer S1-detail-1 defer") < shown.index("santiago log --follow")
    person.sees("\n> ")
    for after in range(3):
        person.presses("\x04")
        person.sees(">" if after < 2 else "S1-detail-1 stays open")
    person.sees("$ santiago answer S1-detail-1")
    assert looks(asked, "stop").returncode == 0
    assert person.leaves() == 130


def test_consent_to_a_plan_that_is_not_there_is_refused_and_the_question_stays(repo: Path) -> None:
    (repo / "play.yaml").write_text(
        PLAYBOOK.split("proposals:")[0] + 'proposals: {S1: [{detail: "no"}, {detail: "none"}]}\n'
    )
    person = sits(repo, *BEGIN)
    person.sees("wrote no detailed plan of S1")
    assert "the rest of chunk" not in person.sees("\n> ")
    person.types("ok")
    person.sees("there is no detailed plan to approve")
    told = looks(repo, "answer", "S1-detail-2", "ok")
    assert (told.returncode, "there is no detailed plan to approve" in told.stderr) == (30, True), told.stderr
    person.says("stop", "stop")
    assert person.leaves() == 0
    assert "S1-detail-2 approve" not in looks(repo, "status").stdout


def test_line_26_without_a_terminal_the_question_is_printed_with_the_command_that_answers_it(asked: Path) -> None:
    tasks = json.loads(looks(asked, "status", "--tasks").stdout)["tasks"]
    assert [task["status"] for task in tasks] == ["in_progress", "pending", "pending"]
    listed = looks(asked, "answer")
    assert (listed.returncode, "S1-detail-1" in listed.stdout, "approve" in listed.stdout) == (0, True, True)
    # line 28: the same plan again goes on with what is not finished
    again = says(asked, "step", *BEGIN)
    assert (again.returncode, "is not finished; going on with it" in again.stderr) == (10, True)
    assert len(list(out_dir(asked).parent.iterdir())) == 1


def test_lines_7_8_and_85_status_and_views_show_the_words_of_execution_model_and_workflow(asked: Path) -> None:
    told = json.loads(looks(asked, "status", "--json").stdout)
    assert (told["status"], [story["status"] for story in told["stories"]]) == (
        "blocked", ["in_progress", "pending", "pending"],
    )  # fmt: skip
    assert [story["step_state"] for story in told["stories"]] == ["Plan Proposed", "Tasks Created", "Tasks Created"]
    assert json.loads(looks(asked, "show", "S1", "--json").stdout)["status"] == "in_progress"
    assert "step S1 Say hello: Plan Proposed\n" in looks(asked, "status").stdout
    assert "Plan Proposed" in looks(asked, "show", "S1").stdout
    run = load(out_dir(asked))
    shown = page(run, run.plan.stories[0], "story", Doing(run.out_dir, "", once=True), 0)
    assert any("Plan Proposed" in line.text for line in shown), "on the screen of `watch`"
    (asked / "new.md").write_text(PLAN)
    looks(asked, "plan", "new.md")
    newest = max((asked / ".santiago" / "runs").iterdir(), key=lambda run: run.stat().st_mtime_ns)
    assert json.loads(looks(asked, "status", newest, "--json").stdout)["status"] == "initialized"


def test_to_stop_a_run_that_rests_leaves_its_question_open_for_a_true_answer(asked: Path) -> None:
    told = looks(asked, "answer", "S1-detail-1", "stop")
    assert (told.returncode, "nothing to stop, and S1-detail-1 stays open" in told.stderr) == (0, True), told.stderr
    # line 24: a name that could not stand in a log is refused
    told = looks(asked, "answer", "S1-detail-1", "ok", "--actor", "a\x1b[2Kb")
    assert (told.returncode, "is not a valid name" in told.stderr) == (2, True)
    told = looks(asked, "answer", "S1-detail-1", "ok")
    assert (told.returncode, "is answered: approve" in told.stderr) == (0, True), told.stderr
    # line 32: a plan that was changed after it was approved is not carried out
    plan = out_dir(asked) / "details" / "S1" / "1.json"
    plan.write_bytes(plan.read_bytes().replace(b"write it", b"delete it"))
    told = looks(asked, "step")
    assert (told.returncode, "was changed after it was approved" in told.stderr) == (10, True), told.stderr
    assert load(out_dir(asked)).state.attempts == 0, "no attempt begins on it"


def test_line_76_nothing_asked_is_said_and_line_27_a_plan_that_cannot_be_read_leaves_nothing_behind(repo: Path) -> None:
    listed = looks(repo, "answer")
    assert (listed.returncode, listed.stdout) == (0, "no question is open\n")
    told = looks(repo, "step", "missing.md")
    assert (told.returncode, "missing.md" in told.stderr) == (2, True), told.stderr
    assert not (repo / ".santiago" / "runs").exists()


def test_line_27_proposed_steps_are_shown_and_made_to_steps_only_where_somebody_says_so(repo: Path) -> None:
    (repo / "plan.md").write_text(PROPOSED)
    told = looks(repo, "step", *BEGIN)
    assert (told.returncode, "not planned: Greetings" in told.stderr) == (10, True), told.stderr
    assert all(way in told.stderr for way in ("--yes`", "santiago draft plan.md --with AGENT"))
    person = sits(repo, *BEGIN)
    person.sees("not planned: Greetings (3 to 5)")
    for word in ("", "no"):  # Enter alone approves nothing
        person.sees("Your word")
        person.types(word)
    assert person.leaves() == 10
    assert not (repo / ".santiago" / "runs").exists()
    taken = says(repo, "step", *BEGIN, "--yes")
    assert (taken.returncode, "Greeter: 2 steps imported" in taken.stderr) == (10, True), taken.stderr
    run = load(out_dir(repo))
    assert (run.plan.certain, run.state.units) == (False, True)


def test_lines_16_and_39_a_change_takes_verified_work_back_and_asks_for_an_attempt_if_none_is_left(repo: Path) -> None:
    (repo / "play.yaml").write_text(PLAYBOOK.replace("      seconds: 600\n", ""))
    settings = repo / "santiago.toml"
    settings.write_text("[limits]\nstory_max_attempts = 1\n")
    says(repo, "step", *BEGIN, "--trust-project")
    looks(repo, "answer", "S1-detail-1", "ok")
    says(repo, "step")
    assert load(out_dir(repo)).state.stories["S1"].phase == "verified"
    assert looks(repo, "change", "S1", "--text", "louder").returncode == 0
    told = says(repo, "step")
    (asked,) = load(out_dir(repo)).state.open_questions()
    assert (told.returncode, asked.kind, asked.story) == (10, "grant", "S1"), told.stderr
    assert looks(repo, "answer", asked.id, "grant", "--actor", "eve").returncode == 0
    says(repo, "step")
    run = load(out_dir(repo))
    assert (run.state.stories["S1"].attempts, run.state.stories["S1"].phase) == (2, "verified")


def test_own_work_on_a_step_whose_plan_is_asked_about_is_judged_once_the_plan_is_put_off(asked: Path) -> None:
    git(asked, "switch", "-q", "-c", "mine")
    (asked / "hello.txt").write_text("hello\n")
    git(asked, "add", "hello.txt")
    git(asked, "commit", "-q", "-m", "Mine")
    git(asked, "switch", "-q", "main")
    early = says(asked, "verify", "S1", "--from", "mine")
    assert (early.returncode, "Answer S1-detail-1 first; with `defer`" in early.stderr) == (30, True), early.stderr
    looks(asked, "answer", "S1-detail-1", "defer")
    says(asked, "step")
    says(asked, "verify", "S1", "--from", "mine")
    assert load(out_dir(asked)).state.stories["S1"].phase in ("verified", "done")


def test_line_22_what_was_typed_before_a_question_was_seen_answers_nothing(repo: Path) -> None:
    person = sits(repo, *BEGIN)
    person.sees("3 steps imported")
    person.types("ok")
    person.types("")
    person.sees("S1-detail-1")
    person.says("stop", "stop")
    assert person.leaves() == 0
    assert [one.id for one in load(out_dir(repo)).state.open_questions()] == ["S1-detail-1"]


def test_line_13_a_step_whose_own_checks_fail_after_its_substeps_is_attempted_on_their_work(repo: Path) -> None:
    (repo / "plan.md").write_text(
        "# Plan\n\n## Step 1: Part\n\n**Files:** `bye.txt`\n\n**Verification:** `grep goodbye bye.txt`\n"
    )
    (repo / "play.yaml").write_text(PART)
    words = ("step", "plan.md", "--agent", "scripted", "--playbook", "play.yaml", "--trust-commands")
    says(repo, *words)
    for name in ("S1-detail-1", "S1.1-result-1", "S1.1-continue-1", "S1-result-1"):
        assert looks(repo, "answer", name, "ok").returncode == 0, name
        told = says(repo, "step")
    state = load(out_dir(repo)).state
    assert (told.returncode, state.stories["S1"].attempts, state.stories["S1"].proposals) == (0, 1, 1), told.stderr
    assert {"part.txt", "bye.txt"} <= set(git(repo, "ls-tree", "--name-only", state.branch or "").split())


def test_what_a_run_says_while_somebody_types_waits_for_the_end_of_the_line(tmp_path: Path) -> None:
    repo = greeter.make(tmp_path / "repo", limits='gates = ["result"]\n')
    agent, go, begun = tmp_path / "agent.sh", tmp_path / "go", tmp_path / "begun"
    os.mkfifo(begun)
    agent.write_text(AGENT.format(go=go, begun=begun))
    words = ("run", "prd.md", "--jobs", "2", "--agent", f"sh {agent}", "--sandbox", "off")
    person = Person(*words, "--trust-commands", "--trust-project", cwd=repo, env=place(repo))
    person.sees("S1-result-1")
    person.sees("\n> ")
    go.touch()
    begun.read_text()  # by now the first attempt of S2 has failed, and its second has begun
    person.types("louder, please")
    assert person.sees("louder, please") == "", "the line that is typed stays whole"
    person.sees('understood: change "louder, please"; Enter to send')
    person.presses("\x1b")
    assert "attempt 2 of" in person.sees("\n> "), "and then it is told what happened"
    person.types("stop")
    person.sees("understood: stop")
    person.presses("\n")
    assert person.leaves() == 0


def test_a_question_survives_a_terminal_that_changes_its_size_a_line_too_long_and_ctrl_c(tmp_path: Path) -> None:
    repo = make(tmp_path)
    person = sits(repo, *BEGIN)
    person.sees("\n> ")
    for columns in (20, 1, 200):
        fcntl.ioctl(person.ours, termios.TIOCSWINSZ, struct.pack("HHHH", 10, columns, 0, 0))
        os.killpg(person.process.pid, signal.SIGWINCH)
        person.types("")
        person.sees("> ")
    person.types("in French " * 900)  # more than a line takes is no answer by itself
    person.sees("understood: adjust")
    person.presses("\x1b")
    person.sees("> ")
    person.types("ok")
    person.sees("understood: approve; Enter to send")
    os.killpg(person.process.pid, signal.SIGINT)  # a stop, before anything is sent
    assert person.leaves() == 130
    state = load(out_dir(repo)).state
    assert ([one.id for one in state.open_questions()], state.phase) == (["S1-detail-1"], "paused")


def test_a_title_in_wide_letters_is_cut_where_the_terminal_ends(tmp_path: Path) -> None:
    person = sits(make(tmp_path, PLAN.replace("Say hello", "挨拶をする" * 12)), *BEGIN)
    person.sees("── S1-detail-1 ── ")
    rest = person.sees("\n")
    assert rest.startswith("挨拶")
    assert width(f"── S1-detail-1 ── {rest}") <= 80
    person.says("stop", "stop")
    assert person.leaves() == 0


def test_line_72_escapes_in_what_an_agent_asks_do_nothing_to_the_terminal(tmp_path: Path) -> None:
    asks = (
        'stories: {S1: [{ask: "which \\e]0;owned\\a\\e[2J\\u202Eone?"}]}\nproposals:'
        + PLAYBOOK.partition("proposals:")[2]
    )
    repo = make(tmp_path, play=asks)
    says(repo, "step", *BEGIN)
    looks(repo, "answer", "S1-detail-1", "ok")
    told = says(repo, "step", code=10)
    for shown in (told.stderr, *(looks(repo, word).stdout for word in ("answer", "status", "log"))):
        assert "which" in shown
        assert not {"\x1b", "\x07", "\u202e"} & set(shown)
    person = sits(repo)
    person.sees("which")
    person.sees("\n> ")
    person.types("stop")
    person.sees("understood: stop")
    person.presses("\n")
    assert person.leaves() in (0, 10)
    assert "\x1b" not in person.seen
