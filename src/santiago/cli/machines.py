"""The bodies of `santiago workers` and `santiago engine`: who works elsewhere, and what is between."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from santiago.app.config import load
from santiago.app.start.engine_terms import engine_url, no_engine, remote_url
from santiago.app.work.clones import root_of
from santiago.artifacts.attempts import FileAttempts
from santiago.artifacts.run_locations import find_root
from santiago.artifacts.store import FileStore
from santiago.cli.consent import approve
from santiago.cli.view.terminal import say, show_data, show_page
from santiago.contract.errors import Kind, SantiagoError
from santiago.engine import connect
from santiago.process.redact import Redactor
from santiago.report.workers import page
from santiago.util.clock import SystemClock
from santiago.workspace.courier import GitCourier
from santiago.workspace.remote import Remote
from santiago.workspace.workspace import GitWorkspace

if TYPE_CHECKING:
    from santiago.app.start.start_options import Places


def workers(words: tuple[str, ...], places: Places, trust_project: bool, as_json: bool) -> None:
    """List the workers of this repository, or ask one to end."""
    if words and (words[0] != "drain" or len(words) != 2):
        raise click.UsageError("type `santiago workers`, or `santiago workers drain NAME`")
    root, (url, _) = _repository(), _addresses(places, trusted=trust_project)
    queue = connect.open_queue(url, root_of(root), insecure=places.insecure)
    try:
        seen = queue.workers()
        if not words:
            show_page(page(seen, connect.shown(url), SystemClock().utc()), as_json=as_json)
            return
        name = words[1]
        if name not in {one.name for one in seen}:
            there = ", ".join(one.name for one in seen) or "none"
            raise SantiagoError(Kind.USAGE, f"no worker is called {name!r}", hint=f"Connected are: {there}.")
        queue.drain(name)
    finally:
        queue.close()
    told = {"contract_version": 1, "drained": name}
    show_data(told) if as_json else say(f"{name} takes no more orders, and ends when its orders have ended")


def init(places: Places, trust_project: bool) -> None:
    """Make what orders need."""
    url, _ = _addresses(places, trusted=trust_project)
    say(f"{connect.shown(url)}: {connect.init(url, insecure=places.insecure)}")


def check(places: Places, trust_project: bool, as_json: bool) -> None:
    """Say what was found at the engine and at the git remote; raise if orders could not go that way."""
    url, address = _addresses(places, trusted=trust_project)
    root = find_root(Path.cwd())
    found = {connect.shown(url): connect.check(url, insecure=places.insecure)}
    if address:
        remote = Remote(address, insecure=places.insecure)
        found[remote.shown] = _tried(root, remote) if root else "not tried, since this is no git repository"
    if as_json:
        show_data({"contract_version": 1, "found": found})
        return
    for place, words in found.items():
        say(f"{place}: {words}")
    if not address:
        say("no git remote is named, so none was tried (--remote GIT-URL)")


def _tried(root: Path, remote: Remote) -> str:
    """Write and delete a ref, as a coordinator must."""
    with TemporaryDirectory(prefix="santiago-") as folder:
        store = FileStore(Path(folder), Redactor(()), SystemClock().utc)
        workspace = GitWorkspace(root, "probe", Path(folder))
        with workspace.working():
            GitCourier(workspace, "probe", remote, store, FileAttempts(store), lambda _: "").probe()
    return "of this repository, or empty; a ref was written and deleted"


def _repository() -> Path:
    if (root := find_root(Path.cwd())) is None:
        hint = "Go to the repository whose runs they work on."
        raise SantiagoError(Kind.USAGE, "workers belong to a repository, and this is none", hint=hint)
    return root


def _addresses(places: Places, *, trusted: bool) -> tuple[str, str]:
    """Return the addresses of engine and remote, by options, variables and settings; raise if no engine is named."""
    root = find_root(Path.cwd()) or Path.cwd()
    approve(root, asked=sys.stdin.isatty(), trusted=trusted)
    settings = {name: one.value for name, one in load(root).items()}
    url = engine_url(places.engine, settings)
    if not url:
        raise no_engine()
    return url, remote_url(places.remote, settings)
