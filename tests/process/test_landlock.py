"""The kernel's own fence: rights, other processes, TCP and sockets are closed as far as the kernel can, and the rest is named."""

from __future__ import annotations

import os
import socket
import sys
from typing import TYPE_CHECKING

import pytest

from santiago.process import landlock
from santiago.process.command import Command, Report
from tests.process.test_sandbox import KINDS, found, needs_landlock
from tests.util.each import each

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from santiago.process.server import ProcessServer

needs_network_rules = pytest.mark.skipif(landlock.abi() < 4, reason="this kernel's fence knows no network")
needs_scopes = pytest.mark.skipif(landlock.abi() < 6, reason="this kernel's fence knows no scopes")
CONNECTS = "import socket, sys\nsocket.socket(getattr(socket, sys.argv[1])).connect(eval(sys.argv[2]))"


@pytest.fixture(params=["landlock"])
def run(
    server: ProcessServer, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Report]:
    environment = {"PATH": os.environ["PATH"], "HOME": "/nowhere"}
    box = found(request.param, environment, monkeypatch)

    def run(*argv: str, network: bool = False) -> Report:
        plain = Command(argv=argv, cwd=str(tmp_path), env=environment, timeout_ms=60_000)
        return server.run(box.wrap(plain, writable=(str(tmp_path),), network=network))

    return run


@pytest.fixture
def listener() -> Iterator[tuple[str, int]]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()


@pytest.mark.parametrize("run", [*KINDS, pytest.param("landlock", marks=needs_landlock)], indirect=True)
def test_a_program_inside_has_no_right_beyond_its_users_and_gains_none(run: Callable[..., Report]) -> None:
    """Also the superuser's programs, which would pass many a fence by their rights."""
    told = run("sh", "-c", "sh -c 'cat /proc/self/status'")  # a superuser's next program would have all rights again
    status = dict(line.split(":", 1) for line in told.head.splitlines())
    assert {int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {0}
    assert status["NoNewPrivs"].strip() == "1"


@pytest.mark.parametrize("run", [*KINDS, pytest.param("landlock", marks=needs_landlock)], indirect=True)
@pytest.mark.parametrize("name", ["environ", "mem", "maps", "fd/0", "root/etc/hostname"])
def test_santiagos_own_process_cannot_be_looked_into(run: Callable[..., Report], name: str) -> None:
    """Its environment holds keys that the agent's profile does not name."""
    assert run("head", "-c", "1", f"/proc/{os.getpid()}/{name}").exit_code == 1


@needs_network_rules
def test_checks_have_no_tcp_and_agents_have(run: Callable[..., Report], listener: tuple[str, int]) -> None:
    connecting = (sys.executable, "-c", CONNECTS, "AF_INET", repr(listener))
    assert run(*connecting, network=True).exit_code == 0
    refused = run(*connecting)
    assert (refused.exit_code, "PermissionError" in refused.head) == (1, True)
    listening = (sys.executable, "-c", "import socket; socket.create_server(('127.0.0.1', 0))")
    assert run(*listening, network=True).exit_code == 0
    assert "PermissionError" in run(*listening).head


@needs_scopes
@pytest.mark.parametrize("network", [False, True])
def test_sockets_without_a_path_are_not_reachable(run: Callable[..., Report], network: bool) -> None:
    name = f"\0santiago-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(name)
        listening.listen()
        refused = run(sys.executable, "-c", CONNECTS, "AF_UNIX", repr(name), network=network)
    assert (refused.exit_code, "PermissionError" in refused.head) == (1, True)


@needs_scopes
def test_other_processes_get_no_signal(run: Callable[..., Report]) -> None:
    assert run("kill", "-0", str(os.getpid())).exit_code != 0


@each(("version", "more"), [(1, ("TCP of checks", "abstract sockets", "signals")), (4, ("abstract sockets",)), (7, ())])
def test_what_it_does_not_hold_is_said(version: int, more: tuple[str, ...]) -> None:
    said = landlock.not_held(version)
    assert said[:1] == ("reading",)
    assert set(more) <= set(said)
    assert ("TCP of checks" in said) == (version < 4)


@needs_landlock
def test_the_name_in_the_header_and_the_log_says_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    name = found("landlock", {"PATH": "/nowhere"}, monkeypatch).name
    assert name.startswith("landlock")
    assert f"not fenced: {', '.join(landlock.not_held(landlock.abi()))}" in name
