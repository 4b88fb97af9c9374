"""How tests are run: cases of one test one by one, and what `./dev test --quick` leaves out."""

from pathlib import Path

import pytest

from tests.conftest import TESTS, WHOLE
from tests.util.each import each


def test_every_case_runs_in_its_own_folder_and_all_that_are_wrong_are_named(tmp_path: Path) -> None:
    seen: list[Path] = []

    @each(("number", "word"), [(1, "one"), (2, "zwei"), (3, "drei")])
    def run(number: int, word: str, tmp_path: Path) -> None:
        seen.append(tmp_path)
        assert (number, word) == (1, "one")

    with pytest.raises(ExceptionGroup) as caught:
        run(tmp_path=tmp_path)
    assert len({*seen}) == 3
    notes = [note for error in caught.value.exceptions for note in error.__notes__]
    assert [("zwei" in note, "drei" in note) for note in notes] == [(True, False), (False, True)]


def test_every_name_that_the_edit_loop_leaves_out_is_there() -> None:
    """A name that was moved would bring its long tests back unseen."""
    assert [name for name in WHOLE if not (TESTS / name).exists()] == []
