"""Fetching programs: once, whole or not at all, and never quietly not."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.agents.install import InstallError, Program, install

NPM = """\
#!{python}
import os, sys
with open({calls!r}, "a") as calls:
    calls.write("called\\n")
place = sys.argv[sys.argv.index("--prefix") + 1]
os.makedirs(place + "/node_modules/.bin")
{ends}
"""
GIVES = 'open(place + "/node_modules/.bin/tool", "w").close()'
OFFLINE = 'sys.exit("npm error code ENOTFOUND")'


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file of a stand-in for npm, which tests write."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "bin" / "npm"


def _write(npm: Path, ends: str) -> Path:
    calls = npm.with_name("calls")
    npm.write_text(NPM.format(python=sys.executable, calls=str(calls), ends=ends))
    npm.chmod(0o755)
    return calls


def test_who_comes_at_the_same_time_fetches_once(npm: Path) -> None:
    calls = _write(npm, GIVES)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(install, [Program("tool", "tool", "1.0")] * 4))
    assert calls.read_text() == "called\n"
    assert {(path / "tool").exists() for path in found} == {True}


def test_a_registry_out_of_reach_is_said_and_leaves_nothing(npm: Path) -> None:
    _write(npm, OFFLINE)
    program = Program("tool", "tool", "1.0")
    with pytest.raises(InstallError, match=r"tool@1\.0: the package registry cannot be reached"):
        install(program)
    assert [path.name for path in program.folder.parent.iterdir()] == ["tool-1.0.lock"]


def test_a_fetch_without_the_program_is_an_error(npm: Path) -> None:
    _write(npm, "")
    with pytest.raises(InstallError, match="npm failed"):
        install(Program("tool", "tool", "1.0"))
