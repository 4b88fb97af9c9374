"""Repositories of every kind work, or are refused with the remedy."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from santiago.contract.errors import Kind, SantiagoError
from santiago.workspace.durable import Durability
from santiago.workspace.workspace import GitWorkspace
from tests.workspace.conftest import Bench, git, make_repo, write


def cycle(repo: Path, scratch: Path) -> GitWorkspace:
    """One story from its beginning to its integration."""
    workspace = GitWorkspace(repo, "r1", scratch)
    facts = workspace.inspect()
    base = workspace.begin(facts.head)
    for story in ("S1", "S2"):
        write(workspace.open(story, 1, (base,)).folder, **{story: "n\n"})
    head = base
    for story in ("S1", "S2"):
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
    assert {"S1", "S2"} < set(git(repo, "ls-tree", "-r", "--name-only", head).split())
    return workspace


def refusal(repo: Path, scratch: Path) -> SantiagoError:
    with pytest.raises(SantiagoError) as caught:
        GitWorkspace(repo, "r1", scratch).inspect()
    assert caught.value.hint
    return caught.value


def test_an_ordinary_repository(bench: Bench) -> None:
    workspace = cycle(bench.repo, bench.scratch)
    facts = workspace.inspect()
    assert (facts.root, facts.common, facts.branch) == (str(bench.repo), str(bench.repo / ".git"), "main")
    assert (facts.head, facts.object_format, facts.dirty, facts.shallow, facts.partial) == (
        bench.first,
        "sha1",
        False,
        False,
        False,
    )


def test_a_path_with_odd_characters_works(tmp_path: Path) -> None:
    place = tmp_path / "my 'odd' \"näme\" #1 $(id)"
    place.mkdir()
    cycle(make_repo(place / "repo"), place / "scratch")


def test_a_detached_head_works(bench: Bench) -> None:
    git(bench.repo, "checkout", "-q", "--detach")
    assert cycle(bench.repo, bench.scratch).inspect().branch is None


def test_a_linked_worktree_works_on_the_common_repository(bench: Bench, tmp_path: Path) -> None:
    git(bench.repo, "worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    facts = cycle(tmp_path / "linked", bench.scratch).inspect()
    assert (facts.common, facts.root, facts.branch) == (str(bench.repo / ".git"), str(tmp_path / "linked"), "side")
    assert git(bench.repo, "for-each-ref", "--format=%(refname)", "refs/santiago") != ""


def test_a_repository_with_longer_hashes_works(tmp_path: Path) -> None:
    workspace = cycle(make_repo(tmp_path / "repo", "--object-format=sha256"), tmp_path / "scratch")
    assert workspace.inspect().object_format == "sha256"


def test_a_shallow_clone_works(bench: Bench, tmp_path: Path) -> None:
    write(bench.repo, b="second\n")
    git(bench.repo, "commit", "-qam", "Second")
    git(tmp_path, "clone", "-q", "--depth=1", bench.repo.as_uri(), "clone")
    assert cycle(tmp_path / "clone", bench.scratch).inspect().shallow


def test_a_clone_that_borrows_objects_works(bench: Bench, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--shared", str(bench.repo), "clone")
    alternates = tmp_path / "clone" / ".git" / "objects" / "info" / "alternates"
    alternates.write_text("../../../repo/.git/objects\n", encoding="utf-8")
    cycle(tmp_path / "clone", bench.scratch)


def test_packed_refs_and_objects_work(bench: Bench) -> None:
    git(bench.repo, "gc", "-q")
    cycle(bench.repo, bench.scratch)
    git(bench.repo, "gc", "-q", "--prune=now")
    assert len(GitWorkspace(bench.repo, "r1", bench.scratch).refs()) == 2


def test_a_dirty_tree_is_only_noted_and_a_left_lock_of_the_index_disturbs_nobody(bench: Bench) -> None:
    write(bench.repo, untracked="u")
    (bench.repo / ".git" / "index.lock").touch()
    assert cycle(bench.repo, bench.scratch).inspect().dirty
    assert (bench.repo / ".git" / "index.lock").exists()


def test_variables_of_a_surrounding_git_command_mean_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Santiago may be started from a hook, which has these set."""
    for name in (
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_NAMESPACE",
        "GIT_CONFIG_PARAMETERS",
    ):
        monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    cycle(bench.repo, bench.scratch)


def test_commits_carry_the_users_name(bench: Bench) -> None:
    git(bench.repo, "config", "user.name", 'Zoë "Z" \\ Doe')
    git(bench.repo, "config", "user.email", "z@example.org")
    workspace = GitWorkspace(bench.repo, "r1", bench.scratch)
    folder = workspace.open("S1", 1, (bench.first,)).folder
    assert git(folder, "config", "user.name") == 'Zoë "Z" \\ Doe'
    write(folder, new="n")
    snapshot = workspace.snapshot("S1", 1, "x")
    assert snapshot is not None
    assert (
        git(bench.repo, "log", "-1", "--format=%an <%ae> %cn", snapshot.commit)
        == 'Zoë "Z" \\ Doe <z@example.org> Zoë "Z" \\ Doe'
    )


def test_no_repository_is_refused(tmp_path: Path) -> None:
    assert "git init" in refusal(tmp_path, tmp_path / "scratch").hint
    assert refusal(tmp_path / "missing", tmp_path / "scratch").kind is Kind.INPUT


def test_a_bare_repository_is_refused(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "bare")
    assert "bare" in refusal(tmp_path / "bare", tmp_path / "scratch").message


def test_a_repository_without_commits_is_refused(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "empty")
    error = refusal(tmp_path / "empty", tmp_path / "scratch")
    assert (error.message, error.kind) == ("there is no commit yet", Kind.INPUT)
    assert "git commit" in error.hint


def test_a_branch_that_a_power_cut_emptied_is_no_empty_repository(bench: Bench) -> None:
    (bench.repo / ".git" / "refs" / "heads" / "main").write_bytes(b"")
    error = refusal(bench.repo, bench.scratch)
    assert error.kind is Kind.BLOCKED
    assert "reflog" in error.hint


def test_a_missing_object_is_named_and_not_papered_over(bench: Bench) -> None:
    blob = git(bench.repo, "rev-parse", "HEAD:b")
    (bench.repo / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(SantiagoError, match="misses an object") as caught:
        GitWorkspace(bench.repo, "r1", bench.scratch).open("S1", 1, (bench.first,))
    assert caught.value.kind is Kind.BLOCKED


@pytest.mark.parametrize("method", list(Durability))
def test_every_way_to_make_commits_lasting_works(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, method: Durability
) -> None:
    monkeypatch.setattr("santiago.workspace.repository.durability_of", lambda common, objects: method)
    cycle(bench.repo, bench.scratch)


def test_a_failed_sync_is_an_error_and_is_not_tried_again(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = GitWorkspace(bench.repo, "r1", bench.scratch)
    write(workspace.open("S1", 1, (bench.first,)).folder, new="n")
    workspace.repository.durability = Durability.JOURNAL
    calls: list[int] = []

    def broken(handle: int) -> None:
        calls.append(handle)
        raise OSError(5, os.strerror(5))

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(SantiagoError, match="cannot sync") as caught:
        workspace.snapshot("S1", 1, "x")
    assert caught.value.kind is Kind.TRANSIENT
    assert len(calls) == 1
