"""Who may see and use the pages: links that work once, sessions in memory, and forms that were shown to somebody."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import field
from hashlib import sha256
from hmac import compare_digest
from secrets import token_urlsafe
from typing import TYPE_CHECKING

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.record import lean

if TYPE_CHECKING:
    from collections.abc import Callable

    from santiago.web.acting.step import Step

MOST_SESSIONS = 32
"""Further ones end the session that was unused for the longest time."""
MOST_LINKS = 100
MOST_STEPS = 40
"""How many understood, unsent answers one session has at most. A further one drops the oldest."""
IDLE_S = 24 * 3600
"""Seconds after which an unused session ends."""


@lean()
class Session:
    """One browser that came by a link."""

    id: str
    token: str
    """What every form of this browser brings along. It allows to ask what something would do, and nothing else."""
    used: float
    steps: OrderedDict[str, Step] = field(default_factory=OrderedDict)
    """Token → what was understood, and shown with a button that sends it. Each token works once."""
    told: str = ""
    """What the next page says first."""

    def hold(self, step: Step) -> str:
        """Keep what was understood until it is sent; return the token that sends it."""
        token = token_urlsafe(32)
        self.steps[token] = step
        while len(self.steps) > MOST_STEPS:
            self.steps.popitem(last=False)
        return token

    def take(self, token: str, typed: str) -> Step:
        """Return what a token sends; raise where it was sent before, or where the word that it needs was not typed."""
        step = self.steps.get(token)
        if step is not None and typed.strip().lower() != step.agreed:
            needed = f"nothing was sent: it needs the word {step.agreed!r}, typed by you"
            message = needed if step.agreed else "nothing is to be typed here"
            raise SantiagoError(Kind.INPUT, message, hint="Go back in your browser to read it again.")
        self.steps.pop(token, None)
        if step is None:
            hint = "Look at the page again; the log shows what was sent."
            raise SantiagoError(Kind.INPUT, "this was sent before, or it is too old", hint=hint)
        return step

    def told_once(self) -> str:
        found, self.told = self.told, ""
        return found


class Access:
    """The links and the sessions of one start. A new start knows none of them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._links: OrderedDict[str, bool] = OrderedDict()
        """Digest of a link's key → whether it was used."""
        self._sessions: dict[str, Session] = {}

    def link(self) -> str:
        """Return the key of a new link."""
        key = token_urlsafe(32)
        self._links[_digest(key)] = False
        while len(self._links) > MOST_LINKS:
            self._links.popitem(last=False)
        return key

    def was_used(self, key: str) -> bool | None:
        """Tell whether a link was used; None where there is no such link."""
        return self._links.get(_digest(key))

    def enter(self, key: str) -> Session:
        """Use a link up; return the session of the browser that came by it."""
        self._links[_digest(key)] = True
        if len(self._sessions) >= MOST_SESSIONS:
            del self._sessions[min(self._sessions, key=lambda one: self._sessions[one].used)]
        name = token_urlsafe(32)
        session = Session(id=name, token=token_urlsafe(32), used=self.clock())
        self._sessions[_digest(name)] = session
        return session

    def session(self, name: str) -> Session | None:
        found = self._sessions.get(_digest(name))
        if found is None:
            return None
        if self.clock() - found.used > IDLE_S:
            del self._sessions[_digest(name)]
            return None
        found.used = self.clock()
        return found


def is_same(given: str, known: str) -> bool:
    return compare_digest(given.encode(), known.encode())


def _digest(text: str) -> str:
    """Return what is looked up in place of a secret, so that the time of looking tells nothing about it."""
    return sha256(text.encode("utf-8", "replace")).hexdigest()
