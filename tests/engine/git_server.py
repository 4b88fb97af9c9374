"""A git server over HTTP: git's own program behind a web server that checks names and passwords."""

from __future__ import annotations

import os
import subprocess
import threading
from base64 import b64decode
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PASSWORD = "planted-1357924680-of-the-remote"


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve the repositories of a folder; yield `host:port`. Everybody has the same password."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name, _, password = (
                b64decode(self.headers.get("Authorization", "").partition(" ")[2]).decode().partition(":")
            )
            if password != PASSWORD:
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="git"')
                self.end_headers()
                return
            path, _, query = self.path.partition("?")
            given = {
                "GIT_PROJECT_ROOT": str(folder), "GIT_HTTP_EXPORT_ALL": "1", "REMOTE_USER": name, "PATH_INFO": path,
                "QUERY_STRING": query, "REQUEST_METHOD": self.command, "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""), "PATH": os.environ["PATH"],
            }  # fmt: skip
            length = int(self.headers.get("Content-Length", 0))
            answer = subprocess.run(
                ["git", "http-backend"], input=self.rfile.read(length), env={**given, "CONTENT_LENGTH": str(length)},
                capture_output=True, check=False,
            ).stdout  # fmt: skip
            head, _, body = answer.partition(b"\r\n\r\n")
            headers = dict(line.split(": ", 1) for line in head.decode().splitlines())
            self.send_response(int(headers.pop("Status", "200")[:3]))
            for header in headers.items():
                self.send_header(*header)
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815  # the name that the web server calls

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        try:
            yield f"127.0.0.1:{http.server_port}"
        finally:
            http.shutdown()
