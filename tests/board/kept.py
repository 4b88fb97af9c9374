"""A world that costs much to make is made once, and stands there anew, under the same path, for everyone who changes it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from copy import copy
from pathlib import Path
from typing import Generic, TypeVar

W = TypeVar("W")


class Kept(Generic[W]):
    """A world below a folder of its own; it holds nothing but what lies there, so that paths in it stay true."""

    def __init__(self, folder: Path, make: Callable[[Path], W]) -> None:
        self.place, self.copy = folder / "world", folder / "kept"
        self.place.mkdir()
        self.made = make(self.place)
        shutil.copytree(self.place, self.copy, symlinks=True)

    def as_it_is(self, folder: Path) -> Kept[W]:
        """Return the same world, at the same place, as it is now; its copy lies in another folder."""
        other = copy(self)
        other.copy = folder
        shutil.copytree(self.place, folder, symlinks=True)
        return other

    def again(self) -> W:
        """Return the world as it was when it was made."""
        shutil.rmtree(self.place)
        shutil.copytree(self.copy, self.place, symlinks=True)
        return self.made
