"""A folder for what a program writes beside its work; it is gone afterwards, whatever was put into it."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path


class Temporary:
    """Use it with `with`; what a crash leaves is swept with the rest of the scratch folder."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch

    def __enter__(self) -> str:
        self.scratch.mkdir(parents=True, exist_ok=True)
        self.path = tempfile.mkdtemp(prefix="tmp-", dir=self.scratch)
        return self.path

    def __exit__(self, *_: object) -> None:
        try:
            shutil.rmtree(self.path)
        except OSError:
            _open_folders(self.path)
            shutil.rmtree(self.path, ignore_errors=True)


def _open_folders(path: str) -> None:
    """Make closed folders ours again; what still resists stays for the next clean-up."""
    for place, folders, _ in os.walk(path):
        for folder in (Path(place, name) for name in folders):
            if not folder.is_symlink():
                with contextlib.suppress(OSError):
                    folder.chmod(0o700)
