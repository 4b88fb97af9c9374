"""How strong a verdict is, through the command line; checks know whose they are, and say nothing about another story (promise 2)."""

import json
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from santiago.app.loading import load
from santiago.report.pull_request import body
from tests.cli.greeter import committed, looks, out_dir, place, says
from tests.cli.santiago import santiago

PRD = "# PRD: Greeter\n\n### R1: A greeting\n\n**Files:** `greet.sh`\n\n- [ ] it greets\n"
GREET = "printf '#!/bin/sh\\necho hello\\n' > greet.sh; chmod +x greet.sh"
TEST = 'set -e\nsaid="$(./greet.sh)"\ntest "$said" = hello\n'
MAKEFILE = "check:\n\tsh t/greet.sh\n"
NOTES = """\
# NOTES: Notes
### R1: The first note
**Files:** `S1.txt`

- [ ] there is a first note
### R2: The second note
**Files:** `S2.txt`

- [x] there is a second note
"""
AGENT = 'echo note > "$SANTIAGO_STORY.txt"\n'
SCRIPT = 'test -e "$1.txt"\n'
NOTE_TEST = """\
import os, pathlib, unittest

class Note(unittest.TestCase):
    def test_the_note_is_there(self):
        self.assertTrue(pathlib.Path(os.environ["STORY"] + ".txt").exists())
"""


def repository(folder: Path, **files: str) -> Path:
    named = {name.replace("__", "/").replace("_", "."): text for name, text in files.items()}
    return committed(folder, {"prd.md": PRD, "t/README": "", **named})


def begins(repo: Path, check: str, *more: str) -> CompletedProcess[str]:
    words = ("--agent", f"sh {repo.parent}/agent.sh", "--verify", check, "--sandbox", "off", "--trust-commands")
    return says(repo, "run", "prd.md", *words, *more)


def ran(repo: Path, does: str, check: str, *more: str) -> dict[str, object]:
    (repo.parent / "agent.sh").write_text(does)
    begins(repo, check, *more)
    story: dict[str, object] = json.loads((out_dir(repo) / "result.json").read_bytes())["stories"][0]
    return story


@pytest.mark.parametrize("check", ["sh t/greet.sh", "make check"])
def test_a_test_that_stood_and_missed_the_work_is_a_proof(tmp_path: Path, check: str) -> None:
    repo = repository(tmp_path / "repo", t__greet_sh=TEST, Makefile=MAKEFILE)
    assert ran(repo, GREET, check)["proof"] == "proved"


@pytest.mark.parametrize("check", ["sh t/greet.sh", "make check"])
def test_a_test_that_comes_with_the_work_is_none(tmp_path: Path, check: str) -> None:
    repo = repository(tmp_path / "repo", Makefile=MAKEFILE)
    story = ran(repo, f"mkdir -p t; {GREET}; echo './greet.sh | grep -q hello' > t/greet.sh", check)
    assert (story["status"], story["proof"]) == ("done", "own_tests")


def test_a_policy_that_asks_for_a_proof_says_what_is_missing(tmp_path: Path) -> None:
    settings = '[policy]\nproof = "proved"\n[limits]\nstory_max_attempts = 1\n'
    repo = repository(tmp_path / "repo", t__same_sh="test -f prd.md\n", santiago_toml=settings)
    assert ran(repo, GREET, "sh t/same.sh", "--unproven", "ask")["reason"] == "unproven"
    critique = (out_dir(repo) / "attempts/S1/1/critique.md").read_text()
    assert "What is missing is a test that existed before the work, failed, and passes now" in critique
    assert "`sh t/same.sh` passes without it too" in critique


def test_a_suite_that_was_red_before_is_told_from_work_that_fails(tmp_path: Path) -> None:
    suite = (
        "import unittest\n\nclass Old(unittest.TestCase):\n    def test_old(self):\n        self.fail('long broken')\n"
    )
    settings = "[limits]\nstory_max_attempts = 1\n"
    repo = repository(tmp_path / "repo", t__old_py=suite, santiago_toml=settings)
    assert ran(repo, GREET, "python3 -m unittest t/old.py")["status"] == "failed"
    critique = (out_dir(repo) / "attempts/S1/1/critique.md").read_text()
    assert (
        "This failed before the work and still fails, and no new test shows what the work does:\n\n- t.old.Old.test_old"
        in critique
    )
    told = says(repo, "resume", "--add-attempts", "1").stderr
    assert "the same checks failed before the attempt" in told
    assert (
        ran(repo, GREET, "echo no test has a name; exit 1", "--new", "--attempts", "4")["reason"]
        == "needs_user_confirmation"
    )
    assert load(out_dir(repo)).state.counted == 2, "a check that is red as a whole is asked about in the same way"


@pytest.mark.parametrize(("command", "is_shown"), [("grep hello greet.sh", True), ("grep PRD prd.md", False)])
def test_a_command_that_failed_and_passes_now_shows_criteria(tmp_path: Path, command: str, is_shown: bool) -> None:
    prd = f"{PRD}\n**Verification:** `{command}`\n"
    repo = repository(tmp_path / "repo", t__greet_sh=TEST, prd_md=prd)
    (tmp_path / "agent.sh").write_text(GREET)
    told = begins(repo, "sh t/greet.sh")
    assert (told.returncode, "no named test shows these criteria" in told.stderr) == (0, not is_shown), told.stderr
    shown = looks(repo, "show", "S1").stdout
    assert (f"{command}: failed without the work, passed with it" in shown) == is_shown


def test_evidence_that_is_required_is_still_the_agents_to_name(tmp_path: Path) -> None:
    settings = '[policy]\nevidence = "required"\n[limits]\nstory_max_attempts = 1\n'
    prd = f"{PRD}\n**Verification:** `sh t/greet.sh`\n"
    repo = repository(tmp_path / "repo", t__greet_sh=TEST, prd_md=prd, santiago_toml=settings)
    assert ran(repo, GREET, "test -d t")["status"] == "failed"


@pytest.mark.parametrize("document", [PRD, "# Greeting\n\n- [ ] Greet\n"])
def test_work_that_no_test_shows_is_named_whether_or_not_its_story_has_criteria(tmp_path: Path, document: str) -> None:
    repo = repository(tmp_path / "repo", t__same_sh="test -f prd.md\n", prd_md=document)
    (tmp_path / "agent.sh").write_text(GREET)
    told = begins(repo, "sh t/same.sh")
    assert (told.returncode, "not proven: S1  (no test fails without their work)" in told.stderr) == (0, True), (
        told.stderr
    )


def make(folder: Path, **files: str) -> Path:
    named = {name.replace("__", "."): text for name, text in files.items()}
    repo = committed(folder, {"prd.md": NOTES, **named})
    (folder.parent / "agent.sh").write_text(AGENT)
    return repo


@pytest.mark.parametrize(
    ("check", "files"),
    [
        ('test -e "$SANTIAGO_STORY.txt"', {}),
        ("sh check.sh $SANTIAGO_STORY", {"check__sh": SCRIPT}),
        ("STORY=$SANTIAGO_STORY python3 -m unittest -q test_note.py", {"test_note__py": NOTE_TEST}),
    ],
)
def test_a_claim_is_judged_by_its_own_run_of_the_checks(tmp_path: Path, check: str, files: dict[str, str]) -> None:
    repo = make(tmp_path / "repo", **files)
    agent = f"sh {tmp_path / 'agent.sh'}"
    santiago(
        "run", "prd.md", "--agent", agent, "--verify", check, "--sandbox", "off", "--trust-ticks",
        cwd=repo, env=place(repo), code=0,
    )  # fmt: skip
    result = json.loads((out_dir(repo) / "result.json").read_bytes())
    assert [(story["id"], story["attempts"], story["proof"]) for story in result["stories"]] == [
        ("S1", 1, "proved"),
        ("S2", 1, "proved"),
    ]


def test_a_check_gets_the_variables_of_its_agent_that_it_names_and_always_those_of_the_run(tmp_path: Path) -> None:
    repo = make(tmp_path / "repo")
    told = tmp_path / "told"
    agent = f"sh -c 'env | grep ^SANTIAGO_ | sort > {told}; sh {tmp_path}/agent.sh'"
    named = ("SANTIAGO_STORY", "SANTIAGO_ATTEMPT", "SANTIAGO_PROMPT_FILE")
    checks = [f"env > {tmp_path}/none && test -e prd.md"]
    checks += [f"env >> {tmp_path}/{name}; test -n {name} && test -e prd.md" for name in named]
    words = [word for check in checks for word in ("--verify", check)]
    arguments = ("run", "prd.md", "--agent", agent, *words, "--sandbox", "off", "--only", "S1", "--unproven", "accept")
    assert santiago(*arguments, "--trust-ticks", cwd=repo, env=place(repo)).returncode == 0
    got = dict(line.split("=", 1) for line in told.read_text().splitlines())
    of_story = {"SANTIAGO_STORY", "SANTIAGO_ATTEMPT", "SANTIAGO_PROMPT_FILE"}
    assert got.keys() >= of_story | {"SANTIAGO_RUN", "SANTIAGO_PLAN_DIR"}
    for name in ("none", *of_story):
        lines = (tmp_path / name).read_text().splitlines()
        there = {one for one in of_story if any(line.startswith(f"{one}=") for line in lines)}
        assert there == of_story & {name}
        assert {f"SANTIAGO_RUN={got['SANTIAGO_RUN']}", *(f"{one}={got[one]}" for one in there)} <= set(lines)


NO_IDS = (
    "# Small\n\n- [ ] Say hello\n  - hello.txt says hello\n  - it says it to all\n- [ ] Say bye\n  - bye.txt says bye\n"
)
OWN_TEST = (
    "import pathlib, unittest\nclass T(unittest.TestCase):\n    def test_it(self): pathlib.Path({!r}).read_text()\n"
)


def test_a_criterion_has_the_same_id_in_packet_evidence_summary_and_show(tmp_path: Path) -> None:
    """Issue 25, part 7. Where the document gives no ids, a criterion is named by its story, by everybody."""
    play = {
        name: [
            {
                "write": {file: "hello", f"test_{file[:-4]}.py": OWN_TEST.format(file)},
                "evidence": {shown: f"test_{file[:-4]}.T.test_it"},
            }
        ]
        for name, file, shown in (("S1", "hello.txt", "S1#2"), ("S2", "bye.txt", "~2#1"))
    }
    repo = committed(tmp_path / "repo", {"todo.md": NO_IDS, "play.yaml": json.dumps({"stories": play})})
    words = ("--yes", "--agent", "scripted", "--playbook", "play.yaml", "--verify", "python3 -m unittest discover")
    told = says(repo, "run", "todo.md", *words, code=0)
    run = out_dir(repo)
    prompt = (run / "attempts" / "S1" / "1" / "prompt.md").read_text()
    assert ("- S1#1: hello.txt says hello" in prompt, '{"S1#1": ' in prompt, "~" in prompt) == (True, True, False)
    assert told.stderr.count("no named test shows these criteria: S1#1\n") == 1, told.stderr
    assert "S1#2: it says it to all" in looks(repo, "show", "S1").stdout
    assert "`S2#1` bye.txt says bye: `test_bye.T.test_it` (failed before" in body(load(run)), (
        "an id of the plan is taken too"
    )
