"""Who may do what: what a worker may write, when it declines, who judges, and what a run is refused for before it begins."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.crash.world import GIT, git
from tests.engine.git_server import PASSWORD, served

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.engine.machines import Fleet

pytestmark = [pytest.mark.xdist_group("machines")]
ROOT = Path(__file__).parents[2]


def test_the_hook_of_the_page_lets_workers_write_nothing_but_new_results(fleet: Callable[..., Fleet]) -> None:
    here = fleet()
    hook = (ROOT / "docs" / "machines.md").read_text().split("```text\n#!/bin/sh", 1)[1].split("```", 1)[0]
    (here.remote / "hooks").mkdir(exist_ok=True)
    (here.remote / "hooks" / "update").write_text(f"#!/bin/sh{hook}")
    (here.remote / "hooks" / "update").chmod(0o755)
    with served(here.folder) as place:

        def named(name: str) -> str:
            return f"http://{name}:{PASSWORD}@{place}/{here.remote.name}"

        here.env["SANTIAGO_REMOTE"] = named("santiago-worker-1")
        worker = here.program(["work", "--engine", here.url], here.folder)
        worker.says("waits for orders")
        here.env["SANTIAGO_REMOTE"] = named("ann")
        here.program([*here.world.arguments(2), "--engine", here.url], here.world.top).ends(0)
        here.is_done()
        head, inbox = git(here.world.repo, "rev-parse", "HEAD"), "refs/santiago-inbox/r9/attempt/S1/1/token"

        def refused(who: str, *refspecs: str) -> str:
            words = ["git", "push", "--force", named(who), *refspecs]
            return subprocess.run(
                words, cwd=here.world.repo, env=GIT, capture_output=True, text=True, check=False
            ).stderr

        assert "->" in refused("santiago-worker-1", f"{head}:{inbox}")
        for ref in (
            f"{head}~1:refs/heads/main", f"{head}:refs/heads/new", ":refs/heads/main", f"{head}:refs/tags/v1", f"{head}~1:{inbox}",
            f":{inbox}", f"{head}:refs/santiago-order/r1/attempt/S1/1", f"{head}:refs/santiago-lead/r1",
        ):  # fmt: skip
            assert "workers make results" in refused("santiago-worker-1", ref), ref
        assert "[deleted]" in refused("ann", f":{inbox}")
    said = b"".join(path.read_bytes() for path in here.folder.rglob("*") if path.is_file() and not path.is_symlink())
    assert PASSWORD.encode() not in said
