"""A check that stays green when nothing but its tests is left sees nothing of the checkout."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from santiago.judge.shown import sees as does_see
from santiago.judge.trials import GARBAGE, spoil
from tests.judge.showing import shown
from tests.util.each import each

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.judge.shown import Shown


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    (folder / "src").mkdir(parents=True)
    (folder / "src/app.py").write_text("x = 1\n")
    (folder / "test_app.py").write_text("import app\n")
    (tmp_path / "outside.py").write_text("mine\n")
    (folder / "link.py").symlink_to(tmp_path / "outside.py")
    (folder / "away").symlink_to(tmp_path)
    return folder


def test_overwritten_files_are_there_and_of_no_language(checkout: Path) -> None:
    spoil(str(checkout), ["src/app.py", "not/there.py"], GARBAGE)
    assert (checkout / "test_app.py").read_text() == "import app\n"
    with pytest.raises((SyntaxError, ValueError)):
        ast.parse((checkout / "src/app.py").read_bytes())


def test_removed_files_are_gone(checkout: Path) -> None:
    spoil(str(checkout), ["src/app.py", "not/there.py", "link.py"], None)
    assert not (checkout / "src/app.py").exists()
    assert not (checkout / "link.py").is_symlink()


@pytest.mark.parametrize("content", [GARBAGE, None])
def test_nothing_outside_the_checkout_is_touched(content: bytes | None, checkout: Path) -> None:
    spoil(str(checkout), ["link.py", "away/outside.py", "../outside.py"], content)
    assert (checkout.parent / "outside.py").read_text() == "mine\n"


@each(
    ("before", "spoiled", "sees"),
    [
        (shown(), shown(exit_code=1), True),
        (shown(), shown(), False),
        (shown("a b"), shown("a b-"), True),
        (shown("a b"), shown("a"), True),
        (shown("a b"), shown("a b"), False),
        (shown("a b-"), shown("a- b-"), True),
        (shown("a b-"), shown("a b-"), False),
        (shown("a b-"), shown("a b"), True),  # what fails on the whole tree alone looks at it
    ],
)
def test_a_check_sees_where_anything_that_passed_does_not(before: Shown, spoiled: Shown, sees: bool) -> None:
    assert does_see(before, spoiled) is sees
