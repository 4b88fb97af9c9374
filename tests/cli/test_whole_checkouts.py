"""Runs in repositories that git alone does not check out as a whole: with Git LFS, with submodules, with a sparse checkout."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from tests.cli import greeter
from tests.cli.fakes import PRD

SETTINGS = '[agent]\nmode = "scripted"\nplaybook = "playbook.yaml"\n[policy]\nsandbox = "off"\n'
PLAYBOOK = 'stories: {R1: [{write: {hello.txt: "hello\\n"}}]}\n'
FILES = {"prd.md": PRD, "playbook.yaml": PLAYBOOK, "santiago.toml": SETTINGS}


def test_with_lfs_work_lands_as_a_pointer_and_what_is_not_here_is_said(tmp_path: Path) -> None:
    elsewhere = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 12\n"
    rules = "*.txt filter=lfs diff=lfs merge=lfs -text\n"
    repo = greeter.committed(tmp_path / "repo", {**FILES, ".gitattributes": rules, "far.txt": elsewhere})
    done = greeter.carry_out(repo)
    assert done.returncode == 0, done.stderr
    assert "or too large to copy: far.txt; `git lfs pull`" in done.stderr
    oid = sha256(b"hello\n").hexdigest()
    branch = f"santiago/{greeter.out_dir(repo).name}"
    shown = greeter.git(repo, "show", f"{branch}:hello.txt")
    assert shown == f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize 6"
    assert greeter.git(repo, "show", f"{branch}:far.txt") == elsewhere.strip()
    assert (repo / ".git/lfs/objects" / oid[:2] / oid[2:4] / oid).read_bytes() == b"hello\n"
    assert greeter.looks(repo, "audit").returncode == 0


def test_with_a_submodule_its_folder_is_empty_and_said_and_its_commit_stays(tmp_path: Path) -> None:
    source = greeter.committed(tmp_path / "source", {"f": "f\n"})
    repo = greeter.committed(tmp_path / "repo", FILES)
    greeter.git(repo, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(source), "sub")
    greeter.git(repo, "commit", "-q", "-m", "With a submodule")
    done = greeter.carry_out(repo)
    assert done.returncode == 0, done.stderr
    assert "submodules are empty folders in every checkout: sub; setup = " in done.stderr
    branch = f"santiago/{greeter.out_dir(repo).name}"
    assert greeter.git(repo, "rev-parse", f"{branch}:sub") == greeter.git(source, "rev-parse", "HEAD")
    (repo / "santiago.toml").write_text(f'{SETTINGS}[workspace]\nsetup = ["git submodule update --init"]\n')
    dry = greeter.looks(repo, "run", "prd.md", "--dry-run", "--trust-commands")
    assert (dry.returncode, "submodule" in dry.stderr) == (0, False), "who sees to them needs no word"


def test_in_a_sparse_checkout_nothing_outside_of_it_is_lost(tmp_path: Path) -> None:
    repo = greeter.committed(tmp_path / "repo", {**FILES, "hidden": "h\n"})
    greeter.git(repo, "sparse-checkout", "set", "--no-cone", "/prd.md", "/playbook.yaml", "/santiago.toml")
    assert not (repo / "hidden").exists()
    done = greeter.carry_out(repo)
    assert done.returncode == 0, done.stderr
    branch = f"santiago/{greeter.out_dir(repo).name}"
    assert greeter.git(repo, "diff", "--name-status", "main", branch) == "A\thello.txt"
    assert not (repo / "hidden").exists(), "the user's own choice stands"
