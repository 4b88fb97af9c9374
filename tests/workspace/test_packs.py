"""Cost grows linearly: packs that come one by one are folded, and no object goes with them."""

import os
import subprocess
from pathlib import Path
from shutil import copytree

import pytest

from santiago.workspace import packs
from tests.workspace.conftest import ENV, Bench, git

PACK = ".git/objects/pack"


def add_packs(repo: Path, count: int, of: str = "text") -> list[str]:
    """Add packs of two objects each, which no ref names; return the names of the objects."""
    made = []
    for number in range(count):
        both = (f"{of} {number}\n", f"another {of} {number}\n")
        order = "".join(f"blob\nmark :{at}\ndata {len(one)}\n{one}\nget-mark :{at}\n" for at, one in enumerate(both, 1))
        words = ("git", "-c", "fastimport.unpackLimit=1", "fast-import", "--quiet")
        done = subprocess.run(words, input=order, cwd=repo, env=ENV, capture_output=True, text=True, check=True)
        made += done.stdout.split()
    return made


def names(repo: Path) -> set[str]:
    return {path.name for path in (repo / PACK).glob("*.pack")}


def are_there(repo: Path, objects: list[str]) -> bool:
    return all(git(repo, "cat-file", "-t", name) == "blob" for name in objects)


def land(bench: Bench, story: str = "S1") -> str:
    first = bench.workspace.begin(bench.first)
    work = bench.work(story, first, a=f"{story}\n")
    return bench.workspace.advance(first, work)


def test_many_small_packs_become_one_and_every_object_stays(bench: Bench) -> None:
    objects = add_packs(bench.repo, packs.MANY)
    landed = land(bench)
    assert len(names(bench.repo)) < 5
    assert are_there(bench.repo, objects), "not even what no ref names is lost"
    assert bench.text(landed, "a") == "S1"
    assert git(bench.repo, "fsck", "--full", "--strict", "--no-dangling") == ""
    assert not list((bench.repo / PACK).glob("tmp_*"))


def test_packs_of_a_long_run_do_not_pile_up_and_git_processes_that_stay_find_everything(bench: Bench) -> None:
    head = bench.workspace.begin(bench.first)
    most = 0
    for number in range(packs.MANY + 10):
        head = bench.workspace.advance(head, bench.work(f"S{number}", head, a=f"{number}\n"))
        most = max(most, len(names(bench.repo)))
    assert most <= packs.MANY, "two for each story, or one, without folding"
    assert bench.text(head, "a") == f"{packs.MANY + 9}"
    assert git(bench.repo, "rev-list", "--count", head) == str(packs.MANY + 11)
    assert git(bench.repo, "fsck", "--full", "--strict", "--no-dangling") == ""


@pytest.mark.parametrize("note", ["keep", "promisor", "bitmap", "mtimes"])
def test_a_pack_with_a_note_beside_it_is_left_alone(bench: Bench, note: str) -> None:
    add_packs(bench.repo, packs.MANY + 1)
    mine = min(names(bench.repo))
    (bench.repo / PACK / mine).with_suffix(f".{note}").touch()
    land(bench)
    assert mine in names(bench.repo)
    assert len(names(bench.repo)) < 5


def test_nothing_is_folded_while_git_tidies_up_or_where_an_index_of_all_packs_names_them(bench: Bench) -> None:
    add_packs(bench.repo, packs.MANY)
    before = names(bench.repo)
    (bench.repo / ".git/gc.pid").write_text(f"{os.getpid()} here\n")
    land(bench)
    assert before <= names(bench.repo)
    (bench.repo / ".git/gc.pid").unlink()
    git(bench.repo, "multi-pack-index", "write")
    land(bench, "S2")
    assert before <= names(bench.repo)


def test_large_packs_stay_as_they_are(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packs, "_SMALL", 100)
    large = {path.name for path in (bench.repo / PACK).glob("*.pack")}
    objects = add_packs(bench.repo, 1, "x" * 64 + "".join(map(chr, range(33, 127))))
    large |= names(bench.repo)
    add_packs(bench.repo, packs.MANY)
    land(bench)
    assert large <= names(bench.repo)
    assert are_there(bench.repo, objects)


def test_where_folding_fails_the_work_lands_nevertheless(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    add_packs(bench.repo, packs.MANY)
    broken = min(names(bench.repo))
    (bench.repo / PACK / broken).chmod(0o644)
    (bench.repo / PACK / broken).write_bytes(b"PACK no more")
    before = names(bench.repo)
    landed = land(bench)
    assert bench.text(landed, "a") == "S1"
    assert before <= names(bench.repo), "nothing is removed that was not folded"


def test_what_a_death_before_the_removal_leaves_is_folded_again_and_nothing_goes(bench: Bench, tmp_path: Path) -> None:
    objects = add_packs(bench.repo, packs.MANY)
    folder = bench.repo / PACK
    copytree(folder, tmp_path / "before")
    for _ in range(2):
        packs.fold(folder.parent, {**ENV, "GIT_DIR": str(bench.repo / ".git")})
        assert len(names(bench.repo)) == 1
        assert are_there(bench.repo, objects)
        copytree(tmp_path / "before", folder, dirs_exist_ok=True)
