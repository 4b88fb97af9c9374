"""All words that a queue has for a repository, as whoever may read the server sees them."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from santiago.contract.ports.queue import Queue
    from tests.engine.servers import Engine


def contents(engine: Engine, queue: Queue, repository: str) -> set[str]:
    """Return every text in tables or histories."""
    if engine.url.startswith("postgresql:"):
        return set(_in_postgres(engine.url, repository[:12]))
    return set(_in_temporal(queue))


def _in_postgres(url: str, repository: str) -> Iterator[str]:
    import psycopg

    with psycopg.connect(url) as connection:
        found = connection.execute(
            "select relname from pg_class where relnamespace = 'absurd'::regnamespace and relkind = 'r' and relname like %s",
            [f"%{repository}%"],
        )
        for (name,) in found.fetchall():
            query = psycopg.sql.SQL("select to_jsonb(t) from absurd.{} t").format(psycopg.sql.Identifier(name))
            for (row,) in connection.execute(query).fetchall():
                yield from _words(row)


def _in_temporal(queue: Any) -> Iterator[str]:
    async def read() -> list[Any]:
        found = []
        async for execution in queue.client.list_workflows():
            if execution.id.startswith(queue.place.repository):
                history = await queue.client.get_workflow_handle(execution.id).fetch_history()
                found.append(json.loads(history.to_json()))
        return found

    for word in _words(queue.background.call(read())):
        try:  # payloads are base64
            decoded = base64.b64decode(word, validate=True).decode()
        except ValueError:
            yield word
            continue
        try:
            yield from _words(json.loads(decoded))
        except ValueError:
            yield decoded if decoded.isprintable() else word


def _words(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        for name, value in data.items():
            yield from (name, *_words(value))
    elif isinstance(data, list):
        for value in data:
            yield from _words(value)
