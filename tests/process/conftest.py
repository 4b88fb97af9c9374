"""One process server for all tests of this folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.process.serving import start_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from santiago.process.server import ProcessServer


@pytest.fixture(scope="session")
def server() -> Iterator[ProcessServer]:
    server = start_server()
    yield server
    server.close()
