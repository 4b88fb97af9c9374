"""A part of the table of break-out tries (`python -m proofs breakouts`), with its probes outside (P17)."""

import pytest
from proofs.breaking import tries

from proofs import breakouts
from tests.process.test_sandbox import needs_bubblewrap, needs_landlock, needs_namespaces

KINDS = [
    pytest.param("bubblewrap", "agent", marks=needs_bubblewrap),
    pytest.param("namespaces", "check", marks=needs_namespaces),
    pytest.param("landlock", "agent", marks=needs_landlock),
]


@pytest.mark.parametrize(("kind", "role"), KINDS)
def test_no_try_goes_through_but_those_that_the_security_page_names(kind: str, role: str) -> None:
    number, through, _ = breakouts.tried((), kind, role, "")
    assert number >= 300
    assert through == []


def test_the_tries_are_many_and_distinct() -> None:
    """Also those that only a terminal, a process or a socket outside makes possible."""
    names = ("victim", "secret_file", "outdir", "git", "home", "package", "rc", "log", "other", "abstract", "terminal")
    sockets = ("run_socket", "tmp_socket", "home_socket", "address", "posix", "key")
    numbers = {"pid": 2, "santiago": 3, "server": 4, "tcp": 1, "tcp6": 1, "udp": 1, "shared": 1}
    found = tries.table({**{name: f"/{name}/x" for name in (*names, *sockets)}, **numbers})
    assert len(found) >= 300
