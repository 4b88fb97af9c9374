"""Which agent works: named for any command that starts one, changed in the settings, and helped where it cannot begin."""

import json
from pathlib import Path

import pytest

from santiago.app.loading import frozen_input, load
from santiago.app.planning.planning_sessions import load_session as load_session
from tests.board.desk import Desk
from tests.cli import fakes, greeter
from tests.cli.greeter import looks, out_dir, says
from tests.sessions.drafters import Place, plan
from tests.util.each import each

SIGNED_OUT = "Invalid API key · Please run /login"
DRAFT = "# Small\n\n## R1: One\n\n**Acceptance criteria**\n- 1.txt is there\n\n**Verification:** `grep 1 1.txt`\n"
OTHER = """\
stories:
  R1: [{write: {hello.txt: "hello from another\\n"}}]
  R2: [{write: {bye.txt: "goodbye\\n"}}]
  R3: [{write: {both.txt: "both\\n"}}]
"""


def test_plan_names_the_agent_of_the_run_and_has_it_plan_a_sentence(tmp_path: Path) -> None:
    """Issue 25, part 7: `--agent` means the same for every command. The next command can be typed as it stands."""
    place = Place(tmp_path, {"prd.md": DRAFT})
    one = place.drafter("one", ("", {"write": plan("One")}))
    told = place.says("plan", "prd.md", "--agent", one)
    assert (told.returncode, place.runs()[-1].is_dir()) == (0, True)
    assert list(frozen_input(place.runs()[-1]).agent.command or ()) == one.split()
    assert f"next: santiago run prd.md --agent '{one}'\n" in told.stdout
    assert place.says("plan", "Add a thing", "--agent", one).returncode == 0
    assert load_session(place.session).asked.drafters[0].agent.command == tuple(one.split())
    other = place.drafter("other")
    assert place.says("plan", "Add a thing", "--with", one, "--agent", other).returncode == 0
    planned = load_session(place.session)
    assert [planned.asked.drafters[0].agent.command, planned.run_input.agent.command] == [
        tuple(one.split()),
        tuple(other.split()),
    ]


def test_draft_and_review_take_an_agent_as_run_does(tmp_path: Path) -> None:
    """Issue 25, part 7: another one plans on where the first cannot, and another one carries the plan out."""
    place = Place(tmp_path)
    lost = place.drafter("lost", ("", {"exit": 1}))
    good = place.drafter("good", ("", {"write": plan("One", "Two")}))
    assert place.says("draft", "Small things", "--agent", good).returncode == 30, "what it writes is no document"
    assert place.says("plan", "Small things", "--agent", lost).returncode == 30
    for words in (
        ("--agent", good),
        ("--cancel", "--agent", good),
        ("--finalize", "--revision", "1", "--no-start", "--agent", good),
    ):
        assert place.says("review", *words).returncode == 2, words
    assert place.says("review", "--take-up", "--agent", "no-such-agent").returncode == 2
    assert place.says("review", "--take-up", "--agent", good).returncode == 0
    session = load_session(place.session)
    assert ([one.agents for one in session.state.turns][-1], session.state.revision) == (("python",), 1)
    assert place.says("review", "--edit", "the same again").returncode == 0
    assert load_session(place.session).state.revision == 2, "whoever was chosen plans from then on"
    worker = tmp_path / "worker.sh"
    worker.write_text("#!/bin/sh\necho 1 > 1.txt; echo 2 > 2.txt\n")
    worker.chmod(0o755)
    given = ("--trust-commands", "--sandbox", "off", "--agent", str(worker))
    done = place.says("review", "--finalize", "--revision", "2", *given, SANTIAGO_POLICY_UNPROVEN="accept")
    assert done.returncode == 0, done.stderr
    assert load(place.runs()[-1]).history.start["agent"] == "worker.sh"


@each("words", [("draft", "A thing"), ("plan", "A thing")])
def test_an_agent_that_is_not_signed_in_is_helped_in_a_session_too(tmp_path: Path, words: tuple[str, str]) -> None:
    """Issue 25, part 7. The command that signs in, the way on, and the reason are told; a missing agent makes no session."""
    place = fakes.Place(tmp_path)
    missing = place.santiago(*words, "--agent", "claude", "--trust-project", code=20)
    assert "npm install -g @anthropic-ai/claude-code" in missing.stderr
    assert not (place.repo / ".santiago" / "sessions").exists()
    place.install("claude", fakes.fails(SIGNED_OUT, 401))
    told = place.santiago(*words, "--agent", "claude", "--trust-project", "--json", code=10)
    (turn,) = json.loads(told.stdout)["turns"]
    assert turn["reason"] == "agent_not_signed_in"
    (session,) = (place.repo / ".santiago" / "sessions").iterdir()
    assert f"Run `claude auth login`, then `santiago review {session.name} --take-up`." in turn["outcome"]
    shown = place.look("review", "--plain")
    assert f"next: santiago review {session.name} --take-up --agent NAME" in shown
    assert "`claude auth login`" in shown


@each("words", [("resume",), ("run", "prd.md", "--trust-commands")])
def test_a_run_goes_on_with_the_agent_that_the_settings_name_now(tmp_path: Path, words: tuple[str, ...]) -> None:
    """Issue 25, part 7. It is said, and recorded."""
    repo = greeter.make(tmp_path / "repo", 'stories:\n  R1: [{write: {hello.txt: "hello\\n"}}]\n')
    says(repo, "run", "prd.md", "--trust-commands", "--only", "S1", code=0)
    (repo / "other.yaml").write_text(OTHER)
    settings = (repo / "santiago.toml").read_text()
    (repo / "santiago.toml").write_text(settings.replace("playbook.yaml", "other.yaml"))
    assert json.loads(looks(repo, "status", "--json").stdout)["changes"] == [], "the next start uses it"
    done = says(repo, *words, code=0)
    assert "the settings of the agent have changed" in done.stderr
    run = load(out_dir(repo))
    assert (run.state.phase, run.state.counted) == ("success", 3)


def test_an_agent_of_the_command_line_stays_and_the_difference_is_said(tmp_path: Path) -> None:
    repo = greeter.make(tmp_path / "repo", "stories: {}\n")
    (repo / "other.yaml").write_text(OTHER)
    says(repo, "run", "prd.md", "--trust-commands", "--only", "S1", "--playbook", "other.yaml", code=0)
    settings = (repo / "santiago.toml").read_text()
    (repo / "santiago.toml").write_text(settings.replace("playbook.yaml", "third.yaml"))
    (told,) = json.loads(looks(repo, "status", "--json").stdout)["changes"]
    assert "agent.playbook" in told
    done = says(repo, "run", "prd.md", "--trust-commands", code=0)
    assert "agent.playbook; this run does not use the change" in done.stderr
    assert load(out_dir(repo)).state.phase == "success"


@pytest.mark.xdist_group("board-loop")
def test_the_loop_takes_an_agent_and_after_a_replan_the_one_that_the_settings_name_now(tmp_path: Path) -> None:
    """Issue 25, part 7."""
    desk = Desk(tmp_path, "stories: {}\n").requested("--retry-budget", "1")
    worker = tmp_path / "worker.sh"
    worker.write_text("#!/bin/sh\necho hello > hello.txt\n")
    worker.chmod(0o755)
    desk.type("loop", "--trust-commands", "--trust-project", "--max-cycles", "2")
    desk.ok("queue", "decide", "REQ.S1", "replan", "--budget", "3", "--actor", "planner")
    settings = (desk.repo / "santiago.toml").read_text()
    changed = settings.replace('mode = "scripted"\nplaybook = "playbook.yaml"', f'command = ["{worker}"]')
    (desk.repo / "santiago.toml").write_text(changed)
    done = desk.type(
        "loop", "--trust-commands", "--trust-project", "--max-cycles", "3", SANTIAGO_POLICY_UNPROVEN="accept"
    )
    assert "REQ.S1" in done.stdout, done.stderr
    (run,) = (desk.repo / ".santiago" / "runs").iterdir()
    assert load(run).history.start["agent"] == "worker.sh"
    assert load(run).state.stories["S1"].proof is not None
    other = Desk(tmp_path / "other", "stories: {}\n").requested()
    done = other.type("loop", "--trust-commands", "--trust-project", "--agent", str(worker), "--max-cycles", "2")
    (run,) = (other.repo / ".santiago" / "runs").iterdir()
    assert load(run).history.start["agent"] == "worker.sh", done.stderr
