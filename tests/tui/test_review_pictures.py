"""Lines 62 and 71: the review looks as its pictures do; `python -m tests.tui.review_pictures` draws them anew."""

from __future__ import annotations

import pytest

from tests.tui.review_pictures import PICTURES, Picture, drawn


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.path.stem)
def test_lines_62_and_71_the_review_looks_as_in_its_picture(picture: Picture) -> None:
    assert drawn(picture) == picture.path.read_text(encoding="utf-8")
