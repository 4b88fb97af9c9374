"""A proposal: nothing starts on it before somebody says which list is the work, and what was said holds."""

import json
from pathlib import Path

from santiago.app.loading import load
from santiago.artifacts.names import LOG
from santiago.artifacts.reader import Reader
from santiago.contract.events import EventKind
from santiago.report.pull_request import body
from tests.board.desk import Desk
from tests.cli import greeter
from tests.cli.greeter import committed, looks, out_dir, says
from tests.cli.typing_person import Person

RIVALS = """\
# Greeter

## Login
People sign in.

## Requirements
- FR-1: hello.txt says hello
- FR-2: bye.txt says goodbye

## Small stuff
- [ ] write hello.txt
- [ ] write bye.txt
"""
PLAY = 'stories:\n  S1:\n    - write: {hello.txt: "hello\\n"}\n  S2:\n    - write: {bye.txt: "goodbye\\n"}\n'
RUN = ("run", "prd.md", "--agent", "scripted", "--playbook", "play.yaml", "--verify", "test -s hello.txt")


def made(folder: Path, prd: str = RIVALS, **files: str) -> Path:
    settings = '[agent]\ncommand = ["true"]\n[verification]\nstory_commands = ["test -s hello.txt"]\n'
    return committed(folder / "repo", {"prd.md": prd, "play.yaml": PLAY, "santiago.toml": settings, **files})


def test_a_start_without_a_terminal_names_the_three_commands_that_go_on(tmp_path: Path) -> None:
    repo = made(tmp_path)
    told = looks(repo, *RUN, code=10)
    for way in (
        "prd.md --agent scripted --playbook play.yaml",
        "--yes`",
        "--units box`",
        "santiago draft prd.md --with AGENT`",
    ):
        assert way in told.stderr
    assert "not planned: Login" in told.stderr
    assert json.loads(looks(repo, *RUN, "--json", code=10).stdout)["error"]["reason"] == "needs_user_confirmation"
    assert not (repo / ".santiago" / "runs").exists()


def test_the_commands_hold_for_the_folder_in_which_they_are_typed(tmp_path: Path) -> None:
    repo = made(tmp_path, **{"part/prd.md": RIVALS})
    planned, refused = (looks(repo / "part", word, "prd.md", code=code) for word, code in (("plan", 0), ("run", 10)))
    for told in (planned.stdout, refused.stderr):
        assert "santiago draft prd.md --with AGENT" in told


def test_another_list_is_offered_only_where_the_document_has_one(tmp_path: Path) -> None:
    repo = made(tmp_path, RIVALS.replace("FR-", "No. "))
    planned, refused = looks(repo, "plan", "prd.md", code=0), looks(repo, *RUN, code=10)
    assert planned.stdout.count("--units") == refused.stderr.count("--units") == 0
    assert "santiago draft prd.md --with AGENT" in planned.stdout


def test_all_consents_of_a_first_run_are_one_message(tmp_path: Path) -> None:
    prd = RIVALS.replace("hello\n- FR-2", "hello. **Verify:** `test -s hello.txt`\n- FR-2")
    repo = made(tmp_path, prd, **{"santiago.toml": '[verification]\nstory_commands = ["true x"]\n'})
    told = looks(repo, "run", "prd.md", "--agent", "scripted", "--playbook", "play.yaml", code=10)
    assert all(flag in told.stderr for flag in ("--yes`", "--trust-project", "--trust-commands")), told.stderr


def test_a_plan_keeps_the_word_for_the_run_and_every_end_repeats_what_is_not_planned(tmp_path: Path) -> None:
    repo = made(tmp_path)
    planned = looks(repo, "plan", "prd.md", code=0).stdout
    assert "Not planned: Login (3 to 4), Small stuff (10 to 12)" in planned
    assert "Coverage" not in planned
    for words, policy in ((("--units", "box"), "box"), (("--yes",), "proposed")):
        looks(repo, "plan", "prd.md", *words, code=0)
        assert load(out_dir(repo)).run_input.policy.units == policy
    folder = out_dir(repo)
    files = (
        "--input",
        folder / "run-input.json",
        "--plan",
        folder / "plan.json",
        "--out-dir",
        folder,
        "--dry-run",
        "--sandbox",
        "off",
    )
    assert "proposal" not in looks(repo, "execute", *files, code=0).stdout
    ran = says(repo, *RUN, "--yes", code=0)
    assert "not planned, and so not done: Login" in ran.stderr
    run = load(out_dir(repo))
    assert [one.actor for one in Reader(run.out_dir / LOG) if one.event is EventKind.UNITS_CONFIRMED] == ["user"]
    assert "not planned: Login (3 to 4)" in looks(repo, "status", code=0).stdout
    assert "### Not planned\n\nParts of the document that this run did not work on: Login (3 to 4)" in body(run)
    # What was confirmed holds for a changed document, until something else is added that is not planned.
    (repo / "prd.md").write_text(RIVALS.replace("bye.txt says goodbye", "bye.txt says bye"))
    assert "would run" in looks(repo, "rebase", run.run_id, "prd.md", "--dry-run", code=0).stdout
    (repo / "prd.md").write_text(RIVALS + "\n## Payments\nCards.\n")
    told = looks(repo, "rebase", run.run_id, "prd.md", code=10)
    assert "new in the document, not planned: Payments (14 to 15)" in told.stderr


def test_a_person_at_a_terminal_takes_another_list(tmp_path: Path) -> None:
    repo = made(tmp_path)
    person = Person(*RUN, cwd=repo, env=greeter.place(repo))
    person.sees("1      plan the boxes under Small stuff")
    person.types("1")
    person.sees("Trust these settings")
    person.types("y")
    person.leaves()
    run = load(out_dir(repo))
    assert (run.run_input.policy.units, run.plan.source.format, run.state.units) == ("box", "checklist", True)


def test_the_board_starts_nothing_on_a_proposal(tmp_path: Path) -> None:
    checks = '\n[verification]\nstory_commands = ["test -s hello.txt"]\n'
    desk = Desk(tmp_path, settings=checks, prd=RIVALS).requested()
    assert desk.loop().returncode == 10
    card = desk.card("REQ")
    assert (card.queue, card.run, "not planned: Login" in card.note) == ("blocked", "", True), card
    assert "--yes" in card.next_action
    desk.ok("queue", "move", "--id", "REQ", "--from", "blocked", "--to", "planner-inbox")
    desk.loop("--yes", "--max-cycles", "1")
    assert load(desk.repo / ".santiago" / "runs" / "REQ").state.units
