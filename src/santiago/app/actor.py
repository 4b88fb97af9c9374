"""Who acts: the name that is recorded with every answer and every other decision of a person."""

from __future__ import annotations

import os
from pwd import getpwuid

from santiago.contract.errors import Kind, SantiagoError

LONGEST = 100
_OWN = ("SANTIAGO_ACTOR", "USER", "LOGNAME")
_VARIABLES = ("SANTIAGO_ACTOR", "SIGEE_QUEUE_ACTOR")


def own_name() -> str:
    """Return the name of the person at this machine. It is never a role, which `SIGEE_QUEUE_ACTOR` may name."""
    return next((os.environ[one] for one in _OWN if os.environ.get(one)), _account()).strip()


def _account() -> str:
    try:
        return getpwuid(os.geteuid()).pw_name
    except KeyError:
        return "user"


def actor(given: str | None = None) -> str:
    """Return the given name, or the one in the environment; raise if it would not fit on one line of a log."""
    name = given
    if name is None:
        name = next((os.environ[one] for one in _VARIABLES if os.environ.get(one)), "") or own_name()
    if not name.strip() or len(name) > LONGEST or not name.isprintable():
        hint = "Use letters, digits and blanks."
        raise SantiagoError(Kind.USAGE, f"{name[:40]!r} is not a valid name", where="--actor", hint=hint)
    return name.strip()
