"""Fleets on a real server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.engine.machines import Fleet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.engine.servers import Engine


@pytest.fixture
def fleet(postgres_engine: Engine, tmp_path: Path) -> Iterator[Callable[..., Fleet]]:
    made: list[Fleet] = []

    def make(*args: object, **more: object) -> Fleet:
        made.append(Fleet(tmp_path, postgres_engine.url, *args, **more))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for one in made:
        one.close()
