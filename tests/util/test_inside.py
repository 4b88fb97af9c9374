"""Nothing is written outside a folder because of a link that an agent left in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.util.inside import is_inside

if TYPE_CHECKING:
    from pathlib import Path


def test_links_out_of_a_folder_are_followed_and_those_in_a_circle_are_no_error(tmp_path: Path) -> None:
    folder, other = tmp_path / "folder", tmp_path / "folder-too"
    (folder / "plain").mkdir(parents=True)
    other.mkdir()
    (folder / "out").symlink_to(other)
    (folder / "round").symlink_to("round")
    assert is_inside(folder, folder)
    assert is_inside(folder / "plain", folder)
    assert not is_inside(folder / "out", folder)
    assert not is_inside(other, folder)
    assert not is_inside(folder / ".." / "folder-too", folder)
    assert is_inside(folder / "round", folder)
