"""Stands in for a santiago that is forked elsewhere: passes on what it was given, the signals, and the exit code.

It runs alone, without the packages of the tests, and imports little: that is what it is for.
"""

import json
import os
import signal
import socket
import sys
from typing import Any

HEADER = 8
"""Bytes of a number on the wire."""


def give(wire: socket.socket, order: dict[str, Any], streams: list[int]) -> None:
    message = json.dumps(order).encode()
    wire.sendall(len(message).to_bytes(HEADER, "big"))
    sent = socket.send_fds(wire, [message], streams)
    wire.sendall(message[sent:])


def read(wire: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        piece = wire.recv(size - len(found))
        assert piece, "the process that starts santiago has ended"
        found += piece
    return found


def main(path: str, arguments: list[str]) -> int:
    with socket.socket(socket.AF_UNIX) as wire:
        wire.connect(path)
        give(wire, {"argv": arguments, "cwd": os.getcwd(), "env": dict(os.environ)}, [0, 1, 2])
        pid = int.from_bytes(read(wire, HEADER), "big")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(number, lambda got, _: os.kill(pid, got))
        code = int.from_bytes(read(wire, HEADER), "big", signed=True)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
