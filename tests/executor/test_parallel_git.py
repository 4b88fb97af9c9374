"""Promise 7 with real git: eight jobs and one give the same completions, commit subjects and tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.executor.parity import compare
from tests.util.each import each


@each("seed", [5, 6])
def test_eight_jobs_end_like_one(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest of ten plans; hundreds of them: `python -m proofs parity`."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    compare(seed, tmp_path)
