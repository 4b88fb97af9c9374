"""Integration: in order, onto whatever the head has become, without losing a commit and without moving anybody's branch."""

import threading
from pathlib import Path

import pytest

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.ports.workspace import WorkspaceConflictError
from santiago.contract.reasons import Reason
from tests.workspace.conftest import STAY, Bench, commit, git, write

WAYS = (STAY,)
BRANCH = "refs/heads/santiago/r1"
LINES = "one\ntwo\nthree\nfour\nfive\n"


def test_a_snapshot_on_the_head_becomes_the_head_itself(bench: Bench) -> None:
    base = bench.workspace.begin(bench.first)
    commit = bench.work("S1", new="n")
    done = bench.workspace.integrate("S1", commit, base, "S1", [])
    assert (done.head, done.moved, done.conflict) == (commit, False, "")
    assert git(bench.repo, "rev-parse", BRANCH) == base, "integrating alone moves nothing"
    assert bench.workspace.advance(base, commit) == commit
    assert git(bench.repo, "rev-parse", BRANCH) == commit
    assert bench.workspace.head() == commit


def test_work_on_an_older_head_is_applied_asks_for_a_second_verification_and_says_whose_it_is(bench: Bench) -> None:
    base = bench.workspace.begin(bench.first)
    assert bench.workspace.landed(base) is None
    first, second = bench.work("S1", a=LINES.replace("one", "ONE")), bench.work("S2", a=LINES.replace("five", "FIVE"))
    bench.workspace.advance(base, first)
    done = bench.workspace.integrate("S2", second, base, "S2: five\nup", [("Santiago-Story", "S2"), ("Odd", "a\nb")])
    assert done.moved
    assert done.head is not None
    assert bench.text(done.head, "a") == "ONE\ntwo\nthree\nfour\nFIVE"
    assert git(bench.repo, "rev-parse", f"{done.head}^@", store=bench.own) == first
    message = git(bench.repo, "log", "-1", "--format=%B", done.head, store=bench.own)
    assert message == "S2: five up\n\nSantiago-Story: S2\nOdd: a b"
    bench.workspace.advance(first, done.head)
    assert (bench.workspace.landed(first), bench.workspace.landed(done.head)) == ("S2", None)


def test_a_conflict_names_the_files_and_keeps_both_commits(bench: Bench) -> None:
    base = bench.workspace.begin(bench.first)
    first, second = bench.work("S1", a="1\n", b="1\n"), bench.work("S2", a="2\n", b="2\n")
    bench.workspace.advance(base, first)
    done = bench.workspace.integrate("S2", second, base, "S2", [])
    assert (done.head, done.conflict) == (None, "a, b")
    assert bench.workspace.head() == first
    assert bench.workspace.reachable(second)


def test_a_story_starts_from_the_work_of_all_that_it_builds_on_if_that_fits_together(bench: Bench) -> None:
    base = bench.workspace.begin(bench.first)
    first, second = bench.work("S1", a=LINES.replace("one", "ONE")), bench.work("S2", a=LINES.replace("five", "FIVE"))
    third = bench.work("S3", base, first, new="n")
    opened = bench.workspace.open("S5", 1, (base, first))
    assert opened.base == first
    assert Path(opened.folder, "a").read_text(encoding="utf-8") == LINES.replace("one", "ONE")
    opened = bench.again().open("S4", 1, (base, first, second, third))
    assert Path(opened.folder, "a").read_text(encoding="utf-8") == "ONE\ntwo\nthree\nfour\nFIVE\n"
    assert Path(opened.folder, "new").exists()
    with pytest.raises(WorkspaceConflictError) as caught:
        bench.workspace.open("S7", 1, (base, first, bench.work("S6", a="2\n")))
    assert caught.value.files == ("a",)
    assert caught.value.reason is Reason.WORKSPACE_CONFLICT


def test_lines_of_a_dependency_can_be_changed_again_without_a_conflict(bench: Bench) -> None:
    """The dependency reaches the branch as another commit than the one that was built on."""
    base = bench.workspace.begin(bench.first)
    first, second, other = bench.work("S1", b="1\n"), bench.work("S2", a="second\n"), bench.work("S4", new="n")
    opened = bench.workspace.open("S3", 1, (base, first, second))
    write(opened.folder, a="third, on top of second\n")
    third = bench.taken("S3")
    bench.workspace.advance(base, first)
    done = bench.workspace.integrate("S2", second, base, "S2", [])
    assert done.head is not None
    bench.workspace.advance(first, done.head)
    last = bench.workspace.integrate("S3", third.commit, opened.base, "S3", [])
    assert (last.conflict, last.moved) == ("", False)
    assert last.head is not None
    assert bench.workspace.tree(last.head) == third.tree
    more = bench.workspace.integrate("S4", other, base, "S4", []).head
    assert more is not None
    bench.workspace.advance(done.head, more)
    last = bench.workspace.integrate("S3", third.commit, opened.base, "S3", [])
    assert (last.conflict, last.moved) == ("", True)
    assert last.head is not None
    assert bench.text(last.head, "a") == "third, on top of second"
    assert "new" in bench.tree(last.head)


def test_a_branch_that_somebody_moved_is_not_moved_again_and_one_in_the_way_is_named(bench: Bench) -> None:
    git(bench.repo, "branch", "santiago")
    with pytest.raises(SantiagoError, match="stands in the way") as caught:
        bench.workspace.begin(bench.first)
    assert (caught.value.kind, caught.value.where) == (Kind.BLOCKED, "refs/heads/santiago")
    git(bench.repo, "branch", "-D", "santiago")
    base = bench.workspace.begin(bench.first)
    first, theirs = bench.work("S1", a="1\n"), bench.work("S2", b="theirs\n")
    git(bench.repo, "update-ref", BRANCH, theirs)
    with pytest.raises(SantiagoError, match="somebody else moved") as caught:
        bench.workspace.advance(base, first)
    assert caught.value.kind is Kind.BLOCKED
    assert git(bench.repo, "rev-parse", BRANCH) == theirs


def test_a_move_that_a_crash_hid_is_recognised(bench: Bench) -> None:
    base = bench.workspace.begin(bench.first)
    first, second = bench.work("S1", a="1\n"), bench.work("S2", b="2\n")
    bench.workspace.advance(base, first)
    assert bench.again().advance(base, first) == first
    moved = bench.workspace.integrate("S2", second, base, "S2", [("Head", "1")]).head
    assert moved is not None
    bench.workspace.advance(first, moved)
    later = bench.again()
    assert later.begin(base) == moved
    again = later.repository.commit(
        git(bench.repo, "rev-parse", f"{moved}^{{tree}}"), first, "S2, made again after the crash\n"
    )
    assert later.advance(first, again) == moved


@pytest.mark.parametrize("where", ["main", "linked", "rebasing"])
def test_a_branch_that_somebody_has_checked_out_is_never_moved(bench: Bench, tmp_path: Path, where: str) -> None:
    base = bench.workspace.begin(bench.first)
    commit = bench.work("S1", new="n")
    holder = bench.repo
    if where == "main":
        git(bench.repo, "checkout", "-q", "santiago/r1")
    else:
        holder = tmp_path / "linked"
        git(bench.repo, "worktree", "add", "-q", str(holder), "santiago/r1")
    if where == "rebasing":
        git(holder, "commit", "-q", "--allow-empty", "-m", "x")
        git(holder, "rebase", "-q", "--exec", "false", "HEAD~1", check=False)
    before = git(bench.repo, "rev-parse", BRANCH)
    with pytest.raises(SantiagoError, match="checked out") as caught:
        bench.workspace.advance(base, commit)
    assert caught.value.kind is Kind.BLOCKED
    assert caught.value.where == str(holder)
    assert "git switch" in caught.value.hint
    assert git(bench.repo, "rev-parse", BRANCH) == before


def test_a_lock_of_somebody_else_is_named_and_left_alone(bench: Bench) -> None:
    base = bench.workspace.begin(bench.first)
    commit = bench.work("S1", new="n")
    lock = bench.repo / ".git" / f"{BRANCH}.lock"
    lock.touch()
    with pytest.raises(SantiagoError, match="holds this lock") as caught:
        bench.workspace.advance(base, commit)
    assert caught.value.kind is Kind.TRANSIENT
    assert caught.value.where == str(lock)
    assert lock.exists()
    lock.unlink()
    assert bench.workspace.advance(base, commit) == commit


def test_attempts_at_the_same_time_do_not_meet(bench: Bench) -> None:
    base = bench.workspace.begin(bench.first)
    commits: dict[str, str] = {}

    def attempt(story: str) -> None:
        commits[story] = bench.work(story, base, attempt=1, **{story: story})

    threads = [threading.Thread(target=attempt, args=(f"S{number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {story: bench.text(commit, story) for story, commit in commits.items()} == {
        f"S{n}": f"S{n}" for n in range(8)
    }
    head = base
    for story in sorted(commits):
        done = bench.workspace.integrate(story, commits[story], base, story, [])
        assert done.head is not None
        head = bench.workspace.advance(head, done.head)
    assert {f"S{number}" for number in range(8)} < set(bench.tree(head))
    assert git(bench.repo, "log", "--format=%s", f"{base}..{head}").split() == [
        f"S{number}" for number in reversed(range(8))
    ]


def test_pruning_removes_refs_and_folders_but_not_the_branch(bench: Bench) -> None:
    base = bench.workspace.begin(bench.first)
    commit = bench.work("S1", new="n")
    bench.workspace.advance(base, commit)
    bench.work("S2", new="x")
    bench.workspace.checkout(commit, "clean")
    names = bench.workspace.prune()
    assert {"refs/santiago/r1/S1/1", "refs/santiago/r1/S2/1"} < set(names)
    assert bench.workspace.refs() == []
    assert not (bench.scratch / "r1").exists()
    assert git(bench.repo, "rev-parse", BRANCH) == commit


def test_nothing_but_a_story_id_becomes_part_of_a_path_and_nothing_but_a_full_name_a_commit(bench: Bench) -> None:
    for story in ("../S1", "s1", "S1/x", "", "-S1", "S1\n", "S1..lock"):
        with pytest.raises(SantiagoError):
            bench.workspace.open(story, 1, (bench.first,))
    for name in ("HEAD", "--all", "main", "0" * 39):
        with pytest.raises(SantiagoError):
            bench.workspace.open("S1", 1, (name,))
        with pytest.raises(SantiagoError):
            bench.workspace.checkout(name, "x")


def test_a_persons_own_work_is_kept_only_when_it_is_asked_for(bench: Bench) -> None:
    bench.workspace.begin(bench.first)
    write(bench.repo, mine="by hand\n")
    commit(bench.repo, "By hand")
    taken = bench.workspace.take_over("HEAD", "By hand\n")
    assert taken is not None
    assert bench.workspace.refs() == [], "a start that dies now leaves nothing that the log does not know"
    bench.workspace.keep("S1", 1, taken)
    assert [ref.commit for ref in bench.workspace.refs()] == [taken]
    assert git(bench.repo, "show", f"{taken}:mine") == "by hand"
