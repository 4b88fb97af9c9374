"""`santiago doctor --checks` runs the checks that are set as a run would, and says of each what a run would meet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli import greeter
from tests.cli.inside import inside

SHOP = "def price():\n    return 3\n"
GREEN = "python3 -c 'import shop; assert shop.price() == 3'"
TESTS = """\
import unittest

from shop import price


class Price(unittest.TestCase):
    def test_price(self):
        self.assertEqual(price(), 3)

    def test_tax(self):
        self.assertEqual(price(), 4)
"""


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return greeter.committed(tmp_path / "repo", {"shop.py": SHOP, "test_shop.py": TESTS})


def checked(repo: Path, *commands: str, more: str = "") -> tuple[int, dict[str, Any]]:
    (repo / "santiago.toml").write_text(f"[verification]\nstory_commands = {json.dumps(commands)}\n{more}")
    done = inside("doctor", "--checks", "--json", cwd=repo)
    assert not list((repo.parent / "cache").rglob("trying-*")), "checkouts were left behind"
    return done.returncode, json.loads(done.stdout)


def test_each_check_is_told_with_what_it_did(repo: Path) -> None:
    code, told = checked(repo, GREEN, "python3 -m unittest", "true", "no-such-prog")
    states = [(one["state"], one["level"]) for one in told["tried"]]
    assert states == [("runs", "ok"), ("red", "warn"), ("blind", "warn"), ("cannot_run", "fail")]
    red, missing = told["tried"][1], told["tried"][3]
    assert (red["red"], red["tests"]) == (["test_shop.Price.test_tax"], 2)
    assert (missing["text"], "Install it" in missing["fix"]) == (
        "cannot run here: the program `no-such-prog` is missing",
        True,
    )
    assert (code, told["ok"]) == (2, False)


def test_a_red_check_stops_nothing_and_a_lone_blind_one_does(repo: Path) -> None:
    settings = "[agent]\nmode = 'scripted'\nplaybook = 'shop.py'\n"
    assert checked(repo, "python3 -m unittest", more=settings)[0] == 0
    code, told = checked(repo, "true", more=settings)
    assert (code, told["tried"][0]["level"]) == (2, "fail")


def test_the_set_up_of_the_settings_comes_before_each_check(repo: Path) -> None:
    made = "test -f made.txt && " + GREEN
    assert checked(repo, made)[1]["tried"][0]["state"] == "red"
    assert checked(repo, made, more="[workspace]\nsetup = ['touch made.txt']\n")[1]["tried"][0]["state"] == "runs"
    failed = checked(repo, made, more="[workspace]\nsetup = ['echo no room; exit 3']\n")[1]["tried"][0]
    assert (failed["state"], "setup ended with exit 3: no room" in failed["text"]) == ("cannot_run", True)


def test_a_doctor_who_is_not_asked_runs_no_check(repo: Path, tmp_path: Path) -> None:
    (repo / "santiago.toml").write_text('[verification]\nstory_commands = ["no-such-prog"]\n')
    assert json.loads(inside("doctor", "--json", cwd=repo).stdout)["tried"] is None
    assert not (tmp_path / "cache").exists()


def test_why_nothing_could_be_tried_is_said(repo: Path, tmp_path: Path) -> None:
    assert "- skip  not tried     no check is set\n" in inside("doctor", "--checks", cwd=repo).stdout
    (repo / "santiago.toml").write_text("[limits]\nrun_max_attempts = 'x'\n")
    assert "not run because the settings are wrong" in inside("doctor", "--checks", cwd=repo).stdout
    (tmp_path / "new").mkdir()
    greeter.git(tmp_path / "new", "init", "-q")
    (tmp_path / "new" / "santiago.toml").write_text('[verification]\nstory_commands = ["x"]\n')
    assert "not run: there is no commit yet" in inside("doctor", "--checks", cwd=tmp_path / "new").stdout


def test_people_read_one_line_for_each_check_and_the_remedy(repo: Path) -> None:
    (repo / "santiago.toml").write_text('[verification]\nstory_commands = ["no-such-prog -q"]\n')
    done = inside("doctor", "--checks", cwd=repo)
    assert "running no-such-prog -q in a clean checkout of " in done.stderr
    lines = done.stdout.splitlines()
    place = next(number for number, line in enumerate(lines) if "cannot run" in line)
    assert lines[place][2:].startswith("fail  cannot run    `no-such-prog -q` cannot run here: the program")
    assert lines[place + 1].startswith(f"{'':22}fix: Install it")
