"""Planted programs are programs as they stand, take values for values, and are read when they are needed."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys

import pytest

from santiago.verification.provoking import programs

NAMES = sorted(path.name for path in programs._FOLDER.iterdir() if path.is_file())
READ_BY = {".py": [sys.executable, "-c", "import ast, sys; ast.parse(open(sys.argv[1]).read())"], ".js": ["node", "--check"], ".sh": ["sh", "-n"]}  # fmt: skip
ODD = """'a" %s $(x) `y` \\ __TOKEN__ ü"""


def test_there_are_programs_of_each_language() -> None:
    assert {name[-3:] for name in NAMES} == set(READ_BY)


@pytest.mark.parametrize("name", NAMES)
def test_a_program_is_valid_as_it_stands(name: str) -> None:
    command = READ_BY[name[-3:]]
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    ran = subprocess.run([*command, programs._FOLDER / name], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_a_value_stays_what_it_is_whatever_it_holds() -> None:
    text = programs.program("blind.py", token="Planted1", name="m1", main=ODD, proc=False)
    values = [one.value for one in ast.walk(ast.parse(text)) if isinstance(one, ast.Constant)]
    assert ODD in values
    assert "Planted1" in values
    assert not any("__" in one for one in values if isinstance(one, str) and one != ODD and one.isupper())


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_a_value_stays_what_it_is_in_javascript() -> None:
    said = subprocess.run(
        ["node", "-e", programs.program("ends.js", token="Planted1", path=ODD)], capture_output=True, text=True, check=True
    ).stderr  # fmt: skip
    assert said == f"\nPlanted1 began {ODD}\n\nPlanted1 ended {ODD}\n"


def test_a_value_stays_what_it_is_in_the_shell() -> None:
    said = subprocess.run(
        ["sh", "-c", programs.program("ends.sh", token="Planted1", path=ODD)], capture_output=True, text=True, check=True
    ).stderr  # fmt: skip
    assert said == f"\nPlanted1 began {ODD}\n"


def test_a_word_that_is_none_is_never_put_in() -> None:
    with pytest.raises(AssertionError):
        programs.program("failing.py", token="x(): pass")


def test_no_program_is_read_before_it_is_needed() -> None:
    ask = "import santiago.verification.port\nfrom santiago.verification.provoking import programs\nprint(programs._content.cache_info().currsize)"
    assert subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True).stdout == "0\n"
