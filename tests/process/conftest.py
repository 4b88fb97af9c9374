"""One process server for all tests of this folder."""

from collections.abc import Iterator

import pytest

from santiago.process.server import ProcessServer
from tests.process.serving import start_server


@pytest.fixture(scope="session")
def server() -> Iterator[ProcessServer]:
    server = start_server()
    yield server
    server.close()
