"""How orders and workers of one repository are named in a queue, so that a worker never meets those of another."""

from __future__ import annotations

from datetime import UTC, datetime
from ipaddress import ip_address
from typing import Any, TypeVar, cast

from santiago.contract.codec import NotPlainError, read_plain
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.ports.queue import Ended
from santiago.contract.reasons import Reason
from santiago.contract.record import lean

T = TypeVar("T")

LONGEST = 57
"""Bytes that absurd allows in a name."""
PRESENT_S = 15
"""A worker is connected if it was heard of within this time."""
PATIENCE_S = 600.0
"""How long calls wait for a server that does not answer."""
RETRY_S = 0.2
RETENTION_DAYS = 30
"""How long ended orders are kept at least: longer than a run may take."""


@lean(frozen=True, kw_only=True)
class Place:
    """One repository's part of a server."""

    version: str
    """Of santiago: orders of one are not for workers of another."""
    repository: str
    """The first twelve digits of its root commit."""

    @property
    def workers(self) -> str:
        """Return the name under which workers of any version are found."""
        return f"{self.repository}/workers"

    def orders(self, pool: str, *, judges: bool = False) -> str:
        """Return the name of the queue of one pool."""
        name = f"{self.version}/{self.repository}/{pool}{'/judge' if judges else ''}"
        if (over := len(name.encode()) - LONGEST) > 0:
            hint = f"Use a name that is {over} bytes shorter."
            raise SantiagoError(Kind.USAGE, f"the pool's name {pool!r} is too long", hint=hint)
        return name


def told(kind: type[T], data: object) -> T | None:
    """Return what a worker wrote into the queue; None if it is not what santiago's workers write."""
    try:
        return cast("T", read_plain(cast("Any", kind), data))
    except NotPlainError:
        return None


def ended_by_worker(data: object, token: str) -> Ended:
    """Return the end that the worker of a claim wrote. One that makes no sense has no result that could be taken."""
    ended = told(Ended, data)
    if ended is None or ended.fate not in {"done", "stopped", "declined"} or ended.token != token:
        return Ended(fate="lost", token=token)
    return ended


def is_local(host: str) -> bool:
    """Return whether what is sent to this host stays on this machine."""
    if host in {"", "localhost"}:
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def refused(message: str, hint: str) -> SantiagoError:
    """Return the error for what trying again does not mend."""
    return SantiagoError(Kind.BLOCKED, message, hint=hint, reason=Reason.BLOCKED_DEPENDENCY)


def plain_text(given: str, remedy: str) -> SantiagoError:
    """Return the refusal of a connection that others on its way could read or change."""
    message = f"the engine would be reached beyond this machine without verified TLS ({given})"
    return refused(message, f"Use {remedy} in the URL, or --insecure if nobody else is on that network.")


def away(server: str, words: str) -> SantiagoError:
    hint = "See whether the server runs and can be reached from here; then run the same command again."
    return SantiagoError(Kind.TRANSIENT, f"{server} does not answer: {words}", hint=hint)


def utc(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
