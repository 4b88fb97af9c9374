"""The agent programs that tests ask for, fetched at first need."""

import pytest

from tests.agents.install import NO_NPM, PROGRAMS, InstallError, chosen, have_npm, install

_failed: dict[str, InstallError] = {}
"""What npm could not fetch: it is not asked again for every test."""


@pytest.fixture(params=chosen())
def agent(request: pytest.FixtureRequest) -> str:
    """Return the name of an agent whose program is there; what npm cannot fetch is an error and no skip."""
    return _there(str(request.param))


@pytest.fixture
def all_agents() -> list[str]:
    """Return the names of all agents that are asked for, for what they can do at once because it mostly waits."""
    return [_there(name) for name in chosen()]


def _there(name: str) -> str:
    if not have_npm():
        pytest.skip(NO_NPM)
    if name in _failed:
        raise _failed[name]
    try:
        install(PROGRAMS[name])
    except InstallError as error:
        _failed[name] = error
        raise
    return name
