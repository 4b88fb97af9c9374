"""In repositories of every kind stories are integrated, or the repository is refused with the remedy."""

import os
from pathlib import Path
from typing import NamedTuple

import pytest

from santiago.contract.errors import Kind, SantiagoError
from santiago.workspace.durable import Durability
from santiago.workspace.troubles import is_of_the_machine, trouble
from santiago.workspace.workspace import GitWorkspace
from tests.util.each import each
from tests.workspace.conftest import Bench, git, make_repo, write

STORIES = ["S1", "S2"]


class Cycle(NamedTuple):
    """What two stories left that were begun together, worked on, checked out again and integrated."""

    workspace: GitWorkspace
    integrated: list[str]
    """Files that the run's branch has more than the commit it began on; each story adds one of its own name."""


def cycle(repo: Path, scratch: Path) -> Cycle:
    workspace = GitWorkspace(repo, "r1", scratch)
    facts = workspace.inspect()
    base = workspace.begin(facts.head)
    for story in STORIES:
        write(workspace.open(story, 1, (base,)).folder, **{story: "n\n"})
    head = base
    for story in STORIES:
        snapshot = workspace.snapshot(story, 1, story)
        assert snapshot is not None
        assert [change.path for change in snapshot.changes] == [story]
        clean = workspace.checkout(snapshot.commit, story)
        assert git(clean, "status", "--porcelain") == ""
        assert git(clean, "rev-parse", "HEAD") == snapshot.commit
        assert git(clean, "log", "--format=%H").startswith(snapshot.commit)
        done = workspace.integrate(story, snapshot.commit, base, story, [])
        assert done.head is not None
        head = workspace.advance(head, done.head)
        workspace.discard(clean)
        workspace.close(story, 1)
    assert git(repo, "rev-parse", "refs/heads/santiago/r1") == head
    return Cycle(workspace, git(repo, "diff-tree", "-r", "--name-only", base, head).splitlines())


def refusal(repo: Path, scratch: Path) -> SantiagoError:
    with pytest.raises(SantiagoError) as caught:
        GitWorkspace(repo, "r1", scratch).inspect()
    assert caught.value.hint
    return caught.value


def test_an_ordinary_repository_is_described_and_gets_the_stories_on_a_branch_of_the_run(bench: Bench) -> None:
    done = cycle(bench.repo, bench.scratch)
    assert done.integrated == STORIES
    facts = done.workspace.inspect()
    assert (facts.root, facts.common, facts.branch) == (bench.repo, bench.repo / ".git", "main")
    assert (facts.head, facts.object_format, facts.shallow) == (bench.first, "sha1", False)
    assert not done.workspace.is_dirty()


def test_odd_characters_in_a_path_are_taken_as_they_are(tmp_path: Path) -> None:
    place = tmp_path / "my 'odd' \"näme\" #1 $(id)"
    place.mkdir()
    done = cycle(make_repo(place / "repo"), place / "scratch")
    assert done.integrated == STORIES
    assert done.workspace.inspect().root == place / "repo"
    assert sorted(path.name for path in tmp_path.iterdir()) == [place.name], "nothing landed beside it"


def test_a_detached_head_is_no_branch_and_a_repository_keeps_its_longer_hashes(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "repo", "--object-format=sha256")
    git(repo, "checkout", "-q", "--detach")
    done = cycle(repo, tmp_path / "scratch")
    assert done.integrated == STORIES
    assert (done.workspace.inspect().branch, done.workspace.inspect().object_format) == (None, "sha256")


def test_from_a_linked_worktree_the_stories_go_to_the_common_repository(bench: Bench, tmp_path: Path) -> None:
    git(bench.repo, "worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    done = cycle(tmp_path / "linked", bench.scratch)
    assert done.integrated == STORIES
    facts = done.workspace.inspect()
    assert (facts.common, facts.root, facts.branch) == (bench.repo / ".git", tmp_path / "linked", "side")
    assert git(bench.repo, "for-each-ref", "--format=%(refname)", "refs/santiago") != ""


def test_a_shallow_clone_is_enough_and_stays_shallow(bench: Bench, tmp_path: Path) -> None:
    write(bench.repo, b="second\n")
    git(bench.repo, "commit", "-qam", "Second")
    git(tmp_path, "clone", "-q", "--depth=1", bench.repo.as_uri(), "clone")
    done = cycle(tmp_path / "clone", bench.scratch)
    assert done.integrated == STORIES
    assert done.workspace.inspect().shallow
    assert git(tmp_path / "clone", "rev-list", "--count", "main") == "1"


def test_objects_that_a_clone_borrows_are_found_and_stay_borrowed(bench: Bench, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--shared", str(bench.repo), "clone")
    alternates = tmp_path / "clone" / ".git" / "objects" / "info" / "alternates"
    alternates.write_text("../../../repo/.git/objects\n", encoding="utf-8")
    assert cycle(tmp_path / "clone", bench.scratch).integrated == STORIES
    assert alternates.read_text(encoding="utf-8") == "../../../repo/.git/objects\n"
    first = bench.first
    assert not (tmp_path / "clone" / ".git" / "objects" / first[:2] / first[2:]).exists()


def test_packed_refs_and_objects_are_read_and_packing_loses_none_of_santiagos_own(bench: Bench) -> None:
    git(bench.repo, "gc", "-q")
    assert cycle(bench.repo, bench.scratch).integrated == STORIES
    git(bench.repo, "gc", "-q", "--prune=now")
    refs = GitWorkspace(bench.repo, "r1", bench.scratch).refs()
    assert [(ref.story, bench.text(ref.commit, ref.story)) for ref in refs] == [("S1", "n"), ("S2", "n")]


def test_a_dirty_tree_is_only_noted_and_a_left_lock_of_the_index_disturbs_nobody(bench: Bench) -> None:
    write(bench.repo, untracked="u")
    (bench.repo / ".git" / "index.lock").touch()
    done = cycle(bench.repo, bench.scratch)
    assert done.integrated == STORIES, "neither what is not committed nor anything else comes along"
    assert done.workspace.is_dirty()
    assert (bench.repo / ".git" / "index.lock").exists()


def test_variables_of_a_git_command_mean_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Santiago may be started from a hook, which has these set."""
    for name in ["DIR", "WORK_TREE", "INDEX_FILE", "OBJECT_DIRECTORY", "NAMESPACE", "CONFIG_PARAMETERS"]:
        monkeypatch.setenv(f"GIT_{name}", str(tmp_path / "elsewhere"))
    done = cycle(bench.repo, bench.scratch)
    assert done.integrated == STORIES
    assert done.workspace.inspect().common == bench.repo / ".git"
    assert not (tmp_path / "elsewhere").exists()


def test_commits_carry_the_users_name(bench: Bench) -> None:
    git(bench.repo, "config", "user.name", 'Zoë "Z" \\ Doe')
    git(bench.repo, "config", "user.email", "z@example.org")
    workspace = GitWorkspace(bench.repo, "r1", bench.scratch)
    folder = workspace.open("S1", 1, (bench.first,)).folder
    assert git(folder, "config", "user.name") == 'Zoë "Z" \\ Doe'
    write(folder, new="n")
    snapshot = workspace.snapshot("S1", 1, "x")
    assert snapshot is not None
    who = git(bench.repo, "log", "-1", "--format=%an <%ae> %cn", snapshot.commit)
    assert who == 'Zoë "Z" \\ Doe <z@example.org> Zoë "Z" \\ Doe'


def test_what_is_no_repository_or_a_bare_or_empty_one_is_refused_with_the_remedy(bench: Bench, tmp_path: Path) -> None:
    assert "git init" in refusal(tmp_path, bench.scratch).hint
    assert refusal(tmp_path / "missing", bench.scratch).kind is Kind.INPUT
    git(tmp_path, "init", "-q", "--bare", "bare")
    assert "bare" in refusal(tmp_path / "bare", bench.scratch).message
    git(tmp_path, "init", "-q", "empty")
    error = refusal(tmp_path / "empty", bench.scratch)
    assert (error.message, error.kind) == ("there is no commit yet", Kind.INPUT)
    assert "git commit" in error.hint
    (bench.repo / ".git" / "refs" / "heads" / "main").write_bytes(b"")  # a power cut did; it is not empty
    error = refusal(bench.repo, bench.scratch)
    assert (error.kind, "reflog" in error.hint) == (Kind.BLOCKED, True)


def test_a_missing_object_is_named_and_not_papered_over(bench: Bench) -> None:
    blob = git(bench.repo, "rev-parse", "HEAD:b")
    (bench.repo / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(SantiagoError, match="an object that git needs is missing") as caught:
        GitWorkspace(bench.repo, "r1", bench.scratch).open("S1", 1, (bench.first,))
    assert caught.value.kind is Kind.BLOCKED


@pytest.mark.parametrize("method", list(Durability))
def test_stories_land_however_commits_last(bench: Bench, monkeypatch: pytest.MonkeyPatch, method: Durability) -> None:
    monkeypatch.setattr("santiago.workspace.repository.durability_of", lambda common, objects: method)
    done = cycle(bench.repo, bench.scratch)
    assert done.workspace.repository.durability is method
    assert done.integrated == STORIES


def test_a_failed_sync_is_an_error_and_is_not_tried_again(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = GitWorkspace(bench.repo, "r1", bench.scratch)
    write(workspace.open("S1", 1, (bench.first,)).folder, new="n")
    workspace.repository.durability = Durability.JOURNAL
    calls: list[int] = []

    def broken(handle: int) -> None:
        calls.append(handle)
        raise OSError(5, os.strerror(5))

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(SantiagoError, match="EIO") as caught:
        workspace.snapshot("S1", 1, "x")
    assert caught.value.kind is Kind.TRANSIENT
    assert len(calls) == 1
    refs = bench.repo / ".git" / "refs"
    with pytest.raises(SantiagoError, match="EIO") as caught:  # git packed the refs and removed their folder
        Durability.JOURNAL.barrier(refs / "gone" / "too", refs.parent)
    assert caught.value.where == str(refs)


@each(
    ("words", "is_the_machine"),
    [
        ("error: unable to write file: No space left on device\nfatal: adding files failed", True),
        ("fatal: sha1 file 'own/index.lock' write error. Out of diskspace", True),
        ("fatal: failed to encode 'x.u' from UTF-16 to UTF-8", False),
    ],
)
def test_a_full_disk_is_told_from_a_file_that_is_odd(words: str, is_the_machine: bool) -> None:
    assert is_of_the_machine(words) is is_the_machine
    if is_the_machine:
        assert "Free space" in trouble(("add",), words).hint


@each("now", [-5_000_000_000.0, -1.0, 0.0, 4102444799.0, 4102444801.0, 40_000_000_000.0])
def test_a_wall_clock_far_off_makes_good_commits(bench: Bench, now: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """P3: git computes time zones only for the years 1970 to 2099."""
    monkeypatch.setattr("santiago.workspace.stored.time.time", lambda: now)
    folder = bench.opened(f"T{abs(int(now))}")
    write(folder, new=str(now))
    bench.taken(f"T{abs(int(now))}")
    assert "error" not in git(bench.repo, "fsck", "--strict")
