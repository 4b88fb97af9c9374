"""Lines 62 and 64 to 71: browser and review look as their pictures do; `python -m tests.tui.pictures` draws them anew."""

import pytest

from tests.tui.pictures import PICTURES, Picture, drawn


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.path.stem)
def test_lines_62_and_64_to_71_browser_and_review_look_as_in_their_pictures(picture: Picture) -> None:
    assert drawn(picture) == picture.path.read_text(encoding="utf-8")
