"""Power cuts without any power: a file system on a loop device is shut down under the running process, and mounted again."""

import fcntl
import os
import shutil
import struct
import subprocess
import time
from pathlib import Path
from typing import Self

_SHUTDOWN = (2 << 30) | (4 << 16) | (ord("X") << 8) | 125
_NO_LOG_FLUSH = 2
SIZE = 96 * 2**20


def cut(mounted: str) -> None:
    """Cut the power: from now on nothing reaches the disk, also nothing that is only waiting to be written."""
    handle = os.open(mounted, os.O_RDONLY)
    try:
        fcntl.ioctl(handle, _SHUTDOWN, struct.pack("I", _NO_LOG_FLUSH))
    finally:
        os.close(handle)


def why_not() -> str:
    """Return why there can be no power cuts here; empty where there can."""
    if os.geteuid() != 0:
        return "mounting needs root"
    missing = [name for name in ("mkfs.ext4", "mount", "umount") if shutil.which(name) is None]
    if missing:
        return f"{missing[0]} is missing"
    return "" if Path("/dev/loop-control").exists() else "there are no loop devices"


class Disk:
    """An ext4 of its own, in a file."""

    def __init__(self, folder: Path) -> None:
        self.image, self.top = folder / "disk.img", folder / "disk"

    def __enter__(self) -> Self:
        self.top.mkdir()
        with self.image.open("wb") as file:
            file.truncate(SIZE)
        _do("mkfs.ext4", "-q", "-F", "-m", "0", str(self.image))
        self._mount()
        return self

    def __exit__(self, *_: object) -> None:
        self._unmount()

    def _mount(self) -> None:
        _do("mount", "-o", "loop", str(self.image), str(self.top))

    def _unmount(self) -> None:
        for _ in range(200):
            if subprocess.run(["umount", str(self.top)], check=False, capture_output=True).returncode == 0:
                return
            time.sleep(0.02)
        raise AssertionError(f"{self.top} cannot be unmounted")

    def cut(self) -> None:
        cut(str(self.top))

    def power_up(self) -> None:
        """Mount what the disk holds."""
        self._unmount()
        self._mount()

    def settle(self) -> None:
        """Bring everything to disk."""
        _do("sync", "-f", str(self.top))


def _do(*arguments: str) -> None:
    done = subprocess.run(arguments, check=False, capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(f"{' '.join(arguments)}: {done.stderr.strip()}")
