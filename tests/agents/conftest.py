"""The agent programs that tests ask for, fetched at first need."""

from __future__ import annotations

import pytest

from tests.agents.install import NO_NPM, PROGRAMS, InstallError, chosen, have_npm, install

_failed: dict[str, InstallError] = {}
"""What npm could not fetch: it is not asked again for every test."""


@pytest.fixture(params=chosen())
def agent(request: pytest.FixtureRequest) -> str:
    """Return the name of an agent whose program is there; what npm cannot fetch is an error and no skip."""
    if not have_npm():
        pytest.skip(NO_NPM)
    name = str(request.param)
    if name in _failed:
        raise _failed[name]
    try:
        install(PROGRAMS[name])
    except InstallError as error:
        _failed[name] = error
        raise
    return name
