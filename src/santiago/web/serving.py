"""One start of the pages: a socket on loopback, the link on the terminal, and the end by Ctrl-C. Runs go on without it."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from contextlib import suppress
from pathlib import Path
from secrets import token_urlsafe
from threading import Thread
from typing import TYPE_CHECKING

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from santiago.app.page_address import noted
from santiago.util.own_run import refuse_own_word
from santiago.web.access import Access
from santiago.web.guard import Address, Guard
from santiago.web.pages import Pages

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_CONNECTIONS = 256
LONGEST_HEAD = 16 * 1024
"""Bytes of the head of a request."""
SILENT_S = 10.0
"""Seconds in which a connection must have sent the head of a whole request, the first one and each further one."""
GRACE_S = 1
"""Seconds that streams have to end."""


class Connection(H11Protocol):
    """A connection that is closed if no further request comes: others could hold all of them otherwise."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def on_response_complete(self) -> None:
        self._wait()  # first, since a request that came meanwhile begins in there
        super().on_response_complete()

    def _wait(self) -> None:
        self.loop.call_later(SILENT_S, self._close_silent, self.cycle)

    def _close_silent(self, latest: object) -> None:
        if self.cycle is latest and not self.transport.is_closing():
            self.transport.close()


def serve(
    place: str, who: str, *, host_name: str, read_only: bool, show: Callable[[str], None], tell: Callable[[str], None],
    port: int = 0,
) -> int:  # fmt: skip
    """Serve the pages until the person ends it; `show` prints a link, `tell` a remark. The port is one that is free."""
    refuse_own_word(os.environ.get("SANTIAGO_RUN", ""))
    with socket.create_server(("127.0.0.1", port), backlog=128) as listening:
        address = Address(port=listening.getsockname()[1], path=f"/{token_urlsafe(16)}", host_name=host_name)
        access, pages = Access(), Pages(address, place, who, read_only=read_only)
        guard = Guard(pages.app, address, access, read_only=read_only, outside=pages.outside, tell=tell)
        config = uvicorn.Config(
            guard, http=Connection, ws="none", lifespan="off", log_config=None, access_log=False, proxy_headers=False,
            server_header=False, limit_concurrency=MOST_CONNECTIONS, h11_max_incomplete_event_size=LONGEST_HEAD,
            timeout_graceful_shutdown=GRACE_S,
        )  # fmt: skip
        server = uvicorn.Server(config)
        pages.live.closing = lambda: server.should_exit

        def link() -> None:
            show(f"{address.url}/enter/{access.link()}")

        with suppress(KeyboardInterrupt), noted(Path.cwd(), address.url):
            link()
            Thread(target=_links_on_enter, args=(link,), name="links", daemon=True).start()
            server.run(sockets=[listening])
    return 0


def _links_on_enter(link: Callable[[], None]) -> None:
    """Print another link for each line on the input."""
    with suppress(OSError, ValueError):
        for _ in sys.stdin:
            link()
