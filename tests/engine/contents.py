"""All that a queue has for a repository: its words, as whoever may read the server sees them; and how it is lost."""

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


def forgets(url: str, queue: Any, order: str) -> None:
    """Have a server forget an order, and PostgreSQL all of its repository, as if it was restored from before."""
    from temporalio.api.common.v1 import WorkflowExecution
    from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest

    if url.startswith("postgresql:"):
        for _ in _of_tables(url, queue.place.repository, "delete from absurd.{} returning null"):
            pass
        return
    asked = DeleteWorkflowExecutionRequest(
        namespace=queue.client.namespace,
        workflow_execution=WorkflowExecution(workflow_id=f"{queue.place.repository}/{order}"),
    )

    async def delete() -> None:
        await queue.client.workflow_service.delete_workflow_execution(asked)

    queue.background.call(delete())


def _in_postgres(url: str, repository: str) -> Iterator[str]:
    for row in _of_tables(url, repository, "select to_jsonb(t) from absurd.{} t"):
        yield from _words(row)


def _of_tables(url: str, repository: str, query: str) -> Iterator[Any]:
    import psycopg

    with psycopg.connect(url) as connection:
        found = connection.execute(
            "select relname from pg_class where relnamespace = 'absurd'::regnamespace and relkind = 'r' and relname like %s",
            [f"%{repository}%"],
        )
        for (name,) in found.fetchall():
            named = psycopg.sql.SQL(query).format(psycopg.sql.Identifier(name))
            for (row,) in connection.execute(named).fetchall():
                yield row


def _in_temporal(queue: Any) -> Iterator[str]:
    async def read() -> list[Any]:
        found = []
        async for execution in queue.client.list_workflows():
            if execution.id.startswith(queue.place.repository):
                history = await queue.client.get_workflow_handle(execution.id).fetch_history()
                found.append(json.loads(history.to_json()))
        return found

    yield from _words(queue.background.call(read()))


def _words(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict) and "encoding" in data.get("metadata", {}):  # one of Temporal's payloads, in base64
        yield from (base64.b64decode(value).decode() for value in data["metadata"].values())
        if "data" in data:
            yield from _words(json.loads(base64.b64decode(data["data"])))
    elif isinstance(data, dict):
        for name, value in data.items():
            yield from (name, *_words(value))
    elif isinstance(data, list):
        for value in data:
            yield from _words(value)
