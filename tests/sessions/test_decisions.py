"""A person's word on a planning session through the real program: finalize, cancel, take up, and what each refuses."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from santiago.artifacts.inbox import Inbox
from santiago.artifacts.lock import Lock
from santiago.contract.answers import Letter
from tests.cli import greeter
from tests.cli.test_disks import mounted
from tests.cli.typing_person import Person
from tests.sessions.drafters import Place, plan
from tests.util.restored import restored

ANY = ""


pytestmark = pytest.mark.xdist_group("sessions-decided")  # its worlds are made once


@pytest.fixture(scope="module")
def reviewed_once(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place, third = Place(tmp_path_factory.mktemp("reviewed")), ("and a third", {"write": plan("One", "Two", "Three")})
    place.begin("Small files", place.drafter("one", third, (ANY, {"write": plan("One", "Two")})))
    return place


@pytest.fixture(scope="module")
def edited_once(reviewed_once: Place) -> Place:
    place = restored(reviewed_once, reviewed_once.folder)
    assert place.says("review", "--edit", "and a third").returncode == 0
    return restored(place, place.folder, "edited")


@pytest.fixture
def place(reviewed_once: Place) -> Place:
    """A session whose plan waits for a word."""
    return restored(reviewed_once, reviewed_once.folder)


@pytest.fixture
def edited(edited_once: Place) -> Place:
    """The same after a second turn, which brought a third story."""
    return restored(edited_once, edited_once.folder, "edited")


def test_line_1_nothing_of_a_plan_under_review_can_be_executed(place: Place) -> None:
    session = place.session
    for name in (session.name, str(session)):
        said = place.says("resume", name)
        assert said.returncode == 10, said.stderr
        assert "plan-1 is open" in said.stderr
    revision, settings = session / "revisions/0001.json", session / "run-input.json"
    words = ("--plan", str(revision), "--input", str(settings), "--out-dir", "x", "--trust-commands")
    said = place.apart("execute", *words)
    assert said.returncode == 10
    assert "which is not final" in said.stderr
    assert place.runs() == []


def test_lines_2_and_61_finalize_freezes_what_was_looked_at_and_copies_the_session_into_the_run(edited: Place) -> None:
    said = edited.says("review", "--finalize", "--revision", "2", "--no-start")
    assert said.returncode == 0, said.stderr
    (run,) = edited.runs()
    first = edited.events(run)[0]
    assert first["event"] == "run_created"
    assert first["context"]["session"] == edited.session.name
    assert first["context"]["revision"] == 2
    assert (run / "plan.json").read_bytes() == (edited.session / "revisions/0002.json").read_bytes()
    assert (edited.session / "project_plan.json").read_bytes() == (run / "plan.json").read_bytes()
    shown = [line for line in edited.says("review").stdout.splitlines() if line.startswith("next: ")]
    assert [line.split()[2] for line in shown] == ["resume", "status"]
    last = edited.events()[-1]
    assert (last["event"], last["phase"], last["context"]["run"]) == ("session_finalized", "finalized", run.name)
    assert not _approvals(edited, run)
    ours, copied = edited.shown(), json.loads((run / "planning/session.json").read_bytes())
    for field in ("plan_revision", "planning_iteration_count", "planning_feedback_history", "last_planning_mode"):
        assert copied[field] == ours[field], field
    assert {path.name for path in edited.session.iterdir()} >= {
        "progress.ndjson", "lock", "inbox", "revisions", "drafts", "session.json", "session-input.json", "run-input.json",
    }  # fmt: skip


def _approvals(place: Place, run: Path) -> list[str]:
    """Return who approved the commands of a run."""
    return [event["actor"] for event in place.events(run) if event["event"] == "commands_approved"]


def test_a_review_in_text_lists_every_command_that_would_run(place: Place) -> None:
    settings = place.repo / "santiago.toml"
    settings.write_text('[verification]\nrun_commands = ["test -d ."]\n')
    more = place.drafter("more", (ANY, {"write": plan("One", "Two", run_verify=["test -f 1.txt"])}))
    place.begin("More files", more, more=("--trust-project",))
    for words in ((), ("--plain",)):
        lines = [line.strip() for line in place.says("review", *words).stdout.splitlines()]
        for command in ("grep -q 1 1.txt", "grep -q 2 2.txt"):
            assert f"$ {command}" in lines
        assert any(line.startswith("Checks    at the end: $ test -d .") for line in lines)
        assert "Checks    at the end: $ test -f 1.txt" in lines


def test_without_a_terminal_finalize_runs_commands_only_with_the_flag_and_the_review_stays_open(place: Place) -> None:
    said = place.says("review", "--finalize", "--revision", "1")
    assert said.returncode == 10, said.stderr
    assert "2 commands of the plan wait for approval: `grep -q 1 1.txt`, `grep -q 2 2.txt`" in said.stderr
    assert f"`santiago review {place.session.name} --plain`, then use --trust-commands" in said.stderr
    assert place.shown()["status"] == "ready"
    assert place.runs() == []
    place.says("review", "--finalize", "--revision", "1", "--trust-commands")
    (run,) = place.runs()
    assert _approvals(place, run) == ["ann"]


def test_on_a_terminal_finalize_shows_the_commands_and_asks(place: Place) -> None:
    words, env = ("review", "--finalize", "--revision", "1"), {**greeter.place(place.repo), "SANTIAGO_ACTOR": "ann"}
    refuses = Person(*words, cwd=place.repo, env=env)
    shown = refuses.sees("Run them?")
    assert "grep -q 1 1.txt" in shown
    assert "grep -q 2 2.txt" in shown
    refuses.types("")
    assert refuses.leaves() == 10
    assert place.runs() == []
    assert place.shown()["status"] == "ready"
    agrees = Person(*words, cwd=place.repo, env=env)
    agrees.sees("Run them?")
    agrees.types("y")
    agrees.leaves()
    (run,) = place.runs()
    assert _approvals(place, run) == ["ann"]


def test_what_was_finalized_without_a_start_asks_about_its_commands_when_it_starts(place: Place) -> None:
    assert place.says("review", "--finalize", "--revision", "1", "--no-start").returncode == 0
    (run,) = place.runs()
    assert place.says("skip", run.name, "S2", "--why", "not now").returncode == 0
    said = place.says("resume", run.name)
    assert said.returncode == 10, said.stderr
    assert "commands of the plan wait for approval: `grep -q 1 1.txt`" in said.stderr
    assert f"Read them in .santiago/runs/{run.name}/plan.json" in said.stderr
    assert not _approvals(place, run)


def test_line_2_the_run_carries_out_what_was_approved(place: Place) -> None:
    code = "import os,pathlib; n=os.environ['SANTIAGO_STORY'][1:]; pathlib.Path(n+'.txt').write_text(n)"
    said = place.says("review", "--finalize", "--revision", "1", "--no-start")
    assert said.returncode == 0, said.stderr
    agent = place.folder / "worker.py"
    agent.write_text(code)
    done = place.says("resume", "--trust-commands", "--agent", f"{sys.executable} {agent}")
    assert done.returncode == 0, done.stderr
    (run,) = place.runs()
    assert json.loads((run / "result.json").read_bytes())["summary"]["completed"] == 2
    assert place.apart("audit").returncode == 0


def test_the_agent_of_the_settings_does_the_work_and_is_named_before(place: Place) -> None:
    assert f"Agent     {Path(sys.executable).name} does the work" in place.says("review").stdout
    worker = place.folder / "worker"
    worker.write_text('#!/bin/sh\necho "${SANTIAGO_STORY#S}" > "${SANTIAGO_STORY#S}.txt"\n')
    worker.chmod(0o755)
    (place.repo / "santiago.toml").write_text(f'[agent]\ncommand = ["{worker}"]\n')
    planner = place.drafter("planner", (ANY, {"write": plan("One", "Two")}))
    place.begin("More files", planner, more=("--trust-project",))
    assert "Agent     worker does the work" in place.says("review").stdout
    done = place.says("review", "--finalize", "--revision", "1", "--trust-commands")
    assert done.returncode == 0, done.stderr
    (run,) = place.runs()
    assert [event["context"]["agent"] for event in place.events(run) if event["event"] == "run_started"] == ["worker"]


def test_a_run_of_a_sentence_has_no_document_that_changes_and_its_rebase_works(place: Place) -> None:
    assert place.says("review", "--finalize", "--revision", "1", "--no-start").returncode == 0
    (run,) = place.runs()
    assert "has changed" not in place.says("status", run.name).stdout
    assert "has changed" not in place.says("resume", run.name, "--dry-run").stderr
    (place.repo / "test_new.py").write_text("def test_new(): pass\n")
    greeter.git(place.repo, "add", "-A")
    greeter.git(place.repo, "commit", "-qm", "More")
    told = place.says("status", run.name).stdout
    assert "protected files have changed on your branch since the run began: test_new.py" in told
    (advice,) = [line for line in told.splitlines() if "santiago rebase" in line]
    words = advice.partition("santiago ")[2].split()
    assert words == ["rebase", run.name, f".santiago/runs/{run.name}/plan.json"]
    again = place.says(*words, "--dry-run")
    assert again.returncode == 0, again.stderr


def test_a_run_of_a_drafted_document_tells_only_of_a_real_change(tmp_path: Path) -> None:
    text = "\ufeff# Files\r\n\r\nSmall ones.\r\n\r\n## Sign-off\r\n\r\n- [x] seen\r\n"
    place = Place(tmp_path, {"notes.md": ""})
    document = place.repo / "notes.md"
    document.write_bytes(text.encode())
    place.begin("notes.md", place.drafter("one", (ANY, {"write": plan("old", "new")})))
    assert place.says("review", "--finalize", "--revision", "1", "--no-start").returncode == 0
    (run,) = place.runs()
    assert "has changed" not in place.says("status", run.name).stdout
    document.write_bytes(f"{text}More.\r\n".encode())
    told = place.says("status", run.name).stdout
    assert "notes.md has changed since the run began" in told
    assert "a new run would use it: santiago plan --with AGENT notes.md" in told


def test_lines_56_and_60_finalize_names_the_last_revision_and_the_plan_who_decided_what(edited: Place) -> None:
    said = edited.says("review", "--finalize", "--revision", "1")
    assert said.returncode == 30
    assert "+ S3" in said.stderr
    assert edited.says("answer", "plan-2", "approve", "--revision", "1").returncode == 30
    assert edited.runs() == []
    told = edited.revision(2)["source"]["evidence"]
    assert len(told) == 2
    assert told[0].startswith("revision 1 by python")
    assert told[0].endswith("asked for by ann")
    assert told[1].endswith("asked for by ann: and a third")
    said = edited.says("review", "--finalize")
    assert said.returncode == 2
    assert "--revision 2" in said.stderr


def test_lines_57_and_58_a_cancelled_review_is_taken_up_again_and_a_frozen_plan_is_read_only(place: Place) -> None:
    assert place.says("review", "--cancel").returncode == 0
    assert place.shown()["status"] == "cancelled"
    assert "cancelled review" in place.says("review").stdout
    named = {"session_id": place.session.name, "state": "cancelled review"}
    assert json.loads(place.says("status", "--json").stdout)["sessions"] == [named], "also before there is a run"
    assert f"{place.session.name} cancelled review" in place.says("status").stdout
    assert place.says("resume", place.session.name).returncode == 10
    assert place.says("review", "--finalize", "--revision", "1").returncode == 30
    assert place.says("review", "--take-up").returncode == 0
    assert place.shown()["status"] == "ready"
    assert place.says("review", "--finalize", "--revision", "1", "--no-start").returncode == 0
    said = place.says("review", "--edit", "and a third")
    assert said.returncode == 30
    assert "is final" in said.stderr
    (run,) = place.runs()
    again = place.drafter("again", (ANY, {"write": plan("One", "Two", "Three")}))
    place.begin(str((run / "plan.json").relative_to(place.repo)), again)
    assert [story["id"] for story in place.revision(1)["stories"]] == ["S1", "S2", "S3"]
    assert place.says("review", "--cancel").returncode == 0
    (listed,) = json.loads(place.says("status", "--json").stdout)["sessions"]
    assert listed == {"session_id": place.session.name, "state": "cancelled review"}, "the other one is final"
    assert len(list(place.session.parent.iterdir())) == 2


def test_a_review_without_a_session_offers_to_begin_one(tmp_path: Path) -> None:
    """003: the plan mode is entered from where one looks for a plan. Enter alone begins nothing."""
    place = Place(tmp_path)
    agent = place.drafter("one", (ANY, {"write": plan("Hello")}))
    (place.repo / "santiago.toml").write_text(f"[agent]\ncommand = {agent.split()!r}\n[policy]\nsandbox = 'off'\n")
    said = place.says("review")
    assert (said.returncode, "santiago plan --with" in said.stderr) == (2, True)
    env = {**greeter.place(place.repo), "SANTIAGO_ACTOR": "ann", "SANTIAGO_PLAIN": "1"}
    nothing = Person("review", cwd=place.repo, env=env)
    nothing.sees("What should be planned")
    nothing.types("")
    assert nothing.leaves() == 2
    assert not (place.repo / ".santiago").exists()
    begins = Person("review", cwd=place.repo, env=env)
    begins.sees("What should be planned")
    begins.types("A small file")
    begins.sees("[y/N]")
    begins.types("y")
    begins.sees("next: santiago review")
    assert begins.leaves() == 0
    assert [story["title"] for story in place.revision(1)["stories"]] == ["Hello"]


def test_line_59_a_plan_edited_by_hand_goes_through_the_same_checks(place: Place) -> None:
    edited = place.revision(1)
    edited["stories"][0]["depends_on"] = ["S2"]
    (place.repo / "edited.json").write_text(json.dumps(edited))
    said = place.says("plan", "edited.json")
    assert said.returncode == 30
    assert "go in a circle" in said.stderr


def test_lines_20_and_76_answer_alone_lists_what_sessions_ask_and_a_plan_needs_its_own_word(place: Place) -> None:
    said = place.says("answer")
    assert "plan-1" in said.stdout
    for word in ("approve", "adjust", "edit", "cancel"):
        assert word in said.stdout
    rows = json.loads(place.says("answer", "--json").stdout)["questions"]
    assert [(row["session_id"], row["id"], row["kind"]) for row in rows] == [(place.session.name, "plan-1", "plan")]
    for word in ("ok", "yes", "looks good", "go ahead"):
        assert place.says("answer", "plan-1", word).returncode == 2, word
    assert place.runs() == []


def test_line_19_the_second_answer_is_told_who_was_first(place: Place) -> None:
    assert place.says("answer", "plan-1", "cancel", SANTIAGO_ACTOR="bob").returncode == 0
    said = place.says("answer", place.session.name, "plan-1", "approve")
    assert said.returncode == 30
    assert "by bob at" in said.stderr


def test_line_80_a_base_that_moved_is_said_at_finalize_with_the_choice(place: Place) -> None:
    (place.repo / "new.txt").write_text("new")
    greeter.git(place.repo, "add", "-A")
    greeter.git(place.repo, "commit", "-qm", "More")
    said = place.says("review", "--finalize", "--revision", "1", "--no-start")
    assert said.returncode == 30
    assert "has new commits" in said.stderr
    assert "--moved-base" in said.stderr
    assert place.shown()["status"] == "ready"
    # line 53: what is offered is not refused
    (final,) = [line for line in place.says("review").stdout.splitlines() if "--finalize" in line]
    assert place.says(*final.partition("   #")[0].removeprefix("next: santiago ").split(), "--no-start").returncode == 0


def test_line_80_a_full_disk_at_finalize_leaves_the_session_in_review_and_nothing_half_made(place: Place) -> None:
    with mounted(place.repo / ".santiago" / "runs", "size=1m"):
        said = place.says("review", "--finalize", "--revision", "1", "--no-start")
        assert said.returncode == 20, said.stderr
        assert place.shown()["status"] == "ready"
        assert not list(place.repo.glob(".santiago/runs/*/progress.ndjson"))
    assert place.says("review", "--take-up").returncode == 0
    assert len(place.runs()) == 1
    assert place.events()[-1]["event"] == "session_finalized"


def test_line_81_a_session_that_another_process_holds_can_be_looked_at_and_answered(place: Place) -> None:
    with Lock(place.session, since="2026-11-17T00:00:00.000Z"):
        said = place.apart("review")
        assert said.returncode == 0
        assert "held by" in said.stdout
        # line 53: what is offered is not refused
        offered = [line for line in said.stdout.splitlines() if line.startswith("next: ")]
        assert [line.split()[5] for line in offered] == ["approve", "cancel"]
        assert place.apart(*offered[-1].partition("   #")[0].split()[2:]).returncode == 0
    assert place.says("review", "--take-up").returncode == 0
    assert any(event["event"] == "session_cancelled" for event in place.events())


def test_line_3_two_processes_finalize_at_once_and_there_is_one_run(place: Place) -> None:
    env = {**greeter.place(place.repo), "USER": "ann"}
    words = [sys.executable, "-m", "santiago", "review", "--finalize", "--revision", "1", "--no-start"]
    both = [
        subprocess.Popen(words, cwd=place.repo, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for _ in range(2)
    ]
    codes = sorted((one.wait(60), one.communicate()[0])[0] for one in both)
    assert codes[0] == 0
    assert len(place.runs()) == 1
    assert [event["event"] for event in place.events()].count("session_finalized") == 1


def test_line_72_text_of_others_does_nothing_to_the_terminal(tmp_path: Path) -> None:
    place = Place(tmp_path)
    wicked = plan("\x1b]8;;http://x\x07link\x1b]8;;\x07", "\u202eright to left")
    place.begin("\x1b[2JSmall", place.drafter("one", (ANY, {"write": wicked})))
    for words in (("review",), ("answer",), ("status",)):
        said = place.says(*words)
        assert "\x1b" not in said.stdout + said.stderr
        assert "\u202e" not in said.stdout + said.stderr


def _cut(place: Place, before: str) -> None:
    """Leave a session as a kill leaves it before an event is recorded."""
    log = place.session / "progress.ndjson"
    lines = log.read_bytes().splitlines(keepends=True)
    at = max(number for number, line in enumerate(lines) if json.loads(line)["event"] == before)
    log.write_bytes(b"".join(lines[:at]))


@pytest.mark.parametrize(
    "killed", ["before the answer is heard", "before the run is made", "before it is final", "after it"]
)
def test_a_killed_finalize_goes_on_when_it_is_given_again_and_makes_one_run(place: Place, killed: str) -> None:
    """People: the first answer counts, and the same one given again is no second one."""
    words = ("review", "--finalize", "--revision", "1", "--no-start")
    if killed == "before the answer is heard":
        letter = Letter(kind="answer", subject="plan-1", answer="approve", actor="ann")
        assert Inbox(place.session).drop(letter)
    else:
        assert place.says(*words).returncode == 0
        if killed != "after it":
            _cut(place, "session_finalized")
        if killed == "before the run is made":
            shutil.rmtree(place.runs()[0])
            greeter.git(place.repo, "branch", "-D", f"santiago/{place.events()[-1]['context']['run']}")
    assert place.says("review", "--continue", "something else").returncode != 0
    said = place.says(*words)
    assert said.returncode == 0, said.stderr
    assert [event["event"] for event in place.events()].count("session_finalized") == 1
    assert len(place.runs()) == 1
    assert place.says("review", "--finalize", "--revision", "1", "--trust-commands").returncode != 70
    assert len(place.runs()) == 1


def test_an_agent_of_the_session_cannot_say_a_persons_word_on_it(place: Place) -> None:
    """People, against accidents: neither by `review` nor by `answer`; looking is allowed."""
    inside = {"SANTIAGO_RUN": place.session.name}
    before = place.events()
    for words in (("review", "--cancel"), ("review", "--edit", "x"), ("answer", "plan-1", "approve")):
        said = place.apart(*words, **inside)
        assert (said.returncode, "SANTIAGO_RUN" in said.stderr) == (10, True), said.stderr
    assert place.events() == before
    assert place.apart("review", "--plain", **inside).returncode == 0
