"""No git command of santiago runs a hook, filter, monitor or setting that an agent or a repository brought along."""

import os
import shutil
from pathlib import Path

import pytest

from tests.workspace.conftest import ALONE, Bench, commit, git, write

WAYS = (ALONE,)

HOOKS = (
    "applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-applypatch", "post-checkout", "post-commit", "post-index-change",
    "post-merge", "post-rewrite", "post-update", "pre-applypatch", "pre-auto-gc", "pre-commit", "pre-merge-commit", "pre-push",
    "pre-rebase", "pre-receive", "prepare-commit-msg", "push-to-checkout", "reference-transaction", "update",
)  # fmt: skip


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A program that leaves a mark when it runs."""
    program = tmp_path / "trap.sh"
    program.write_text(f"#!/bin/sh\necho \"$0 $*\" >> '{tmp_path}/sprung'\ncat\nexit 0\n", encoding="utf-8")
    program.chmod(0o755)
    return program


def sprung(trap: Path) -> str:
    mark = trap.with_name("sprung")
    return mark.read_text(encoding="utf-8") if mark.exists() else ""


def plant_hooks(folder: Path, trap: Path) -> None:
    folder.mkdir(exist_ok=True)
    for name in HOOKS:
        shutil.copy2(trap, folder / name)


def plant_settings(folder: Path, trap: Path) -> None:
    """Everything in a configuration that can start a program, as far as git's commands for trees and refs have it."""
    for key in (
        "core.fsmonitor", "filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.evil.command", "diff.evil.textconv",
        "diff.external", "merge.evil.driver", "core.sshCommand", "core.editor", "core.pager", "gpg.program", "core.alternateRefsCommand",
    ):  # fmt: skip
        git(folder, "config", key, str(trap))
    git(folder, "config", "core.hooksPath", str(trap.with_name("hooks")))
    plant_hooks(trap.with_name("hooks"), trap)


ATTRIBUTES = "* filter=evil diff=evil merge=evil\n"


def everything(bench: Bench, story: str) -> None:
    """Each git command that santiago has, after an agent worked."""
    workspace = bench.workspace
    base = bench.first
    workspace.begin(base)
    other = bench.work("OTHER", base, a="other\ntwo\nthree\nfour\nfive\n")
    workspace.advance(base, other)
    snapshot = workspace.snapshot(story, 1, "x\n")
    assert snapshot is not None
    workspace.checkout(snapshot.commit, "clean")
    done = workspace.integrate(story, snapshot.commit, base, "x", [("K", "v")])
    assert done.head is not None
    workspace.advance(other, done.head)
    workspace.open("NEXT", 1, (done.head,))
    workspace.open("MERGED", 1, (base, other, snapshot.commit))
    workspace.refs()
    assert workspace.reachable(snapshot.commit)
    workspace.restore(story, 1)
    workspace.close(story, 1)
    workspace.prune()


def test_neither_hooks_nor_settings_of_the_users_repository_start_a_program(bench: Bench, trap: Path) -> None:
    plant_hooks(bench.repo / ".git" / "hooks", trap)
    git(bench.repo, "config", "core.fsmonitor", str(trap))
    assert not bench.workspace.is_dirty()
    write(bench.opened("S2"), new="n")
    bench.taken("S2")
    assert sprung(trap) == ""
    write(bench.repo, **{".gitattributes": ATTRIBUTES})
    commit(bench.repo, "attributes")
    trap.with_name("sprung").unlink(missing_ok=True)
    plant_settings(bench.repo, trap)
    write(bench.opened(), new="n")
    everything(bench, "S1")
    assert sprung(trap) == ""


@pytest.mark.parametrize("whose", ["the repository's", "the user's"])
def test_a_look_starts_no_filter(bench: Bench, trap: Path, monkeypatch: pytest.MonkeyPatch, whose: str) -> None:
    """Neither one of the repository's own settings, nor one of the user's that a committed file asks for."""
    write(bench.repo, **{".gitattributes": ATTRIBUTES})
    commit(bench.repo, "attributes")
    users = trap.with_name("gitconfig")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(users))
    settings = str(users if whose == "the user's" else bench.repo / ".git" / "config")
    for key, value in {"clean": str(trap), "smudge": str(trap), "process": str(trap), "required": "true"}.items():
        git(bench.repo, "config", "--file", settings, f"filter.evil.{key}", value)
        git(bench.repo, "config", "--file", settings, f"filter.a=b.c.{key}", value)
    os.utime(bench.repo / "a", (1, 1))  # git has to look into the file to tell whether it was changed
    assert not bench.workspace.is_dirty()
    assert sprung(trap) == ""
    write(bench.repo, a="changed\n")
    assert bench.workspace.is_dirty()
    assert sprung(trap) == ""


def _hooks(folder: Path, trap: Path) -> None:
    plant_hooks(folder / ".git" / "hooks", trap)
    git(folder, "config", "core.fsmonitor", str(trap))


def _filter(folder: Path, trap: Path) -> None:
    plant_settings(folder, trap)
    write(folder, **{".gitattributes": ATTRIBUTES})


def _other_git_directory(folder: Path, trap: Path) -> None:
    evil = trap.with_name("evil.git")
    shutil.move(folder / ".git", evil)
    write(folder, **{".git": f"gitdir: {evil}\n", ".gitattributes": ATTRIBUTES})
    plant_settings(folder, trap)


def _repository_inside(folder: Path, trap: Path) -> None:
    inner = folder / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    write(inner, file="x", **{".gitattributes": ATTRIBUTES})
    commit(inner, "inner")
    plant_settings(inner, trap)
    write(inner, file="y")


def _include(folder: Path, trap: Path) -> None:
    plant_settings(folder, trap)
    write(folder, **{".gitconfig": f"[core]\n\tfsmonitor = {trap}\n", ".gitattributes": ATTRIBUTES})
    git(folder, "config", "include.path", str(folder / ".gitconfig"))
    git(folder, "config", "core.worktree", "/")


@pytest.mark.parametrize("deed", [_hooks, _filter, _other_git_directory, _repository_inside, _include])
def test_nothing_that_an_agent_planted_is_run(bench: Bench, trap: Path, deed: object) -> None:
    folder = bench.opened()
    assert callable(deed)
    deed(folder, trap)
    write(folder, new="n", a="one\ntwo\nthree\nfour\nFIVE\n")
    trap.with_name("sprung").unlink(missing_ok=True)
    assert b"+FIVE" in (bench.workspace.so_far("S1", 1) or b"")
    everything(bench, "S1")
    assert sprung(trap) == ""


def test_nothing_that_was_planted_in_santiagos_own_git_directory_is_run(bench: Bench, trap: Path) -> None:
    """An agent without a sandbox can write there, at any time."""
    own = bench.repo / ".git" / "santiago" / "neutral"
    for story in ("S1", "S2"):
        write(bench.workspace.open(story, 1, (bench.first,)).folder, new="n", **{".gitattributes": ATTRIBUTES})
        settings = (own / "config").read_text(encoding="utf-8")
        (own / "config").write_text(
            f'{settings}[filter "evil"]\n\tclean = {trap}\n\tsmudge = {trap}\n', encoding="utf-8"
        )
        assert bench.workspace.snapshot(story, 1, "x\n") is not None
        assert sprung(trap) == ""
        assert (own / "config").read_text(encoding="utf-8") == settings


def with_submodule(bench: Bench, tmp_path: Path) -> Path:
    source = tmp_path / "source"
    source.mkdir()
    git(source, "init", "-q")
    write(source, f="a\n")
    commit(source, "sub")
    git(bench.repo, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(source), "sub")
    git(bench.repo, "commit", "-qm", "with submodule")
    return source


def test_nothing_in_a_submodule_is_run(bench: Bench, trap: Path, tmp_path: Path) -> None:
    """Git itself starts `git status` in there, which believes the submodule's own settings."""
    source = with_submodule(bench, tmp_path)
    folder = bench.opened()
    (folder / "sub").rmdir()
    git(folder, "clone", "-q", str(source), "sub")
    plant_settings(folder / "sub", trap)
    info = folder / "sub" / ".git" / "info"
    info.mkdir(exist_ok=True)
    write(info, attributes=ATTRIBUTES)
    write(folder / "sub", f="b\n")
    write(folder, new="n")
    assert sprung(trap) == ""
    everything(bench, "S1")
    assert sprung(trap) == ""


def test_the_trap_would_spring(bench: Bench, trap: Path) -> None:
    """The tests above prove something only if plain git does run what was planted."""
    folder = bench.opened()
    _filter(folder, trap)
    git(folder, "add", "-A", check=False)
    assert "trap" in sprung(trap) or "hooks" in sprung(trap)


def test_a_submodule_stays_an_empty_folder_until_it_is_moved_replaced_or_deleted(bench: Bench, tmp_path: Path) -> None:
    source = with_submodule(bench, tmp_path)
    before, after = git(source, "rev-parse", "HEAD"), ""
    assert bench.workspace.not_in_checkouts(bench.first) == (["sub"], [])
    folder = bench.opened()
    assert list((folder / "sub").iterdir()) == []
    write(folder, new="n")
    snapshot = bench.taken()
    assert [change.path for change in snapshot.changes] == ["new"]
    assert (Path(bench.workspace.checkout(snapshot.commit, "clean")) / "sub").is_dir()
    assert git(bench.repo, "rev-parse", f"{snapshot.commit}:sub") == before

    write(source, f="newer\n")
    after = commit(source, "newer")
    folder = bench.opened("S2")
    git(folder, "-c", "protocol.file.allow=always", "submodule", "update", "-q", "--init")
    git(folder / "sub", "checkout", "-q", after)
    snapshot = bench.taken("S2")
    assert [(change.path, change.new_mode) for change in snapshot.changes] == [("sub", "160000")]
    assert git(bench.repo, "rev-parse", f"{snapshot.commit}:sub") == after

    write(bench.opened("S3") / "sub", mine="m\n")
    assert {(one.path, one.status) for one in bench.taken("S3").changes} == {("sub", "D"), ("sub/mine", "A")}
    git(bench.opened("S4"), "rm", "-q", "sub")
    assert ("sub", "D") in {(one.path, one.status) for one in bench.taken("S4").changes}


def test_only_santiagos_own_folders_are_ever_removed(bench: Bench, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    write(victim, precious="p")
    folder = bench.opened()
    (folder / "link").symlink_to(victim)
    bench.workspace.close("S1", 1)
    assert not folder.exists()
    work = bench.scratch / "r1" / "work"
    work.rmdir()
    work.symlink_to(tmp_path)
    for path in (victim, work / "victim", work, work / ".." / "own", Path("/"), bench.repo):
        with pytest.raises(Exception, match="left alone"):
            bench.workspace.discard(str(path))
    assert (victim / "precious").read_text(encoding="utf-8") == "p"
