"""What lies under a path is told by its device, whatever the mount is called."""

import os
from pathlib import Path

import pytest

from santiago.util import mounts
from tests.util.each import each


@each(
    ("lines", "kind"),
    [
        ("1 1 {} / /some\\040place rw shared:1 master:2 - ext4 /dev/x rw", "ext4"),
        ("1 1 9999:1 / / rw - xfs /dev/y rw\n1 1 {} / / rw - nfs4 server:/ rw", "nfs4"),
        ("1 1 9999:1 / / rw - xfs /dev/y rw", ""),
        ("\n1 1\nnonsense", ""),
    ],
)
def test_the_type_of_a_file_system_is_that_of_the_mount_of_its_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: str, kind: str
) -> None:
    device = tmp_path.stat().st_dev
    table = tmp_path / "mountinfo"
    table.write_text(lines.format(f"{os.major(device)}:{os.minor(device)}") + "\n", encoding="utf-8")
    monkeypatch.setattr(mounts, "MOUNTS", table)
    assert mounts.kind_of(tmp_path) == kind
    monkeypatch.setattr(mounts, "MOUNTS", tmp_path / "none")
    assert mounts.kind_of(tmp_path) == "", "the system does not say it"
