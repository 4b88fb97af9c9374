"""Lines 64 to 71: the browser looks as its pictures do; `python -m tests.tui.pictures` draws them anew."""

from __future__ import annotations

import pytest

from tests.tui.pictures import PICTURES, Picture, drawn


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.path.stem)
def test_lines_64_to_71_the_browser_looks_as_in_its_picture(picture: Picture) -> None:
    assert drawn(picture) == picture.path.read_text(encoding="utf-8")
