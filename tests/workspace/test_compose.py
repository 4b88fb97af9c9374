"""One commit with some paths of another: the judge of a base over the work, and the other way round."""

import os
from pathlib import Path

from tests.workspace.conftest import Bench, commit, git, write


def listed(bench: Bench, commit: str) -> dict[str, str]:
    """Return path → mode and content's name."""
    lines = git(bench.repo, "ls-tree", "-r", commit, store=bench.own).splitlines()
    return {path: head for head, _, path in (line.partition("\t") for line in lines)}


def test_named_paths_are_as_in_the_other_commit_and_all_others_as_they_were(bench: Bench) -> None:
    base = bench.first
    Path(bench.repo, "b").unlink()
    write(bench.repo, a="changed\n", new="new\n", own="own\n")
    work = commit(bench.repo, "Work")
    made = bench.workspace.compose(work, base, ["a", "b", "new", "nowhere"], {})
    assert listed(bench, made) == {**listed(bench, base), "own": listed(bench, work)["own"]}


def test_a_file_takes_the_place_of_a_folder_and_a_folder_that_of_a_file(bench: Bench) -> None:
    base = bench.first
    Path(bench.repo, "lib/c").unlink()
    Path(bench.repo, "lib").rmdir()
    Path(bench.repo, "b").unlink()
    Path(bench.repo, "b").mkdir()
    write(bench.repo, lib="a file now\n")
    write(bench.repo / "b", inner="a folder now\n")
    work = commit(bench.repo, "Swap")
    paths = ["lib", "lib/c", "b", "b/inner"]
    assert bench.workspace.tree(bench.workspace.compose(work, base, paths, {})) == bench.workspace.tree(base)
    assert bench.workspace.tree(bench.workspace.compose(base, work, paths, {})) == bench.workspace.tree(work)
    assert bench.tree(bench.workspace.compose(work, base, ["b"], {})) == [".gitignore", "a", "b", "lib"]


def test_modes_links_and_paths_that_are_no_text_are_taken_over_too(bench: Bench) -> None:
    base, name = bench.first, os.fsdecode(b'caf\xe9 "x"\n.py')
    Path(bench.repo, name).write_text("x\n")
    Path(bench.repo, "run").write_text("#!/bin/sh\n")
    Path(bench.repo, "run").chmod(0o755)
    Path(bench.repo, "link").symlink_to("a")
    work = commit(bench.repo, "A program, a link and a strange name")
    made = bench.workspace.compose(base, work, ["run", "link", name], {})
    assert bench.workspace.tree(made) == bench.workspace.tree(work)
    found = listed(bench, made)
    assert (found["run"].split()[0], found["link"].split()[0]) == ("100755", "120000")


def test_given_contents_stand_in_place_of_either_and_nothing_to_take_over_gives_the_same_tree(bench: Bench) -> None:
    made = bench.workspace.compose(bench.first, bench.first, [], {"a": b"mixed\r\n\0", "lib/new": b""})
    folder = bench.workspace.checkout(made, "x")
    assert Path(folder, "a").read_bytes() == b"mixed\r\n\0"
    assert Path(folder, "lib/new").read_bytes() == b""
    assert bench.tree(made) == [".gitignore", "a", "b", "lib/c", "lib/new"]
    made = bench.workspace.compose(bench.first, bench.first, ["a", "lib/c"], {})
    assert bench.workspace.tree(made) == bench.workspace.tree(bench.first)


def test_neither_the_branch_nor_the_users_own_index_is_touched(bench: Bench) -> None:
    write(bench.repo, a="staged\n")
    git(bench.repo, "add", "a")
    before = (git(bench.repo, "status", "--porcelain"), bench.first, git(bench.repo, "for-each-ref"))
    bench.workspace.compose(bench.first, bench.first, ["a"], {"b": b"x"})
    assert before == (git(bench.repo, "status", "--porcelain"), bench.first, git(bench.repo, "for-each-ref"))


def test_a_difference_is_a_patch_of_the_named_files_and_no_longer_than_a_person_reads(bench: Bench) -> None:
    base = bench.first
    write(bench.repo, a="changed\n", new="new\n", long="line\n" * 10_000, **{"*": "odd\n"})
    work = commit(bench.repo, "Work")
    shown = bench.workspace.difference(base, work, ["a", "*"])
    assert "--- a/a\n+++ b/a\n@@" in shown
    assert "+changed\n" in shown
    assert "+odd\n" in shown
    assert "+new\n" not in shown
    assert "--- /dev/null\n+++ b/new\n" in bench.workspace.difference(base, work, ["new"])
    assert len(bench.workspace.difference(base, work, ["long"])) == 20_000
    first = bench.workspace.difference(base, work, ["a", "long", "new"], first=["new"])
    assert first.startswith("diff --git a/new b/new")
    assert bench.workspace.difference(base, work, []) == ""
