"""Settings, `init` and `doctor --checks`: what is wrong is told where it stands, and the first steps lead on."""

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
def repo(tmp_path: Path) -> Path:
    return greeter.committed(tmp_path / "repo", {"README.md": "A shop\n"})


def test_a_wrong_setting_is_a_configuration_error_with_file_key_and_a_right_value(repo: Path) -> None:
    wrong = []
    for text, says, hint in (
        ('[limits]\nstory_max_attempts = "three"\n', "limits.story_max_attempts", "story_max_attempts = 4"),
        ("[limits]\nrun_max_cost_usd = 2020-01-01\n", "limits.run_max_cost_usd", "run_max_cost_usd = 5"),
        ("[verification]\nstory_commands = 'x'\n", "verification.story_commands", 'story_commands = ["pytest -q"]'),
        ("[notify]\ncommand = 3\n", "notify.command", "command = "),
        ("limits = 3\n", "limits is a table", "[limits]"),
        ("[limits]\nstory_max_atempts = 3\n", "limits.story_max_atempts", "limits.story_max_attempts"),
        ("[limit]\n", "unknown setting limit", "limits"),
        ("x = [\n", "not valid TOML", "Correct"),
    ):
        (repo / "santiago.toml").write_text(text)
        for command in (("config", "show"), ("plan", "README.md")):
            done = inside(*command, cwd=repo)
            told, _, fix = done.stderr.partition("fix:")
            if (done.returncode, "santiago.toml: " in told, says in told, hint in fix) != (2, True, True, True):
                wrong.append((text, command, done))
    assert wrong == []


def test_a_pyproject_without_a_table_of_ours_changes_nothing_and_config_alone_shows_the_settings(repo: Path) -> None:
    for text in ("tool = 3\n", "[project]\nname = 'x'\n"):
        (repo / "pyproject.toml").write_text(text)
        done = inside("config", "show", "--json", cwd=repo, code=0)
        origins = {name: setting["origin"] for name, setting in json.loads(done.stdout).items()}
        assert origins.pop("policy.unproven") == "$SANTIAGO_POLICY_UNPROVEN", "as the tests set it"
        assert set(origins.values()) == {"default"}
    assert inside("config", cwd=repo).stdout == inside("config", "show", cwd=repo).stdout != ""


def test_a_misspelt_variable_of_a_setting_is_refused_with_the_near_match(repo: Path) -> None:
    wrong = inside("config", "show", cwd=repo, env={"SANTIAGO_LIMITS_STORY_MAX_ATEMPTS": "2"})
    assert (wrong.returncode, "Did you mean SANTIAGO_LIMITS_STORY_MAX_ATTEMPTS?" in wrong.stderr) == (2, True)
    typed = inside("config", "show", cwd=repo, env={"SANTIAGO_LIMITS_STORY_MAX_ATTEMPTS": "two"})
    assert (typed.returncode, "$SANTIAGO_LIMITS_STORY_MAX_ATTEMPTS" in typed.stderr) == (2, True)
    right = {"SANTIAGO_LIMITS_STORY_MAX_ATTEMPTS": "2", "SANTIAGO_ACTOR": "ann", "SANTIAGO_STORY": "S1"}
    done = inside("config", "show", "--json", cwd=repo, env=right)
    assert json.loads(done.stdout)["limits.story_max_attempts"]["value"] == 2


def test_a_wrong_setting_is_one_failure_of_the_doctor_a_bare_repository_another(repo: Path, tmp_path: Path) -> None:
    (repo / "santiago.toml").write_text("[limits]\nrun_max_attempts = 'x'\n")
    checks = json.loads(inside("doctor", "--json", cwd=repo).stdout)["checks"]
    assert [one["check"] for one in checks if one["level"] == "fail"] == ["config"]
    assert {one["check"] for one in checks if one["level"] == "skip"} == {"agent", "sandbox", "verification"}
    greeter.git(repo, "clone", "-q", "--bare", str(repo), str(tmp_path / "bare.git"))
    checks = json.loads(inside("doctor", "--json", cwd=tmp_path / "bare.git").stdout)["checks"]
    (told,) = [one for one in checks if one["check"] == "repository"]
    assert (told["level"], "git init" in told["fix"], "lone it" in told["fix"]) == ("fail", False, True)


def test_init_proposes_the_runner_that_finds_the_tests_names_a_document_and_leads_on(repo: Path) -> None:
    shown = inside("init", cwd=repo).stdout
    assert shown.splitlines()[-1].strip() == 'santiago run YOUR-PRD.md --verify "CMD"'
    (repo / "tests").mkdir()
    for test, command in (
        ("def test_x():\n    assert True\n", "python3 -m pytest -q"),
        ("import unittest\n\nclass X(unittest.TestCase):\n    def test_x(self): ...\n", "python3 -m unittest discover"),
    ):
        (repo / "tests" / "test_shop.py").write_text(test)
        done = inside("init", "--no-try", "--force", "--json", cwd=repo)
        assert [check["test"] for check in json.loads(done.stdout)["checks"]] == [command]
    (repo / "docs").mkdir()
    (repo / "docs" / "shop-prd.md").write_text(greeter.PRD)
    (repo / "test_x.py").write_text("def test_x():\n    assert True\n")
    shown = inside("init", "--no-try", "--force", cwd=repo).stdout
    assert "git add santiago.toml" in shown
    assert shown.splitlines()[-1].strip() == "santiago run docs/shop-prd.md"


def test_usage_errors_speak_plainly_and_an_empty_document_is_called_empty(repo: Path) -> None:
    (repo / "prd.md").write_text("\n \n")
    for words, code, says in (
        (("run", "x.md", "--jobs", "many"), 2, "'many' is not a whole number"),
        (("run", "x.md", "--jobs", "0"), 2, "0 is not between 1 and 256"),
        (("resume", "--add-cost", "-1"), 2, "is less than 0"),
        (("run",), 2, "something is missing: santiago run PRD"),
        (("skip", "--why", "x"), 2, "something is missing: santiago skip [RUN] STORY"),
        (("plan", "prd.md"), 30, "the document is empty"),
    ):
        done = inside(*words, cwd=repo)
        assert (done.returncode, says in done.stderr, "Looked for" in done.stderr) == (code, True, False), done


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return greeter.committed(tmp_path / "repo", {"shop.py": SHOP, "test_shop.py": TESTS})


def checked(shop: Path, *commands: str, more: str = "") -> tuple[int, dict[str, Any]]:
    (shop / "santiago.toml").write_text(f"[verification]\nstory_commands = {json.dumps(commands)}\n{more}")
    done = inside("doctor", "--checks", "--json", cwd=shop)
    assert not list((shop.parent / "cache").rglob("trying-*")), "checkouts were left behind"
    return done.returncode, json.loads(done.stdout)


def test_each_check_is_told_with_what_it_did(shop: Path) -> None:
    code, told = checked(shop, GREEN, "python3 -m unittest", "true", "no-such-prog")
    states = [(one["state"], one["level"]) for one in told["tried"]]
    assert states == [("runs", "ok"), ("red", "warn"), ("blind", "warn"), ("cannot_run", "fail")]
    red, missing = told["tried"][1], told["tried"][3]
    assert (red["red"], red["tests"]) == (["test_shop.Price.test_tax"], 2)
    assert (missing["text"], "Install it" in missing["fix"]) == (
        "cannot run here: the program `no-such-prog` is missing",
        True,
    )
    assert (code, told["ok"]) == (2, False)


def test_a_red_check_stops_nothing_a_lone_blind_one_does_and_set_up_comes_before_each(shop: Path) -> None:
    settings = "[agent]\nmode = 'scripted'\nplaybook = 'shop.py'\n"
    assert checked(shop, "python3 -m unittest", more=settings)[0] == 0
    code, told = checked(shop, "true", more=settings)
    assert (code, told["tried"][0]["level"]) == (2, "fail")
    made = "test -f made.txt && " + GREEN
    assert checked(shop, made)[1]["tried"][0]["state"] == "red"
    assert checked(shop, made, more="[workspace]\nsetup = ['touch made.txt']\n")[1]["tried"][0]["state"] == "runs"
    failed = checked(shop, made, more="[workspace]\nsetup = ['echo no room; exit 3']\n")[1]["tried"][0]
    assert (failed["state"], "setup ended with exit 3: no room" in failed["text"]) == ("cannot_run", True)


def test_a_doctor_runs_no_check_unasked_and_people_read_a_line_each_and_the_remedy(shop: Path, tmp_path: Path) -> None:
    (shop / "santiago.toml").write_text('[verification]\nstory_commands = ["no-such-prog"]\n')
    assert json.loads(inside("doctor", "--json", cwd=shop).stdout)["tried"] is None
    assert not (tmp_path / "cache").exists()
    (shop / "santiago.toml").write_text('[verification]\nstory_commands = ["no-such-prog -q"]\n')
    done = inside("doctor", "--checks", cwd=shop)
    assert "running no-such-prog -q in a clean checkout of " in done.stderr
    lines = done.stdout.splitlines()
    place = next(number for number, line in enumerate(lines) if "cannot run" in line)
    assert lines[place][2:].startswith("fail  cannot run    `no-such-prog -q` cannot run here: the program")
    assert lines[place + 1].startswith(f"{'':22}fix: Install it")


def test_why_nothing_could_be_tried_is_said(shop: Path, tmp_path: Path) -> None:
    assert "- skip  not tried     no check is set\n" in inside("doctor", "--checks", cwd=shop).stdout
    (shop / "santiago.toml").write_text("[limits]\nrun_max_attempts = 'x'\n")
    assert "not run because the settings are wrong" in inside("doctor", "--checks", cwd=shop).stdout
    (tmp_path / "new").mkdir()
    greeter.git(tmp_path / "new", "init", "-q")
    (tmp_path / "new" / "santiago.toml").write_text('[verification]\nstory_commands = ["x"]\n')
    assert "not run: there is no commit yet" in inside("doctor", "--checks", cwd=tmp_path / "new").stdout
