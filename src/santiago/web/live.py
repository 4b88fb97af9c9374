"""Pages that stay up to date: what each shows is made once for all its viewers, in parts, and only changed parts are sent."""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from secrets import token_hex
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any

from santiago.contract.errors import SantiagoError
from santiago.contract.record import lean

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from santiago.web.access import Session

LOOK_S = 0.3
"""Seconds between two looks at what a page shows."""
SHARE = 8
"""After a slow look, wait this many times its duration."""
ALIVE_S = 3.0
"""Seconds after which a stream without news says that it is alive. A page takes a silent one for dead after 8 seconds."""
MOST_TOPICS = 100
MOST_STREAMS = 4
"""Streams of one browser. It has six connections for all of its pages, so that a further stream ends the oldest one, whose page
asks again after a while.
"""


@lean()
class Part:
    """One part of a page."""

    html: str
    since: int
    """The number of the change that made it so."""


class Topic:
    """What pages of one address show, as parts by their ids, in order."""

    def __init__(self, make: Callable[[], Mapping[str, str]]) -> None:
        self.make = make
        self.name = token_hex(4)
        """Where a topic was forgotten and made anew, cursors of the old one say nothing."""
        self.shown: tuple[int, dict[str, Part]] = 0, {}
        """The number of the latest change, and the parts. They are replaced together."""
        self.cost = 0.0
        self._lock = Lock()
        self._made = 0.0

    def refresh(self, *, at_once: bool = False) -> None:
        """Make the parts anew; unless that must be `at_once`, not where another viewer just had it done."""
        with self._lock:
            if (begun := monotonic()) - self._made < LOOK_S / 2 and not at_once:
                return
            made, (number, parts) = self.make(), self.shown
            changed = [name for name in made if name not in parts or parts[name].html != made[name]]
            if changed or len(made) != len(parts):
                number += 1
            new = {name: Part(made[name], number) for name in changed}
            self.shown = number, {name: new.get(name) or parts[name] for name in made}
            self._made = monotonic()
            self.cost = self._made - begun

    def page(self) -> tuple[str, str]:
        """Return the cursor of what is shown, and all parts."""
        number, parts = self.shown
        return f"{self.name}-{number}", "".join(part.html for part in parts.values())

    def news(self, cursor: str) -> tuple[str, dict[str, Any]]:
        """Return the new cursor and what has changed since an old one; empty if nothing has. Each part says which one it follows."""
        name, _, known = cursor.partition("-")
        since = int(known) if name == self.name and known.isdecimal() else -1
        number, parts = self.shown
        if since == number:
            return cursor, {}
        changed, before = [], ""
        for one, part in parts.items():
            if part.since > since:
                changed.append({"id": one, "after": before, "html": part.html})
            before = one
        cursor = f"{self.name}-{number}"
        return cursor, {"cursor": cursor, "parts": changed, "all": list(parts)}


class Live:
    """The topics that somebody looks at, and the streams to them."""

    def __init__(self, fill: Callable[[str, Session], str]) -> None:
        self.fill = fill
        """Makes of shared HTML what one browser gets."""
        self.closing: Callable[[], bool] = lambda: False
        """Tells whether the server ends. Streams end by themselves then, so that nobody waits for them."""
        self._topics: OrderedDict[str, Topic] = OrderedDict()
        self._streams: dict[str, list[object]] = {}

    def topic(self, address: str, make: Callable[[], Mapping[str, str]]) -> Topic:
        topic = self._topics.setdefault(address, Topic(make))
        topic.make = make  # what made it before may hold a run whose log was damaged then
        self._topics.move_to_end(address)
        while len(self._topics) > MOST_TOPICS:
            self._topics.popitem(last=False)
        return topic

    async def stream(self, topic: Topic, session: Session, cursor: str) -> AsyncIterator[str]:
        """Yield what changes, until the server ends or this browser opens too many others."""
        me, mine = object(), self._streams.setdefault(session.id, [])
        mine.append(me)
        del mine[:-MOST_STREAMS]
        heard = 0.0
        try:
            while me in mine and not self.closing():
                try:
                    await asyncio.to_thread(topic.refresh)
                except SantiagoError:
                    yield "event: reload\ndata: \n\n"
                    return
                cursor, news = topic.news(cursor)
                if news:
                    heard = monotonic()
                    for part in news["parts"]:
                        part["html"] = self.fill(part["html"], session)
                    yield f"event: news\ndata: {json.dumps(news)}\n\n"
                elif monotonic() - heard >= ALIVE_S:
                    heard = monotonic()
                    yield "event: alive\ndata: \n\n"
                await asyncio.sleep(max(LOOK_S, SHARE * topic.cost))
            yield "event: rest\ndata: \n\n"
        finally:
            if me in mine:
                mine.remove(me)
            if not mine:
                self._streams.pop(session.id, None)
