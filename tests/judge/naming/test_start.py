"""How a command is started so that its runners name their tests."""

from __future__ import annotations

from santiago.judge.naming import asking, refused
from tests.util.each import each

REPORT = "--junitxml=/r/pytest.xml -o junit_family=xunit1"


def test_pytest_and_go_are_asked_by_variables_that_keep_what_was_in_them() -> None:
    asked, added = asking("make test", {"PYTEST_ADDOPTS": "-x", "GOFLAGS": "-mod=vendor", "HOME": "/h"}, "/r")
    assert asked == "make test"
    assert added == {"PYTEST_ADDOPTS": f"-x {REPORT}", "GOFLAGS": "-mod=vendor -v"}


def test_a_folder_with_a_space_stays_one_word() -> None:
    assert "--junitxml='/r s/pytest.xml'" in asking("pytest", {}, "/r s")[1]["PYTEST_ADDOPTS"]


@each(
    ("command", "asked"),
    [
        ("python -m unittest", "python -m unittest -v"),
        ("python3 -m unittest discover -s tests", "python3 -m unittest discover -v -s tests"),
        ("python -m unittest -q tests.test_a && tool -q", "python -m unittest -v -v tests.test_a && tool -q"),
        ("python -m unittest a --quiet", "python -m unittest -v a -v"),
        ("sh -c 'python -m unittest'", "sh -c 'python -m unittest -v'"),
        ("python -m unittest_more", "python -m unittest_more"),
        ("npx --no-install jest src", "npx --no-install jest --verbose src"),
        ("CI=1 node_modules/.bin/jest && true", "CI=1 node_modules/.bin/jest --verbose && true"),
        ("pnpm vitest run", "pnpm vitest --reporter=verbose run"),
        ("npm install jest", "npm install jest"),
        ("npx -p jest jest", "npx -p jest jest"),
        ("npm test", "npm test"),
    ],
)
def test_runners_that_need_a_word_get_it_and_other_commands_stay(command: str, asked: str) -> None:
    assert asking(command, {}, "/r")[0] == asked


def test_several_starts_of_pytest_write_a_report_each() -> None:
    asked, added = asking("A=1 pytest a && python3 -m pytest b; pip install pytest", {}, "/r")
    first, second = (f"--junitxml=/r/pytest-{number}.xml -o junit_family=xunit1" for number in (1, 2))
    assert asked == f"A=1 pytest {first} a && python3 -m pytest {second} b; pip install pytest"
    assert "PYTEST_ADDOPTS" not in added


def test_a_usage_error_about_the_report_is_a_refusal_and_no_other_error_is() -> None:
    assert refused("ERROR: usage: pytest [options]\npytest: error: unrecognized arguments: --junitxml=/r/pytest.xml\n")
    assert not refused("pytest: error: unrecognized arguments: --cov=src\n  inifile: None\n")
