"""Files that others may have put there: read within a bound, never waited for, and no link leads out of a folder."""

import os
from pathlib import Path

import pytest

from santiago.util import regular
from santiago.util.inside import is_inside


def test_a_regular_file_is_read_up_to_the_bound(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"abcdef")
    assert regular.content(file, 4) == b"abcd"
    assert regular.content(os.fsencode(file), 100) == b"abcdef"


def test_a_pipe_a_device_a_folder_and_nothing_have_no_content(tmp_path: Path) -> None:
    """Also a pipe that somebody holds open and has filled: what comes out of it is not what lies there."""
    os.mkfifo(tmp_path / "pipe")
    handle = os.open(tmp_path / "pipe", os.O_RDWR)
    try:
        os.write(handle, b"words")
        for path in (tmp_path / "pipe", Path("/dev/zero"), tmp_path, tmp_path / "gone", "a\0b"):
            assert regular.content(path, 100) is None
    finally:
        os.close(handle)


def test_a_link_is_followed_only_where_that_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"abc")
    (tmp_path / "link").symlink_to("file")
    assert regular.content(tmp_path / "link", 100) == b"abc"
    assert regular.content(tmp_path / "link", 100, follow=False) is None


def test_what_is_refused_leaves_no_handle_open(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    before = os.listdir("/proc/self/fd")
    for path in (tmp_path, tmp_path / "pipe", Path("/dev/null")):
        with pytest.raises(OSError, match=r"regular file|directory"):
            regular.opened(path)
    assert os.listdir("/proc/self/fd") == before


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
