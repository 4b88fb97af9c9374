"""What is known to be hopeless is refused before the first attempt, as its dry run is, and leaves no run behind."""

import json
from pathlib import Path

import pytest

from tests.cli import greeter
from tests.cli.conftest import Done
from tests.cli.greeter import git, looks
from tests.cli.inside import inside
from tests.cli.santiago import santiago
from tests.util.each import each

PRD = "# PRD: Notes\n\n### R1: One\n\n- [ ] there is one\n\n### R2: Two\n\nDepends on: R1\n\n- [ ] there are two\n"
CHECK = 'test -f "$SANTIAGO_STORY.txt"'
AGENT = '#!/bin/sh\necho x > "$SANTIAGO_STORY.txt"\n'
WRONG = {
    "no check at all": ((), "../agent.sh", 30, 'santiago run PRD --verify "CMD"'),
    "a relative agent that is nowhere": (("--verify", CHECK), "./nope.sh x", 20, "./nope.sh is not here"),
    "an absolute agent that is nowhere": (("--verify", CHECK), "/nowhere/nope", 20, "/nowhere/nope does not exist"),
    "an agent beside it that is nowhere": (("--verify", CHECK), "../nope.sh x", 20, "nope.sh does not exist"),
    "a folder beside the repository": (("--verify", CHECK), "../repo x", 20, "/repo is a folder"),
    "a folder of the repository": (("--verify", CHECK), "./.git", 20, ".git is a folder"),
    "a check that was never committed": (("--verify", "./check.sh"), "../agent.sh", 10, "`git add check.sh"),
    "a program that is not on PATH": (("--verify", CHECK), "no-such-prog x", 20, "there is no no-such-prog on PATH"),
    "a script that was never committed": (("--verify", "sh check.sh -q"), "../agent.sh", 10, "`git add check.sh"),
}
BARE = "# PRD\n\n### R1: Something\n\n- [ ] it is there\n\n### R2: More\n\n- [ ] it is there, too\n"


def script(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    script(tmp_path / "agent.sh", AGENT)
    return greeter.committed(tmp_path / "repo", {"prd.md": PRD})


def begin(repo: Path, *more: str, agent: str = "../agent.sh") -> tuple[int, str, str]:
    go = inside if "--dry-run" in more else santiago
    done = go("run", "prd.md", "--sandbox", "off", "--agent", agent, *more, cwd=repo)
    return done.returncode, done.stdout, done.stderr


def attempts(repo: Path) -> int:
    return len(list(repo.glob(".santiago/runs/*/attempts/*/*/prompt.md")))


def test_a_hopeless_start_is_refused_as_its_dry_run_is_and_spends_no_attempt(repo: Path) -> None:
    script(repo / "check.sh", CHECK)
    for case, (more, agent, code, words) in WRONG.items():
        for dry in (("--dry-run",), ()):
            done = inside("run", "prd.md", "--sandbox", "off", "--agent", agent, *more, *dry, cwd=repo)
            assert (done.returncode, words in done.stderr, attempts(repo)) == (code, True, 0), (case, dry, done)


def test_checks_that_cannot_fail_spend_no_attempt(repo: Path) -> None:
    """Nobody sees that from their words: they are tried on the base first."""
    code, _, said = begin(repo, "--verify", "true", "--verify", "echo ok")
    assert (code, attempts(repo)) == (30, 0), said
    assert "nothing checks S1: `true` still passes when every file of the repository except the tests is" in said


def test_a_runner_whose_words_only_grep_hears_is_a_check_as_a_whole(repo: Path) -> None:
    test = "import unittest\n\n\nclass Notes(unittest.TestCase):\n    def test_one(self):\n        import note\n"
    (repo / "test_note.py").write_text(test)
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "A test")
    script(repo.parent / "agent.sh", "#!/bin/sh\ntouch note.py\n")
    code, _, said = begin(repo, "--verify", "python3 -m unittest 2>&1 | grep -q '^OK'", "--only", "S1")
    assert (code, "1 of 2 done: 1 shown" in said) == (0, True), said


def refused(repo: Path, check: str) -> str:
    """See that a check is refused before anything begins, and return what is said."""
    done = inside("run", "prd.md", "--sandbox", "off", "--agent", "../agent.sh", "--verify", check, cwd=repo)
    assert (done.returncode, attempts(repo)) == (10, 0), (check, done)
    return done.stderr


def test_a_check_from_an_ignored_folder_is_refused_with_advice_that_works(repo: Path) -> None:
    (repo / ".gitignore").write_text("tools/\n")
    (repo / "tools" / "bin").mkdir(parents=True)
    (repo / "tools/bin/python3").symlink_to("/usr/bin/env")
    script(repo / "tools/bin/tool", CHECK)
    for check in ("tools/bin/python3 -m unittest", "env A=1 ./tools/bin/python3 -m unittest", "tools/bin/tool"):
        (repo / "santiago.toml").unlink(missing_ok=True)
        said, advice = refused(repo, check), 'provide = [".venv", "venv", "node_modules", "vendor", "tools"]'
        assert (advice in said, "git add" in said) == (True, False), check
        for settings in ('setup = ["true"]', advice):
            (repo / "santiago.toml").write_text(f"[workspace]\n{settings}\n")
            assert begin(repo, "--verify", check, "--dry-run")[0] == 0, (check, settings)


def test_a_check_from_the_repositorys_environment_starts_where_that_environment_is(repo: Path) -> None:
    """A clone and a linked worktree have none, and no story can bring it: that is said before an attempt is spent."""
    (repo / ".gitignore").write_text(".venv/\n")
    checks = (".venv/bin/python3 -m unittest", ".venv/bin/tool")
    for _ in ("no folder", "an empty one"):
        for check in checks:
            assert f"`{check.split()[0]}` checks S1 and does not exist" in refused(repo, check)
        (repo / ".venv" / "bin").mkdir(parents=True, exist_ok=True)
    (repo / ".venv/bin/python3").symlink_to("/usr/bin/python3")
    script(repo / ".venv/bin/tool", CHECK)
    for check in (*checks, *(f"/nowhere/{check}" for check in checks)):  # which is found out when it is started
        assert begin(repo, "--verify", check, "--dry-run")[0] == 0, check


def test_a_check_that_the_set_up_brings_or_that_a_story_names_is_no_reason_to_refuse(repo: Path) -> None:
    script(repo / "check.sh", CHECK)
    for settings in ('setup = ["cp ../check.sh ."]', 'copy = ["check.sh"]'):
        (repo / "santiago.toml").write_text(f"[workspace]\n{settings}\n")
        assert begin(repo, "--verify", "./check.sh", "--dry-run")[0] == 0, settings
    (repo / "santiago.toml").unlink()
    (repo / "prd.md").write_text(PRD.replace("### R1: One\n", "### R1: One\n\n**Files:** `check.sh`\n"))
    code, shown, _ = begin(repo, "--verify", "./check.sh", "--dry-run")
    assert (code, "`check.sh`, which checks S1, is not in the last commit" in shown) == (0, True)


def test_a_check_behind_a_committed_link_is_there_and_a_committed_agent_starts_from_the_checkout(repo: Path) -> None:
    (repo / "real").mkdir()
    script(repo / "real" / "check.sh", CHECK)
    (repo / "bin").symlink_to("real")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "A link")
    code, shown, _ = begin(repo, "--verify", "bin/check.sh", "--dry-run")
    assert (code, "note:" in shown) == (0, False)
    script(repo / "own.sh", AGENT)
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "An agent")
    (repo / "own.sh").unlink()
    assert begin(repo, "--verify", CHECK, agent="./own.sh x")[0] == 0


def test_an_agent_may_not_lead_out_of_the_checkout_one_of_a_subfolder_is_named_without_a_way_back(repo: Path) -> None:
    """A sandbox has only the folders on the way to the program, so `deep/..` would lead nowhere in it."""
    (repo / "santiago.toml").write_text('[agent]\ncommand = ["../agent.sh"]\n')
    refused = santiago("run", "prd.md", "--sandbox", "off", "--verify", CHECK, cwd=repo)
    assert (refused.returncode, "../agent.sh leads out of the checkout" in refused.stderr) == (20, True)
    assert attempts(repo) == 0
    (repo / "santiago.toml").unlink()
    (repo / "deep" / "er").mkdir(parents=True)
    words = ("run", "../../prd.md", "--sandbox", "off", "--verify", CHECK, "--agent", "../../../agent.sh")
    santiago(*words, cwd=repo / "deep" / "er", code=0)
    frozen = json.loads((greeter.out_dir(repo) / "run-input.json").read_bytes())
    assert frozen["agent"]["command"] == [str(repo.parent / "agent.sh")]


def test_a_dry_run_shows_agent_sandbox_and_only_what_is_left(repo: Path) -> None:
    code, shown, _ = begin(repo, "--verify", CHECK, "--verify", CHECK, "--dry-run")
    assert code == 0
    assert "would run 2 stories: agent agent.sh, sandbox none" in shown
    assert shown.count(f"$ {CHECK}") == 2  # once per story, however often it was named
    assert "after -" not in shown
    assert not (repo / ".santiago").exists()
    assert begin(repo, "--verify", CHECK, "--only", "S1")[0] == 0
    left = inside("resume", "--dry-run", "--sandbox", "off", cwd=repo).stdout
    assert "would run 1 of 2 stories" in left
    assert ("S1 " in left, "S2  Two" in left, "after" in left) == (False, True, False)
    data = json.loads(inside("resume", "--dry-run", "--json", cwd=repo).stdout)
    assert ([story["id"] for story in data["stories"]], data["agent"]) == (["S2"], "agent.sh")


def test_a_dry_run_of_a_run_that_would_only_fail_again_refuses(repo: Path) -> None:
    (repo / "santiago.toml").write_text("[limits]\nstory_max_attempts = 1\n")
    assert begin(repo, "--verify", "test -f never.txt")[0] == 30
    refused = inside("resume", "--dry-run", cwd=repo)
    assert (refused.returncode, "attempt_budget_exhausted" in refused.stderr) == (30, True)
    assert inside("resume", "--dry-run", "--add-attempts", "1", cwd=repo).returncode == 0


def test_the_folder_of_the_document_decides_one_that_holds_a_run_leads_to_resume(repo: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "prd.md").write_text(PRD)
    for flags in ((), ("--dry-run",)):
        done = inside("run", other / "prd.md", "--verify", CHECK, *flags, cwd=repo)
        assert (done.returncode, f"{other}: this is not a git repository" in done.stderr) == (30, True), done.stderr
        assert "repository around its document" in done.stderr
    assert [path.name for path in other.iterdir()] == ["prd.md"]
    assert begin(repo, "--verify", CHECK, "--out-dir", "out")[0] == 0
    code, _, said = begin(repo, "--verify", CHECK, "--out-dir", "out")
    assert (code, "`santiago resume out`" in said) == (30, True)


# Attempts for every story (promise 5: bounded, and not by surprise)


@pytest.fixture
def big(repo: Path) -> Path:
    stories = "".join(f"### R{number}: Part {number}\n\n- [ ] it is there\n\n" for number in range(1, 24))
    (repo / "prd.md").write_text(f"# PRD: Big\n\n{stories}")
    return repo


def test_a_plan_with_more_stories_than_attempts_gets_enough_of_them_and_says_so(big: Path) -> None:
    shown = inside("plan", "prd.md", cwd=big).stdout
    assert "limits.run_max_attempts is set to 46, twice the number of stories" in shown
    (folder,) = (big / ".santiago" / "runs").iterdir()
    assert json.loads((folder / "run-input.json").read_bytes())["limits"]["run_max_attempts"] == 46
    plan = (folder / "plan.json").read_bytes()
    (big / "santiago.toml").write_text("[limits]\nrun_max_attempts = 21\n")
    assert inside("plan", "prd.md", cwd=big).returncode == 0
    assert (folder / "plan.json").read_bytes() == plan


def test_a_limit_that_somebody_set_too_low_stays_and_is_warned_of(big: Path) -> None:
    (big / "santiago.toml").write_text("[limits]\nrun_max_attempts = 21\n")
    warning = "23 stories are to be done, and limits.run_max_attempts leaves 21 attempts"
    assert warning in inside("plan", "prd.md", cwd=big).stdout
    assert warning in begin(big, "--verify", CHECK, "--dry-run")[1]
    assert warning not in begin(big, "--verify", CHECK, "--only", "S1", "--dry-run")[1]


def test_what_is_not_committed_is_told_before_a_run_that_will_not_see_it(repo: Path) -> None:
    (repo / "R1.txt").write_text("x\n")
    code, _, told = begin(repo, "--verify", CHECK)
    assert (code, "there are uncommitted changes, such as R1.txt;" in told, attempts(repo)) == (0, True, 2), told


def test_an_environment_that_checkouts_are_given_is_no_uncommitted_change(repo: Path) -> None:
    (repo / ".venv" / "bin").mkdir(parents=True)
    (repo / ".venv" / "pyvenv.cfg").write_text("")
    (repo / ".venv" / "bin" / "python").symlink_to("/bin/sh")
    code, _, told = begin(repo, "--verify", CHECK)
    assert (code, "uncommitted" in told) == (0, False), told


def test_commands_that_wait_for_approval_are_all_named_with_their_lines(tmp_path: Path) -> None:
    repo = greeter.make(tmp_path / "repo", greeter.GOOD)
    refused = greeter.looks(repo, "run", "prd.md", "--no-input", code=10)
    commands = "`grep hello hello.txt`, `grep goodbye bye.txt`, `grep both both.txt`"
    assert f"3 commands of the document wait for approval: {commands}\n" in refused.stderr
    assert "Read them in prd.md:11, prd.md:19, prd.md:31, then use --trust-commands." in refused.stderr


@pytest.fixture
def planned(tmp_path: Path) -> Path:
    """A repository with a plan that nothing checks, and a start of it that was refused."""
    repo = greeter.committed(tmp_path / "repo", {"prd.md": BARE})
    assert looks(repo, "plan", "prd.md").returncode == 0
    folder = greeter.out_dir(repo)
    began = ("--input", folder / "run-input.json", "--plan", folder / "plan.json", "--out-dir", folder)
    refused = looks(repo, "execute", *began, "--sandbox", "off")
    assert (refused.returncode, "nothing checks S1" in refused.stderr) == (30, True)
    return repo


def test_a_plan_whose_start_was_refused_is_planned_and_not_begun(planned: Path) -> None:
    """Also where an older santiago left an empty log."""
    folder = greeter.out_dir(planned)
    assert not (folder / "progress.ndjson").exists()
    for _ in ("no log", "an empty one"):
        shown = looks(planned, "status", folder)
        assert (shown.returncode, "   planned   resumable: yes" in shown.stdout) == (0, True)
        told = json.loads(looks(planned, "status", folder, "--json").stdout)
        assert (told["state"], told["needs"], told["last_event"]) == ("planned", [], None)
        audited = looks(planned, "audit", folder)
        assert (audited.returncode, "has not begun" in audited.stderr) == (30, True)
        logged = looks(planned, "log", folder)
        assert (logged.returncode, logged.stdout, "has not begun" in logged.stderr) == (0, "", True)
        (folder / "progress.ndjson").touch()


def test_a_run_that_could_not_begin_is_none(tmp_path: Path) -> None:
    """Neither for want of an agent nor for want of approval of the document's commands."""
    repo = greeter.make(tmp_path / "repo")
    for words in (("--agent", "no-such-agent arg"), ("--agent", "sh -c true", "--no-input")):
        refused = looks(repo, "run", "prd.md", *words)
        assert refused.returncode in (10, 20), refused.stderr
        told = looks(repo, "status")
        assert (told.returncode, "no run yet" in told.stderr) == (2, True)
        assert not list(repo.glob(".santiago/runs/*/progress.ndjson"))


def test_a_result_whose_log_was_emptied_is_damage_and_no_plan(success: Done, tmp_path: Path) -> None:
    repo = greeter.copied(success.repo, tmp_path)
    (greeter.out_dir(repo) / "progress.ndjson").write_bytes(b"")
    audited = looks(repo, "audit")
    assert (audited.returncode, "log_cut" in audited.stdout) == (30, True)


def test_a_plan_that_was_edited_does_not_begin_and_can_be_planned_as_it_is_now(tmp_path: Path) -> None:
    repo = greeter.make(tmp_path / "repo")
    env = greeter.place(repo)
    assert inside("plan", "prd.md", cwd=repo, env=env).returncode == 0
    folder = greeter.out_dir(repo)
    plan = folder / "plan.json"
    plan.write_text(plan.read_text().replace("Say hello", "Say hi"))
    began = ("--input", folder / "run-input.json", "--plan", plan, "--out-dir", tmp_path / "other")
    for words in (
        ("execute", *began),
        ("execute", *began, "--dry-run"),
        ("resume", folder.name),
        ("skip", "S1", "--why", "no"),
    ):
        told = inside(*words, cwd=repo, env=env)
        assert (told.returncode, "edited after it was written" in told.stderr) == (30, True), told.stderr
    assert not (folder / "progress.ndjson").exists()
    assert [path.name for path in (tmp_path / "other").iterdir()] == ["result.json"]
    assert inside("plan", "prd.md", "--check", cwd=repo, env=env).returncode == 3
    *_, hint = told.stderr.split("fix: ")
    _, as_edited, _, anew, _ = hint.split("`")
    assert inside(*as_edited.split()[1:], cwd=repo, env=env).returncode == 0
    (other,) = {*folder.parent.iterdir()} - {folder}
    assert json.loads((other / "plan.json").read_bytes())["stories"][0]["title"] == "Say hi"
    assert inside("resume", other, "--dry-run", cwd=repo, env=env).returncode == 0
    assert inside(*anew.split()[1:], cwd=repo, env=env).returncode == 0
    assert inside("resume", folder, "--dry-run", cwd=repo, env=env).returncode == 0


def test_a_playbook_that_cannot_be_played_begins_no_run(tmp_path: Path) -> None:
    repo = greeter.make(tmp_path / "repo", "stories: {R1: {write: {a: 5}}}\n")
    refused = greeter.carry_out(repo)
    assert (refused.returncode, "playbook.yaml" in refused.stderr) == (30, True), refused.stderr
    assert "R1, attempt 1: write must be" in refused.stderr
    (repo / "santiago.toml").unlink()
    missing = looks(repo, "run", "prd.md", "--agent", "scripted", "--trust-commands")
    assert (missing.returncode, "--playbook FILE" in missing.stderr) == (2, True), missing.stderr
    assert not list(repo.glob(".santiago/runs/*/progress.ndjson"))


@each(("stories", "more", "said"), [(18, "", ()), (19, "", ("190 minutes",)), (21, "", ("set to 42", "210 minutes")),
                                    (30, "[policy]\njobs = 3\n", ("set to 60",)), (3, "[limits]\nrun_timeout_minutes = 20\n", ("30 minutes",))])  # fmt: skip
def test_a_plan_that_is_larger_than_the_limits_says_so_when_it_is_planned(
    tmp_path: Path, stories: int, more: str, said: tuple[str, ...]
) -> None:
    """Issue 25, part 7: of attempts and of minutes, in `plan` and where `run` begins."""
    text = "".join(f"### R{n}: Story {n}\n\n- [ ] it\n\n**Verification:** `true {n}`\n\n" for n in range(stories))
    repo = greeter.committed(
        tmp_path / "repo", {"prd.md": f"# PRD: Many\n\n{text}", "santiago.toml": more, "p.yaml": "stories: {}\n"}
    )
    found = json.loads(greeter.looks(repo, "plan", "prd.md", "--json").stdout)["limits"]
    assert len(found) == len(said)
    assert all(part in text for part, text in zip(said, found, strict=True)), found
    shown = greeter.looks(
        repo, "run", "prd.md", "--dry-run", "--trust-commands", "--agent", "scripted", "--playbook", "p.yaml"
    )
    assert all(part in shown.stdout + shown.stderr for part in said), shown
