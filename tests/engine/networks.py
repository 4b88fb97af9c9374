"""Networks of their own for workers: each reaches this machine by one cable, and that can be pulled."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.engine.servers import Server, free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def missing() -> str:
    """Say why there can be no network of one's own here; nothing if there can be."""
    if shutil.which("ip") is None:
        return "`ip` is missing: apt-get install iproute2"
    try:
        with networks(1):
            return ""
    except subprocess.CalledProcessError as error:
        return f"a network of one's own is not permitted here: {error.stderr.decode().strip()}"


_RELAY = """
import select, socket, sys
host, port, to_port = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
listening, to = socket.create_server((host, port)), {}
def end(one):
    for gone in (one, to.pop(one)):
        to.pop(gone, None)
        gone.close()
while True:
    for one in select.select([listening, *to], [], [])[0]:
        try:
            if one is listening:
                mine = one.accept()[0]
                try:
                    other = socket.create_connection(("127.0.0.1", to_port))
                except OSError:
                    mine.close()
                    continue
                to[mine], to[other] = other, mine
            elif one in to and (data := one.recv(65536)):
                to[one].sendall(data)
            elif one in to:
                end(one)
        except OSError:
            if one in to:
                end(one)
"""
"""Passes on what it gets, in both directions."""


class Network:
    """A network with one machine, whose cable leads to this one."""

    def __init__(self, name: str, host: str, address: str) -> None:
        self.name, self.host, self.address = name, host, address

    @property
    def inside(self) -> tuple[str, ...]:
        """Return the words that start a program there."""
        return ("ip", "netns", "exec", self.name)

    def make(self) -> None:
        ours = f"h{self.name}"
        for words in (
            f"netns add {self.name}",
            f"link add {ours} type veth peer name cable netns {self.name}",
            f"addr add {self.host} peer {self.address} dev {ours}",
            f"-n {self.name} addr add {self.address} peer {self.host} dev cable",
            f"-n {self.name} link set lo up",
            f"link set {ours} up",
            f"-n {self.name} link set cable up",
        ):
            _ip(words)

    def pull(self) -> None:
        """Cut it off: what is sent meanwhile is lost, and no connection is told."""
        _ip(f"-n {self.name} link set cable down")

    def plug(self) -> None:
        _ip(f"-n {self.name} link set cable up")

    def remove(self) -> None:
        for words in (f"link delete h{self.name}", f"netns delete {self.name}"):
            subprocess.run(["ip", *words.split()], capture_output=True, check=False)


def _ip(words: str) -> None:
    subprocess.run(["ip", *words.split()], capture_output=True, check=True)


@contextmanager
def networks(count: int) -> Iterator[list[Network]]:
    """Make so many. All reach this machine under one address, which nothing beyond it can reach."""
    here = os.getpid()
    net = f"10.{27 + here // 256 % 100}.{here % 256}"
    made = [Network(f"s{here}-{number}", f"{net}.1", f"{net}.{number + 10}") for number in range(count)]
    try:
        for one in made:
            one.make()
        yield made
    finally:
        for one in made:
            one.remove()


def relay(folder: Path, host: str, to_port: int) -> Server:
    """Give a server of this machine an address that networks reach."""
    port = free_port()
    words = [sys.executable, "-c", _RELAY, host, str(port), str(to_port)]
    return Server(words, port, folder / f"relay-{port}.log", host=host)


def git_daemon(folder: Path, host: str) -> tuple[Server, str]:
    """Serve the repositories in a folder, to be read and written; return the server, and the address that is before their names."""
    port = free_port()
    words = [
        "git",
        "daemon",
        f"--listen={host}",
        f"--port={port}",
        f"--base-path={folder}",
        "--export-all",
        "--reuseaddr",
    ]
    made = Server(
        [*words, "--enable=receive-pack", "--informative-errors", str(folder)], port, folder / "git.log", host=host
    )
    return made, f"git://{host}:{port}/"
