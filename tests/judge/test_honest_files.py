"""Fifty real commits: their tests judge, their source does not, and their settings are told apart."""

from __future__ import annotations

import io
import json
import shlex
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from santiago.judge import commandline
from santiago.judge.judges import ALL_TESTS, JudgeFiles
from tests.util.each import each

PLACE = Path(__file__).resolve().parents[3] / "shared" / "honest"
CASES: list[dict[str, Any]] = json.loads((PLACE / "cases.json").read_text()) if PLACE.is_dir() else []
BESIDE = {".github/workflows/tests.yaml", ".github/workflows/ci.yaml", ".flake8", "eslint.config.mjs"}
MIXED = {"pyproject.toml", "setup.cfg", "tox.ini", "package.json"}


def git(store: Path, *words: str) -> bytes:
    return subprocess.run(["git", "-C", str(store), *words], check=True, capture_output=True).stdout


@pytest.fixture(scope="session")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The projects of the cases, by name."""
    found = {}
    for repo in {case["repo"] for case in CASES}:
        found[repo] = tmp_path_factory.mktemp(repo)
        git(found[repo], "init", "-q", "--bare")
        git(found[repo], "fetch", "-q", str(PLACE / f"{repo}.bundle"), "+refs/cases/*:refs/cases/*")
    return found


def tree(store: Path, commit: str) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(git(store, "archive", commit))) as archive:
        members = [member for member in archive.getmembers() if member.isfile()]
        return {member.name: file.read() for member in members if (file := archive.extractfile(member))}


@pytest.mark.skipif(not CASES, reason=f"the real commits are not here: {PLACE}")
@each("case", CASES)
def test_the_tests_of_a_real_commit_judge_and_its_source_does_not(
    case: dict[str, Any], stores: dict[str, Path]
) -> None:
    store, work = stores[case["repo"]], f"refs/cases/{case['id']}"
    before, after = tree(store, f"{work}~1"), tree(store, work)
    paths = git(store, "diff", "--name-only", "--no-renames", f"{work}~1", work).decode().splitlines()
    for own_files in ((), tuple(case["source"])):
        judge = JudgeFiles([case["check"]], [ALL_TESTS], own_files, before.keys(), before.get)
        assert {path for path in paths if judge.judges(path)} == set(case["tests"])
        assert {path for path in paths if judge.is_mixed(path)} == MIXED & set(paths)
        assert {path for path in paths if judge.beside(path)} == BESIDE & set(paths)

    assert commandline.is_self_contained(case["check"])
    named = {word.partition("::")[0] for word in shlex.split(case["check"])} & set(after)
    assert commandline.absent(case["check"], before, after) == (not named <= set(before))
