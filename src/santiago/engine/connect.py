"""From a URL to the queue that it names. What a queue needs beside santiago is imported only here, and only if it is used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from santiago import __version__
from santiago.contract.errors import Kind, SantiagoError
from santiago.engine.place import PATIENCE_S, Place, refused

if TYPE_CHECKING:
    from santiago.contract.ports.queue import Queue

ENGINES = {"postgresql": "postgres", "postgres": "postgres", "temporal": "temporal"}
"""Scheme → the extra of santiago that brings what is needed, and the name of the module."""


def open_queue(url: str, repository: str, *, insecure: bool = False, patience_s: float = PATIENCE_S) -> Queue:
    """Connect for one repository, named by its root commit; raise one error that says what is wrong, and what to do."""
    place = Place(version=__version__, repository=repository[:12])
    name = _engine(url)
    queue: Queue = getattr(_module(name), f"{name.title()}Queue")(url, place, insecure=insecure, patience_s=patience_s)
    return queue


def check(url: str, *, insecure: bool = False) -> str:
    """Say what was found at the server; raise if orders could not go through it."""
    server = _module(f"{_engine(url)}_server")
    said: str = server.check(server.settled(url, insecure=insecure))
    return said


def init(url: str, *, insecure: bool = False) -> str:
    """Make at the server what orders need: schema or namespace. Say what was done; doing it again changes nothing."""
    server = _module(f"{_engine(url)}_server")
    said: str = server.init(server.settled(url, insecure=insecure))
    return said


_WEB = ("http", "https")
"""Where what stands before the `@` of a git remote is often a token by itself."""


def shown(url: str) -> str:
    """Return a URL as logs and views may show it: without its password, and without settings, which may hold one."""
    try:
        parts = urlsplit(url)
        user, at, host = parts.netloc.rpartition("@")
    except ValueError:
        return "an engine whose URL cannot be read"
    named = "…" if user and parts.scheme in _WEB else user.partition(":")[0]
    return f"{parts.scheme}://{named}{at}{host}{parts.path}"


def has_password(url: str) -> bool:
    """Return whether a URL holds what must not stand among a command's arguments, which every user of a machine sees."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return True
    user = parts.netloc.rpartition("@")[0]
    return ":" in user or bool(user and parts.scheme in _WEB) or "password=" in parts.query.lower()


def _engine(url: str) -> str:
    scheme = url.partition("://")[0]
    if scheme not in ENGINES or "://" not in url:
        hint = "There are postgresql://USER@HOST/DATABASE and temporal://HOST:PORT/NAMESPACE."
        raise SantiagoError(Kind.USAGE, f"no engine is named by {scheme[:20]!r}", hint=hint)
    return ENGINES[scheme]


def _module(name: str) -> Any:
    try:
        return import_module(f"santiago.engine.{name}")
    except ImportError as error:
        extra = name.partition("_")[0]
        raise refused(f"this engine needs what is not installed: {error}", f"pip install 'santiago[{extra}]'") from None
