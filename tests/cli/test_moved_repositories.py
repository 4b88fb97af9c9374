"""A repository takes its runs along, a copy goes on by itself, and no run ever works on the branch of another one."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from santiago.app.compiling import job_of
from santiago.artifacts import registry
from tests.cli import greeter, iterating
from tests.cli.greeter import looks, says
from tests.util.restored import restored

pytestmark = pytest.mark.xdist_group("moved repositories")

INSIDE = ["", "out"]
"""Where the run lies in the repository: at home, or in a folder that the user named."""
ONE = ("--only", "S2")


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """For each place of an out-dir, a repository with a run in it that is not finished."""
    found = {}
    for out_dir in (*INSIDE, "../out"):
        repo = found[out_dir] = greeter.make(tmp_path_factory.mktemp("world") / "original")
        where = ("--out-dir", out_dir) if out_dir else ()
        says(repo, "run", "prd.md", "--trust-commands", "--only", "S2", *where, code=0)
    return found


@pytest.fixture
def begun(worlds: dict[str, Path]) -> Callable[[str], Path]:
    """Put a world back as it was, at the same place, since paths are the subject; return its repository."""
    return lambda out_dir: restored(worlds[out_dir], worlds[out_dir].parent)


def state_of(repo: Path) -> str:
    found: str = json.loads(looks(repo, "status", "--json").stdout)["state"]
    return found


def everything(repo: Path) -> tuple[str, dict[str, bytes]]:
    kept = [path for name in (".santiago", "out", "../out") for path in (repo / name).rglob("*") if path.is_file()]
    return greeter.git(repo, "for-each-ref"), {str(path): path.read_bytes() for path in kept}


@pytest.mark.parametrize("out_dir", INSIDE)
def test_a_copy_goes_on_by_itself_and_leaves_the_original_as_it_was(begun: Callable[[str], Path], out_dir: str) -> None:
    original = begun(out_dir)
    copy = shutil.copytree(original, original.with_name("copy"), symlinks=True)
    before = everything(original)
    says(copy, "resume", code=0)
    assert everything(original) == before
    branch = greeter.git(copy, "for-each-ref", "--format=%(refname)", "refs/heads/santiago/")
    assert greeter.git(copy, "show", f"{branch}:both.txt") == "both"
    assert (looks(copy, "audit").returncode, looks(original, "audit").returncode) == (0, 0)
    assert (state_of(copy), state_of(original)) == ("success", "stopped")


@pytest.mark.parametrize("out_dir", [*INSIDE, "../out"])
def test_a_moved_repository_goes_on(begun: Callable[[str], Path], out_dir: str) -> None:
    old = begun(out_dir)
    moved = old.rename(old.with_name("new"))
    assert "can be resumed" in looks(moved, "clean").stdout
    says(moved, "resume", code=0)
    assert (state_of(moved), looks(moved, "audit").returncode) == ("success", 0)


def test_a_moved_repository_goes_on_also_by_a_run_input_that_names_it_anew(begun: Callable[[str], Path]) -> None:
    old = begun("out")
    wanted = json.loads((old / "out" / "run-input.json").read_bytes())
    (old / "input.json").write_text(json.dumps({**wanted, "repo_path": "."}))
    moved = old.rename(old.with_name("new"))
    frozen = (moved / "out" / "run-input.json").read_bytes()
    says(moved, "execute", "--input", "input.json", "--plan", "out/plan.json", "--out-dir", "out", code=0)
    assert (moved / "out" / "run-input.json").read_bytes() == frozen


def test_a_plan_that_was_copied_begins_in_the_copy(tmp_path: Path) -> None:
    original = greeter.make(tmp_path / "original")
    assert looks(original, "plan", "prd.md").returncode == 0
    copy = shutil.copytree(original, tmp_path / "copy")
    assert says(copy, "resume", greeter.out_dir(copy).name, "--trust-commands").returncode == 0
    assert not greeter.git(original, "for-each-ref", "refs/heads/santiago/")
    assert json.loads((greeter.out_dir(copy) / "run-input.json").read_bytes())["repo_path"] == str(copy)


def test_a_copy_does_not_take_over_a_run_whose_folder_stayed(begun: Callable[[str], Path]) -> None:
    original = begun("../out")
    copy = shutil.copytree(original, original.with_name("copy"))
    before = everything(original)
    for words in (("resume",), ("resume", "../out"), ("audit",), ("skip", "S3", "--why", "no"), ("stop",)):
        refused = looks(copy, *words)
        assert (refused.returncode, f"out is a run of {original}" in refused.stderr) == (2, True), (words, refused)
    assert looks(copy, "clean", "--yes", "--force").returncode == 0
    assert everything(original) == before


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return iterating.make(tmp_path)


def begin(repo: Path, out_dir: Path, *more: str) -> str:
    says(repo, "run", "prd.md", "--trust-commands", "--out-dir", out_dir, *more, code=0)
    found: str = json.loads((out_dir / "run-input.json").read_bytes())["run_id"]
    return found


def head(repo: Path, run_id: str) -> str:
    return greeter.git(repo, "rev-parse", f"santiago/{run_id}")


def given(repo: Path, out_dir: Path, run_id: str | None) -> tuple[str | Path, ...]:
    """Return how a program carries out the plan of a run under an id of its own."""
    wanted = json.loads((out_dir / "run-input.json").read_bytes())
    (repo.parent / "input.json").write_text(json.dumps({**wanted, "run_id": run_id}))
    (repo.parent / "plan.json").write_bytes((out_dir / "plan.json").read_bytes())
    return "execute", "--input", repo.parent / "input.json", "--plan", repo.parent / "plan.json", "--trust-commands"


def test_two_folders_of_the_same_name_are_two_runs(repo: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "a" / "out", tmp_path / "b" / "out"
    assert begin(repo, first, *ONE) == "out"
    before = head(repo, "out")
    assert begin(repo, second) == "out-2"
    assert head(repo, "out") == before
    says(repo, "resume", first, code=0)
    assert [looks(repo, "audit", out_dir).returncode for out_dir in (first, second)] == [0, 0]


def test_a_run_that_has_not_done_anything_yet_keeps_its_id(repo: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "a" / "out", tmp_path / "b" / "out"
    (repo / "play.yaml").write_text("stories: {}\n")
    assert says(repo, "run", "prd.md", "--trust-commands", "--out-dir", first, *ONE).returncode != 70
    assert head(repo, "out") == greeter.git(repo, "rev-parse", "main")
    assert not greeter.git(repo, "for-each-ref", "refs/santiago/")
    (repo / "play.yaml").write_text(iterating.PLAY)
    assert begin(repo, second, *ONE) == "out-2"


def test_a_run_in_a_folder_that_was_emptied_begins_on_the_last_commit(repo: Path) -> None:
    out_dir = repo / "out"
    assert begin(repo, out_dir) == "out"
    out_dir.rename(repo.parent / "away")
    greeter.git(repo, "commit", "-q", "--allow-empty", "-m", "More")
    assert begin(repo, out_dir, *ONE) == "out-2"
    greeter.git(repo, "merge-base", "--is-ancestor", "main", "santiago/out-2")


def test_an_id_that_was_given_and_is_taken_is_refused_until_its_traces_are_gone(repo: Path, tmp_path: Path) -> None:
    assert begin(repo, tmp_path / "a" / "out") == "out"
    before = head(repo, "out")
    execute = (*given(repo, tmp_path / "a" / "out", "out"), "--out-dir", tmp_path / "b")
    for more in ((), ("--dry-run",)):
        refused = looks(repo, *execute, *more)
        assert (refused.returncode, "another run of this repository has the id out" in refused.stderr) == (30, True)
        assert "`santiago resume ../a/out`" in refused.stderr
    assert head(repo, "out") == before
    assert not (tmp_path / "b" / "plan.json").exists()
    (tmp_path / "a" / "out").rename(tmp_path / "away")
    assert "git branch -D santiago/out`" in looks(repo, *execute).stderr
    assert looks(repo, "clean", "--run", "out", "--force", "--yes").returncode == 0
    greeter.git(repo, "branch", "-D", "santiago/out")
    assert looks(repo, *execute, "--dry-run").returncode == 0
    assert says(repo, *execute).returncode == 0


def test_a_run_without_an_id_of_its_own_goes_on_under_the_one_that_it_began_under(repo: Path, tmp_path: Path) -> None:
    assert begin(repo, tmp_path / "a" / "out") == "out"
    execute = (*given(repo, tmp_path / "a" / "out", None), "--out-dir", tmp_path / "b" / "out")
    assert says(repo, *execute, *ONE).returncode == 0
    gone_on = says(repo, *execute)
    assert (gone_on.returncode, "run out-2 resumes" in gone_on.stderr) == (0, True), gone_on.stderr


def test_a_start_that_died_before_its_first_event_goes_on_under_its_id(repo: Path, tmp_path: Path) -> None:
    """All that it left is the branch, exactly where the run begins."""
    greeter.git(repo, "branch", "santiago/out")
    assert begin(repo, tmp_path / "out") == "out"


def test_a_branch_below_the_one_that_would_be_made_is_in_the_way(repo: Path, tmp_path: Path) -> None:
    greeter.git(repo, "branch", "santiago/out/mine")
    assert begin(repo, tmp_path / "out", *ONE) == "out-2"


def test_runs_of_two_worktrees_have_own_ids(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Never rewinds: the second would stand on the branch of the first, and was refused for that."""
    monkeypatch.setattr("santiago.util.clock.SystemClock.utc", lambda self: "2026-11-17T00:00:01Z")
    tree = tmp_path / "tree"
    greeter.git(repo, "worktree", "add", "-q", str(tree), "HEAD")
    ids = []
    for root in (repo, tree):
        job = job_of(root / "prd.md", None)
        common = registry.common_git_dir(root)
        assert common is not None
        ids.append(str(job.run_input.run_id))
        registry.register(common, ids[-1], job.out_dir, "2026-11-17T00:00:01Z")
    assert ids == ["r_20261117_000001", "r_20261117_000001_2"]
