"""A server's TLS in front of one that speaks plain text: certificates of an authority of one's own, and a proxy."""

from __future__ import annotations

import socket
import ssl
import subprocess
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def certificates(folder: Path) -> None:
    """Make `ca.pem`, and for the server (named localhost) and a client a certificate and a key."""

    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=authority")
    for name in ("server", "client"):
        extension = ["-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE"]
        signed = ["-CA", "ca.pem", "-CAkey", "ca.key"]
        openssl("req", "-x509", *key, *extension, *signed, "-keyout", f"{name}.key", "-out", f"{name}.pem", "-subj", f"/CN={name}")  # fmt: skip


@contextmanager
def proxy(folder: Path, port: int, *, protocol: str, demands_client: bool = False) -> Iterator[int]:
    """Give the port on which the server at another port can be reached by TLS alone."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem", folder / "server.key")
    context.set_alpn_protocols([protocol])
    if demands_client:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(folder / "ca.pem")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=_accept, args=(listening, context, port), daemon=True).start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)


def _accept(listening: socket.socket, context: ssl.SSLContext, port: int) -> None:
    while True:
        try:
            plain, _ = listening.accept()
        except OSError:
            return
        threading.Thread(target=_serve, args=(plain, context, port), daemon=True).start()


def _serve(plain: socket.socket, context: ssl.SSLContext, port: int) -> None:
    """Carry both ways. One connection is used by two threads, which OpenSSL allows for one reader and one writer under a lock."""
    with suppress(OSError), context.wrap_socket(plain, server_side=True) as near, socket.socket() as far:
        far.connect(("127.0.0.1", port))
        near.settimeout(0.01)
        far.setblocking(False)
        while True:
            for source, target in ((near, far), (far, near)):
                try:
                    data = source.recv(65536)
                except (TimeoutError, BlockingIOError, ssl.SSLWantReadError):
                    continue
                if not data:
                    return
                target.setblocking(True)
                target.sendall(data)
                near.settimeout(0.01)
                far.setblocking(False)
