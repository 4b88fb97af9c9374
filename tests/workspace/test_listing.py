"""The paths of a commit are what git lists, also where santiago followed them from snapshot to snapshot."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

from santiago.workspace.repository import Repository
from tests.workspace.conftest import STAY

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.workspace.conftest import Bench

WAYS = (STAY,)


def _added(top: Path) -> None:
    (top / "new" / "deep").mkdir(parents=True)
    (top / "new" / "deep" / "ü.txt").write_text("new\n", encoding="utf-8")


def _removed(top: Path) -> None:
    (top / "a").unlink()
    shutil.rmtree(top / "lib")


def _moved(top: Path) -> None:
    (top / "b").rename(top / "c")


def _folder_for_file(top: Path) -> None:
    (top / "c").unlink()
    (top / "c").mkdir()
    (top / "c" / "d").write_text("d\n", encoding="utf-8")


def _link_for_file(top: Path) -> None:
    (top / "c" / "d").unlink()
    (top / "c" / "d").symlink_to("nowhere")


def _alike(top: Path) -> None:
    for name in (b"x\xff", rb"x\xff"):
        Path(os.fsdecode(os.path.join(os.fsencode(top), name))).write_text("x\n", encoding="utf-8")


def _one_of_both(top: Path) -> None:
    os.unlink(os.path.join(os.fsencode(top), b"x\xff"))


WORKS: tuple[Callable[[Path], None], ...] = (
    _added, _removed, _moved, _folder_for_file, _link_for_file, _alike, _one_of_both,
)  # fmt: skip


def test_the_paths_of_every_snapshot_are_those_that_git_lists(bench: Bench) -> None:
    base = bench.first
    bench.workspace.files(base)
    for number, work in enumerate(WORKS, 1):
        work(Path(bench.workspace.open("S1", number, (base,)).folder))
        snapshot = bench.workspace.snapshot("S1", number, "S1\n")
        assert snapshot is not None
        base = snapshot.commit
        assert bench.workspace.files(base) == bench.again().files(base), work.__name__
    assert r"x\xff" in bench.workspace.files(base)


def test_git_is_asked_for_the_paths_of_a_run_once(bench: Bench) -> None:
    base = bench.first
    with patch.object(Repository, "on_objects", autospec=True, side_effect=Repository.on_objects) as asked:
        for number in range(1, 30):
            bench.workspace.files(base)
            base = bench.work("S1", base, attempt=number, a=f"{number}\n")
    assert sum("ls-tree" in call.args for call in asked.call_args_list) == 1
