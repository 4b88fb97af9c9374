"""The second iteration of a document: what is done stays done; a run's work is taken over by merge or pull request."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli import greeter
from tests.cli.greeter import git, looks, says
from tests.cli.iterating import FIRST, PLAY, PLAY_ON, SECOND, begun, make, newest, run, runs, write
from tests.cli.typing_person import Person
from tests.util.restored import restored

pytestmark = pytest.mark.xdist_group("iterating")


@pytest.fixture
def repo(first_version: Path) -> Path:
    """The first version is done, but not merged."""
    return restored(first_version, first_version.parent)


@pytest.fixture
def merged(repo: Path) -> Path:
    git(repo, "merge", "-q", f"santiago/{newest(repo).name}")
    return repo


def asked(repo: Path) -> Person:
    """Start a run at a terminal."""
    words = ("run", "prd.md", "--trust-commands", "--trust-project", "--plain")
    return Person(*words, cwd=repo, env=greeter.place(repo))


@pytest.mark.parametrize("way", ["merge", "squash", "squash without a message"])
def test_only_what_was_added_or_changed_goes_to_the_agent(repo: Path, way: str) -> None:
    branch = f"santiago/{newest(repo).name}"
    if way == "merge":
        git(repo, "merge", "-q", branch)
    else:
        git(repo, "merge", "-q", "--squash", branch)
        git(repo, "commit", "-q", *(["--no-edit"] if way == "squash" else ["-m", "The greeter (#1)"]))
        git(repo, "branch", "-q", "-D", branch)
    write(repo, prd_md=SECOND, play_yaml=PLAY_ON)
    shown = run(repo)
    assert begun(repo) == ["S2", "S3"]
    assert re.search(r"kept +S1 Say hello +\(done in r_\w+ already; its checks pass", shown), shown
    result = json.loads((newest(repo) / "result.json").read_bytes())
    told = [(one["id"], one["status"], one["attempts"]) for one in result["stories"]]
    assert told == [("S1", "done", 0), ("S2", "done", 1), ("S3", "done", 1)]
    assert re.search(r"S1 +Say hello +kept +proved", looks(repo, "status", "--stories").stdout)
    assert looks(repo, "audit").returncode == 0


def test_a_clone_knows_by_the_messages_of_the_commits_alone(merged: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", str(merged), "clone")
    shown = run(tmp_path / "clone")
    assert "success  2 done: 2 claimed; 0 of 2 criteria shown by a named test   0/20 attempts" in shown, shown


def test_work_that_is_not_on_the_branch_is_not_done_and_doing_it_again_is_said(repo: Path) -> None:
    first = newest(repo).name
    person = asked(repo)
    person.sees("Do it again?")
    person.types("n")
    assert (person.leaves(), runs(repo)) == (0, 1), person.seen
    shown = run(repo)
    assert begun(repo) == ["S1", "S2"]
    assert f"{first} finished prd.md, but its work is not merged into this branch, so it is done again" in shown, shown
    assert f"merge it first: git merge santiago/{first}" in shown
    git(repo, "merge", "-q", f"santiago/{newest(repo).name}")
    assert "is not merged" not in run(repo), "it is there now"


def test_work_that_was_reverted_is_done_again(merged: Path) -> None:
    git(merged, "revert", "--no-edit", git(merged, "log", "--format=%H", "--grep=Santiago-Story: S1"))
    shown = run(merged)
    assert begun(merged) == ["S1"]
    assert "but its checks fail here" not in shown, "it is known to be gone before its checks say so"


def test_a_kept_story_whose_checks_fail_on_the_base_is_an_ordinary_one(merged: Path) -> None:
    write(merged, hello_txt="moin\n")
    shown = run(merged)
    assert begun(merged) == ["S1"]
    assert "but its checks fail here: it is done again" in shown
    assert re.search(r"ok +S1 Say hello +\(1 attempt", shown), shown


def test_a_dry_run_and_a_plan_tell_done_stories_from_those_that_would_run(merged: Path, tmp_path: Path) -> None:
    """In the words of the run; plan.json is the same for everybody, so it does not say it."""
    assert "kept" not in looks(make(tmp_path / "new"), "plan", "prd.md").stdout
    first = newest(merged).name
    write(merged, prd_md=SECOND.replace("### R3: Both", "### R3: Both\n\nDepends on: R1"))
    shown = looks(merged, "run", "prd.md", "--dry-run").stdout
    assert "would run 2 of 3 stories" in shown, shown
    assert "done already, so only their checks would run: S1" in shown
    # No story names its files, so each waits for all that stand before it; nobody waits for what is done.
    assert "  S2  Say goodbye\n" in shown
    assert "  S3  Both   after S2 (may touch the same files)\n" in shown
    shown = looks(merged, "plan", "prd.md").stdout
    assert "Kept      done already, so only their checks would run: S1\n" in shown, shown
    assert re.findall(r"(S\d)  .*, kept$", shown, re.MULTILINE) == ["S1"]
    assert json.loads(looks(merged, "plan", "prd.md", "--json").stdout)["kept"] == {"S1": first}
    assert first not in (newest(merged) / "plan.json").read_text()


@pytest.fixture(scope="module")
def half(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose first run is through with one story of two."""
    repo = make(tmp_path_factory.mktemp("half"))
    run(repo, "--only", "S1")
    return repo


@pytest.fixture
def unfinished(half: Path) -> Path:
    return restored(half, half.parent)


def test_a_second_run_of_a_document_goes_on_with_the_unfinished_one_and_says_so(unfinished: Path) -> None:
    shown = run(unfinished)
    assert "is not finished; going on with it (--new starts a new run)" in shown
    assert (runs(unfinished), begun(unfinished)) == (1, ["S1", "S2"])
    assert "nothing to resume" in run(unfinished, "--resume")
    assert runs(unfinished) == 1


def test_new_starts_afresh_and_resume_goes_on_without_a_word(unfinished: Path) -> None:
    assert "is not finished" not in run(unfinished, "--new", "--only", "S1")
    assert (runs(unfinished), begun(unfinished)) == (2, ["S1"])
    assert "is not finished" not in run(unfinished, "--resume")
    assert (runs(unfinished), begun(unfinished)) == (2, ["S1", "S2"])
    assert "name one of them" in run(unfinished, "--resume", "--new", code=2)


@pytest.mark.parametrize(("word", "expected"), [("y", (1, ["S1", "S2"])), ("n", (2, ["S1", "S2"]))])
def test_on_a_terminal_a_person_is_asked(unfinished: Path, word: str, expected: tuple[int, list[str]]) -> None:
    person = asked(unfinished)
    person.sees("is not finished. Go on with it?")
    person.types(word)
    assert person.leaves() == 0, person.seen
    assert (runs(unfinished), begun(unfinished)) == expected


def test_a_run_that_cannot_go_on_names_the_way_to_start_afresh(tmp_path: Path) -> None:
    repo = make(tmp_path)
    nothing = looks(repo, "run", "prd.md", "--resume")
    assert (nothing.returncode, "there is no run of prd.md to go on with" in nothing.stderr) == (2, True)
    write(repo, play_yaml="stories:\n  R1: [{write: {hello.txt: moin}}]\n")
    run(repo, "--max-attempts", "1", code=30)
    shown = run(repo, code=30)
    assert "--add-attempts" in shown
    assert "`santiago run PRD --new` starts afresh" in shown


@pytest.mark.parametrize("committed", [True, False])
def test_a_changed_document_goes_on_from_the_work_of_the_unfinished_run(unfinished: Path, committed: bool) -> None:
    old = newest(unfinished).name
    (unfinished / "prd.md").write_text(SECOND)
    (unfinished / "play.yaml").write_text(PLAY_ON)
    if committed:
        write(unfinished)
    shown = run(unfinished)
    assert "a new run uses the change, and keeps finished stories" in shown
    assert f"goes on from {old}: 1 unchanged, 1 changed, 1 new, 0 removed" in shown
    assert (runs(unfinished), begun(unfinished)) == (2, ["S2", "S3"])
    head = f"santiago/{newest(unfinished).name}"
    assert git(unfinished, "show", f"{head}:hello.txt") == "hello"
    assert git(unfinished, "show", f"{head}:prd.md") == (SECOND.strip() if committed else FIRST.strip())
    resumed = says(unfinished, "resume", code=0)
    assert "nothing to resume" in resumed.stderr, "the work of the old run was taken over"
    rows = json.loads(looks(unfinished, "runs", "--json").stdout)["runs"]
    assert [(row["standing"], row["next"]) for row in rows[1:]] == [(f"taken over by {rows[0]['run_id']}", None)]


def test_rebase_keeps_ids_and_evidence_and_tells_the_agent_of_a_changed_story_what_there_is(repo: Path) -> None:
    old = newest(repo).name
    # A story that comes first takes no id of those that follow.
    text = SECOND.replace(
        "### R1", "### R0: Say nothing\n\n- [ ] Nothing is said\n\n**Verification:** `grep -w shh no.txt`\n\n### R1"
    )
    write(repo, prd_md=text, play_yaml=f"{PLAY_ON}  R0: [{{write: {{no.txt: shh}}}}]\n")
    done = says(repo, "rebase", old, "prd.md", "--trust-commands", "--trust-project", code=0)
    assert f"goes on from {old}: 1 unchanged, 1 changed, 2 new, 0 removed" in done.stderr
    assert sorted(begun(repo)) == ["S2", "S3", "S4"]
    prompt = (newest(repo) / "attempts" / "S2" / "1" / "prompt.md").read_text()
    assert f"An earlier run ({old}) finished this story" in prompt
    first = json.loads((newest(repo) / "progress.ndjson").read_bytes().splitlines()[0])
    assert first["context"]["run"] == old
    assert looks(repo, "audit").returncode == 0
    # What it asks to be merged holds the work of both runs.
    git(repo, "merge", "-q", f"santiago/{newest(repo).name}")
    assert (repo / "hello.txt").read_text() == "hello\n"


def test_rebase_refuses_what_conflicts_with_the_branch_and_says_how_to_solve_it(unfinished: Path) -> None:
    old = newest(unfinished).name
    write(unfinished, prd_md=SECOND, hello_txt="moin\n")
    done = says(unfinished, "rebase", old, "prd.md", "--trust-commands", "--trust-project", code=10)
    assert "conflict in hello.txt" in done.stderr
    assert f"git merge santiago/{old}" in done.stderr
    assert runs(unfinished) == 1


def test_rebase_takes_changed_settings_in_and_keeps_what_the_command_line_said(tmp_path: Path) -> None:
    repo = make(tmp_path)
    run(repo, "--only", "S1", "--verify", "true && ls prd.md")
    settings = (repo / "santiago.toml").read_text()
    write(repo, santiago_toml=f"{settings}[limits]\nstory_max_attempts = 3\n", prd_md=SECOND, play_yaml=PLAY_ON)
    run(repo)
    given = json.loads((newest(repo) / "run-input.json").read_bytes())
    assert given["limits"]["story_max_attempts"] == 3
    assert given["verification"]["story_commands"] == ["true && ls prd.md"]


def test_status_and_resume_say_what_has_changed_since_and_what_takes_it_in(unfinished: Path) -> None:
    old = newest(unfinished).name
    write(unfinished, prd_md=FIRST.replace("[ ]", "[x]", 1))
    assert "since the run began" not in looks(unfinished, "status").stdout, "ticks alone are no change"
    settings = (unfinished / "santiago.toml").read_text()
    (unfinished / "tests").mkdir()
    (unfinished / "tests" / "test_more.py").write_text("")
    write(unfinished, santiago_toml=f"{settings}[limits]\nstory_max_attempts = 3\n", prd_md=SECOND)
    told = (
        "prd.md has changed since the run began",
        "settings have changed since the run began: limits.story_max_attempts",
        "protected files have changed on your branch since the run began: tests/test_more.py",
        f"a new run would use it: santiago rebase {old} prd.md",
    )
    shown = looks(unfinished, "status").stdout
    went = says(unfinished, "resume")
    for text in told:
        assert text in shown, shown
        assert text in went.stderr, went.stderr
    assert went.returncode == 0
    assert "since the run began" not in looks(unfinished, "status").stdout, "a finished run goes nowhere"


LINES = [f"{number}\n" for number in range(30)]


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that comes first on the path, without gh and glab of this machine."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in ("git", "grep", "sh", "python3"):
        (folder / name).symlink_to(shutil.which(name) or "")
    monkeypatch.setenv("PATH", str(folder))
    return folder


def with_remote(repo: Path) -> Path:
    remote = repo.parent / "remote.git"
    git(repo, "init", "-q", "--bare", str(remote))
    git(repo, "remote", "add", "origin", str(remote))
    git(repo, "push", "-q", "origin", "main")
    return remote


def gh(programs: Path) -> None:
    """Install a program of GitHub that writes down what it is asked, and says where the request is."""
    (programs / "gh").write_text('#!/bin/sh\nprintf "%s\\n" "$@" > asked\necho https://example.org/pull/1\n')
    (programs / "gh").chmod(0o755)


def test_pr_pushes_and_opens_with_the_program_that_is_there_and_says_so(repo: Path, programs: Path) -> None:
    """Without --yes nothing is pushed, and nobody is asked."""
    branch = f"santiago/{newest(repo).name}"
    alone = json.loads(looks(repo, "pr", "--json").stdout)
    assert (alone["branch"], alone["remote"], alone["push"], alone["opened"]) == (branch, None, None, None)
    remote = with_remote(repo)
    gh(programs)
    looked = looks(repo, "pr", "--json")
    told = json.loads(looked.stdout)
    assert (looked.returncode, told["opened"], told["request"][:3]) == (10, None, ["gh", "pr", "create"])
    assert told["push"] == ["git", "push", "origin", f"refs/heads/{branch}:refs/heads/{branch}"]
    waits = looks(repo, "pr")
    assert (waits.returncode, "Nothing was pushed" in waits.stdout) == (10, True)
    assert git(remote, "branch", "--list", branch) == ""
    done = looks(repo, "pr", "--json", "--yes")
    assert (done.returncode, json.loads(done.stdout)["opened"]) == (0, "https://example.org/pull/1")
    asked = (repo / "asked").read_text().splitlines()
    assert asked[:8] == ["pr", "create", "--head", branch, "--base", "main", "--title", "PRD: Greeter"]
    body = Path(asked[-1]).read_text()
    assert re.search(r"\*\*S1 Say hello\*\* \(1 attempt, proved, [0-9a-f]{12}\)", body), body
    assert "- proved: a test that was there before failed without the work, and passes with it.\n" in body
    assert "own_tests" not in body, "only the words that stand in it are explained"
    assert "hello.txt says hello: `grep hello hello.txt` (failed before, passed now)" in body
    assert "- `grep hello hello.txt`" in body
    assert looks(repo, "audit").stdout.startswith("clean")
    assert Path(told["report"]).read_bytes().startswith(b"<!DOCTYPE html>"), "reviewers open it"
    assert git(remote, "rev-parse", branch) == git(repo, "rev-parse", branch)
    git(repo, "merge", "-q", branch)
    assert json.loads(looks(repo, "pr", "--json").stdout) == {"run_id": newest(repo).name, "taken_over": True}
    assert "already merged" in looks(repo, "pr").stdout


def test_pr_pushes_also_where_no_program_opens_the_request_and_never_ends_well_for_nothing(
    repo: Path, programs: Path, tmp_path: Path
) -> None:
    """Issue 25, part 7. What is left to the person is told: the page of the service, where it is known, and the text."""
    planned = make(tmp_path)
    assert looks(planned, "plan", "prd.md").returncode == 0
    assert "no story" in looks(planned, "pr").stderr
    alone = looks(repo, "pr", "--yes")
    assert (alone.returncode, "next: git remote add origin URL" in alone.stdout) == (10, True)
    remote, branch = with_remote(repo), f"santiago/{newest(repo).name}"
    assert (looks(repo, "pr").returncode, git(remote, "branch", "--list", branch)) == (10, "")
    told = json.loads(looks(repo, "pr", "--yes", "--json").stdout)
    assert (told["pushed"], told["opened"], told["page"]) == (True, None, None)
    assert git(remote, "rev-parse", branch) == git(repo, "rev-parse", branch)
    assert looks(repo, "pr", "--yes").returncode == 0
    for url, page in {
        "git@github.com:ann/shelf.git": f"https://github.com/ann/shelf/compare/main...{branch}?expand=1",
        "https://ann:key@gitlab.example.org/a/b/shelf": "https://gitlab.example.org/a/b/shelf/-/merge_requests/new?"
        f"merge_request%5Bsource_branch%5D={branch}",
        "/srv/shelf.git": None,
    }.items():
        git(repo, "remote", "set-url", "origin", url)
        assert json.loads(looks(repo, "pr", "--json").stdout)["page"] == page


def test_after_a_conflict_status_pr_and_rebase_name_its_files_and_what_resolves_it(repo: Path) -> None:
    """Issue 25, part 7. What is offered can be typed: `git merge` is not, while a merge is under way."""
    run_id, branch = newest(repo).name, f"santiago/{newest(repo).name}"
    write(repo, hello_txt="moin\n")
    shown = looks(repo, "status").stdout
    assert (f"next: git merge {branch} " in shown, "santiago run prd.md --new" in shown) == (True, True), shown
    assert json.loads(looks(repo, "pr", "--json").stdout)["conflicts"] == ["hello.txt"]
    offered = re.search(r"next: (git switch \S+ && git merge -)", looks(repo, "pr").stdout)
    assert offered, "whoever merges it would meet the conflict"
    with pytest.raises(subprocess.CalledProcessError):
        git(repo, "merge", "-q", branch)
    for told in (looks(repo, "status").stdout, looks(repo, "pr").stdout):
        assert ("git add hello.txt && git commit" in told, "git merge --abort" in told) == (True, True), told
        assert f"git merge {branch}" not in told
    refused = says(repo, "rebase", run_id, "prd.md", "--trust-commands", "--trust-project", code=10)
    assert ("hello.txt" in refused.stderr, "git merge --abort" in refused.stderr) == (True, True)
    write(repo, hello_txt="hello\n")
    assert json.loads(looks(repo, "status", "--json").stdout)["taken_over"]
    git(repo, "reset", "-q", "--hard", "HEAD~1")  # and the other way: the conflict is resolved on the branch of the run
    subprocess.run(
        ["sh", "-c", f"{offered[1]}; echo moin > hello.txt; git commit -qam both; git switch -q -"],
        cwd=repo,
        check=True,
    )
    assert json.loads(looks(repo, "pr", "--json").stdout)["conflicts"] == []


@pytest.fixture(scope="module")
def with_a_longer_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a finished run that has put a line before all others of a file."""
    repo = make(tmp_path_factory.mktemp("longer"))
    longer = json.dumps("".join(["first\n", *LINES]))
    write(repo, long_txt="".join(LINES), play_yaml=PLAY.replace("{hello.txt:", f"{{long.txt: {longer}, hello.txt:"))
    run(repo)
    assert "git merge" in looks(repo, "status").stdout
    return repo


@pytest.mark.parametrize("later", ["", "prd.md", "hello.txt", "long.txt"])
def test_status_knows_a_squash_merge_whatever_came_before_and_after_it(with_a_longer_file: Path, later: str) -> None:
    repo = restored(with_a_longer_file, with_a_longer_file.parent)
    if later == "long.txt":  # others have changed the same file elsewhere in the meantime
        write(repo, long_txt="".join([*LINES, "last\n"]))
    git(repo, "merge", "-q", "--squash", f"santiago/{newest(repo).name}")
    git(repo, "commit", "-q", "-m", "The greeter (#1)")
    if later:
        write(repo, **{later.replace(".", "_"): f"{(repo / later).read_text()}\nmore\n"})
    shown = looks(repo, "status").stdout
    assert "its work is merged" in shown, shown
    assert "is already merged" in looks(repo, "pr").stdout
