"""Looking at an attempt that is under way: all that it changed, bounded, and nothing written that anybody else reads."""

import os
from pathlib import Path

from santiago.workspace.unfinished import MOST_BYTES
from tests.workspace.conftest import ALONE, Bench, git, write

WAYS = (ALONE,)


def test_changed_new_and_deleted_files_are_seen_neither_ignored_nor_provided_ones(bench: Bench) -> None:
    folder = bench.opened()
    write(folder, **{".env": "secret"})
    bench.workspace.prepared("S1", 1)
    write(folder, a="ONE\n", new="n\n", **{"x.log": "ignored", "odd [name]*": "odd\n"})
    (folder / "b").unlink()
    (folder / "link").symlink_to(folder / ".env")
    (folder / "inner").mkdir()
    git(folder / "inner", "init", "-q")
    before = _everything_below(bench.scratch) | _everything_below(bench.repo)
    patch = (bench.again().so_far("S1", 1) or b"").decode()
    assert _everything_below(bench.scratch) | _everything_below(bench.repo) == before
    for part in ("+ONE", "-five", "+++ b/new", "+n\n", "odd [name]*", "+odd", "--- a/b", "+++ /dev/null", "a/link"):
        assert part in patch
    for part in ("secret", "ignored", "inner"):
        assert part not in patch
    assert sorted(change.path for change in bench.taken().changes) == ["a", "b", "link", "new", "odd [name]*"]


def test_a_large_change_is_cut_and_an_attempt_that_is_gone_is_none(bench: Bench) -> None:
    folder = bench.opened()
    write(folder, large="line of a large file\n" * 100_000)
    os.mkfifo(folder / "pipe")
    (folder / "outside").symlink_to("/etc")
    assert len(bench.again().so_far("S1", 1) or b"") == MOST_BYTES
    assert bench.again().so_far("S1", 2) is None


def _everything_below(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
