"""Settings and `init`: a wrong name or value is refused where it stands, and the first steps lead on, not in a circle."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli import greeter
from tests.cli.inside import inside


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
        done = inside("config", "show", "--json", cwd=repo)
        assert done.returncode == 0, done.stderr
        assert {setting["origin"] for setting in json.loads(done.stdout).values()} == {"default"}
    assert inside("config", cwd=repo).stdout == inside("config", "show", cwd=repo).stdout != ""


def test_a_misspelt_variable_of_a_setting_is_refused_with_the_near_match(repo: Path) -> None:
    wrong = inside("config", "show", cwd=repo, env={"SANTIAGO_LIMITS_STORY_MAX_ATEMPTS": "2"})
    assert (wrong.returncode, "Did you mean SANTIAGO_LIMITS_STORY_MAX_ATTEMPTS?" in wrong.stderr) == (2, True)
    typed = inside("config", "show", cwd=repo, env={"SANTIAGO_LIMITS_STORY_MAX_ATTEMPTS": "two"})
    assert (typed.returncode, "$SANTIAGO_LIMITS_STORY_MAX_ATTEMPTS" in typed.stderr) == (2, True)
    right = {"SANTIAGO_LIMITS_STORY_MAX_ATTEMPTS": "2", "SANTIAGO_ACTOR": "ann", "SANTIAGO_STORY": "S1"}
    done = inside("config", "show", "--json", cwd=repo, env=right)
    assert json.loads(done.stdout)["limits.story_max_attempts"]["value"] == 2


def test_a_wrong_setting_is_one_failure_of_the_doctor_not_four(repo: Path) -> None:
    (repo / "santiago.toml").write_text("[limits]\nrun_max_attempts = 'x'\n")
    checks = json.loads(inside("doctor", "--json", cwd=repo).stdout)["checks"]
    assert [one["check"] for one in checks if one["level"] == "fail"] == ["config"]
    assert {one["check"] for one in checks if one["level"] == "skip"} == {"agent", "sandbox", "verification"}


def test_the_doctor_does_not_tell_a_bare_repository_to_begin_another_one(tmp_path: Path, repo: Path) -> None:
    greeter.git(repo, "clone", "-q", "--bare", str(repo), str(tmp_path / "bare.git"))
    checks = json.loads(inside("doctor", "--json", cwd=tmp_path / "bare.git").stdout)["checks"]
    (told,) = [one for one in checks if one["check"] == "repository"]
    assert (told["level"], "git init" in told["fix"], "lone it" in told["fix"]) == ("fail", False, True)


def test_init_names_a_document_that_is_there_and_says_to_commit(repo: Path) -> None:
    (repo / "docs").mkdir()
    (repo / "docs" / "shop-prd.md").write_text(greeter.PRD)
    (repo / "test_x.py").write_text("def test_x():\n    assert True\n")
    shown = inside("init", "--no-try", cwd=repo).stdout
    assert "git add santiago.toml" in shown
    assert shown.splitlines()[-1].strip() == "santiago run docs/shop-prd.md"


def test_init_without_a_document_and_without_a_test_leads_to_verify(repo: Path) -> None:
    shown = inside("init", cwd=repo).stdout
    assert shown.splitlines()[-1].strip() == 'santiago run YOUR-PRD.md --verify "CMD"'


def test_init_proposes_the_runner_that_finds_the_tests(repo: Path) -> None:
    (repo / "tests").mkdir()
    for test, command in (
        ("def test_x():\n    assert True\n", "python3 -m pytest -q"),
        ("import unittest\n\nclass X(unittest.TestCase):\n    def test_x(self): ...\n", "python3 -m unittest discover"),
    ):
        (repo / "tests" / "test_shop.py").write_text(test)
        done = inside("init", "--no-try", "--force", "--json", cwd=repo)
        assert [check["test"] for check in json.loads(done.stdout)["checks"]] == [command]


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
