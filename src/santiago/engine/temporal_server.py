"""Reaching Temporal, and having a namespace there that keeps ended orders long enough."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlsplit

from temporalio.api.namespace.v1 import NamespaceConfig
from temporalio.api.workflowservice.v1 import (
    DescribeNamespaceRequest,
    GetSystemInfoRequest,
    RegisterNamespaceRequest,
    UpdateNamespaceRequest,
)
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode, TLSConfig

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.lazy_regex import pattern
from santiago.engine.place import RETENTION_DAYS, away, is_local, plain_text, refused

T = TypeVar("T")

ANSWER_S = 20.0
FIRST_S = 40.0
"""Longest time for first answers. The library gives up before, by itself: a connection that is broken off goes on in it, and fails loudly."""
FILES = {"tls-ca": "server_root_ca_cert", "tls-cert": "client_cert", "tls-key": "client_private_key"}
KNOWN = {"tls", "tls-name", *FILES}
RETENTION = timedelta(days=RETENTION_DAYS)
_CAUSE = pattern(r'(?:"|error: )(\w[^"{}\\]*[\w)])')

Settings = dict[str, Any]
"""What `Client.connect` takes."""


class Background:
    """An event loop in a thread of its own, for callers that are not asynchronous."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, name="temporal", daemon=True)
        self.thread.start()

    def call(self, work: Coroutine[Any, Any, T], within_s: float = ANSWER_S) -> T:
        """Return what it returns; raise TimeoutError if that takes too long, whatever the connection does."""

        async def bounded() -> T:
            return await asyncio.wait_for(work, within_s)

        return asyncio.run_coroutine_threadsafe(bounded(), self.loop).result()

    def ask(self, work: Coroutine[Any, Any, T]) -> T:
        """Return what the server says at first, or raise one sentence that says why it says nothing."""
        try:
            return self.call(work, FIRST_S)
        except (RPCError, RuntimeError, TimeoutError) as error:
            raise silent(error) from None

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Begin what goes on until it is cancelled or all is closed."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def close(self) -> None:
        self.start(self._end_all()).result(ANSWER_S)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()

    async def _end_all(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.wait(others, timeout=ANSWER_S / 4) if others else None


def settled(url: str, *, insecure: bool) -> Settings:
    """Return what the URL says. Beyond this machine it must be TLS; an API key is sent over nothing else."""
    try:
        parts, given = urlsplit(url), dict(parse_qsl(urlsplit(url).query, keep_blank_values=True))
        host, port = parts.hostname or "127.0.0.1", parts.port or 7233
    except ValueError:
        raise _unreadable("the engine's URL is not one of Temporal's") from None
    if "@" in parts.netloc:
        raise _unreadable("Temporal takes no user and password; an API key comes from TEMPORAL_API_KEY")
    if unknown := sorted(given.keys() - KNOWN):
        raise _unreadable(f"the engine's URL has the setting {unknown[0]!r}, which is unknown")
    key = os.environ.get("TEMPORAL_API_KEY") or None
    tls: TLSConfig | bool = False
    if key or any(given.get(name, "false") != "false" for name in KNOWN):
        files: dict[str, Any] = {field: _content(given[name]) for name, field in FILES.items() if name in given}
        tls = TLSConfig(domain=given.get("tls-name"), **files)
    elif not insecure and not is_local(host):
        raise plain_text("no tls", "?tls=true")
    target, namespace = f"[{host}]:{port}" if ":" in host else f"{host}:{port}", parts.path.strip("/") or "default"
    return {"target_host": target, "namespace": namespace, "tls": tls, "api_key": key}


def _content(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise _unreadable(f"{path} cannot be read: {error.strerror}") from None


def _unreadable(message: str) -> SantiagoError:
    hint = "Write it as temporal://HOST:PORT/NAMESPACE, with ?tls=true and tls-ca=, tls-cert=, tls-key= (files) or tls-name=."
    return SantiagoError(Kind.USAGE, message, hint=hint)


def silent(error: Exception) -> SantiagoError:
    """Say why the server does not do what it was asked for."""
    said = (str(error).splitlines() or [""])[0]
    # An error of the library's own names all its types. What it names last is the cause.
    causes = _CAUSE.findall(said) if isinstance(error, RuntimeError) else []
    words = (causes[-1] if causes else said or type(error).__name__)[:200]
    if isinstance(error, RPCError) and error.status in {RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNAUTHENTICATED}:
        hint = "Set TEMPORAL_API_KEY, or name client certificates in the URL, and grant them the namespace."
        return refused(f"Temporal refuses: {words}", hint)
    if "fatal alert" in words:
        hint = "Name the client's certificate in the URL: tls-cert=FILE&tls-key=FILE."
        return refused(f"Temporal does not take this client: {words}", hint)
    if "certificate" in words.lower():
        hint = "Name the certificate of its authority by tls-ca=FILE in the URL, and its name by tls-name=NAME."
        return refused(f"Temporal's certificate is not believed: {words}", hint)
    return away("Temporal", words)


def check(settings: Settings) -> str:
    return _alone(_check(settings))


def init(settings: Settings) -> str:
    return _alone(_init(settings))


def _alone(work: Coroutine[Any, Any, str]) -> str:
    background = Background()
    try:
        return background.ask(work)
    finally:
        background.close()


async def _check(settings: Settings) -> str:
    client = await Client.connect(**settings)
    kept = await retention(client)
    version = (await client.workflow_service.get_system_info(GetSystemInfoRequest())).server_version
    return f"Temporal {version}, namespace {client.namespace}, which keeps what has ended for {kept.days} days"


async def retention(client: Client) -> timedelta:
    """Return how long ended orders are kept; raise if there is no such namespace, or too short a time."""
    kept = await _kept(client)
    if kept is None:
        raise refused(f"Temporal has no namespace {client.namespace!r}", "Run `santiago engine init` with this URL.")
    if kept < RETENTION:
        message = f"the namespace {client.namespace} forgets what has ended after {kept}, and a run may take longer"
        raise refused(
            message, f"Run `santiago engine init` with this URL, or set its retention to {RETENTION_DAYS} days."
        )
    return kept


async def _kept(client: Client) -> timedelta | None:
    try:
        found = await client.workflow_service.describe_namespace(DescribeNamespaceRequest(namespace=client.namespace))
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            return None
        raise
    return found.config.workflow_execution_retention_ttl.ToTimedelta()


async def _init(settings: Settings) -> str:
    client = await Client.connect(**settings)
    name, service = client.namespace, client.workflow_service
    kept = await _kept(client)
    if kept is not None and kept >= RETENTION:
        return f"the namespace {name} is there, and keeps what has ended for {kept.days} days"
    try:
        if kept is None:
            made = RegisterNamespaceRequest(namespace=name)
            made.workflow_execution_retention_period.FromTimedelta(RETENTION)
            await service.register_namespace(made)
        else:
            config = NamespaceConfig()
            config.workflow_execution_retention_ttl.FromTimedelta(RETENTION)
            await service.update_namespace(UpdateNamespaceRequest(namespace=name, config=config))
    except RPCError as error:
        hint = f"Make the namespace where its owner makes them, with a retention of {RETENTION_DAYS} days."
        raise refused(f"the namespace {name} cannot be made or changed: {error}", hint) from None
    return f"the namespace {name} {'was made' if kept is None else 'was there'}; it keeps what has ended for {RETENTION_DAYS} days"
